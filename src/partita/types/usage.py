"""Token usage of model calls, and the names that providers use for the counts."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from .json import Json, JsonObject, is_object
from .value import Value

LARGEST_COUNT: Final = 2**63 - 1
"""Databases and other readers do not accept larger integers."""


class Usage(Value):
    """Token counts. `raw` is the provider's usage object, unchanged."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    raw: Json | UnsetType = UNSET


Names: TypeAlias = Sequence[str]
"""The name that is written, and others that are read if it is absent or 0; a dot leads into an object.

A count in an object is only written if it is known; one that is not in an object is then 0.
"""


class UsageNames:
    """The names that a provider uses for token counts."""

    def __init__(
        self,
        *,
        input: Names,
        output: Names,
        reasoning: Names = (),
        cached: Names = (),
        cache_write: Names = (),
        total: Names = (),
        excludes_cache: bool = False,
        template: JsonObject | None = None,
    ) -> None:
        """`total`: if it has a name; otherwise it is the sum of input and output.

        `excludes_cache`: the input tokens do not include those that were cached or written to the cache.
        `template`: what is always written. Counts of reasoning and the cache are written if they are not 0.
        """
        names = (input, output, total, reasoning, cached, cache_write)
        self._paths = tuple(tuple(map(_path, some)) for some in names)
        self._written = tuple((index, *paths[0]) for index, paths in enumerate(self._paths) if paths)
        self._template, self._excludes_cache = template or {}, excludes_cache

    def read(self, raw: JsonObject) -> Usage:
        """The usage in a provider's object, which is kept in `raw` if it contains more than the counts."""
        usage = self.read_counts(raw)
        return usage if self._counts(usage) == raw else replace(usage, raw=raw)

    def read_counts(self, raw: JsonObject) -> Usage:
        """The usage without the provider's object."""
        input_count, output_count, total, reasoning, cached, cache_write = [
            _count(raw, paths) for paths in self._paths
        ]
        if self._excludes_cache and input_count is not None:
            input_count += (cached or 0) + (cache_write or 0)
        if not self._paths[2]:
            total = None if input_count is None or output_count is None else input_count + output_count
        return Usage(input_count, output_count, total, reasoning, cached, cache_write)

    def write(self, usage: Usage) -> JsonObject:
        """The provider's object: `raw` if it has this provider's form and the counts are unchanged."""
        raw = usage.raw
        if not is_object(raw) or usage.total_tokens is None:
            return self._counts(usage)
        return raw if replace(self.read_counts(raw), raw=raw) == usage else self._counts(usage)

    def _counts(self, usage: Usage) -> JsonObject:
        cached, cache_write = usage.cached_input_tokens, usage.cache_write_tokens
        input_count, output_count = usage.input_tokens or 0, usage.output_tokens or 0
        total = input_count + output_count if usage.total_tokens is None else usage.total_tokens
        if self._excludes_cache:
            input_count = max(input_count - (cached or 0) - (cache_write or 0), 0)
        counts = (input_count, output_count, total, usage.reasoning_tokens, cached, cache_write)
        written = dict(self._template)
        for index, name, inner in self._written:
            count = counts[index]
            if inner is None:
                if count or index < 3 or name in written:
                    written[name] = count or 0
            elif count is not None:
                written[name] = {**written.get(name, {}), inner: count}
        return written


def _path(name: str) -> tuple[str, str | None]:
    """The name of a member, and that of the member in it if it is an object."""
    outer, _, inner = name.partition(".")
    return outer, inner or None


def _count(raw: JsonObject, paths: Sequence[tuple[str, str | None]]) -> int | None:
    found: int | None = None
    for name, inner in paths:
        value: Any = raw.get(name)
        if inner is not None:
            value = value.get(inner) if type(value) is dict else None
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is int and 0 <= value <= LARGEST_COUNT:
            if value:
                return value
            found = value
    return found


def sum_usages(usages: Sequence[Usage]) -> Usage | None:
    """The usage of several model calls: `None` if there are none, the same usage if there is only one."""
    return None if not usages else usages[0] if len(usages) == 1 else add_usages(usages)


def add_usages(usages: Sequence[Usage]) -> Usage:
    """The sums of all counts, without the objects of the providers."""
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
