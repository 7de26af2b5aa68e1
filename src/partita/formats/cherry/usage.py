"""What Cherry Studio counts: `stats` today, `usage` before."""

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from partita.types.json import Json, JsonObject, is_object
from partita.types.usage import Usage

COUNTS: Final[Mapping[str, tuple[str, ...]]] = {
    "input_tokens": ("inputTokens", "promptTokens", "prompt_tokens"),
    "output_tokens": ("outputTokens", "completionTokens", "completion_tokens"),
    "total_tokens": ("totalTokens", "total_tokens"),
    "reasoning_tokens": (
        "outputTokenDetails.reasoningTokens",
        "outputTokenDetails.reasoning",
        "thoughtsTokens",
        "thoughts_tokens",
    ),
    "cached_input_tokens": ("inputTokenDetails.cacheReadTokens", "inputTokenDetails.cacheRead"),
    "cache_write_tokens": ("inputTokenDetails.cacheWriteTokens", "inputTokenDetails.cacheWrite"),
}
"""Our counts, and the names they have had there. The first that is there is taken."""


def read_usage(raw: JsonObject) -> Usage:
    """The counts, beside everything that was counted."""
    found: dict[str, int] = {}
    for count, names in COUNTS.items():
        values = (_at(raw, name) for name in names)
        number = next((value for value in values if type(value) is int), None)
        if number is not None:
            found[count] = number
    return replace(Usage(raw=raw), **found)


def _at(raw: JsonObject, name: str) -> Json:
    value: Json = raw
    for step in name.split("."):
        value = value.get(step) if is_object(value) else None
    return value
