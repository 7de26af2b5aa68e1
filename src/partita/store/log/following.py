"""Reading the log of a run while it is written, by whomever."""

from collections.abc import AsyncIterator
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection

from partita.store.engines.engine import Engine
from partita.store.microseconds import EPOCH
from partita.store.runs import AT_WORK
from partita.store.transaction import Transaction

from .run_log import LogRecord, read_log, status_of

AT_ONCE = 1000
"""How many records one step brings at most."""

STEP_BYTES = 128 * 1024
"""And about how many bytes: they stay in memory until the reader has taken them."""

LOOK_AGAIN = 1.0
"""How many seconds may pass without a look, should news get lost."""


class _Step(NamedTuple):
    records: list[LogRecord]
    over: bool  # the run has ended, and there is nothing behind these records


async def follow(
    engine: Engine, owner: str | None, run_id: str, *, after: int = 0, idle: float | None = None
) -> AsyncIterator[list[LogRecord]]:
    """The records above `after`: what is there, then what comes, until the run has ended.

    With `idle`, an empty list comes whenever nothing else has come for about so many seconds.
    """
    quiet = 0.0
    with engine.listen(run_id) as news:
        while True:
            news.clear()  # before looking, so that what comes in between is not missed
            step = await engine.read(partial(_look, owner=owner, run_id=run_id, after=after))
            if step.records:
                after = step.records[-1].seq
                yield step.records
            if step.over:
                return
            if step.records:
                quiet = 0.0
                continue
            if idle is not None and quiet >= idle:
                quiet = 0.0
                yield []
            if not await news.wait(LOOK_AGAIN):
                quiet += LOOK_AGAIN


def _look(connection: Connection, *, owner: str | None, run_id: str, after: int) -> _Step:
    tx = Transaction(connection, owner, EPOCH)  # nothing here asks what time it is
    state = status_of(tx, run_id)
    records = read_log(tx, run_id, after=after, limit=AT_ONCE, most_bytes=STEP_BYTES)
    seen = records[-1].seq if records else after
    return _Step(records, state.status not in AT_WORK and seen >= state.last_seq)
