"""A stored run once more: its chunks, with the pauses there were, with shorter ones, or at once."""

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Final, TypeAlias

from partita.errors import AgentError
from partita.runtime.service import closed
from partita.runtime.session.live_run import StoredChunk
from partita.runtime.session.run_stream import ChunkFilter, follow_stored
from partita.runtime.session.sse import Framing
from partita.store.logs.run_log import status_of
from partita.store.store import Store
from partita.stream.encoder import SseEncoder
from partita.stream.targets import Target
from partita.types.threads import Run

from .message_chunks import is_imported, retold_run
from .recorded_run import get_run

Sleep: TypeAlias = Callable[[float], Awaitable[object]]

KEEP_ALIVE: Final = 15.0
"""After so many seconds without a word, a client is told that the stream is alive."""

UNNOTICED: Final = 0.001
"""A pause that is not worth waking up for: it is added to the next one."""


class Pace:
    """How long to wait before each chunk."""

    def __init__(
        self,
        speed: float | None,
        longest: float | None = None,
        *,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`speed` 2 is twice as fast as it was; `None` and 0 do not wait. No pause is above `longest`."""
        if speed is not None and not speed >= 0:  # nor is NaN
            raise AgentError(f"a speed of {speed}", hint="1 is as it was, 10 ten times as fast, 0 at once")
        self._factor = 1 / speed if speed and math.isfinite(speed) else 0.0
        self._longest = math.inf if longest is None else longest
        self._sleep = sleep
        self._clock = clock
        self._last: datetime | None = None
        self._owed = 0.0

    async def wait_for(self, moment: datetime) -> None:
        """Wait as long as it took from the chunk before to this one."""
        before, self._last = self._last or moment, moment
        pause = max((moment - before).total_seconds(), 0.0) * self._factor
        self._owed += min(pause, self._longest)
        if self._owed < UNNOTICED:
            return
        began = self._clock()
        await self._sleep(self._owed)
        late = self._clock() - began - self._owed
        self._owed = -max(late, 0.0)  # who slept too long sleeps less the next time


async def play(
    store: Store,
    run_id: str,
    *,
    speed: float | None = 1.0,
    after: int = 0,
    longest_pause: float | None = None,
    notes: bool = False,
    sleep: Sleep = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> AsyncGenerator[StoredChunk, None]:
    """The chunks of a run after a number. What is stored comes at the given speed; a run that is at work is
    followed from there on. Notes of ours and internal messages are left out, unless they are asked for.

    Of a run that was imported the messages are told once more: nobody wrote down its chunks.
    """
    pace = Pace(speed, longest_pause, sleep=sleep, clock=clock)
    stored = (await store.read(status_of, run_id)).last_seq
    run = await get_run(store, run_id)
    filter_ = ChunkFilter()
    await filter_.catch_up(store, run_id, after)
    stream = _retold(store, run, after) if is_imported(run) else follow_stored(store, run_id, after)
    async with closed(stream) as batches:
        async for batch in batches:
            for seen in batch if notes else filter_.apply(batch):
                if seen.seq <= stored or is_imported(run):
                    await pace.wait_for(seen.time)
                yield seen


async def _retold(store: Store, run: Run, after: int) -> AsyncGenerator[Sequence[StoredChunk], None]:
    yield [seen for seen in await retold_run(store, run) if seen.seq > after]


async def play_sse(
    store: Store,
    run_id: str,
    *,
    speed: float | None = 1.0,
    after: int = 0,
    longest_pause: float | None = None,
    version: Target | str | int | None = 7,
    keep_alive: float | None = KEEP_ALIVE,
    framing: Framing | None = None,
    sleep: Sleep = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> AsyncGenerator[bytes, None]:
    """A run as server-sent events for a client of that release; the last one says that it is over.

    A `framing` writes another format.
    """
    encoder = framing or SseEncoder(version)
    chunks = play(
        store, run_id, speed=speed, after=after, longest_pause=longest_pause, sleep=sleep, clock=clock
    )
    async with aclosing(chunks), aclosing(_or_silence(chunks, keep_alive)) as moments:
        async for seen in moments:
            data = encoder.keep_alive() if seen is None else encoder.encode(seen.chunk)
            if data:
                yield data
    yield encoder.finish()


async def _or_silence(
    chunks: AsyncGenerator[StoredChunk, None], seconds: float | None
) -> AsyncGenerator[StoredChunk | None, None]:
    """The chunks, and `None` whenever none came for so many seconds."""
    while True:
        waiting = asyncio.ensure_future(anext(chunks, None))
        try:
            while not (await asyncio.wait([waiting], timeout=seconds))[0]:
                yield None
            seen = await waiting
        finally:
            await _stopped(waiting)
        if seen is None:
            return
        yield seen


async def _stopped(task: "asyncio.Future[StoredChunk | None]") -> None:
    """Nobody waits for it any more: nor does it go on."""
    if not task.done():
        task.cancel()
        await asyncio.wait([task])
    if not task.cancelled():
        task.exception()  # whoever left does not want to know
