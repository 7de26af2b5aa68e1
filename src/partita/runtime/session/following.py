"""Watching a run: what is stored of it, then what comes, wherever it is at work."""

from collections.abc import AsyncGenerator, Sequence
from typing import Final

from partita.store.facade.store import Store
from partita.store.log.run_log import LogRecord, read_log
from partita.types.codec import encode

from .live_run import BATCH_BYTES, Batch, LiveRun, Seen

AT_ONCE: Final = 200
"""How many records are read at a time for who is far behind."""


async def follow_stored(
    store: Store, run_id: str, after: int, idle: float | None = None
) -> AsyncGenerator[Sequence[Seen], None]:
    """The chunks of a run that another process works on, or that has ended."""
    async for records in store.follow(run_id, after=after, idle=idle):
        shown = seen_of(records)
        if shown or not records:
            yield shown


async def follow_live(
    store: Store, live: LiveRun, after: int, idle: float | None = None
) -> AsyncGenerator[Sequence[Seen], None]:
    """The chunks of a run of this process: from memory, and from the store for who is far behind."""
    with live.watch() as news:
        while True:
            news.clear()  # before looking, so that what comes in between is not missed
            over, last_seq = live.over.is_set(), live.last_seq
            batch = live.after(after)
            if batch is None:
                records = await store.read(
                    read_log, live.run.id, after=after, limit=AT_ONCE, most_bytes=BATCH_BYTES
                )
                batch = Batch(seen_of(records), records[-1].seq)
            shown, end = batch
            after = max(after, end)
            if shown:
                yield shown
            elif after < last_seq:
                continue  # a stretch of the log without chunks
            elif over:
                return
            elif idle is None:
                await news.next()
            elif not await news.wait(idle):
                yield ()


def seen_of(records: Sequence[LogRecord]) -> list[Seen]:
    """What of a log is to be shown: its chunks."""
    return [Seen(r.seq, r.time, r.chunk, encode(r.chunk)) for r in records if r.chunk is not None]
