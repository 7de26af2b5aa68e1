"""The usage of a response, in the counts of many servers.

Source: https://platform.openai.com/docs/api-reference/chat/object#chat/object-usage
"""

from collections.abc import Mapping
from typing import Final

from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object
from partita.types.usage import Usage

from .values import count_of

# DeepSeek; vLLM; Moonshot. OpenAI has it in the details of the prompt.
CACHED: Final = ("prompt_cache_hit_tokens", "num_cached_tokens", "cached_tokens")

DETAILS: Final[Mapping[str, Mapping[str, str]]] = {
    "prompt_tokens_details": {"cachedInputTokens": "cached_tokens", "cacheWriteTokens": "cache_write_tokens"},
    "completion_tokens_details": {"reasoningTokens": "reasoning_tokens"},
}
"""Our counts, by the object that the API has them in, with their names there."""


def usage_in(record: JsonObject) -> JsonObject | None:
    """The usage in a record, if any. Groq also has it in a member of its own (seen in a recording)."""
    own: Json = record.get("x_groq")
    for found in (record.get("usage"), own.get("usage") if is_object(own) else None):
        if is_object(found) and found:
            return found
    return None


def read_usage(raw: JsonObject) -> Usage:
    """Canonical counts. Input includes cached tokens, output includes reasoning."""
    prompt, completion = raw.get("prompt_tokens_details"), raw.get("completion_tokens_details")
    cached = [count_of(prompt, "cached_tokens"), *(count_of(raw, key) for key in CACHED)]
    reasoning = [count_of(completion, "reasoning_tokens"), count_of(raw, "reasoning_tokens")]
    thought = next((number for number in reasoning if number is not None), None)
    total = count_of(raw, "total_tokens")
    inputs, outputs = count_of(raw, "prompt_tokens"), count_of(raw, "completion_tokens")
    return Usage(
        inputs,
        _with_reasoning(inputs, outputs, thought, total),
        total,
        thought,
        next((number for number in cached if number is not None), None),
        count_of(prompt, "cache_write_tokens"),
        raw,
    )


def _with_reasoning(
    inputs: int | None, outputs: int | None, reasoning: int | None, total: int | None
) -> int | None:
    """The output including reasoning. xAI does not include it, as its total shows (seen in a recording)."""
    if outputs is None or not reasoning:
        return outputs
    if inputs is None or total is None:
        return outputs + reasoning if reasoning > outputs else outputs
    return outputs + reasoning if total == inputs + outputs + reasoning else outputs


def write_usage(usage: Usage | Json) -> JsonObject | None:
    """The counts of the API: `raw` if it is from there. `None` if it is not a usage."""
    plain = to_json(usage)
    if not is_object(plain):
        return None
    raw = plain.get("raw")
    if is_object(raw) and "prompt_tokens" in raw and "completion_tokens" in raw:
        return raw
    inputs, outputs = count_of(plain, "inputTokens") or 0, count_of(plain, "outputTokens") or 0
    total = count_of(plain, "totalTokens")
    counts: JsonObject = {
        "prompt_tokens": inputs,
        "completion_tokens": outputs,
        "total_tokens": inputs + outputs if total is None else total,
    }
    for member, names in DETAILS.items():
        found = {name: plain[ours] for ours, name in names.items() if count_of(plain, ours) is not None}
        counts |= {member: found} if found else {}
    return counts
