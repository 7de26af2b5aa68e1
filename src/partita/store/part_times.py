"""When parts began and ended, for messages that are shown: from the rows derived of their parts."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import or_, select

from . import threads
from .tables import messages, parts
from .transaction import Transaction, cut


class PartTime(NamedTuple):
    """The path of a part, and when it began and ended, as far as it is known."""

    path: str
    started_at: datetime | None
    ended_at: datetime | None


def part_times(tx: Transaction, thread_id: str, ids: Sequence[str]) -> Mapping[str, Sequence[PartTime]]:
    """The known times of the parts of messages, by message."""
    thread = threads.find(tx, thread_id)
    columns = parts.c
    query = (
        select(messages.c.id, columns.path, columns.started_at, columns.ended_at)
        .join(messages, (messages.c.key == columns.message) & (messages.c.owner == columns.owner))
        .where(messages.c.owner == thread.owner, messages.c.thread_id == thread.id)
        .where(or_(columns.started_at.is_not(None), columns.ended_at.is_not(None)))
        .order_by(columns.message, columns.number)
    )
    found: defaultdict[str, list[PartTime]] = defaultdict(list)
    for some in cut(ids):
        for row in tx.rows(query.where(messages.c.id.in_(some))):
            found[row.id].append(PartTime(row.path, row.started_at, row.ended_at))
    return found
