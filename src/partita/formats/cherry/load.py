"""Session messages of Cherry Studio, as rows of any of its three generations → canonical messages.

| generation | column | holds |
|---|---|---|
| today | `data` | `{parts, turnOptions}`: UI parts of AI SDK 6 and data parts |
| before | `content` | `{message, blocks}` |
| the first months | `content` | `{aiSDKChunks, rawAgentMessages, agentResult, agentType}`, or plain text |

A message has the id of its `message`, if there is one, else that of its row. Whatever has no place in a
message (status, model, resume token, raw agent messages …) stands in its metadata under `cherry`, where it
was in the row. Not kept: columns that are null, and what says again what the parts say. Text that should be
JSON and is not becomes a foreign part, and is told as a loss.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from partita.errors import DecodeError
from partita.formats.ai_sdk.ui.load import load_part
from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.formats.rows import Row, message_of, rows_of
from partita.types.json import Json, is_array, is_object, loads
from partita.types.messages import Envelope, Message, Part
from partita.types.parts import ForeignPart, ReasoningPart, TextPart
from partita.types.usage import Usage

from .blocks import FORMAT, NAMESPACE, load_block
from .chunks import load_chunks
from .usage import read_usage

JSON_COLUMNS: Final = ("stats", "messageSnapshot", "delivery", "metadata")
CHUNKS: Final = "aiSDKChunks"


def load(payload: Json) -> Loaded:
    """Rows, one or a list of them, as canonical messages."""
    losses: list[Loss] = []
    messages = [_load_row(row, index, losses) for index, row in enumerate(rows_of(payload))]
    return Loaded(tuple(messages), tuple(losses))


def _load_row(row: Row, index: int, losses: list[Loss]) -> Message:
    row.unpack(*JSON_COLUMNS)
    column = "data" if "data" in row else "content"
    where = row.where(column)
    said, damage = _unpacked(row.take(column), column)
    body = Row(said if is_object(said) else {}, where)
    message = body.take_object("message")
    role = _role(row, message)
    envelope = _envelope(row, message, index)
    if damage is not None:
        why = f"kept as a foreign part, for it is no JSON: {damage}"
        losses.append(Loss.of(where, said, why, "changed"))
        parts: list[Part] = [ForeignPart(FORMAT, said)]
    elif is_object(said):
        parts = [*_parts(body, message, role, envelope["id"], losses)]
    else:
        parts = [*_bare(said, role, where, losses)]
    usage = _usage(row, message) if role == "assistant" else None
    if row.get("searchableText") == _searchable(parts):
        row.take("searchableText")
    left = body.left | ({"message": message.left} if message.left else {})
    row.left |= {column: left} if left else {}
    metadata = {NAMESPACE: row.left} if row.left else None
    return message_of(role, parts, origin=FORMAT, metadata=metadata, usage=usage, **envelope)


def _unpacked(value: Json, column: str) -> tuple[Json, str | None]:
    """What a column holds, and what is wrong with it if it should be JSON and is not.

    The first `content` could be plain text; what begins like an object was meant to be one.
    """
    if not isinstance(value, str) or (column == "content" and not value.lstrip().startswith("{")):
        return value, None
    try:
        return loads(value), None
    except DecodeError as error:
        return value, f"{error.what} ({error.where})"


def _role(row: Row, message: Row) -> str:
    """The role of the row, else of its message; of the message it is left, if it is another."""
    if "role" not in row and "role" in message:
        row.left["role"] = message.take("role")
    elif message.get("role") == row.get("role"):
        message.take("role")
    return row.take_role()


def _envelope(row: Row, message: Row, index: int) -> Envelope:
    return Envelope(
        id=message.take_text("id") or row.take_text("id") or f"message-{index + 1}",
        thread_id=row.take_text("sessionId") or row.take_text("topicId"),
        parent_id=row.take_text("parentId"),
        created_at=message.take_moment("createdAt") or row.take_moment("createdAt"),
    )


def _usage(row: Row, message: Row) -> Usage | None:
    for holder, name in ((row, "stats"), (message, "usage")):
        if is_object(holder.get(name)):
            return read_usage(holder.take(name))
    return None


def _searchable(parts: Sequence[Part]) -> str:
    """The text that Cherry Studio searches: what is said and thought, line by line."""
    return "\n".join(part.text for part in parts if isinstance(part, TextPart | ReasoningPart))


# Parts


def _bare(said: Json, role: str, where: str, losses: list[Loss]) -> Iterator[Part]:
    """The parts of a column that holds no object: text, or the parts themselves."""
    if isinstance(said, str):
        yield TextPart(said)
    elif is_array(said):
        yield from _load_all(said, role, where, losses)
    elif said is not None:
        yield ForeignPart(FORMAT, said)


def _parts(body: Row, message: Row, role: str, message_id: str, losses: list[Loss]) -> Iterator[Part]:
    """The parts of a column, in whichever form it has them. For a while a `message` had `data` of its own."""
    data = message.take_object("data")
    for holder in (body, data):
        if is_array(holder.get("parts")):
            yield from _load_all(holder.take("parts"), role, f"{holder.path}.parts", losses)
    message.left |= {"data": data.left} if data.left else {}
    if is_array(body.get("blocks")):
        for path, block in _ordered(body, message):
            yield from load_block(block, message_id, path)
    if is_array(body.get(CHUNKS)):
        path = f"{body.path}.{CHUNKS}"
        parts, beside = load_chunks(body.take(CHUNKS), message_id, path, losses)
        body.left |= beside
        yield from parts


def _load_all(raws: Sequence[Json], role: str, path: str, losses: list[Loss]) -> Iterator[Part]:
    for index, raw in enumerate(raws):
        yield load_part(raw, role, f"{path}[{index}]", losses)


def _ordered(body: Row, message: Row) -> list[tuple[str, Json]]:
    """The blocks with their paths, in the order that the message gives, if it names them all."""
    path = f"{body.path}.blocks"
    blocks = [(f"{path}[{index}]", block) for index, block in enumerate(body.take("blocks"))]
    ids = [block.get("id") if is_object(block) else None for _, block in blocks]
    order = message.get("blocks")
    if (
        not is_array(order)
        or len(set(map(str, ids))) < len(ids)
        or sorted(map(str, order)) != sorted(map(str, ids))
    ):
        return blocks
    by_id = dict(zip(map(str, ids), blocks, strict=True))
    return [by_id[str(id_)] for id_ in message.take("blocks")]
