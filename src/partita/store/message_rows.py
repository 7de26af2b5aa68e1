"""Rows made messages again. How a message becomes a row is told in `prepared` and `saving`."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Row

from partita.errors import DecodeError
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

from . import blobs
from .blob_moves import Move, moves_from_json, put_back
from .encoding import CONTENTS
from .older import upgraded
from .older_parts import DAMAGED
from .transaction import Transaction
from .values import BlobMode

MESSAGES: dict[str, type[Any]] = {
    "system": SystemMessage,
    "user": UserMessage,
    "assistant": AssistantMessage,
    "tool": ToolMessage,
}


def read_messages(tx: Transaction, rows: Sequence[Row[Any]], mode: BlobMode) -> tuple[Message, ...]:
    """The messages of rows, large values put back unless references are asked for."""
    if mode == "reference" or all(row.blobs is None for row in rows):
        return tuple(_message(row, None) for row in rows)
    moves = {row.key: _moves(row) for row in rows if row.blobs is not None}
    if mode == "files":
        moves = {key: [move for move in some if not _is_file(move)] for key, some in moves.items()}
    wanted = [(row.owner, move.hash) for row in rows for move in moves.get(row.key, ())]
    loaded = blobs.load(tx, wanted)
    return tuple(_message(row, _whole(row, moves.get(row.key), loaded)) for row in rows)


def _is_file(move: Move) -> bool:
    """Whether what has moved is a file of the message itself, not of a call in it."""
    return move.kind == "data" and len(move.path) == 3 and move.path[0] == "parts"


def _moves(row: Row[Any]) -> list[Move]:
    """Where values were taken out; of a damaged column nothing is known, and references stay references."""
    try:
        return moves_from_json(row.blobs)
    except (DecodeError, TypeError, ValueError):
        return []


def _whole(row: Row[Any], moves: Any, loaded: dict[tuple[str, str], bytes]) -> JsonObject | None:
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
    """Fields that have no name here; a damaged column is kept as text, so that it hides nothing else."""
    try:
        fields: Json = loads(text)
    except DecodeError:
        fields = {DAMAGED: text}
    return Extra(fields if is_object(fields) else {DAMAGED: text})


def read_content(row: Row[Any], content: JsonObject | None = None) -> Content:
    """The content of a row; one of an older shape, or a damaged one, is read as what it is."""
    codec = CONTENTS.get(row.role, CONTENTS["assistant"])
    try:
        found: Content = codec.decode(row.content) if content is None else codec.read(content)
    except DecodeError:
        return upgraded(row.role, row.content).content
    return found


def stored(message: Message, **fields: Any) -> Message:
    """The message with the fields that the store gave it."""
    changed: Message = replace(message, **fields)
    return changed


def contents_of(rows: Iterable[Row[Any]]) -> list[Content]:
    """The contents of rows, references left as they are."""
    return [read_content(row) for row in rows]
