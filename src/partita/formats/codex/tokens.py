"""Token counts: what one response consumed, out of events that repeat themselves.

`total_token_usage` runs through the whole thread; `last_token_usage` is the last call's. An event whose total
is that of the event before says nothing new (limits are told that way). A total that goes down (compaction,
another thread in the file) is a new base, and its last usage counts like any other.
"""

from typing import Final, NamedTuple

from partita.types.json import Json, JsonObject, is_object
from partita.types.usage import Usage

from .fields import whole

NAMES: Final = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "total_tokens",
)


class Count(NamedTuple):
    """What a response consumed; `at` tells its place in the thread, and is copied with it into forks."""

    usage: Usage
    at: str


class TokenCounts:
    """Events in; what is new in them out."""

    def __init__(self) -> None:
        self.total: JsonObject | None = None  # the last one

    def take(self, info: Json) -> Count | None:
        """The count that an event's `info` adds; `None` when it repeats the one before."""
        if not is_object(info):
            return None
        total, last = info.get("total_token_usage"), info.get("last_token_usage")
        running = total if is_object(total) else last
        if not is_object(running) or running == self.total:
            return None
        before, self.total = self.total, running
        if not is_object(last):
            last = _difference(running, before)
        return Count(usage_of(last), "/".join([str(running.get(name, 0)) for name in NAMES]))


def usage_of(counts: JsonObject) -> Usage:
    """Counts of Codex as a usage: input holds what was cached, output holds reasoning, in both."""
    taken, cached, written, given, reasoning, total = [
        count if type(count) is int else None for count in map(counts.get, NAMES)
    ]
    return Usage(
        input_tokens=taken,
        output_tokens=given,
        total_tokens=total,
        reasoning_tokens=reasoning,
        cached_input_tokens=cached,
        cache_write_tokens=written,
        raw=counts,
    )


def _difference(total: JsonObject, before: JsonObject | None) -> JsonObject:
    """What came to a running total since the one before; all of it, when that one was higher."""
    if before is None or (whole(total, "total_tokens") or 0) < (whole(before, "total_tokens") or 0):
        return total
    return {
        name: max(0, count - (whole(before, name) or 0)) for name in NAMES if (count := whole(total, name))
    }
