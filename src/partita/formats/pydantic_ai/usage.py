"""Pydantic AI's usage of a request ↔ usage. Its input includes what was cached."""

from typing import Final

from msgspec.structs import replace

from partita.types.json import Json, JsonObject, is_object
from partita.types.usage import Usage

from .shapes import object_of

COUNTS: Final = (("input_tokens", "request_tokens"), ("output_tokens", "response_tokens"))
"""What was given and what was made, under the names of today and of before."""

NOTHING: Final[JsonObject] = {
    "input_tokens": 0,
    "cache_write_tokens": 0,
    "cache_write_1h_tokens": 0,
    "cache_read_tokens": 0,
    "output_tokens": 0,
    "output_reasoning_tokens": 0,
    "input_audio_tokens": 0,
    "cache_audio_read_tokens": 0,
    "output_audio_tokens": 0,
    "audio_seconds": 0.0,
    "details": {},
    "cost": None,
}


def read_usage(raw: JsonObject) -> Usage:
    """The usage, and the whole of it word for word if it says more than that."""
    given, made = (_count(raw.get(new, raw.get(old))) for new, old in COUNTS)
    reasoning = _count(raw.get("output_reasoning_tokens"))
    if not reasoning:
        reasoning = _count(object_of(raw.get("details")).get("reasoning_tokens")) or reasoning
    usage = Usage(
        input_tokens=given,
        output_tokens=made,
        total_tokens=None if given is None or made is None else given + made,
        reasoning_tokens=reasoning,
        cached_input_tokens=_count(raw.get("cache_read_tokens")),
        cache_write_tokens=_count(raw.get("cache_write_tokens")),
    )
    return usage if _written(usage) == raw else replace(usage, raw=raw)


def write_usage(usage: Usage) -> JsonObject:
    """Usage as Pydantic AI counts it; word for word if it came from there and nothing was changed since."""
    raw = usage.raw
    is_whole = is_object(raw) and all(type(raw.get(new, raw.get(old))) is int for new, old in COUNTS)
    return raw if is_object(raw) and is_whole and read_usage(raw) == usage else _written(usage)


def _written(usage: Usage) -> JsonObject:
    return {
        **NOTHING,
        "input_tokens": usage.input_tokens or 0,
        "cache_write_tokens": usage.cache_write_tokens or 0,
        "cache_read_tokens": usage.cached_input_tokens or 0,
        "output_tokens": usage.output_tokens or 0,
        "output_reasoning_tokens": usage.reasoning_tokens or 0,
    }


def _count(value: Json) -> int | None:
    return value if type(value) is int else None
