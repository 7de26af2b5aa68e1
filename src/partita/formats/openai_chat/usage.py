"""What an answer consumed, in the counts of many servers."""

from partita.types.json import Json, JsonObject, is_object
from partita.types.usage import Usage

from .looking import count

CACHED = ("prompt_cache_hit_tokens", "num_cached_tokens", "cached_tokens")
"""Where servers without details of the prompt say how much of it was cached."""


def usage_in(record: JsonObject) -> JsonObject | None:
    """The usage that a record brings, if it brings one. Groq has it under its own key as well."""
    own: Json = record.get("x_groq")
    for found in (record.get("usage"), own.get("usage") if is_object(own) else None):
        if is_object(found) and found:
            return found
    return None


def usage_of(raw: JsonObject) -> Usage:
    """Canonical counts. Input includes what was cached, output includes reasoning."""
    prompt, written = raw.get("prompt_tokens_details"), raw.get("completion_tokens_details")
    cached = [count(prompt, "cached_tokens"), *(count(raw, key) for key in CACHED)]
    reasonings = (count(written, "reasoning_tokens"), count(raw, "reasoning_tokens"))
    reasoning = next((number for number in reasonings if number is not None), None)
    total = count(raw, "total_tokens")
    inputs, outputs = count(raw, "prompt_tokens"), count(raw, "completion_tokens")
    return Usage(
        inputs,
        _with_reasoning(inputs, outputs, reasoning, total),
        total,
        reasoning,
        next((number for number in cached if number is not None), None),
        count(prompt, "cache_write_tokens"),
        raw,
    )


def _with_reasoning(
    inputs: int | None, outputs: int | None, reasoning: int | None, total: int | None
) -> int | None:
    """The output including reasoning. xAI leaves it out, which its total gives away."""
    if outputs is None or not reasoning:
        return outputs
    if inputs is None or total is None:
        return outputs + reasoning if reasoning > outputs else outputs
    return outputs + reasoning if total == inputs + outputs + reasoning else outputs
