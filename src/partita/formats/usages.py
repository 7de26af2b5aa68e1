"""Usages: those of the AI SDK, read, and sums of usages."""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from partita.types.json import JsonObject
from partita.types.usage import Usage, UsageNames

from .log.sink import Consumption

AI_SDK: Final = UsageNames(
    input=["inputTokens"],
    output=["outputTokens"],
    total=["totalTokens"],
    reasoning=["reasoningTokens", "outputTokenDetails.reasoningTokens"],
    cached=["cachedInputTokens", "inputTokenDetails.cacheReadTokens"],
    cache_write=["cacheCreationInputTokens", "inputTokenDetails.cacheWriteTokens"],
)
"""The counts of `LanguageModelUsage` of AI SDK 5 to 7 and of Mastra, of which the SDK has some twice."""


def ai_sdk_usage(raw: JsonObject) -> Usage:
    """A usage of the AI SDK or of Mastra. `raw` keeps it as it was."""
    return replace(AI_SDK.read_counts(raw), raw=raw)


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
