"""Ctrl-C while something is waited for: it is let go in order, but not for long.

A store that somebody else has locked is waited for half a minute. Who has pressed Ctrl-C does not wait with
it; nothing is lost by that, since what was not committed was never there.
"""

import asyncio
from collections.abc import Coroutine
from inspect import CORO_CREATED, getcoroutinestate
from typing import Any, TypeVar

from .leaving import leave_soon

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine gives. Ctrl-C stops it, and ends the process soon if it does not stop."""
    try:
        return asyncio.run(heeding(work))
    finally:
        forget(work)


def forget(work: Coroutine[Any, Any, Any]) -> None:
    """Let go of what never began, because Ctrl-C came first: Python would complain of it."""
    if getcoroutinestate(work) == CORO_CREATED:
        work.close()


async def heeding(work: Coroutine[Any, Any, T]) -> T:
    """What a coroutine gives; the process ends soon when it is cancelled and does not end itself."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        leave_soon()
        task.cancel()
        return await task
