"""A sample of cases, the same on every machine, or all cases with `PARTITA_FULL=1`."""

import os
from collections.abc import Callable, Iterable
from typing import TypeVar
from zlib import crc32

T = TypeVar("T")

FULL = os.environ.get("PARTITA_FULL") == "1"
HUGE = 50_000_000 if FULL else 12_000_000
"""The length of a huge value, which is above every limit on outputs."""


def sampled(cases: Iterable[T], one_in: int, key: Callable[[T], object] = str) -> list[T]:
    """Return about one in `one_in` of the cases, chosen by their keys."""
    return [case for case in cases if FULL or crc32(str(key(case)).encode()) % one_in == 0]


def picked(cases: list[T], count: int) -> list[T]:
    """Return `count` of the cases, evenly spaced."""
    return cases if FULL or len(cases) <= count else [cases[i * len(cases) // count] for i in range(count)]
