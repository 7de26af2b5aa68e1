"""V1 messages ↔ canonical messages. Networks in texts remain texts here: see `network`.

The content of a V1 message is that of an AI SDK 4 core message, which `ai_sdk.model` reads and writes. Each
step of an assistant and the results of its calls are separate messages. Those after the first have the ids
`ID__split-1`, `ID__split-2` …, as in Mastra: `convertToV1Messages` in
packages/core/src/agent/message-list of https://github.com/mastra-ai/mastra, and
https://github.com/mastra-ai/mastra/issues/9370
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.formats.ai_sdk.model.reader import Reader
from partita.formats.ai_sdk.model.writer import Writer
from partita.formats.core.report import Record
from partita.formats.core.turns import Prompt, Results, Step, Turn, join, split
from partita.formats.losses import STEPS, Loss
from partita.types.json import Json, JsonObject, is_array, is_object, loads
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    SystemContent,
    SystemMessage,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import ForeignPart, TextPart
from partita.types.value import keep_fields

from .notes import members_of
from .rows import ROW_THREAD, USER_SIGNAL, check_row, envelope_members, read_envelope, write_envelope
from .wire import FOREIGN

ROLES: Final[Mapping[str, type[Message]]] = {
    "system": SystemMessage,
    "user": UserMessage,
    "assistant": AssistantMessage,
    "tool": ToolMessage,
    "signal": SystemMessage,
}

OPTIONS: Final = ("providerOptions", "experimental_providerMetadata")
"""The names of provider options in different versions."""

VERSION: Final = 4


# Reading


def read_message(raw: Json, path: str, index: int) -> tuple[Message, Mapping[int, Any]]:
    """Return the canonical message of a V1 message, which may be only results, and its parts by position."""
    row = check_row(raw, path, tuple(ROLES))
    role, content = row["role"], row["content"]
    fields, rest = read_envelope(row, path, index)
    items = _items(content) if ROW_THREAD in row else None
    if items is not None:
        content = items
    if _is_core(role, content):
        message, parts = _read_core(role, content, rest, path)
    else:
        message = _keep(role, content, rest)
        parts = dict(enumerate(message.content.parts))
    if rest.get("type") == type_of(role, content):
        del rest["type"]
    extra = keep_fields({**rest, **members_of(message)}, type(message))
    return replace(message, **fields, extra=extra), parts


def _items(content: Json) -> list[Json] | None:
    """Return the parts in the text column of a row, or `None` if it is only text."""
    if not isinstance(content, str) or not content.startswith("["):
        return None
    try:
        items = loads(content)
    except DecodeError:
        return None
    has_types = is_array(items) and all(
        is_object(item) and isinstance(item.get("type"), str) for item in items
    )
    return items if has_types else None


def _is_core(role: str, content: Json) -> bool:
    """Whether a core message may have such content."""
    is_text, is_list = isinstance(content, str), is_array(content)
    return role != "signal" and ((is_text and role != "tool") or (is_list and role != "system"))


def _read_core(role: str, content: Json, rest: JsonObject, path: str) -> tuple[Message, Mapping[int, Any]]:
    options = {name: rest.pop(name) for name in OPTIONS if is_object(rest.get(name))}
    try:
        reader = Reader({"role": role, "content": content, **options}, VERSION)
    except (ConversionError, DecodeError) as error:
        where = path + (error.where or "$").removeprefix("$")
        raise ConversionError(error.what, where=where, hint=error.hint) from None
    parts: dict[int, Any] = {}
    for place, value in reader.positions.items():
        if isinstance(place, tuple) and len(place) == 2 and type(place[1]) is int:
            parts[place[1]] = value
    return reader.messages[0], parts


def _keep(role: str, content: Json, rest: JsonObject) -> Message:
    """Return a message that is not a core message: a signal, instructions in parts, or invalid data."""
    is_prompt = role == "signal" and rest.get("type") == USER_SIGNAL
    message_type: Any = UserMessage if is_prompt else ROLES[role]
    content_type: Any = UserContent if is_prompt else SystemContent
    has_text = is_prompt or message_type is SystemMessage
    if is_array(content) and has_text:
        message: Message = message_type(id="", content=[_read_system_part(item) for item in content])
    elif isinstance(content, str) and has_text:
        message = message_type(id="", content=content_type(parts=(TextPart(content),), content=content))
    else:
        message = message_type(id="", content=(ForeignPart(FOREIGN, content),))
    if role == "signal":
        rest["role"] = role
        return message if is_prompt else replace(message, type="event", internal=True)
    return message


def _read_system_part(item: Json) -> TextPart | ForeignPart:
    if not is_object(item) or item.get("type") != "text" or not isinstance(item.get("text"), str):
        return ForeignPart(FOREIGN, item)
    rest = {key: value for key, value in item.items() if key not in ("type", "text")}
    return TextPart(item["text"], extra=keep_fields(rest, TextPart))


def type_of(role: str, content: Json) -> str:
    """Return the type that Mastra stores for a V1 message."""
    if role == "tool":
        return "tool-result"
    items: list[Json] = content if is_array(content) else []
    has_calls = any(is_object(item) and item.get("type") == "tool-call" for item in items)
    return "tool-call" if role == "assistant" and has_calls else "text"


# Writing


def write_messages(messages: Sequence[Message], record: Record | None = None) -> list[JsonObject]:
    """Write messages as V1 messages, and record their positions.

    The position of a message is its number, and that of a part is followed by the number of the part.
    """
    rows: list[JsonObject] = []
    record = Record() if record is None else record
    whole = join(messages)
    first = current = 0
    for turn in split(whole, _is_written, results="all"):
        origin = _origin(turn)
        if origin != current:
            first, current = len(rows), origin
        piece, at, is_own = _piece(turn), len(rows), _has_own_id(turn)
        core, positions = _write_core(piece)
        for role, content, options in core:
            id_ = piece.id if is_own else f"{whole[origin].id}__split-{len(rows) - first}"
            row: JsonObject = {"id": id_, "role": role, **write_envelope(piece)}
            row |= {"type": type_of(role, content), "content": content, **options}
            rows.append({**row, **(envelope_members(piece) if is_own else {})})
            is_own = False
        if isinstance(turn, Step):
            record.add_boundaries(turn.boundaries, STEPS)
            if turn.number > 1:
                record.losses.append(Loss(turn.path, "one message", STEPS, "repaired"))
        shifted = [None if place is None else (at + place[0], place[1]) for place in positions]
        record.add(turn, (at,) if core else None, shifted)
    return rows


def _is_written(part: AssistantPart) -> bool:
    return bool(Writer(VERSION).write([AssistantMessage(id="", content=(part,))]))


def _origin(turn: Turn) -> int:
    """Return the number of the message that a turn belongs to."""
    path = turn.step.path if isinstance(turn, Results) and turn.step is not None else turn.path
    return int(path.removeprefix("$[").partition("]")[0])


def _has_own_id(turn: Turn) -> bool:
    """Whether a turn has an id in the messages. Later steps and implied results have none."""
    match turn:
        case Step():
            return turn.number == 1
        case Results():
            return bool(turn.path)
        case Prompt():
            return turn.steering is None
        case _:
            return True


def _piece(turn: Turn) -> Message:
    """Return the message of a turn with only the parts of the turn."""
    parts: Any = tuple(part for part, _ in turn.parts)
    if isinstance(turn, Step) and turn.number > 1:
        return replace(turn.message, content=AssistantContent(parts=parts), extra=None)
    content: Any = replace(turn.message.content, parts=parts)
    piece: Message = replace(turn.message, content=content)
    return piece


Core: TypeAlias = tuple[str, Json, JsonObject]
"""The role, the content and the options of a core message."""


def _write_core(piece: Message) -> tuple[Sequence[Core], Sequence[tuple[int, int] | None]]:
    """Return the core messages of a message, and the positions of its parts in them."""
    parts = piece.content.parts
    match parts:
        case (ForeignPart(format=format_, value=value),) if format_ == FOREIGN:
            return [(piece.role, value, {})], [(0, 0)]
        case _ if isinstance(piece, SystemMessage) and _is_in_parts(parts):
            content = [_write_system_part(part) for part in parts]
            return [("system", content, {})], [(0, index) for index in range(len(parts))]
        case _:
            pass
    writer = Writer(VERSION)
    core: list[Core] = []
    for message in writer.write([piece]):
        options = {name: value for name, value in message.items() if name not in ("role", "content")}
        core.append((message["role"], message["content"], options))
    writer.record.complete()
    found: dict[str, Any] = {entry.path: entry.position for entry in writer.record.entries}
    return core, [found.get(f"$[0].content.parts[{index}]") for index in range(len(parts))]


def _is_in_parts(parts: Sequence[Any]) -> bool:
    """Whether the content of a system message was a list."""
    is_own = all(isinstance(part, TextPart) or _is_foreign(part) for part in parts)
    return is_own and (len(parts) != 1 or (isinstance(parts[0], TextPart) and bool(parts[0].extra)))


def _is_foreign(part: Any) -> bool:
    return isinstance(part, ForeignPart) and part.format == FOREIGN


def _write_system_part(part: Any) -> Json:
    return part.value if _is_foreign(part) else {"type": "text", "text": part.text, **members_of(part)}
