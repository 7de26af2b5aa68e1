"""Usages, added up."""

from collections.abc import Iterable, Mapping

from partita.types.usage import Usage

from .transcript import Consumption


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
