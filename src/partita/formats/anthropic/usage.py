"""The usage of a response. Input that was cached, or written to the cache, is counted apart.

Source: https://docs.claude.com/en/api/messages#response-usage
"""

from collections.abc import Iterable
from typing import Final

from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.usage import Usage
from partita.types.value import Extra

INPUTS: Final = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
"""Fresh, cached and cache-written input are counted apart."""

BILLED: Final = ("message", "compaction")
"""The passes of a response that are billed as this model's."""

REPLACED: Final = "fallback_message"
"""A pass of another model that took over: the counts of the response are those of that pass."""


def merged(before: JsonObject, after: Json) -> JsonObject:
    """Counts, replaced by newer ones; a newer null does not replace a count."""
    if not is_object(after):
        return before
    return before | {key: item for key, item in after.items() if item is not None or key not in before}


def read_usage(raw: JsonObject) -> Usage | None:
    """The usage of a response; `None` if there are no counts."""
    if not raw:
        return None
    total_input, output = _input(raw), count_of(raw, "output_tokens")
    details = raw.get("output_tokens_details")
    billed = _billed(raw.get("iterations"))
    return Usage(
        input_tokens=total_input,
        output_tokens=output,
        total_tokens=None if total_input is None or output is None else total_input + output,
        reasoning_tokens=count_of(details, "thinking_tokens") if is_object(details) else None,
        cached_input_tokens=count_of(raw, "cache_read_input_tokens") or 0,
        cache_write_tokens=count_of(raw, "cache_creation_input_tokens") or 0,
        raw=raw,
        extra=None if billed is None else Extra({"billed": billed}),
    )


def write_usage(counts: JsonObject) -> JsonObject:
    """The counts of the API, given a usage as JSON: `raw` if it is from there and was not changed since."""
    raw = counts.get("raw")
    if is_object(raw) and to_json(read_usage(raw)) == counts:
        return raw
    names = ("cachedInputTokens", "cacheWriteTokens", "inputTokens", "outputTokens")
    cached, written, total, output = (count_of(counts, name) or 0 for name in names)
    return {
        "input_tokens": max(total - cached - written, 0),
        "output_tokens": output,
        **({"cache_read_input_tokens": cached} if cached else {}),
        **({"cache_creation_input_tokens": written} if written else {}),
    }


def _billed(iterations: Json) -> JsonObject | None:
    """What is billed if a response took several passes: the outer counts are those of the last."""
    passes = [one for one in iterations if is_object(one)] if is_array(iterations) else []
    if any(one.get("type") == REPLACED for one in passes):
        return None
    paid = [one for one in passes if one.get("type") in BILLED]
    if not paid:
        return None
    return {"input": _sum(map(_input, paid)), "output": _sum(count_of(one, "output_tokens") for one in paid)}


def _input(raw: JsonObject) -> int | None:
    counts = [count_of(raw, key) for key in INPUTS]
    return None if counts[0] is None else _sum(counts)


def _sum(counts: Iterable[int | None]) -> int:
    return sum(count for count in counts if count is not None)


def count_of(raw: JsonObject, key: str) -> int | None:
    """A count, if it is one."""
    value = raw.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
