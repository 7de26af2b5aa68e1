"""Reading the rows of messages. `prepared.py` and `writer.py` make and write them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row

from partita.errors import DecodeError
from partita.store.blobs import blobs
from partita.store.blobs.moves import Move, moves_from_json, put_back
from partita.store.encoding import CONTENTS
from partita.store.sql.transaction import Transaction
from partita.store.values import BlobMode
from partita.types.json import Json, JsonObject, is_object, loads
from partita.types.messages import (
    AssistantMessage,
    Content,
    Envelope,
    Message,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from partita.types.value import Extra

from .legacy_content import DAMAGED, upgrade

MESSAGES: dict[str, type[Any]] = {
    "system": SystemMessage,
    "user": UserMessage,
    "assistant": AssistantMessage,
    "tool": ToolMessage,
}


def read_messages(tx: Transaction, rows: Sequence[Row[Any]], mode: BlobMode) -> tuple[Message, ...]:
    """The messages of rows, with large values or references to them in place."""
    if mode == "reference" or all(row.blobs is None for row in rows):
        return tuple(_message(row, None) for row in rows)
    moves = {row.key: _moves(row) for row in rows if row.blobs is not None}
    if mode == "files":
        moves = {key: [move for move in some if not _is_file(move)] for key, some in moves.items()}
    hashes = [(row.owner, move.hash) for row in rows for move in moves.get(row.key, ())]
    loaded = blobs.load(tx, hashes)
    return tuple(_message(row, _with_values(row, moves.get(row.key), loaded)) for row in rows)


def _is_file(move: Move) -> bool:
    """Whether a moved value is a file of the message itself, not of a call in it."""
    return move.kind == "data" and len(move.path) == 3 and move.path[0] == "parts"


def _moves(row: Row[Any]) -> list[Move]:
    """The values that were moved out; with a damaged column none, so that references stay references."""
    try:
        return moves_from_json(row.blobs)
    except (DecodeError, TypeError, ValueError):
        return []


def _with_values(row: Row[Any], moves: Any, loaded: dict[tuple[str, str], bytes]) -> JsonObject | None:
    try:
        content = loads(row.content) if moves else None
    except DecodeError:
        return None
    if not is_object(content):
        return None
    put_back(content, moves, {digest: data for (owner, digest), data in loaded.items() if owner == row.owner})
    return content


def _message(row: Row[Any], content: JsonObject | None) -> Message:
    envelope: Envelope = {
        "id": row.id,
        "thread_id": row.thread_id,
        "type": row.type,
        "created_at": row.created_at,
        "resource_id": row.owner or None,
        "parent_id": row.parent_id,
        "run_id": row.run_id,
        "seq": row.seq,
        "internal": bool(row.internal),
        "extra": None if row.extra is None else _extra(row.extra),
    }
    message: Message = MESSAGES.get(row.role, AssistantMessage)(
        content=read_content(row, content), **envelope
    )
    return message


def _extra(text: str) -> Extra:
    """Unknown fields. A damaged column is kept as text, so that the rest can be read."""
    try:
        fields: Json = loads(text)
    except DecodeError:
        fields = {DAMAGED: text}
    return Extra(fields if is_object(fields) else {DAMAGED: text})


def read_content(row: Row[Any], content: JsonObject | None = None) -> Content:
    """The content of a row, also of an older format or a damaged one."""
    role = row.role if row.role in CONTENTS else "assistant"
    codec = CONTENTS[role]
    try:
        found: Content = codec.decode(row.content) if content is None else codec.read(content)
    except DecodeError:
        return upgrade(role, row.content).content
    return found
