"""Looking at stored messages: what a migration makes of each. Nothing is written here."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Row, select

from partita.errors import ConversionError, PartitaError
from partita.store.blobs import blobs
from partita.store.blobs.moves import moves_from_json, put_back
from partita.store.messages.rows import MESSAGES, read_messages
from partita.store.schema import messages
from partita.store.sql.transaction import Transaction
from partita.types.codec import encode, to_json
from partita.types.json import Json, dumps, is_object, loads
from partita.types.messages import Message

from .migration import Changed, Migration, StoredRow
from .report import Example, Place, Tally, ThreadCount
from .words import lost_words

SHOWN = 300
"""How many characters of a message an example shows."""


class Looked(NamedTuple):
    """A row, and what becomes of it: a better message, nothing, or a failure that says why."""

    row: Row[Any]
    before: str
    changed: Changed | None = None
    why: str = ""


def rows_after(tx: Transaction, position: int, limit: int) -> Sequence[Row[Any]]:
    """The next messages behind a key."""
    query = select(messages).where(messages.c.key > position, tx.owned(messages))
    return tx.rows(query.order_by(messages.c.key).limit(limit))


def look(
    tx: Transaction, migration: Migration, rows: Iterable[Row[Any]], first: Sequence[Migration] = ()
) -> list[Looked]:
    """What a migration makes of messages, after those that come `first` have had their way."""
    return [_look(tx, migration, row, first) for row in rows]


def _look(tx: Transaction, migration: Migration, row: Row[Any], first: Sequence[Migration]) -> Looked:
    try:
        message, stored = read(tx, row)
        for earlier in first:
            message, stored = _after(earlier, message, stored)
        changed = migration.change(message, stored)
        lost = (
            []
            if changed is None
            else lost_words(value_of(stored.text), to_json(changed.message), changed.losses)
        )
    except PartitaError as error:
        return Looked(row, row.content, why=str(error))
    except Exception as error:  # one message must not stop the others; it is told, not hidden
        return Looked(row, row.content, why=f"{type(error).__name__}: {error}")
    if lost:
        return Looked(row, stored.text, why=f"words would be lost: {lost[0][:80]!r}")
    return Looked(row, stored.text, changed)


def _after(migration: Migration, message: Message, stored: StoredRow) -> tuple[Message, StoredRow]:
    try:
        changed = migration.change(message, stored)
    except PartitaError:
        return message, stored
    if changed is None:
        return message, stored
    return changed.message, stored._replace(text=encode(changed.message.content).decode())


def value_of(text: str) -> Json:
    """What a content column holds; plain text is a value too."""
    try:
        return loads(text)
    except PartitaError:
        return text


def read(tx: Transaction, row: Row[Any]) -> tuple[Message, StoredRow]:
    """The message of a row, and the row itself with large values put back."""
    if row.role not in MESSAGES:
        raise ConversionError(f"unknown role {row.role!r}", hint=f"make it one of {', '.join(MESSAGES)}")
    text = row.content if row.blobs is None else _whole(tx, row)
    stored = StoredRow(row.owner, row.thread_id, row.id, row.role, text)
    return read_messages(tx, [row], "inline")[0], stored


def _whole(tx: Transaction, row: Row[Any]) -> str:
    content = loads(row.content)
    if not is_object(content):
        return str(row.content)
    moves = moves_from_json(row.blobs)
    loaded = blobs.load(tx, {(row.owner, move.hash) for move in moves})
    missing = [move.hash for move in moves if (row.owner, move.hash) not in loaded]
    if missing:
        raise ConversionError(f"its blob {missing[0]} is missing", hint="partita doctor tells which ones are")
    put_back(content, moves, {digest: data for (_, digest), data in loaded.items()})
    return dumps(content).decode()


def tally_of(looked: Sequence[Looked]) -> Tally:
    """What was seen, changed and not changed."""
    done = [one for one in looked if one.changed is not None]
    failed = [one for one in looked if one.why]
    losses = [
        _place(one.row, str(loss)) for one in done if one.changed is not None for loss in one.changed.losses
    ]
    counts = Counter((one.row.owner, one.row.thread_id) for one in done)
    # `plus` cuts what is too much to name.
    return Tally().plus(
        Tally(
            seen=len(looked),
            changed=len(done),
            failed=len(failed),
            lost=len(losses),
            done=dict(Counter(one.changed.done for one in done if one.changed is not None)),
            threads=tuple(
                ThreadCount(thread_id=thread_id, changed=count, resource_id=owner or None)
                for (owner, thread_id), count in counts.items()
            ),
            examples=tuple(_example(one, one.changed) for one in done[:5] if one.changed is not None),
            failures=tuple(_place(one.row, one.why) for one in failed),
            losses=tuple(losses),
        )
    )


def _place(row: Row[Any], what: str) -> Place:
    return Place(thread_id=row.thread_id, message_id=row.id, what=what[:SHOWN], resource_id=row.owner or None)


def _example(one: Looked, changed: Changed) -> Example:
    return Example(
        thread_id=one.row.thread_id,
        message_id=one.row.id,
        before=one.before[:SHOWN],
        after=encode(changed.message.content).decode()[:SHOWN],
        done=changed.done,
        resource_id=one.row.owner or None,
    )
