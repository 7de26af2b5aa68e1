"""Checks that an answer can be stopped anywhere, and leaves nothing behind."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import Final

from partita.runtime.closing import closed
from partita.types.events import AgentStreamEvent

from .candidate import Candidate, ContractError, made
from .leftovers import Leftovers
from .listening import begin

AFTER: Final = (1, 3, 10)
"""After how many events it is stopped."""

CLEAN_UP: Final = "clean up in a `finally` around everything that yields"


async def stops_when_closed(candidate: Candidate) -> None:
    """Closing the stream stops the agent, soon, and nothing of it is left."""
    for count in AFTER:
        async with made(candidate.make) as service:
            left, reached = Leftovers(), asyncio.Event()
            closing = asyncio.create_task(_close_after(begin(service, candidate), count, reached, left))
            if not await _happens(reached, candidate.patience):
                closing.cancel()
            await _within(candidate.patience, closing, count)
            if not closing.cancelled():
                closing.result()
            await _nothing(left, candidate.patience, count)


async def _close_after(
    stream: AsyncIterator[AgentStreamEvent], count: int, reached: asyncio.Event, left: Leftovers
) -> None:
    with suppress(Exception):  # what it raises by itself is for another check
        for _ in range(count):
            await anext(stream)
            left.look()
    reached.set()
    if not isinstance(stream, AsyncGenerator):
        raise ContractError("the stream cannot be closed", hint="write invoke as an async generator")
    try:
        await stream.aclose()
    except Exception as error:
        raise ContractError(
            f"to close it raised {type(error).__name__}: {error}", where=f"event {count}", hint=CLEAN_UP
        ) from error


async def stops_when_cancelled(candidate: Candidate) -> None:
    """Cancelling whoever reads stops the agent, soon, goes on to the reader, and nothing is left."""
    for count in AFTER:
        async with made(candidate.make) as service:
            left, reached = Leftovers(), asyncio.Event()
            reader = asyncio.create_task(_read(begin(service, candidate), count, reached, left))
            await _happens(reached, candidate.patience)
            was_at_work = reader.cancel()
            await _within(candidate.patience, reader, count)
            if was_at_work and not reader.cancelled():
                raise ContractError(
                    "it goes on though its reader was cancelled",
                    where=f"event {count}",
                    hint="let CancelledError through",
                )
            if not reader.cancelled():
                reader.exception()  # looked at: it is for another check
            await _nothing(left, candidate.patience, count)


async def _read(
    stream: AsyncIterator[AgentStreamEvent], count: int, reached: asyncio.Event, left: Leftovers
) -> None:
    number = 0
    try:
        async with closed(stream):
            async for _ in stream:
                number += 1
                left.look()
                if number == count:
                    reached.set()
    finally:
        reached.set()


async def _happens(event: asyncio.Event, patience: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(patience):
            await event.wait()
    return event.is_set()


async def _within(patience: float, task: "asyncio.Task[None]", count: int) -> None:
    """Wait for a task that is to end; one that takes too long is a breach."""
    await asyncio.wait([task], timeout=patience)
    if not task.done():
        task.cancel()
        raise ContractError(
            f"it has not stopped within {patience:g} seconds",
            where=f"event {count}",
            hint="do not wait for ever for the agent's goodbye",
        )


async def _nothing(left: Leftovers, patience: float, count: int) -> None:
    found = await left.found(patience)
    if found:
        raise ContractError(f"it left behind: {', '.join(found)}", where=f"event {count}", hint=CLEAN_UP)
