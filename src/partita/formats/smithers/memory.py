"""Rows of `_smithers_memory_messages` → canonical messages.

The content is text, the parts of UI or model messages of the AI SDK, or any other JSON, which becomes a data
part.
"""

from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import DecodeError, PartitaError
from partita.formats.ai_sdk.model import format as model
from partita.formats.ai_sdk.ui import format as ui
from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.formats.rows import NOT_JSON, Row, message_of
from partita.types.json import Json, JsonObject, is_array, is_object, loads
from partita.types.messages import Envelope, Message, ToolMessage
from partita.types.parts import DataPart, ForeignPart, TextPart

from .agents import NAME

COLUMN: Final = "contentJson"


def load_memory(row: Row, index: int, losses: list[Loss]) -> Message:
    """Return the message of a row. Columns without a place in it are kept in its metadata."""
    where = row.where(COLUMN)
    stored_role = row.get("role")
    role = row.take_role()
    envelope = Envelope(
        id=row.take_text("id") or f"message-{index + 1}",
        thread_id=row.take_text("threadId"),
        run_id=row.take_text("runId"),
        created_at=row.take_moment("createdAtMs"),
    )
    stored = row.take(COLUMN)
    try:
        content = loads(stored) if isinstance(stored, str) else stored
    except DecodeError as error:
        why = f"{NOT_JSON}: {error}"
        losses.append(Loss.of(where, stored, why, "changed"))
        return _message(role, ForeignPart(NAME, stored), row, envelope)
    loaded = _loaded(content, stored_role if stored_role == "tool" else role, row, envelope["id"])
    if loaded is None:
        return _message(role, _part(content), row, envelope)
    losses.extend(loss._replace(path=f"{where}{loss.path.removeprefix('$')}") for loss in loaded.losses)
    return _enveloped(loaded.messages[0], row, envelope)


def _part(content: Json) -> TextPart | DataPart:
    match content:
        case str():
            return TextPart(content)
        case {"text": str(text), **rest} if not rest:
            return TextPart(text)
        case _:
            return DataPart("content", content)


def _loaded(content: Json, role: str, row: Row, id_: str) -> Loaded | None:
    """Return the message of a content in a form of the AI SDK, or `None` if it has another form."""
    try:
        if is_array(content):
            return model.load({"role": role, "content": content})
        if not is_object(content) or not (is_array(content.get("parts")) or "content" in content):
            return None
        own: JsonObject = {"id": id_, "role": role}
        load = ui.load if is_array(content.get("parts")) else model.load
        loaded = load({**content, "role": role})
    except PartitaError:
        return None
    others = {key: content[key] for key in own if key in content and content[key] != own[key]}
    if others:
        row.left[COLUMN] = others
    return loaded


def _message(role: str, part: TextPart | DataPart | ForeignPart, row: Row, envelope: Envelope) -> Message:
    metadata = {NAME: row.left} if row.left else None
    return message_of(role, [part], origin=NAME, metadata=metadata, **envelope)


def _enveloped(message: Message, row: Row, envelope: Envelope) -> Message:
    """Return the message with the columns of its row."""
    if isinstance(message, ToolMessage):
        row.take("role")
    own = message.content.metadata
    metadata: JsonObject = own if is_object(own) else {} if own is UNSET else {"metadata": own}
    if row.left:
        metadata = {**metadata, NAME: row.left}
    content = replace(message.content, metadata=metadata or own)
    return replace(message, content=content, **envelope)
