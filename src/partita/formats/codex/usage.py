"""Token counts of responses, from events that may be repeated.

`total_token_usage` is a running total of the thread; `last_token_usage` is that of the last model call. An
event with the same total as the one before adds nothing: such events report rate limits. A total that
decreases (after a compaction, or of another thread in the file) is a new base.
Source: `TokenUsageInfo` in `codex-rs/protocol/src/protocol.rs`.
"""

from typing import Final, NamedTuple

from msgspec.structs import replace

from partita.types.json import Json, JsonObject, is_object
from partita.types.usage import Usage, UsageNames

from .wire import integer

COUNTS: Final = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "total_tokens",
)
"""The members of both."""

USAGE: Final = UsageNames(
    input=["input_tokens"],
    output=["output_tokens"],
    reasoning=["reasoning_output_tokens"],
    cached=["cached_input_tokens"],
    cache_write=["cache_write_input_tokens"],
    total=["total_tokens"],
    template={"cached_input_tokens": 0, "reasoning_output_tokens": 0},
)
"""Input includes what was cached, output includes reasoning."""

REQUIRED: Final = dict.fromkeys((name for name in COUNTS if name != "cache_write_input_tokens"), 0)
"""Codex ignores counts without these members."""


class Count(NamedTuple):
    """The usage of a response. `position` is the running total after it, which forks copy."""

    usage: Usage
    position: str


class TokenCounts:
    """Finds the usage that each event adds."""

    def __init__(self) -> None:
        self.total: JsonObject | None = None  # the last one

    def take(self, info: Json) -> Count | None:
        """Return the count that the `info` of an event adds; `None` if it repeats the one before."""
        if not is_object(info):
            return None
        total, last = info.get("total_token_usage"), info.get("last_token_usage")
        running = total if is_object(total) else last
        if not is_object(running) or running == self.total:
            return None
        before, self.total = self.total, running
        if not is_object(last):
            last = _difference(running, before)
        return Count(read_usage(last), "/".join([str(running.get(name, 0)) for name in COUNTS]))


def read_usage(counts: JsonObject) -> Usage:
    """The usage of counts, which are its `raw`."""
    return replace(USAGE.read_counts(counts), raw=counts)


def write_usage(usage: Usage) -> JsonObject:
    """The counts of a usage. Unknown ones are 0."""
    counts = {**REQUIRED, **USAGE.write(usage)}
    if usage.cache_write_tokens is not None:
        counts["cache_write_input_tokens"] = usage.cache_write_tokens
    return {name: max(count, 0) if type(count) is int else count for name, count in counts.items()}


def _difference(total: JsonObject, before: JsonObject | None) -> JsonObject:
    """Return what was added to a running total; all of it if the total before was higher."""
    if before is None or (integer(total, "total_tokens") or 0) < (integer(before, "total_tokens") or 0):
        return total
    return {
        name: max(0, count - (integer(before, name) or 0))
        for name in COUNTS
        if (count := integer(total, name))
    }
