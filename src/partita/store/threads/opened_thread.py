"""What is needed to open a thread: its outline, and the messages that are displayed first."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Final, NamedTuple

from sqlalchemy import Row, select

from partita.store.messages.queries import PartTime, get_many, part_times
from partita.store.schema import messages
from partita.store.sql.transaction import Transaction
from partita.store.stats.stats import usage_of_thread
from partita.store.values import UsageTotals
from partita.types.messages import Message
from partita.types.threads import Thread

from . import rows as threads
from .branches import EVERYTHING, Bounds, Outline, OutlineRow, is_running, outline_within
from .copies import is_session

MAX_BYTES: Final = 200_000
"""The size of the messages that are returned with an outline: larger ones are fewer."""


class OpenedThread(NamedTuple):
    """A thread as it opens."""

    thread: Thread
    outline: Outline
    complete: bool
    """Whether the outline has all messages of the branch."""
    usage: UsageTotals
    at_end: bool
    """Whether the newest messages are of interest first: the thread can be continued, or is running."""
    messages: tuple[Message, ...]
    times: Mapping[str, Sequence[PartTime]]


def open_thread(
    tx: Transaction,
    thread_id: str,
    *,
    through: str | None = None,
    internal: bool = False,
    count: int = 0,
    around: str | None = None,
) -> OpenedThread:
    """The outline of a branch, and so many of its messages: around one of them, or else where it opens.

    In the latter case, the outline of the active branch has only these messages.
    """
    row = threads.find(tx, thread_id)
    thread = threads.from_row(row)
    at_end = is_running(tx, row) or not is_session(thread)
    bounds = EVERYTHING
    if count and through is None and around is None:
        bounds = _bounds(tx, row, count, internal=internal, at_end=at_end)
    found = outline_within(tx, thread_id, bounds, through=through, internal=internal)
    ids = _displayed(found.rows, count, around, at_end=at_end)
    return OpenedThread(
        thread,
        found,
        bounds == EVERYTHING,
        usage_of_thread(tx, thread_id),
        at_end,
        get_many(tx, thread_id, ids, blobs="reference"),
        part_times(tx, thread_id, ids),
    )


def _bounds(tx: Transaction, thread: Row[Any], count: int, *, internal: bool, at_end: bool) -> Bounds:
    """The bounds of the first or last messages of the active branch."""
    seq = messages.c.seq
    query = (
        select(seq)
        .where(messages.c.owner == thread.owner, messages.c.thread_id == thread.id, messages.c.active)
        .order_by(seq.desc() if at_end else seq)
        .limit(count + 1)
    )
    found = tx.rows(query if internal else query.where(~messages.c.internal))
    if len(found) <= count:
        return EVERYTHING
    last = found[count - 1].seq
    return Bounds(last, EVERYTHING.high) if at_end else Bounds(EVERYTHING.low, last)


def _displayed(rows: Sequence[OutlineRow], count: int, around: str | None, *, at_end: bool) -> list[str]:
    """The ids of the messages that are nearest to where the thread opens, while they are small enough.

    Messages of calls alone are usually folded, so the others are preferred.
    """
    start = next(
        (place for place, row in enumerate(rows) if row.id == around), len(rows) - 1 if at_end else 0
    )
    places = range(max(0, start - count), min(len(rows), start + count))
    nearest = sorted(places, key=lambda place: (abs(place - start), -place))[:count]
    nearest.sort(key=lambda place: place != start and rows[place].end == 0)
    sizes = accumulate(rows[place].size for place in nearest)
    chosen = [
        place for place, size in zip(nearest, sizes, strict=True) if place == start or size <= MAX_BYTES
    ]
    return [rows[place].id for place in sorted(chosen)]
