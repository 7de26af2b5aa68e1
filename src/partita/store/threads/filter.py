"""The conditions of a `ThreadFilter` on the rows of threads."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    and_,
    any_,
    bindparam,
    exists,
    func,
    not_,
    select,
    tuple_,
)

from partita.errors import StoreError
from partita.store.projects import matches_project
from partita.store.runs.rows import ACTIVE, is_idle
from partita.store.schema import consumptions, is_before, messages, parts, runs, thread_labels, threads
from partita.store.search.index import thread_ids_matching
from partita.store.sql.texts import required, storable
from partita.store.sql.transaction import Transaction
from partita.store.values import ThreadFilter
from partita.types.json import Json, is_array, is_object, kind_of

from .rows import label, tag_label

PINNED: Final = "pinned"
"""The member of the metadata that is `true` if a thread is pinned."""

GIT_BRANCH: Final = "gitBranch"
"""The member of the metadata with the git branch of a session, as its log states it."""

FEW_CALLS: Final = 5_000
"""Threads with a tool are found by its calls if it has at most this many, otherwise thread by thread."""

# CROSS JOIN: SQLite reads the tables in this order.
CHOSEN: Final = {
    True: "json_each(?) AS chosen CROSS JOIN threads t ON t.key = chosen.value",
    False: "unnest(?::bigint[]) AS chosen (value) JOIN threads t ON t.key = chosen.value",
}
"""Threads `t` by a list of keys, in SQL."""


def conditions(tx: Transaction, filter: ThreadFilter) -> list[ColumnElement[bool]]:
    """The conditions on the row of a thread."""
    columns = threads.c
    found: list[ColumnElement[bool]] = []
    if filter.resource_id is not None:
        found.append(columns.owner == filter.resource_id)
    if filter.agent is not None:
        found.append(columns.agent == filter.agent)
    if filter.project is not None:
        found.append(matches_project(tx, threads, filter.project))
    if filter.since is not None:
        found.append(columns.updated_at >= filter.since)
    if filter.until is not None:
        found.append(is_before(columns.updated_at, filter.until))
    if filter.has_errors is not None:
        found.append(columns.error_count > 0 if filter.has_errors else columns.error_count == 0)
    if filter.ids is not None:
        found.append(tx.among(columns.id, [one for one in filter.ids if storable(one, "a thread id")]))
    if filter.pinned is not None:
        found.append(_has_label(PINNED, True) if filter.pinned else not_(_has_label(PINNED, True)))
    if filter.active is not None:
        found.append(is_active(tx) if filter.active else not_(is_active(tx)))
    found += (_has_label(tag_label(required(tag, "tag")), True) for tag in filter.tags)
    if filter.model is not None:
        found.append(_has_model(filter.model))
    if filter.tool is not None:
        found.append(_has_call(tx, filter.tool))
    if filter.text is not None:
        found.append(tuple_(columns.owner, columns.id).in_(thread_ids_matching(tx, filter.text)))
    if filter.empty is not None:
        found.append(_is_empty() if filter.empty else not_(_is_empty()))
    for name, value in filter.metadata.items():
        if is_array(value) or is_object(value):
            raise StoreError(
                f"metadata {name!r} is compared with {kind_of(value)}", hint="compare with a scalar"
            )
        found.append(_has_label(name, value))
    return found


def _is_empty() -> ColumnElement[bool]:
    active = exists().where(
        runs.c.owner == threads.c.owner,
        runs.c.thread_id == threads.c.id,
        runs.c.finished_at.is_(None),
        runs.c.status.in_(ACTIVE),
    )
    return and_(threads.c.message_count == 0, not_(active))


def _has_label(name: str, value: Json) -> ColumnElement[bool]:
    """Whether the metadata of a thread has a scalar under a name."""
    return exists().where(
        thread_labels.c.owner == threads.c.owner,
        thread_labels.c.thread_id == threads.c.id,
        thread_labels.c.name == name,
        thread_labels.c.value == label(value),
    )


def is_pinned(tx: Transaction) -> ColumnElement[bool]:
    """Whether a thread is pinned, for a query of many threads: few of them are."""
    one = threads.alias()
    few = select(one.c.key).where(
        tx.owned(thread_labels),
        thread_labels.c.name == PINNED,
        thread_labels.c.value == label(True),
        one.c.owner == thread_labels.c.owner,
        one.c.id == thread_labels.c.thread_id,
    )
    return threads.c.key.in_(few)


def is_active(tx: Transaction) -> ColumnElement[bool]:
    """Whether a thread has an active run, for a query of many threads: few of them have one."""
    query = select(runs.c.owner, runs.c.thread_id, runs.c.metadata).where(
        runs.c.finished_at.is_(None), runs.c.status.in_(ACTIVE), tx.owned(runs)
    )
    found = [(row.owner, row.thread_id) for row in tx.rows(query) if not is_idle(row, tx.now)]
    return tuple_(threads.c.owner, threads.c.id).in_(found)


def _has_model(model: str) -> ColumnElement[bool]:
    return exists().where(
        consumptions.c.owner == threads.c.owner,
        consumptions.c.thread_id == threads.c.id,
        consumptions.c.model == storable(model, "the model"),
    )


def _has_call(tx: Transaction, tool: str) -> ColumnElement[bool]:
    """Whether a thread has a call of a tool: by its calls or by thread, whichever are fewer."""
    named = storable(tool, "the tool")
    calls = (parts.c.owner == messages.c.owner, parts.c.message == messages.c.key)
    some = select(parts.c.message).where(parts.c.tool_name == named).limit(FEW_CALLS + 1).subquery()
    if tx.run(select(func.count()).select_from(some)).scalar_one() > FEW_CALLS:
        of_thread = (messages.c.owner == threads.c.owner, messages.c.thread_id == threads.c.id)
        # The empty suffix keeps the engine from using the index of all calls by name.
        return exists().where(*of_thread, *calls, parts.c.tool_name.concat("") == named)
    of_call = (threads.c.owner == messages.c.owner, threads.c.id == messages.c.thread_id)
    having = select(threads.c.key).where(*of_call, *calls, parts.c.tool_name == named).distinct()
    return _among_keys(tx, [row.key for row in tx.rows(having)])


def _among_keys(tx: Transaction, keys: Sequence[int]) -> ColumnElement[bool]:
    """The condition that a thread has one of the keys."""
    if tx.is_sqlite:
        each = func.json_each(tx.list_parameter(keys)).table_valued("value")
        return threads.c.key.in_(select(each.c.value))
    return threads.c.key == any_(bindparam(None, tx.list_parameter(keys), ARRAY(BigInteger)))
