"""The usage of a response. Input that was cached, or written to the cache, is counted apart.

Source: https://docs.claude.com/en/api/messages#response-usage
"""

from typing import Final

from msgspec.structs import replace

from partita.formats.core.anthropic_response import usage_names
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.usage import Usage
from partita.types.value import Extra

USAGE: Final = usage_names()

BILLED: Final = ("message", "compaction")
"""The passes of a response that are billed as this model's."""

FALLBACK: Final = "fallback_message"
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
    usage = USAGE.read(raw)
    return replace(
        usage,
        cached_input_tokens=usage.cached_input_tokens or 0,
        cache_write_tokens=usage.cache_write_tokens or 0,
        raw=raw,
        extra=_billed(raw.get("iterations")),
    )


def _billed(iterations: Json) -> Extra | None:
    """What is billed if a response took several passes: the outer counts are those of the last."""
    passes = [one for one in iterations if is_object(one)] if is_array(iterations) else []
    if any(one.get("type") == FALLBACK for one in passes):
        return None
    paid = [USAGE.read(one) for one in passes if one.get("type") in BILLED]
    if not paid:
        return None
    sums = {
        "input": sum(one.input_tokens or 0 for one in paid),
        "output": sum(one.output_tokens or 0 for one in paid),
    }
    return Extra({"billed": sums})
