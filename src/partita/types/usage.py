"""What a model call consumed, and the names that providers have for the counts."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from msgspec import UNSET, UnsetType

from .json import Json, JsonObject, is_object
from .value import Value


class Usage(Value):
    """Token counts. `raw` is the provider's object, unchanged."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    raw: Json | UnsetType = UNSET


Names: TypeAlias = Sequence[str]
"""The name that is written, and others that are read if it is absent or 0; a dot leads into an object."""


class UsageNames:
    """The names of a provider for its counts. Its input tokens include cached ones, unless they are apart."""

    def __init__(
        self,
        *,
        input: Names,
        output: Names,
        reasoning: Names = (),
        cached: Names = (),
        cache_write: Names = (),
        total: str | None = None,
        is_cache_apart: bool = False,
        template: JsonObject | None = None,
    ) -> None:
        """`template`: what is written besides the counts; `total`: the name of their sum, if it has one.

        `is_cache_apart`: the input tokens do not include those that were cached or written to the cache.
        """
        names = (input, output, reasoning, cached, cache_write)
        self._paths = tuple(tuple(tuple(name.split(".")) for name in some) for some in names)
        self._written = tuple(some[0] if some else None for some in names)
        self._total, self._is_cache_apart = total, is_cache_apart
        self._template = template or {}

    def read(self, raw: JsonObject) -> Usage:
        """Usage, with the provider's object in `raw` if that contains more."""
        given, made, reasoning, cached, cache_write = [_count(raw, paths) for paths in self._paths]
        if self._is_cache_apart and given is not None:
            given += (cached or 0) + (cache_write or 0)
        total = None if given is None or made is None else given + made
        usage = Usage(given, made, total, reasoning, cached, cache_write)
        return (
            usage
            if self._counts(usage) == raw
            else Usage(given, made, total, reasoning, cached, cache_write, raw)
        )

    def write(self, usage: Usage) -> JsonObject:
        """The provider's object: `raw` if it is from there and the counts were not changed since."""
        raw = usage.raw
        is_own = is_object(raw) and usage.total_tokens is not None and self.read(raw) == usage
        return raw if is_object(raw) and is_own else self._counts(usage)

    def _counts(self, usage: Usage) -> JsonObject:
        given, cached, cache_write = usage.input_tokens, usage.cached_input_tokens, usage.cache_write_tokens
        if self._is_cache_apart and given is not None:
            given = max(given - (cached or 0) - (cache_write or 0), 0)
        counts = (given, usage.output_tokens, usage.reasoning_tokens, cached, cache_write)
        written: JsonObject = dict(self._template)
        for name, count in zip(self._written, counts, strict=True):
            if name is not None:
                *path, last = name.split(".")
                holder = written
                for key in path:
                    holder = holder.setdefault(key, {})
                holder[last] = count or 0
        if self._total is not None:
            written[self._total] = (usage.input_tokens or 0) + (usage.output_tokens or 0)
        return written


def _count(raw: JsonObject, paths: Sequence[Sequence[str]]) -> int | None:
    found: int | None = None
    for path in paths:
        value: Any = raw
        for key in path:
            value = value.get(key) if type(value) is dict else None
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is int:
            if value:
                return value
            found = value
    return found
