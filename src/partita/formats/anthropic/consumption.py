"""What an answer consumed: Anthropic's counts → `Usage`."""

from collections.abc import Iterable
from typing import Final

from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.usage import Usage
from partita.types.value import Extra

INPUTS: Final = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
"""Fresh, cached and cache-written input are counted apart."""

BILLED: Final = ("message", "compaction")
"""The passes of an answer that are paid as this model's; another model's are told beside them."""

REPLACED: Final = "fallback_message"
"""A pass of another model that took over: the counts of the answer are that pass's alone."""


def merged(before: JsonObject, after: Json) -> JsonObject:
    """Counts with newer ones in their place; a count that became null stays what it was."""
    if not is_object(after):
        return before
    return before | {key: item for key, item in after.items() if item is not None or key not in before}


def usage_of(raw: JsonObject) -> Usage | None:
    """The usage that counts amount to; `None` when there are none."""
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


def _billed(iterations: Json) -> JsonObject | None:
    """What is really paid, when an answer took several passes: the counts of the last are on the outside."""
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
