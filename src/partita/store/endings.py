"""The end of a run: how it ended, and when its calls began and ended, written beside their parts."""

from collections.abc import Callable
from contextlib import suppress
from typing import Concatenate, ParamSpec, TypeVar

from partita.errors import StoreError

from .log.timings import record_timings
from .transaction import Transaction

T = TypeVar("T")
P = ParamSpec("P")


def with_timings(
    tx: Transaction,
    end: Callable[Concatenate[Transaction, str, P], T],
    run_id: str,
    /,
    *args: P.args,
    **options: P.kwargs,
) -> T:
    """End a run, or seal it, and write the times of its calls."""
    result = end(tx, run_id, *args, **options)
    with suppress(
        StoreError
    ):  # a damaged or dropped log must not keep a run from ending: the doctor tells of it
        record_timings(tx, run_id)
    return result
