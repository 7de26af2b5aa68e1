"""Checks of columns that hold JSON, and the audit: structures that are stored as JSON in a string."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, Table, select

from partita.errors import PartitaError
from partita.store import schema
from partita.store.blobs.moves import BLOB, Move, moves_from_json
from partita.store.data_migrations.json_strings import Condition, JsonString, Kind, parse_json_strings
from partita.store.data_migrations.migration import MEMBER_OF_VERSION_4, StoredRow, is_current
from partita.store.data_migrations.results import read_row
from partita.store.messages.legacy_content import upgrade
from partita.store.messages.prepared import TYPES
from partita.store.messages.rows import MESSAGES
from partita.store.schema import messages
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.types.json import Json, is_array, is_object, loads
from partita.types.messages import AssistantContent, AssistantMessage

from .check import Cursor, Findings, Scope, page
from .report import BACKUP, AuditEntry, Finding, Sample

MIGRATE = "partita migrate converts it to the current form"
NETWORKS = "partita migrate parses it, unless it was cut off; partita doctor --audit counts all of them"

# Messages


def find_damaged_messages(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Messages that cannot be read, or are of an older form."""
    query = select(messages).where(tx.owned(messages))
    rows, more = page(tx, query, (messages.c.key,), after)
    return Findings([finding for row in rows for finding in _check_message(row)], more)


def _check_message(row: Row[Any]) -> list[Finding]:
    if row.role not in MESSAGES:
        return [_problem(row, f"its role is {row.role!r}", f"make it one of {', '.join(MESSAGES)}")]
    findings: list[Finding] = []
    if row.type not in TYPES:
        findings.append(_problem(row, f"its type is {row.type!r}", f"make it one of {', '.join(TYPES)}"))
    if row.extra is not None and not is_object(_parsed(row.extra)):
        findings.append(_problem(row, "the column extra is damaged"))
    if row.blobs is not None and moves_of(row) is None:
        findings.append(_problem(row, "the column blobs does not fit the content"))
    if row.role == "assistant" and "isNetwork" in row.content and _has_network_string(row):
        findings.append(_problem(row, "a network result is stored as JSON in a text", NETWORKS))
    return [*findings, *_check_content(row)]


def _check_content(row: Row[Any]) -> list[Finding]:
    stored = StoredRow(row.owner, row.thread_id, row.id, row.role, row.content)
    if not MEMBER_OF_VERSION_4.search(row.content) and is_current(stored):
        return []
    shape = upgrade(row.role, row.content).shape
    if shape == "damaged":
        return [_problem(row, "its content cannot be read and is shown unchanged")]
    if shape == "current":
        return []
    what = f"its content has an older form: {shape}"
    return [_problem(row, what, MIGRATE, notice=True)]


def _has_network_string(row: Row[Any]) -> bool:
    content = upgrade(row.role, row.content).content
    assert isinstance(content, AssistantContent), "the role is assistant"
    message = AssistantMessage(id=row.id, content=content)
    return any(one.kind == "network" for one in parse_json_strings(message).found)


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
    """The values that were moved out of a content; `None` if the column is damaged."""
    raw, content = _parsed(row.blobs), _parsed(row.content)
    if not is_array(raw) or not all(is_array(one) and len(one) == 4 and is_array(one[0]) for one in raw):
        return None
    moves = moves_from_json(row.blobs)
    return moves if all(move.path and _is_reference(content, move) for move in moves) else None


def _is_reference(content: Json, move: Move) -> bool:
    """Whether a content has a reference to the blob at the path of a move."""
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


# Columns of other tables


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


def find_damaged_columns(tx: Transaction, after: Cursor, scope: Scope) -> Findings:
    """Threads, runs, sources and consumptions whose JSON is damaged."""
    names = list(COLUMNS)
    name = after[0] if after else names[0]
    checked = COLUMNS[name]
    keys: list[ColumnElement[Any]] = [checked.table.c[key] for key in checked.keys]
    query = select(*keys, *(checked.table.c[column] for column in checked.columns)).where(
        tx.owned(checked.table)
    )
    rows, more = page(tx, query, keys, tuple(after[1:]))
    findings = [
        _damaged_column(name, row, column)
        for row in rows
        for column, must_be_object in checked.columns.items()
        if not _is_json(getattr(row, column), must_be_object)
    ]
    if more is not None:
        return Findings(findings, (name, *more))
    following = names[names.index(name) + 1 :]
    return Findings(findings, (following[0],) if following else None)


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


# The audit

SAMPLES = 3
SAMPLE_LENGTH = 80
"""The number of samples of a kind, and of characters of a sample."""


class _Counts:
    """Counts and samples, by kind, condition and migration."""

    def __init__(self) -> None:
        self._entries: dict[tuple[Kind, Condition, str | None], tuple[int, int, list[Sample]]] = {}

    def add(self, row: Row[Any], found: Sequence[JsonString]) -> None:
        """Count the strings of a message."""
        for key in dict.fromkeys((one.kind, one.condition, one.migration) for one in found):
            same = [one for one in found if (one.kind, one.condition, one.migration) == key]
            count, in_messages, samples = self._entries.get(key, (0, 0, []))
            samples.extend(_sample(row, one) for one in same[: SAMPLES - len(samples)])
            self._entries[key] = (count + len(same), in_messages + 1, samples)

    def entries(self) -> Iterator[AuditEntry]:
        """All entries: those with a migration first, then the most frequent."""
        ordered = sorted(self._entries.items(), key=lambda item: (item[0][2] is None, -item[1][0]))
        for (kind, condition, migration), (count, in_messages, samples) in ordered:
            yield AuditEntry(
                kind=kind,
                condition=condition,
                migration=migration,
                count=count,
                messages=in_messages,
                samples=tuple(samples),
            )


def _sample(row: Row[Any], one: JsonString) -> Sample:
    text = one.text if len(one.text) <= SAMPLE_LENGTH else f"{one.text[: SAMPLE_LENGTH - 1]}…"
    return Sample(
        thread_id=row.thread_id,
        message_id=row.id,
        path=one.path,
        text=text,
        resource_id=row.owner or None,
    )


async def audit(store: Store) -> tuple[AuditEntry, ...]:
    """Structures that are stored as JSON in a string, in all messages that can be read."""
    counts = _Counts()
    cursor: Cursor | None = ()
    while cursor is not None:
        cursor = await store.read(_audit_next, cursor, counts)
    return tuple(counts.entries())


def _audit_next(tx: Transaction, after: Cursor, counts: _Counts) -> Cursor | None:
    rows, more = page(tx, select(messages).where(tx.owned(messages)), (messages.c.key,), after)
    for row in rows:
        try:
            message, stored = read_row(tx, row)
        except PartitaError:
            continue  # a check reports it
        found = parse_json_strings(message, stored).found
        if found:
            counts.add(row, found)
    return more
