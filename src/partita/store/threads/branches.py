"""Branches: the path from the first message to the active leaf, and the outline of a branch."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from msgspec import Struct
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    LargeBinary,
    Row,
    bindparam,
    cast,
    extract,
    func,
    select,
    type_coerce,
    update,
)

from partita.errors import NotFoundError
from partita.store.messages.parts_summary import NO_WORK, work_of
from partita.store.runs.rows import ACTIVE, is_idle
from partita.store.schema import COUNT_MESSAGES, consumptions, from_microseconds, messages, runs
from partita.store.schema import threads as thread_table
from partita.store.sql.statement import Statement
from partita.store.sql.transaction import Transaction
from partita.types.threads import Thread

from . import rows as threads

# The path ends at a parent that is missing, empty or on the path already: UNION (not ALL) ends a cycle.
PATH = """
WITH RECURSIVE path (id, parent_id) AS (
    SELECT id, parent_id FROM messages WHERE owner = ? AND thread_id = ? AND id = ?
    UNION
    SELECT m.id, m.parent_id FROM messages m JOIN path ON m.id = path.parent_id
    WHERE m.owner = ? AND m.thread_id = ?
)
"""
MARK_ACTIVE = (
    f"{PATH} UPDATE messages SET active = (id IN (SELECT id FROM path)) WHERE owner = ? AND thread_id = ?"
)
IDS_OF_PATH = f"{PATH} SELECT id FROM path"


def mark_active(tx: Transaction, owner: str, thread_id: str, leaf: str | None) -> None:
    """Mark the messages on the path to a leaf as active, all others as not, and count the visible ones."""
    thread = (owner, thread_id)
    tx.sql(MARK_ACTIVE, (*thread, leaf or "", *thread, *thread))
    tx.sql(f"{COUNT_MESSAGES} WHERE owner = ? AND id = ?", thread)


def path_to(tx: Transaction, owner: str, thread_id: str, message_id: str) -> set[str]:
    """The ids of a message and those that lead to it; empty if the message does not exist."""
    rows = tx.sql(IDS_OF_PATH, (owner, thread_id, message_id, owner, thread_id))
    return {row[0] for row in rows}


def switch_branch(tx: Transaction, thread_id: str, message_id: str) -> Thread:
    """Make the branch through a message the active one, down to its latest message."""
    row = threads.find(tx, thread_id, lock=True)
    of_thread = (messages.c.owner == row.owner, messages.c.thread_id == row.id)
    if tx.row(select(messages.c.id).where(*of_thread, messages.c.id == message_id)) is None:
        raise no_message(thread_id, message_id)
    return set_active_leaf(tx, row, leaf_below(tx, row.owner, row.id, message_id))


def no_message(thread_id: str, message_id: str) -> NotFoundError:
    """The error that a thread has no message with an id."""
    return NotFoundError(
        f"no message {message_id!r} in thread {thread_id!r}",
        hint="list the messages of the thread to see their ids",
    )


def set_active_leaf(tx: Transaction, thread: Row[Any], leaf: str) -> Thread:
    """Make a message the active leaf of its thread."""
    same = (thread_table.c.owner == thread.owner, thread_table.c.id == thread.id)
    tx.run(update(thread_table).where(*same).values(active_leaf_id=leaf, changed_at=tx.now))
    mark_active(tx, thread.owner, thread.id, leaf)
    return threads.from_row(threads.find(tx, thread.id, thread.owner))


def leaf_below(tx: Transaction, owner: str, thread_id: str, message_id: str) -> str:
    """The last message below another one, by way of the latest child of each."""
    of_thread = (messages.c.owner == owner, messages.c.thread_id == thread_id)
    visited = {message_id}
    while True:
        children = select(messages.c.id).where(*of_thread, messages.c.parent_id == message_id)
        row = tx.row(children.order_by(messages.c.seq.desc()).limit(1))
        if row is None or row.id in visited:
            return message_id
        message_id = row.id
        visited.add(message_id)


# The outline: every message of a branch as a short row, to draw a long list step by step.


class OutlineRow(Struct, frozen=True, array_like=True, gc=False):
    """A message of an outline.

    The parts from `start` up to `end` (`None`: up to the last) are what the message says: its texts, files
    and questions to the user. The parts before and after them are calls and reasoning. A message of calls
    alone has `start` and `end` 0. `before` and `inside` are the calls before `start` and from there to `end`.
    """

    id: str
    seq: int
    role: str
    type: str
    created_at: datetime | None  # if it is known
    size: int  # in bytes
    version: int  # changes whenever the message is written
    internal: bool
    has_errors: bool  # a call failed, or the run that wrote it
    reasoning: bool = False
    calls: Mapping[str, int] | None = None  # how many calls of each kind it has
    failed: int = 0  # calls that failed
    start: int = 0
    end: int | None = None
    before: int = 0
    inside: int = 0
    ended_at: datetime | None = None  # when its last call ended, if that is known
    tokens: int = 0
    cost: float | None = None


class Outline(NamedTuple):
    """The messages of a branch, their siblings on other branches, and the models that wrote them."""

    rows: Sequence[OutlineRow]
    siblings: Mapping[str, Sequence[str]]
    models: Sequence[str]
    running: bool
    """Whether an agent is at work in the thread."""
    total: int
    """How many messages of the branch are not internal, also if only some were read."""


class Bounds(NamedTuple):
    """The first and last number (`seq`) of the messages to read."""

    low: int
    high: int


EVERYTHING: Final = Bounds(0, 2**63 - 1)


_STORED: Final = OutlineRow.__struct_fields__[: OutlineRow.__struct_fields__.index("reasoning")]
"""The fields that are columns of a message."""


def _messages_of_thread(size: ColumnElement[int], version: ColumnElement[int]) -> Statement:
    """Messages of a thread: the columns of an outline row, then where each one belongs, and its parts."""
    computed = {"size": size, "version": version}
    shown = (computed[name].label(name) if name in computed else messages.c[name] for name in _STORED)
    return Statement(
        select(*shown, messages.c.parent_id, messages.c.active, messages.c.key, messages.c.parts_summary)
        .where(messages.c.owner == bindparam("of_owner"), messages.c.thread_id == bindparam("of_thread"))
        .where(messages.c.seq >= bindparam("low"), messages.c.seq <= bindparam("high"))
        .order_by(messages.c.seq)
    )


# Neither engine reads a content to count its bytes; to count characters, it would.
_MESSAGES = {
    True: _messages_of_thread(
        func.length(cast(messages.c.content, LargeBinary)), type_coerce(messages.c.updated_at, BigInteger)
    ),
    False: _messages_of_thread(
        func.octet_length(messages.c.content),
        cast(extract("epoch", messages.c.updated_at) * 1_000_000, BigInteger),
    ),
}

# When the last call of each message ended, as far as that is known.
_ENDS: Final = """
SELECT p.message AS key, max(p.ended_at) AS ended_at
FROM messages m JOIN parts p ON p.owner = m.owner AND p.message = m.key
WHERE m.owner = ? AND m.thread_id = ? AND m.seq >= ? AND m.seq <= ? AND m.has_tool_calls
    AND p.ended_at IS NOT NULL AND p.path NOT LIKE '%.%'
GROUP BY p.message
"""
_USAGE: Final = """
SELECT message_id, CAST(sum(input_tokens + output_tokens) AS BIGINT) AS tokens, sum(cost) AS cost
FROM consumptions WHERE owner = ? AND thread_id = ? AND message_id IS NOT NULL GROUP BY message_id
"""


def outline(
    tx: Transaction, thread_id: str, *, through: str | None = None, internal: bool = False
) -> Outline:
    """The outline of the active branch, or of the branch through a message, down to its latest message."""
    return outline_within(tx, thread_id, EVERYTHING, through=through, internal=internal)


def outline_within(
    tx: Transaction, thread_id: str, bounds: Bounds, *, through: str | None = None, internal: bool = False
) -> Outline:
    """The outline of a branch, or of a part of the active one."""
    thread = threads.find(tx, thread_id)
    every = _MESSAGES[tx.is_sqlite].rows(
        tx, of_owner=thread.owner, of_thread=thread.id, low=bounds.low, high=bounds.high
    )
    is_part = bounds != EVERYTHING
    children: defaultdict[str | None, list[str]] = defaultdict(list)
    for row in _siblings(tx, thread, every) if is_part else every:
        children[row.parent_id].append(row.id)
    branch = None if through is None else _branch(every, children, through, thread_id)
    shown = [
        row
        for row in every
        if (row.active if branch is None else row.id in branch) and (internal or not row.internal)
    ]
    same = (thread.owner, thread.id)
    ends = {row.key: row.ended_at for row in tx.sql(_ENDS, (*same, *bounds))}
    usage = {row.message_id: (row.tokens, row.cost) for row in tx.sql(_USAGE, same)}
    return Outline(
        [_row(row, ends.get(row.key), *usage.get(row.id, _NO_USAGE)) for row in shown],
        {row.id: siblings for row in shown if len(siblings := children[row.parent_id]) > 1},
        _models(tx, thread),
        is_running(tx, thread),
        thread.message_count if is_part else sum(not row.internal for row in shown),
    )


def _siblings(tx: Transaction, thread: Row[Any], rows: Sequence[Row[Any]]) -> Iterator[Row[Any]]:
    """The messages of a thread with the same parents as some of them."""
    parents = {row.parent_id for row in rows}
    query = (
        select(messages.c.id, messages.c.parent_id)
        .where(messages.c.owner == thread.owner, messages.c.thread_id == thread.id)
        .order_by(messages.c.seq)
    )
    yield from tx.rows(query.where(messages.c.parent_id.in_(parents - {None})))
    if None in parents:
        yield from tx.rows(query.where(messages.c.parent_id.is_(None)))


_NO_USAGE: Final = (0, None)


def _row(message: Row[Any], ended: datetime | int | None, tokens: int, cost: float | None) -> OutlineRow:
    """The outline row of a message, with its calls and what it consumed."""
    work = NO_WORK if message.parts_summary is None else work_of(message.parts_summary)
    ended_at = from_microseconds(ended) if isinstance(ended, int) else ended
    stored: tuple[Any, ...] = message[: len(_STORED)]
    return OutlineRow(*stored, *work, ended_at, tokens, cost)  # type: ignore[call-arg] # as many as fields


def is_running(tx: Transaction, thread: Row[Any]) -> bool:
    """Whether a run of a thread has not ended."""
    query = select(runs.c.metadata).where(
        runs.c.owner == thread.owner,
        runs.c.thread_id == thread.id,
        runs.c.finished_at.is_(None),
        runs.c.status.in_(ACTIVE),
    )
    return any(not is_idle(row, tx.now) for row in tx.rows(query))


def _branch(
    every: Sequence[Row[Any]], children: Mapping[str | None, list[str]], through: str, thread_id: str
) -> set[str]:
    """The ids from the first message through one to the last; a cycle ends the path."""
    parents = {row.id: row.parent_id for row in every}
    if through not in parents:
        raise no_message(thread_id, through)
    branch: set[str] = set()
    above: str | None = through
    while above is not None and above in parents and above not in branch:
        branch.add(above)
        above = parents[above]
    last = through
    while last in children and children[last][-1] not in branch:
        last = children[last][-1]
        branch.add(last)
    return branch


def _models(tx: Transaction, thread: Row[Any]) -> list[str]:
    """The models that responded, the one with the most responses first."""
    model, count = consumptions.c.model, func.count()
    query = (
        select(model)
        .where(consumptions.c.owner == thread.owner, consumptions.c.thread_id == thread.id)
        .where(model.is_not(None))
        .group_by(model)
        .order_by(count.desc(), model)
    )
    return [row.model for row in tx.rows(query)]
