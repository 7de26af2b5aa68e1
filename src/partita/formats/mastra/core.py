"""One V1 message → a canonical message: its content is that of an AI SDK 4 core message.

Results stay apart from their calls here; `fold` brings them together once all messages are read.
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.formats.ai_sdk.model import format as model
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array, is_object, loads
from partita.types.messages import (
    AssistantMessage,
    Message,
    SystemContent,
    SystemMessage,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import ForeignPart, TextPart
from partita.types.value import Extra, kept

from .envelope import ROW_THREAD, checked_row, read_envelope
from .notes import FORMAT, extra_of

ROLES: Mapping[str, type[Message]] = {
    "system": SystemMessage,
    "user": UserMessage,
    "assistant": AssistantMessage,
    "tool": ToolMessage,
    "signal": SystemMessage,
}
USER_SIGNAL = "user"
"""The kind of signal that a person sends: talk, whereas the others are for the agent."""

OPTIONS = ("providerOptions", "experimental_providerMetadata")
"""Members that say something to the provider, in the names of two versions."""


def load_core(raw: Json, path: str, losses: list[Loss], index: int) -> Message:
    """A V1 message as a canonical one."""
    row = checked_row(raw, path, tuple(ROLES))
    role, content = row["role"], row["content"]
    around = read_envelope(row, path, index)
    rest, note = around.rest, around.note
    items = _items(content) if ROW_THREAD in row else None
    if items is not None:
        content, note["content"] = items, "json"
    if _is_core(role, content):
        message = _read(role, content, rest, path, losses)
    else:
        message = _keep(role, content, rest)
    if rest.get("type") == type_of(role, content):
        del rest["type"]
    extra = {**(message.extra or {}), **(extra_of(rest, note, type(message)) or {})}
    return replace(message, **around.fields, extra=Extra(extra) if extra else None)


def _items(content: Json) -> list[Json] | None:
    """The parts that the text column of a row holds; `None` if it holds words."""
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
    """Whether a core message may be like that."""
    words, parts = isinstance(content, str), is_array(content)
    return role != "signal" and ((words and role != "tool") or (parts and role != "system"))


def _read(role: str, content: Json, rest: JsonObject, path: str, losses: list[Loss]) -> Message:
    options = {name: rest.pop(name) for name in OPTIONS if is_object(rest.get(name))}
    try:
        loaded = model.load({"role": role, "content": content, **options}, 4)
    except ConversionError as error:
        raise ConversionError(
            error.what, where=path + error.where.removeprefix("$"), hint=error.hint
        ) from None
    losses.extend(loss._replace(path=path + loss.path.removeprefix("$")) for loss in loaded.losses)
    return loaded.messages[0]


def _keep(role: str, content: Json, rest: JsonObject) -> Message:
    """A message that no core message is like: a signal, instructions in pieces, damage."""
    is_talk = role == "signal" and rest.get("type") == USER_SIGNAL
    message_type: Any = UserMessage if is_talk else ROLES[role]
    content_type: Any = UserContent if is_talk else SystemContent
    is_words = is_talk or message_type is SystemMessage
    if is_array(content) and is_words:
        message: Message = message_type(id="", content=[_system_part(item) for item in content])
    elif isinstance(content, str) and is_words:
        message = message_type(id="", content=content_type(parts=(TextPart(content),), content=content))
    else:
        message = message_type(id="", content=(ForeignPart(FORMAT, content),))
    if role == "signal":
        rest["role"] = role
        return message if is_talk else replace(message, type="event", internal=True)
    return message


def _system_part(item: Json) -> TextPart | ForeignPart:
    if not is_object(item) or item.get("type") != "text" or not isinstance(item.get("text"), str):
        return ForeignPart(FORMAT, item)
    rest = {key: value for key, value in item.items() if key not in ("type", "text")}
    return TextPart(item["text"], extra=kept(rest, TextPart))


def type_of(role: str, content: Json) -> str:
    """The type that Mastra gives a V1 message."""
    if role == "tool":
        return "tool-result"
    items: list[Json] = content if is_array(content) else []
    calls = any(is_object(item) and item.get("type") == "tool-call" for item in items)
    return "tool-call" if role == "assistant" and calls else "text"
