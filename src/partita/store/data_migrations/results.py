"""The result of a migration for each message, without writing anything.

A change that would lose a value is refused: every string and number of the old content must be in the new
one, or in a reported loss. Only names of types and states may change.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import Row, select

from partita.errors import ConversionError, DecodeError, PartitaError
from partita.formats.losses import Loss
from partita.store.blobs import blobs
from partita.store.blobs.moves import moves_from_json, put_back
from partita.store.messages.rows import MESSAGES, read_messages
from partita.store.schema import messages
from partita.store.sql.transaction import Transaction
from partita.types.codec import encode, to_json
from partita.types.json import Json, dumps, is_array, is_object, loads
from partita.types.messages import Message

from .migration import Change, Migration, StoredRow
from .report import Example, MessageNote, Tally, ThreadCount, varied

SHOWN = 300
"""The number of characters of a content or an error that a report has."""


class Result(NamedTuple):
    """A row with its change, if there is one, or the error that prevents it."""

    row: Row[Any]
    before: str
    change: Change | None = None
    error: str = ""


def next_rows(tx: Transaction, position: int, limit: int) -> Sequence[Row[Any]]:
    """The next messages after a key."""
    query = select(messages).where(messages.c.key > position, tx.owned(messages))
    return tx.rows(query.order_by(messages.c.key).limit(limit))


def apply(
    tx: Transaction, migration: Migration, rows: Iterable[Row[Any]], earlier: Sequence[Migration] = ()
) -> list[Result]:
    """The results of a migration for rows, as they are after the `earlier` migrations."""
    return [_apply(tx, migration, row, earlier) for row in rows]


def _apply(tx: Transaction, migration: Migration, row: Row[Any], earlier: Sequence[Migration]) -> Result:
    try:
        message, stored = read_row(tx, row)
        for one in earlier:
            message, stored = _after(one, message, stored)
        change = migration.change(message, stored)
        lost: list[str] = []
        if change is not None:
            lost = lost_values(stored_value(stored.text), to_json(change.message), change.losses)
    except PartitaError as error:
        return Result(row, row.content, error=str(error))
    except Exception as error:  # one message must not stop the others; the report has the error
        return Result(row, row.content, error=f"{type(error).__name__}: {error}")
    if lost:
        return Result(row, stored.text, error=f"text would be lost: {lost[0][:80]!r}")
    return Result(row, stored.text, change)


def _after(migration: Migration, message: Message, stored: StoredRow) -> tuple[Message, StoredRow]:
    try:
        change = migration.change(message, stored)
    except PartitaError:
        return message, stored
    if change is None:
        return message, stored
    return change.message, stored._replace(text=encode(change.message.content).decode())


def stored_value(text: str) -> Json:
    """The value in a content column, which may be plain text."""
    try:
        return loads(text)
    except PartitaError:
        return text


def read_row(tx: Transaction, row: Row[Any]) -> tuple[Message, StoredRow]:
    """The message of a row, and the row itself with large values put back."""
    if row.role not in MESSAGES:
        raise ConversionError(f"unknown role {row.role!r}", hint=f"make it one of {', '.join(MESSAGES)}")
    text = row.content if row.blobs is None else _with_large_values(tx, row)
    stored = StoredRow(row.owner, row.thread_id, row.id, row.role, text)
    return read_messages(tx, [row], "inline")[0], stored


def _with_large_values(tx: Transaction, row: Row[Any]) -> str:
    content = loads(row.content)
    if not is_object(content):
        return str(row.content)
    moves = moves_from_json(row.blobs)
    loaded = blobs.load(tx, {(row.owner, move.hash) for move in moves})
    missing = [move.hash for move in moves if (row.owner, move.hash) not in loaded]
    if missing:
        raise ConversionError(f"its blob {missing[0]} is missing", hint="partita doctor lists missing blobs")
    put_back(content, moves, {digest: data for (_, digest), data in loaded.items()})
    return dumps(content).decode()


def tally_of(results: Sequence[Result], *, limited: bool = True) -> Tally:
    """The counts of results, with examples."""
    changed = [(one, one.change) for one in results if one.change is not None]
    failed = [one for one in results if one.error]
    losses = [note_of(one.row, str(loss)) for one, change in changed for loss in change.losses]
    counts = Counter((one.row.owner, one.row.thread_id) for one, _ in changed)
    # `plus` limits the lists.
    return Tally().plus(
        Tally(
            seen=len(results),
            changed=len(changed),
            failed=len(failed),
            lost=len(losses),
            done=dict(Counter(change.done for _, change in changed)),
            threads=tuple(
                ThreadCount(thread_id=thread_id, changed=count, resource_id=owner or None)
                for (owner, thread_id), count in counts.items()
            ),
            examples=tuple(_example(*one) for one in varied(changed, lambda one: one[1].done)),
            failures=tuple(note_of(one.row, one.error) for one in failed),
            losses=tuple(losses),
        ),
        limited=limited,
    )


def note_of(row: Row[Any], what: str) -> MessageNote:
    """A message in a report, and what happened to it."""
    return MessageNote(
        thread_id=row.thread_id, message_id=row.id, what=what[:SHOWN], resource_id=row.owner or None
    )


def _example(one: Result, change: Change) -> Example:
    return Example(
        thread_id=one.row.thread_id,
        message_id=one.row.id,
        before=one.before[:SHOWN],
        after=encode(change.message.content).decode()[:SHOWN],
        done=change.done,
        resource_id=one.row.owner or None,
    )


# Values that a change would lose.

FORMAT_MEMBERS = frozenset({"type", "state", "role", "sourceType", "format", "step"})
"""Members whose values are names of a format, not content."""

_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[-+:.\dZ]*$")

TEXT_PARTS = ("text", "reasoning")
SEPARATOR = "\x00"


def lost_values(before: Json, after: Json, losses: Iterable[Loss] = ()) -> list[str]:
    """The strings and numbers of a value that are neither in another value nor in the losses."""
    now = set(_strings(after))
    missing = [text for text in dict.fromkeys(_strings(before)) if text not in now]
    if not missing:
        return []
    whole = SEPARATOR.join([*now, *_joined(after), *(loss.what for loss in losses)])
    return [text for text in missing if text not in whole]


def _strings(value: Json) -> Iterator[str]:
    """Every string and number in a value, also inside strings that hold JSON."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            inner = _parsed(item)
            if inner is None:
                yield _normalized_time(item)
            else:
                stack.append(inner)
        elif is_array(item):
            stack.extend(item)
        elif is_object(item):
            stack.extend(inner for name, inner in item.items() if name not in FORMAT_MEMBERS)
        elif isinstance(item, int | float) and not isinstance(item, bool):
            yield dumps(item).decode()


def _normalized_time(text: str) -> str:
    """A time in UTC, in the notation that we write; any other text unchanged."""
    if not _TIME.match(text):
        return text
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return text
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC).isoformat()


def _parsed(text: str) -> Json:
    """The object, array or string that a text encodes, or `None`."""
    if text[:1] not in ("{", "[", '"'):
        return None
    try:
        return loads(text)
    except DecodeError:
        return None


def _joined(value: Json) -> Iterator[str]:
    """The joined texts of every list of parts: some formats repeat them beside the parts."""
    stack = [value]
    while stack:
        item = stack.pop()
        if is_object(item):
            stack.extend(item.values())
        elif is_array(item):
            stack.extend(item)
            for type_ in TEXT_PARTS:
                texts = [
                    part["text"]
                    for part in item
                    if is_object(part) and part.get("type") == type_ and isinstance(part.get("text"), str)
                ]
                if len(texts) > 1:
                    yield from ("".join(texts), "\n".join(texts))
