"""What Mastra counts, in our counts."""

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from partita.types.codec import to_json
from partita.types.json import Json, JsonObject
from partita.types.usage import Usage

COUNTS: Final[Mapping[str, str]] = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "totalTokens": "total_tokens",
    "reasoningTokens": "reasoning_tokens",
    "cachedInputTokens": "cached_input_tokens",
    "cacheCreationInputTokens": "cache_write_tokens",
}


def usage_of(raw: JsonObject) -> Json:
    """A usage as metadata holds it, beside all that was counted."""
    known = {ours: raw[theirs] for theirs, ours in COUNTS.items() if type(raw.get(theirs)) is int}
    return to_json(replace(Usage(raw=raw), **known))
