"""Rows of plain text, `{id, role, content, createdAt, …}` → messages of one part, marked as reconstructed.

What the agent did besides writing text was not stored, so the metadata of each message has `reconstructed`,
and its origin as `from`. Columns without a place in a message are kept beside these, under their own names.
"""

from collections.abc import Sequence
from typing import Final, Unpack

from partita.errors import ConversionError
from partita.types.json import Json, JsonObject
from partita.types.messages import Envelope, Message
from partita.types.parts import DataPart, ForeignPart, TextPart
from partita.types.usage import Usage
from partita.types.value import FOREIGN

from .format import Format, Loaded
from .rows import Row, message_of, rows_of

NAME: Final = "plain"
RECONSTRUCTED: Final = "reconstructed"
FROM: Final = "from"

TEXTS: Final = ("content", "text")
MOMENTS: Final = ("createdAt", "timestamp")
THREADS: Final = ("threadId", "sessionId", "conversationId")


def load(payload: Json) -> Loaded:
    """Rows of plain text, one or a list of them, as canonical messages."""
    return Loaded(tuple(_load_row(row, index) for index, row in enumerate(rows_of(payload))))


def reconstructed(
    text: str | None,
    *,
    role: str,
    origin: str,
    aside: JsonObject | None = None,
    more: Sequence[DataPart | ForeignPart] = (),
    usage: Usage | None = None,
    **envelope: Unpack[Envelope],
) -> Message:
    """A message made of plain text, and marked as reconstructed.

    `origin`: what it was made of; `aside`: other columns; `more`: parts after the text. Only messages of the
    assistant have usage.
    """
    parts = [*([] if text is None else [TextPart(text)]), *more]
    return message_of(
        role, parts, origin=origin, metadata=marks(origin, aside, made=True), usage=usage, **envelope
    )


def marks(origin: str, aside: JsonObject | None = None, *, made: bool) -> JsonObject:
    """The metadata of a message of a row: whether it was reconstructed, its origin, and other columns."""
    own: JsonObject = {**({RECONSTRUCTED: True} if made else {}), FROM: origin}
    others = (aside or {}).items()
    return own | {FOREIGN + key if key in (RECONSTRUCTED, FROM) else key: value for key, value in others}


def _load_row(row: Row, index: int) -> Message:
    role = row.take_role()
    column = next((name for name in TEXTS if name in row), None)
    if column is None:
        raise ConversionError("a row without text", where=row.path, hint="give {id, role, content}")
    content = row.take(column)
    id_ = row.take_text("id")
    envelope = Envelope(
        id=f"message-{index + 1}" if id_ is None else id_,
        thread_id=next(filter(None, map(row.take_text, THREADS)), None),
        parent_id=row.take_text("parentId"),
        created_at=next(filter(None, map(row.take_moment, MOMENTS)), None),
    )
    if isinstance(content, str):
        return reconstructed(content, role=role, origin=NAME, aside=row.left, **envelope)
    part = ForeignPart(NAME, content)
    return reconstructed(None, role=role, origin=NAME, aside=row.left, more=[part], **envelope)


FORMAT: Final = Format("plain", "rows of plain text, marked as reconstructed", load, is_complete=True)
