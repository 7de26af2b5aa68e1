"""Play a stored run: its chunks at the original speed, at another one, or without pauses."""

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
from partita.runtime.session.sse import KEEP_ALIVE, Framing, with_silence
from partita.store.logs.run_log import status_of
from partita.store.store import Store
from partita.stream.encoder import SseEncoder
from partita.stream.targets import Target
from partita.types.threads import Run

from .message_chunks import chunks_of_imported_run, is_imported
from .recorded_run import get_run

Sleep: TypeAlias = Callable[[float], Awaitable[object]]

MIN_PAUSE: Final = 0.001
"""A shorter pause is added to the next one."""


class Pace:
    """Waits before each chunk."""

    def __init__(
        self,
        speed: float | None,
        longest: float | None = None,
        *,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`speed` 2 is twice as fast as the run was; `None` and 0: no pauses. `longest` limits each pause."""
        if speed is not None and not speed >= 0:  # nor is NaN
            raise AgentError(
                f"invalid speed {speed}", hint="1 is the original speed, 10 ten times as fast, 0 no pauses"
            )
        self._factor = 1 / speed if speed and math.isfinite(speed) else 0.0
        self._longest = math.inf if longest is None else longest
        self._sleep = sleep
        self._clock = clock
        self._last: datetime | None = None
        self._owed = 0.0

    async def wait_for(self, time: datetime) -> None:
        """Wait for the time between the chunk before and this one."""
        before, self._last = self._last or time, time
        pause = max((time - before).total_seconds(), 0.0) * self._factor
        self._owed += min(pause, self._longest)
        if self._owed < MIN_PAUSE:
            return
        started = self._clock()
        await self._sleep(self._owed)
        late = self._clock() - started - self._owed
        self._owed = -max(late, 0.0)  # a sleep that was too long shortens the next one


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
    """The chunks of a run after a number: stored ones at the given speed, then live ones of an active run.

    Notes of Partita and internal messages are left out, unless `notes` are requested. An imported run has no
    chunks: they are made of its messages.
    """
    pace = Pace(speed, longest_pause, sleep=sleep, clock=clock)
    stored = (await store.read(status_of, run_id)).last_seq
    run = await get_run(store, run_id)
    filter_ = ChunkFilter()
    await filter_.catch_up(store, run_id, after)
    stream = _imported(store, run, after) if is_imported(run) else follow_stored(store, run_id, after)
    async with closed(stream) as batches:
        async for batch in batches:
            for one in batch if notes else filter_.apply(batch):
                if one.seq <= stored or is_imported(run):
                    await pace.wait_for(one.time)
                yield one


async def _imported(store: Store, run: Run, after: int) -> AsyncGenerator[Sequence[StoredChunk], None]:
    yield [one for one in await chunks_of_imported_run(store, run) if one.seq > after]


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
    """The chunks of `play` as server-sent events for a client of that release of the AI SDK.

    A `framing` writes another format.
    """
    encoder = framing or SseEncoder(version)
    chunks = play(
        store, run_id, speed=speed, after=after, longest_pause=longest_pause, sleep=sleep, clock=clock
    )
    async with aclosing(chunks), aclosing(with_silence(chunks, keep_alive)) as items:
        async for item in items:
            data = encoder.keep_alive() if item is None else encoder.encode(item.chunk)
            if data:
                yield data
    yield encoder.finish()
