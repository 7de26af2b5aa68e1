"""A part of many cases, the same on every machine; with `PARTITA_FULL=1` all of them."""

import os
from collections.abc import Callable, Iterable
from typing import TypeVar
from zlib import crc32

T = TypeVar("T")

FULL = os.environ.get("PARTITA_FULL") == "1"
HUGE = 50_000_000 if FULL else 12_000_000
"""The length of a huge value. It is above every limit on outputs."""


def sampled(cases: Iterable[T], one_in: int, key: Callable[[T], object] = str) -> list[T]:
    """About one in so many of the cases, chosen by their keys."""
    return [case for case in cases if FULL or crc32(str(key(case)).encode()) % one_in == 0]


def picked(cases: list[T], count: int) -> list[T]:
    """So many of the cases, spread evenly."""
    return cases if FULL or len(cases) <= count else [cases[i * len(cases) // count] for i in range(count)]
