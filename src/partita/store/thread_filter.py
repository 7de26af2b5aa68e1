"""Which threads are wanted, as conditions on their rows."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    any_,
    bindparam,
    exists,
    func,
    not_,
    select,
    tuple_,
)

from partita.errors import StoreError
from partita.types.json import Json, dumps, is_array, is_object, kind_of

from .search import search
from .tables import consumptions, messages, parts, thread_labels, threads
from .texts import storable
from .transaction import Transaction
from .values import ThreadFilter

PINNED: Final = "pinned"
"""The member of the metadata that says, with `true`, that a thread is pinned."""

FEW_CALLS: Final = 5_000
"""A tool with so many calls is looked up by its calls; the calls of a common one, thread by thread."""


# CROSS JOIN: SQLite takes the tables in this order.
CHOSEN: Final = {
    True: "json_each(?) AS chosen CROSS JOIN threads t ON t.key = chosen.value",
    False: "unnest(?::bigint[]) AS chosen (value) JOIN threads t ON t.key = chosen.value",
}
"""Threads by their keys, `t`, for what is looked up of each of them."""


def conditions(tx: Transaction, wanted: ThreadFilter) -> list[ColumnElement[bool]]:
    """What must hold for the row of a thread that is wanted."""
    found: list[ColumnElement[bool]] = []
    if wanted.resource_id is not None:
        found.append(threads.c.owner == wanted.resource_id)
    if wanted.agent is not None:
        found.append(threads.c.agent == wanted.agent)
    if wanted.project is not None:
        found.append(threads.c.project == wanted.project)
    if wanted.since is not None:
        found.append(threads.c.updated_at >= wanted.since)
    if wanted.until is not None:
        found.append(threads.c.updated_at < wanted.until)
    if wanted.has_errors is not None:
        found.append(threads.c.error_count > 0 if wanted.has_errors else threads.c.error_count == 0)
    found.extend(_has_scalar(name, value) for name, value in wanted.metadata)
    return found + looked_up(tx, wanted)


def looked_up(tx: Transaction, wanted: ThreadFilter) -> list[ColumnElement[bool]]:
    """Those of the conditions that other tables are asked for."""
    found: list[ColumnElement[bool]] = []
    if wanted.ids is not None:
        found.append(tx.among(threads.c.id, [one for one in wanted.ids if storable(one, "a thread id")]))
    if wanted.pinned is not None:
        found.append(has_label(PINNED, True) if wanted.pinned else not_(has_label(PINNED, True)))
    if wanted.model is not None:
        found.append(_has_model(wanted.model))
    if wanted.tool is not None:
        found.append(_has_call(tx, wanted.tool))
    if wanted.text is not None:
        matching = search.thread_ids_matching(tx, wanted.text)
        found.append(tuple_(threads.c.owner, threads.c.id).in_(matching))
    return found


def label(value: Json) -> str:
    """A scalar as it is compared: its JSON text."""
    return dumps(value).decode()


def _has_scalar(name: str, value: Json) -> ColumnElement[bool]:
    if is_array(value) or is_object(value):
        raise StoreError(f"metadata {name!r} is compared with {kind_of(value)}", hint="compare with a scalar")
    return has_label(name, value)


def has_label(name: str, value: Json) -> ColumnElement[bool]:
    """Whether the metadata of a thread has that scalar under a name. It has no value that is no scalar."""
    return exists().where(
        thread_labels.c.owner == threads.c.owner,
        thread_labels.c.thread_id == threads.c.id,
        thread_labels.c.name == name,
        thread_labels.c.value == label(value),
    )


def is_pinned(tx: Transaction) -> ColumnElement[bool]:
    """Whether a thread is pinned, for many threads at once: those that are, are few."""
    one = threads.alias()
    few = select(one.c.key).where(
        tx.mine(thread_labels),
        thread_labels.c.name == PINNED,
        thread_labels.c.value == label(True),
        one.c.owner == thread_labels.c.owner,
        one.c.id == thread_labels.c.thread_id,
    )
    return threads.c.key.in_(few)


def _has_model(model: str) -> ColumnElement[bool]:
    return exists().where(
        consumptions.c.owner == threads.c.owner,
        consumptions.c.thread_id == threads.c.id,
        consumptions.c.model == storable(model, "the model"),
    )


def _has_call(tx: Transaction, tool: str) -> ColumnElement[bool]:
    """Whether a thread has a call of a tool: looked up by what is fewer, calls or threads."""
    named = storable(tool, "the tool")
    calls = (parts.c.owner == messages.c.owner, parts.c.message == messages.c.key)
    some = select(parts.c.message).where(parts.c.tool_name == named).limit(FEW_CALLS + 1).subquery()
    if tx.run(select(func.count()).select_from(some)).scalar_one() > FEW_CALLS:
        mine = (messages.c.owner == threads.c.owner, messages.c.thread_id == threads.c.id)
        # Nothing is added to the name, but it is no longer what is in the index of all calls by name.
        return exists().where(*mine, *calls, parts.c.tool_name.concat("") == named)
    of_thread = (threads.c.owner == messages.c.owner, threads.c.id == messages.c.thread_id)
    having = select(threads.c.key).where(*of_thread, *calls, parts.c.tool_name == named).distinct()
    return _keyed(tx, [row.key for row in tx.rows(having)])


def _keyed(tx: Transaction, keys: Sequence[int]) -> ColumnElement[bool]:
    """The condition that a thread has one of the keys."""
    if tx.lite:
        each = func.json_each(listed(tx, keys)).table_valued("value")
        return threads.c.key.in_(select(each.c.value))
    return threads.c.key == any_(bindparam(None, listed(tx, keys), ARRAY(BigInteger)))


def listed(tx: Transaction, keys: Sequence[int]) -> Any:
    """Keys as one parameter, for `CHOSEN`."""
    return dumps(list(keys)).decode() if tx.lite else list(keys)
