"""LangChain's `usage_metadata` ↔ usage. Its input includes what was cached."""

from typing import Final

from msgspec.structs import replace

from partita.formats.framework.members import present
from partita.types.json import Json, JsonObject, is_object
from partita.types.usage import Usage

COUNTS: Final = ("input_tokens", "output_tokens", "total_tokens")


def read_usage(raw: JsonObject) -> Usage:
    """The usage, and the whole of it word for word if it says more than that."""
    inward, outward = _object(raw.get("input_token_details")), _object(raw.get("output_token_details"))
    usage = Usage(
        input_tokens=_count(raw.get("input_tokens")),
        output_tokens=_count(raw.get("output_tokens")),
        total_tokens=_count(raw.get("total_tokens")),
        reasoning_tokens=_count(outward.get("reasoning")),
        cached_input_tokens=_count(inward.get("cache_read")),
        cache_write_tokens=_count(inward.get("cache_creation")),
    )
    return usage if _written(usage) == raw else replace(usage, raw=raw)


def write_usage(usage: Usage) -> JsonObject:
    """Usage as LangChain counts it; word for word if it came from there and nothing was changed since."""
    raw = usage.raw
    is_whole = is_object(raw) and all(type(raw.get(name)) is int for name in COUNTS)
    return raw if is_object(raw) and is_whole and read_usage(raw) == usage else _written(usage)


def _written(usage: Usage) -> JsonObject:
    inward = present(cache_creation=usage.cache_write_tokens, cache_read=usage.cached_input_tokens)
    outward = present(reasoning=usage.reasoning_tokens)
    given, made = usage.input_tokens or 0, usage.output_tokens or 0
    total = given + made if usage.total_tokens is None else usage.total_tokens
    return {
        "input_tokens": given,
        "output_tokens": made,
        "total_tokens": total,
        **({"input_token_details": inward} if inward else {}),
        **({"output_token_details": outward} if outward else {}),
    }


def _count(value: Json) -> int | None:
    return value if type(value) is int else None


def _object(value: Json) -> JsonObject:
    return value if is_object(value) else {}
