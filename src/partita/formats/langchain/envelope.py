"""The forms that LangChain writes a message in: message dicts, constructors, and plain dumps."""

from collections.abc import Mapping
from types import NoneType
from typing import Any, Final, NamedTuple

from partita.errors import ConversionError
from partita.formats.framework.members import checked_array, checked_object
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array, is_object

NAME: Final = "langchain"
"""The namespace of what LangChain alone knows, in provider metadata."""

CLASSES: Final[Mapping[str, str]] = {
    "SystemMessage": "system",
    "HumanMessage": "human",
    "AIMessage": "ai",
    "ToolMessage": "tool",
    "ChatMessage": "chat",
    "FunctionMessage": "function",
    "RemoveMessage": "remove",
}
"""Types of messages by the names of their classes."""

TYPES: Final = frozenset(CLASSES.values())
VOID_AROUND: Final = {
    "name": frozenset({NoneType}),
    "additional_kwargs": frozenset({dict, NoneType}),
    "response_metadata": frozenset({dict, NoneType}),
    "example": frozenset({bool}),
}
"""By the name of a member of any message, the types whose empty value says no more than absence."""

WRAPPING: Final = frozenset({"type", "data"})
HINT: Final = "give what message_to_dict, dumpd or model_dump make of a message"
CLASS_PATH: Final = "messages are written by their type, not by the path of their class"
CHUNK: Final = "pieces of a stream are joined to a message"


class Kept(NamedTuple):
    """One message as LangChain keeps it: its type, its fields, and where they stand."""

    type: str
    data: JsonObject
    path: str
    is_chunk: bool
    raw: JsonObject


class Messages(NamedTuple):
    """The messages of a payload, where they stand, and what stands beside them."""

    items: list[Any]
    path: str
    beside: JsonObject
    is_alone: bool = False
    """Whether the payload is one message, not a list."""


def messages_in(payload: Json) -> Messages:
    """The messages of a payload: a list, one message, or a state that has `messages`."""
    if is_object(payload) and "messages" in payload and "type" not in payload:
        items = checked_array(payload["messages"], "$.messages", "messages", HINT)
        beside = {key: value for key, value in payload.items() if key != "messages"}
        return Messages(items, "$.messages", beside)
    if is_object(payload):
        return Messages([payload], "$", {}, is_alone=True)
    return Messages(checked_array(payload, "$", "a list of messages", HINT), "$", {})


def opened(found: Messages, losses: list[Loss]) -> list[Kept]:
    """The messages of a payload without their wrapping."""
    if found.is_alone:
        return [_opened(found.items[0], found.path, losses)]
    return [_opened(raw, f"{found.path}[{index}]", losses) for index, raw in enumerate(found.items)]


def is_message(raw: JsonObject) -> bool:
    """Whether a message can be taken out of its wrapping."""
    try:
        _opened(raw, "$", [])
    except ConversionError:
        return False
    return True


def _opened(raw: Json, path: str, losses: list[Loss]) -> Kept:
    message = raw if is_object(raw) else checked_object(raw, path, "a message", HINT)
    if "lc" in message:
        return _constructed(message, path, losses)
    name = message.get("type")
    if not isinstance(name, str):
        raise ConversionError("a message without a type", where=f"{path}.type", hint=HINT)
    data = message
    if "data" in message and "content" not in message:
        data = checked_object(message["data"], f"{path}.data", "the data of a message", HINT)
        if len(message) > len(WRAPPING):
            losses += (
                Loss.of(f"{path}.{key}", value, "it stands beside the data of a message")
                for key, value in message.items()
                if key not in WRAPPING
            )
        path = f"{path}.data"
    return _kept(name, data, path, message, losses)


def _constructed(message: JsonObject, path: str, losses: list[Loss]) -> Kept:
    names = message.get("id")
    fields = message.get("kwargs")
    if not is_array(names) or not names or not isinstance(names[-1], str) or not is_object(fields):
        raise ConversionError("a constructor without a class and kwargs", where=path, hint=HINT)
    losses.append(Loss.of(f"{path}.id", names[:-1], CLASS_PATH, "minor"))
    known = {"lc": 1, "type": "constructor"}
    losses += (
        Loss.of(f"{path}.{key}", value, CLASS_PATH, "minor")
        for key, value in message.items()
        if key not in {"id", "kwargs"} and known.get(key) != value
    )
    return _kept(names[-1], fields, f"{path}.kwargs", message, losses)


def _kept(name: str, data: JsonObject, path: str, raw: JsonObject, losses: list[Loss]) -> Kept:
    is_chunk = name.endswith("Chunk")
    type_ = name if name in TYPES else _type_of(name)
    fields = dict(data)
    inner = fields.pop("type", name)
    if inner != name and data is not raw and inner != type_:
        losses.append(Loss.of(f"{path}.type", inner, "the message around it names another type", "changed"))
    if is_chunk:
        losses.append(Loss.of(f"{path}.type", name, CHUNK, "minor"))
    return Kept(type_, fields, path, is_chunk, raw)


def _type_of(name: str) -> str:
    plain = name.removesuffix("Chunk")
    return CLASSES.get(plain, plain)


def wrapped(type_: str, content: Json, id_: str | None, note: JsonObject, **fields: Json) -> JsonObject:
    """A message dict, its fields in the order that LangChain writes them."""
    note = dict(note)
    data: JsonObject = {
        "content": content,
        "additional_kwargs": note.pop("additional_kwargs", {}),
        "response_metadata": note.pop("response_metadata", {}),
        "type": type_,
        "name": note.pop("name", None),
        "id": id_,
        **fields,
    }
    return {"type": type_, "data": {**data, **{key: item for key, item in note.items() if key not in data}}}


def put(payload: Json, extra: JsonObject) -> Json:
    """The payload with an object in the `additional_kwargs` of its first message."""
    first, kwargs = _room(payload)
    return payload if first is None else [_with(first, {**kwargs, "partita": extra}), *payload[1:]]


def take(payload: Json) -> tuple[Json, JsonObject | None]:
    """The payload without what `put` put there, and that."""
    first, kwargs = _room(payload)
    extra = kwargs.get("partita")
    if first is None or not is_object(extra):
        return payload, None
    rest = {key: value for key, value in kwargs.items() if key != "partita"}
    return [_with(first, rest), *payload[1:]], extra


def _room(payload: Json) -> tuple[JsonObject | None, JsonObject]:
    """The first message dict of a list, and what it has room in."""
    first = payload[0] if is_array(payload) and payload else None
    data = first.get("data") if is_object(first) else None
    kwargs = data.get("additional_kwargs") if is_object(data) else None
    return (first, kwargs) if is_object(first) and is_object(kwargs) else (None, {})


def _with(message: JsonObject, kwargs: JsonObject) -> JsonObject:
    return {**message, "data": {**message["data"], "additional_kwargs": kwargs}}


def implied() -> Mapping[str, frozenset[Any]]:
    """What a reader of LangChain's messages has understood once it has read the rest."""
    names = {*CLASSES, *TYPES, *(f"{name}Chunk" for name in CLASSES), "constructor"}
    blocks = {
        *("text", "reasoning", "tool_call", "invalid_tool_call", "server_tool_call", "server_tool_result"),
        *("image", "audio", "video", "file", "text-plain", "citation", "tool_call_chunk"),
        *("thinking", "redacted_thinking", "tool_use", "image_url", "document", "function_call"),
        *("summary_text", "server_tool_use"),
    }
    return {
        "type": frozenset(names | blocks),
        "lc": frozenset({1}),
        "id": frozenset(names),
        "output_version": frozenset({"v1"}),
        "status": frozenset({"success", "error"}),
        "source_type": frozenset({"base64", "url", "id", "text"}),
    }
