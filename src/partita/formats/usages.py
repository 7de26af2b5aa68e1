"""Usages: those of the AI SDK, read, and sums of usages."""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from partita.types.json import JsonObject, is_object
from partita.types.usage import Usage

from .log.sink import Consumption

AI_SDK_COUNTS: Final[Mapping[str, str]] = {
    "inputTokenDetails.cacheReadTokens": "cached_input_tokens",
    "inputTokenDetails.cacheWriteTokens": "cache_write_tokens",
    "outputTokenDetails.reasoningTokens": "reasoning_tokens",
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "totalTokens": "total_tokens",
    "reasoningTokens": "reasoning_tokens",
    "cachedInputTokens": "cached_input_tokens",
    "cacheCreationInputTokens": "cache_write_tokens",
}
"""The counts of `LanguageModelUsage` of AI SDK 5 to 7 and of Mastra, and our names for them."""


def ai_sdk_usage(raw: JsonObject) -> Usage:
    """A usage of the AI SDK or of Mastra. `raw` keeps it as it was."""
    flat = dict(raw)
    for name, details in raw.items():
        if is_object(details):
            flat |= {f"{name}.{key}": count for key, count in details.items()}
    known = {ours: flat[theirs] for theirs, ours in AI_SDK_COUNTS.items() if type(flat.get(theirs)) is int}
    return replace(Usage(raw=raw), **known)


def sum_of(usages: Mapping[str, Consumption]) -> Usage:
    """The usage of a message: that of its response, or of all of them."""
    each = [consumption.usage for consumption in usages.values()]
    return each[0] if len(each) == 1 else add_usages(each)


def add_usages(usages: list[Usage]) -> Usage:
    """Usages in one."""
    return Usage(
        input_tokens=_total(usage.input_tokens for usage in usages),
        output_tokens=_total(usage.output_tokens for usage in usages),
        total_tokens=_total(usage.total_tokens for usage in usages),
        reasoning_tokens=_total(usage.reasoning_tokens for usage in usages),
        cached_input_tokens=_total(usage.cached_input_tokens for usage in usages),
        cache_write_tokens=_total(usage.cache_write_tokens for usage in usages),
    )


def _total(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None
