"""The outline of a thread: every message of a branch in a few words, to draw a long list piece by piece."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

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
)

from partita.errors import NotFoundError

from . import threads
from .statement import Statement
from .tables import consumptions, messages
from .transaction import Transaction


class OutlineRow(NamedTuple):
    """A message in a few words; `size` is how many bytes it takes."""

    id: str
    seq: int
    role: str
    type: str
    created_at: datetime
    size: int
    version: int  # another one when it was written anew


class Outline(NamedTuple):
    """The messages of a branch, and those that stand beside some of them on other branches."""

    rows: Sequence[OutlineRow]
    siblings: Mapping[str, Sequence[str]]
    models: Sequence[str]


def _every(size: ColumnElement[int], version: ColumnElement[int]) -> Statement:
    """All messages of a thread: first what a row of the outline has, then where each one stands."""
    told = {"size": size, "version": version}
    shown = (told[name].label(name) if name in told else messages.c[name] for name in OutlineRow._fields)
    return Statement(
        select(*shown, messages.c.parent_id, messages.c.active, messages.c.internal)
        .where(messages.c.owner == bindparam("of_owner"), messages.c.thread_id == bindparam("of_thread"))
        .order_by(messages.c.seq)
    )


# Neither engine has to read a content to count its bytes; to count characters, it would.
_EVERY = {
    True: _every(
        func.length(cast(messages.c.content, LargeBinary)), type_coerce(messages.c.updated_at, BigInteger)
    ),
    False: _every(
        func.octet_length(messages.c.content),
        cast(extract("epoch", messages.c.updated_at) * 1_000_000, BigInteger),
    ),
}


def outline(
    tx: Transaction, thread_id: str, *, through: str | None = None, internal: bool = False
) -> Outline:
    """The active branch, or that through a message, and below it the latest answers."""
    thread = threads.find(tx, thread_id)
    every = _EVERY[tx.lite].rows(tx, of_owner=thread.owner, of_thread=thread.id)
    below = _below(every)
    branch = None if through is None else _branch(every, below, through, thread_id)
    shown = [
        row
        for row in every
        if (row.active if branch is None else row.id in branch) and (internal or not row.internal)
    ]
    siblings = {row.id: beside for row in shown if len(beside := below[row.parent_id]) > 1}
    return Outline(
        [OutlineRow._make(row[: len(OutlineRow._fields)]) for row in shown],
        siblings,
        _models(tx, thread),
    )


def _below(every: Sequence[Row[Any]]) -> Mapping[str | None, list[str]]:
    """What follows each message. A message whose parent is not there begins the thread."""
    below: defaultdict[str | None, list[str]] = defaultdict(list)
    for row in every:
        below[row.parent_id].append(row.id)
    return below


def _branch(
    every: Sequence[Row[Any]], below: Mapping[str | None, list[str]], through: str, thread_id: str
) -> set[str]:
    """The ids on the way from the first message through one to the last; a circle ends the way."""
    parents = {row.id: row.parent_id for row in every}
    if through not in parents:
        raise NotFoundError(
            f"no message {through!r} in thread {thread_id!r}",
            hint="list the messages of the thread to see their ids",
        )
    branch: set[str] = set()
    above: str | None = through
    while above is not None and above in parents and above not in branch:
        branch.add(above)
        above = parents[above]
    last = through
    while last in below and below[last][-1] not in branch:
        last = below[last][-1]
        branch.add(last)
    return branch


def _models(tx: Transaction, thread: Row[Any]) -> list[str]:
    """The models that answered, the one with the most responses first."""
    model, count = consumptions.c.model, func.count()
    query = (
        select(model)
        .where(consumptions.c.owner == thread.owner, consumptions.c.thread_id == thread.id)
        .where(model.is_not(None))
        .group_by(model)
        .order_by(count.desc(), model)
    )
    return [row.model for row in tx.rows(query)]
