"""Columns that hold JSON: whether it parses, and is what it should be."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, Table, select

from partita.errors import PartitaError
from partita.store import schema
from partita.store.blobs.moves import BLOB, Move, moves_from_json
from partita.store.data.migration import StoredRow, is_today
from partita.store.data.stringified import unfold
from partita.store.data.version4 import OLDER_WORD
from partita.store.messages.legacy_content import upgrade
from partita.store.messages.prepared import TYPES
from partita.store.messages.rows import MESSAGES
from partita.store.schema import messages
from partita.store.sql.transaction import Transaction
from partita.types.json import Json, is_array, is_object, loads
from partita.types.messages import AssistantContent, AssistantMessage

from .pages import page
from .report import BACKUP, Cursor, Finding, Found, Scope

MIGRATE = "partita migrate brings it to today's form"
NETWORKS = "partita migrate parses it, unless it was cut off; partita doctor --audit counts them all"


def find_damaged_messages(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Messages that cannot be read, or are in an older form."""
    query = select(messages).where(tx.owned(messages))
    rows, more = page(tx, query, (messages.c.key,), after)
    return Found([finding for row in rows for finding in _examined(row)], more)


def _examined(row: Row[Any]) -> list[Finding]:
    if row.role not in MESSAGES:
        return [_problem(row, f"its role is {row.role!r}", f"make it one of {', '.join(MESSAGES)}")]
    findings: list[Finding] = []
    if row.type not in TYPES:
        findings.append(_problem(row, f"its type is {row.type!r}", f"make it one of {', '.join(TYPES)}"))
    if row.extra is not None and not is_object(_parsed(row.extra)):
        findings.append(_problem(row, "the column extra is damaged"))
    if row.blobs is not None and moves_of(row) is None:
        findings.append(_problem(row, "the column blobs does not fit the content"))
    if row.role == "assistant" and "isNetwork" in row.content and _holds_network(row):
        findings.append(_problem(row, "a network's result is stored as JSON in a text", NETWORKS))
    return [*findings, *_shape(row)]


def _shape(row: Row[Any]) -> list[Finding]:
    stored = StoredRow(row.owner, row.thread_id, row.id, row.role, row.content)
    if not OLDER_WORD.search(row.content) and is_today(stored):
        return []
    found = upgrade(row.role, row.content)
    if found.shape == "damaged":
        return [_problem(row, "its content cannot be read: it is shown as it is")]
    if found.shape == "current":
        return []
    what = f"its content is in an older form: {found.shape}"
    return [_problem(row, what, MIGRATE, notice=True)]


def _holds_network(row: Row[Any]) -> bool:
    content = upgrade(row.role, row.content).content
    assert isinstance(content, AssistantContent), "the content of its role"
    message = AssistantMessage(id=row.id, content=content)
    return any(one.kind == "network" for one in unfold(message).found)


def _problem(row: Row[Any], what: str, hint: str = BACKUP, *, notice: bool = False) -> Finding:
    return Finding(
        what=what,
        hint=hint,
        severity="notice" if notice else "problem",
        resource_id=row.owner or None,
        thread_id=row.thread_id,
        message_id=row.id,
    )


def _parsed(text: str) -> Json:
    try:
        return loads(text)
    except PartitaError:
        return None


def moves_of(row: Row[Any]) -> list[Move] | None:
    """What was moved out of a content; `None` when that cannot be told."""
    told, content = _parsed(row.blobs), _parsed(row.content)
    well = is_array(told) and all(is_array(move) and len(move) == 4 and is_array(move[0]) for move in told)
    if not well:
        return None
    moves = moves_from_json(row.blobs)
    return moves if all(move.path and _leads(content, move) for move in moves) else None


def _leads(content: Json, move: Move) -> bool:
    """Whether the way of a move leads to a reference to its blob."""
    value = content
    for step in move.path:
        if not (_has_member(value, step) or _has_item(value, step)):
            return False
        value = value[step]
    return isinstance(value, str) and value.startswith(f"{BLOB}{move.hash}")


def _has_member(value: Json, step: str | int) -> bool:
    return isinstance(step, str) and is_object(value) and step in value


def _has_item(value: Json, step: str | int) -> bool:
    return isinstance(step, int) and is_array(value) and 0 <= step < len(value)


class Columns(NamedTuple):
    """The columns of a table that hold JSON, and whether it must be an object."""

    table: Table
    keys: tuple[str, ...]
    columns: Mapping[str, bool]


COLUMNS: Mapping[str, Columns] = {
    "threads": Columns(schema.threads, ("owner", "id"), {"metadata": True, "extra": True}),
    "runs": Columns(
        schema.runs, ("owner", "id"), {"usage": True, "metadata": True, "extra": True, "error": False}
    ),
    "sources": Columns(schema.sources, ("owner", "path"), {"state": False}),
    "consumptions": Columns(schema.consumptions, ("owner", "key", "thread_id"), {"price": True}),
}


def find_damaged_columns(tx: Transaction, after: Cursor, scope: Scope) -> Found:
    """Threads, runs, sources and consumptions whose JSON is damaged."""
    names = list(COLUMNS)
    name = after[0] if after else names[0]
    of = COLUMNS[name]
    keys: list[ColumnElement[Any]] = [of.table.c[key] for key in of.keys]
    query = select(*keys, *(of.table.c[column] for column in of.columns)).where(tx.owned(of.table))
    rows, more = page(tx, query, keys, tuple(after[1:]))
    findings = [
        _damaged_column(name, row, column)
        for row in rows
        for column, must_be_object in of.columns.items()
        if not _is_json(getattr(row, column), must_be_object)
    ]
    if more is not None:
        return Found(findings, (name, *more))
    following = names[names.index(name) + 1 :]
    return Found(findings, (following[0],) if following else None)


def _is_json(text: str | None, must_be_object: bool) -> bool:
    if text is None:
        return True
    try:
        value = loads(text)
    except PartitaError:
        return False
    return is_object(value) or not must_be_object


def _damaged_column(name: str, row: Any, column: str) -> Finding:
    return Finding(
        what=f"the column {column} of {name[:-1]} {row[1]} is damaged",
        hint=BACKUP,
        resource_id=row.owner or None,
        thread_id=row[1] if name == "threads" else getattr(row, "thread_id", None),
        run_id=row[1] if name == "runs" else None,
    )
