"""Session messages of Cherry Studio, as rows from any of its three generations → canonical messages.

| generation | column | value |
|---|---|---|
| today | `data` | `{parts, turnOptions}`: UI parts of AI SDK 6 and data parts |
| before | `content` | `{message, blocks}` |
| first versions | `content` | `{aiSDKChunks, rawAgentMessages, agentResult, agentType}`, or plain text |

A message has the id of its `message`, if there is one, otherwise that of its row. Values without a place in a
message (status, model, resume token, raw agent messages …) are kept in its metadata under `cherry`, at their
place in the row. So only columns that are null, and members that repeat the parts, are lost. Text that should
be JSON but is not becomes a foreign part, and is reported.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from partita.errors import DecodeError
from partita.formats.ai_sdk.ui.format import read_part, write_part
from partita.formats.format import Format, Loaded
from partita.formats.losses import UNREAD, Loss, json_losses
from partita.formats.rows import NOT_JSON, Row, message_of, rows_of
from partita.types.json import Json, is_array, is_object, loads
from partita.types.messages import Envelope, Message, Part
from partita.types.parts import ForeignPart, ReasoningPart, TextPart
from partita.types.usage import Usage, UsageNames

from .blocks import NAME, load_block
from .chunks import load_chunks

USAGE: Final = UsageNames(
    input=("inputTokens", "promptTokens", "prompt_tokens"),
    output=("outputTokens", "completionTokens", "completion_tokens"),
    total=("totalTokens", "total_tokens"),
    reasoning=(
        "outputTokenDetails.reasoningTokens",
        "outputTokenDetails.reasoning",
        "thoughtsTokens",
        "thoughts_tokens",
    ),
    cached=("inputTokenDetails.cacheReadTokens", "inputTokenDetails.cacheRead"),
    cache_write=("inputTokenDetails.cacheWriteTokens", "inputTokenDetails.cacheWrite"),
)
"""The names of counts in `stats` (today) and `usage` (before)."""

JSON_COLUMNS: Final = ("stats", "messageSnapshot", "delivery", "metadata")
CHUNKS: Final = "aiSDKChunks"


def load(payload: Json) -> Loaded:
    """Read the messages of a row, or of a list of rows."""
    losses: list[Loss] = []
    messages = [_load_row(row, index, losses) for index, row in enumerate(rows_of(payload))]
    return Loaded(tuple(messages), tuple(losses))


def _load_row(row: Row, index: int, losses: list[Loss]) -> Message:
    row.unpack(*JSON_COLUMNS)
    column = "data" if "data" in row else "content"
    where = row.where(column)
    value, error = _unpacked(row.take(column), column)
    body = Row(value if is_object(value) else {}, where)
    message = body.take_object("message")
    role = _role(row, message)
    envelope = _envelope(row, message, index)
    if error is not None:
        why = f"{NOT_JSON}: {error}"
        losses.append(Loss.of(where, value, why, "changed"))
        parts: list[Part] = [ForeignPart(NAME, value)]
    elif is_object(value):
        parts = [*_parts(body, message, role, envelope["id"], losses)]
    else:
        parts = [*_value_parts(value, role, where, losses)]
    usage = _usage(row, message) if role == "assistant" else None
    if row.get("searchableText") == _searchable(parts):
        row.take("searchableText")
    left = body.left | ({"message": message.left} if message.left else {})
    row.left |= {column: left} if left else {}
    metadata = {NAME: row.left} if row.left else None
    return message_of(role, parts, origin=NAME, metadata=metadata, usage=usage, **envelope)


def _unpacked(value: Json, column: str) -> tuple[Json, str | None]:
    """Return the value of a column, and the error if it should be JSON but is not.

    In the first versions `content` could be plain text. Text that starts like an object should be one.
    """
    if not isinstance(value, str) or (column == "content" and not value.lstrip().startswith("{")):
        return value, None
    try:
        return loads(value), None
    except DecodeError as error:
        return value, f"{error.what} ({error.where})"


def _role(row: Row, message: Row) -> str:
    """Return the role of the row, or else of its message. If they differ, that of the message is left."""
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
            return USAGE.read(holder.take(name))
    return None


def _searchable(parts: Sequence[Part]) -> str:
    """Return the text that Cherry Studio searches: texts and reasoning, line by line."""
    return "\n".join(part.text for part in parts if isinstance(part, TextPart | ReasoningPart))


# Parts


def _value_parts(value: Json, role: str, where: str, losses: list[Loss]) -> Iterator[Part]:
    """Yield the parts of a column that is not an object: a text, or the parts themselves."""
    if isinstance(value, str):
        yield TextPart(value)
    elif is_array(value):
        yield from _load_all(value, role, where, losses)
    elif value is not None:
        yield ForeignPart(NAME, value)


def _parts(body: Row, message: Row, role: str, message_id: str, losses: list[Loss]) -> Iterator[Part]:
    """Yield the parts of a column, in any form. In some versions `message` had its own `data`."""
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
        parts, other_values = load_chunks(body.take(CHUNKS), message_id, path, losses)
        body.left |= other_values
        yield from parts


def _load_all(raws: Sequence[Json], role: str, path: str, losses: list[Loss]) -> Iterator[Part]:
    for index, raw in enumerate(raws):
        where = f"{path}[{index}]"
        part = read_part(raw, role, where)
        losses += json_losses(raw, write_part(part), where, UNREAD)
        yield part


def _ordered(body: Row, message: Row) -> list[tuple[str, Json]]:
    """Return the blocks with their paths, in the order of the message if it lists all of them."""
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


FORMAT: Final = Format("cherry", "Cherry Studio session messages (rows)", load, is_complete=True)
