"""What an answer consumed, in the counts of the API."""

from collections.abc import Iterable
from typing import Final

from partita.formats.losses import Loss
from partita.formats.openai_chat.looking import count
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object
from partita.types.usage import Usage

COUNTED_ELSEWHERE: Final = "an answer has one count of what it consumed"
OTHER_WORDS: Final = "the counts of another API"
NO_COUNT: Final = "the API has no count for it"


def written_usage(
    usages: Iterable[tuple[str, Usage | Json]], path: str, losses: list[Loss]
) -> JsonObject | None:
    """The usage of a body: the first that is known, in the server's words if they are those of the API."""
    written: JsonObject | None = None
    for name, usage in usages:
        where = f"{path}.content.{name}"
        plain = to_json(usage)
        if not is_object(plain):
            losses.append(Loss.of(where, plain, OTHER_WORDS))
            continue
        counts = _counts(plain, where, losses)
        if written is None:
            written = counts
        elif counts != written:
            losses.append(Loss.of(where, plain, COUNTED_ELSEWHERE))
    return written


def _counts(usage: JsonObject, path: str, losses: list[Loss]) -> JsonObject:
    raw = usage.get("raw")
    if is_object(raw) and "prompt_tokens" in raw and "completion_tokens" in raw:
        return raw
    if raw is not None:
        losses.append(Loss.of(f"{path}.raw", raw, OTHER_WORDS))
    inputs, outputs = count(usage, "inputTokens") or 0, count(usage, "outputTokens") or 0
    total = count(usage, "totalTokens")
    counts: JsonObject = {
        "prompt_tokens": inputs,
        "completion_tokens": outputs,
        "total_tokens": inputs + outputs if total is None else total,
    }
    prompt = _present(usage, {"cachedInputTokens": "cached_tokens", "cacheWriteTokens": "cache_write_tokens"})
    written = _present(usage, {"reasoningTokens": "reasoning_tokens"})
    counts |= {"prompt_tokens_details": prompt} if prompt else {}
    return counts | ({"completion_tokens_details": written} if written else {})


def _present(usage: JsonObject, names: dict[str, str]) -> JsonObject:
    return {ours: usage[name] for name, ours in names.items() if count(usage, name) is not None}
