"""The forms of a payload: message dicts, constructors, plain dumps, states, and chunks of a stream.

The data of a message is the same object in all forms. Sources: `messages_to_dict` in langchain-core,
`dumpd` in langchain_core/load, `model_dump` of a message, and the state of a graph of LangGraph.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.formats.losses import DERIVED, JOINED, UNREAD, Loss
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of, loads

CLASSES: Final[Mapping[str, str]] = {
    "SystemMessage": "system",
    "HumanMessage": "human",
    "AIMessage": "ai",
    "ToolMessage": "tool",
    "ChatMessage": "chat",
    "FunctionMessage": "function",
    "RemoveMessage": "remove",
}
"""The types of messages, by class name."""

HINT: Final = "give what messages_to_dict, dumpd or model_dump return"

LISTS: Final = ("tool_calls", "invalid_tool_calls")


class Opened(Struct, frozen=True):
    """A message without its envelope. `data` has the type of the message, never that of a chunk."""

    data: JsonObject
    path: str
    raw: JsonObject
    is_chunk: bool = False


class Payload(NamedTuple):
    """The messages of a payload, the other members of a state, and the losses."""

    messages: list[Opened]
    state: JsonObject
    losses: list[Loss]


def open_payload(payload: Json) -> Payload:
    """Read the messages of a payload: a list, one message, or a state with `messages`."""
    losses: list[Loss] = []
    state: JsonObject = {}
    path, items = "$", payload
    if is_object(payload) and "messages" in payload and "type" not in payload:
        state = {key: value for key, value in payload.items() if key != "messages"}
        path, items = "$.messages", payload["messages"]
    elif is_object(payload):
        return Payload(list(_joined([open_message(payload, "$", losses)], losses)), state, losses)
    if not is_array(items):
        raise ConversionError(f"expected a list of messages, found {kind_of(items)}", where=path, hint=HINT)
    messages = [open_message(raw, f"{path}[{index}]", losses) for index, raw in enumerate(items)]
    if any(one.is_chunk for one in messages):
        messages = list(_joined(messages, losses))
    return Payload(messages, state, losses)


def open_message(raw: Json, path: str, losses: list[Loss]) -> Opened:
    """Read the data of a message in any form."""
    message = _object(raw, path)
    if "lc" in message:
        return _open_constructor(message, path, losses)
    name, data = message.get("type"), message.get("data")
    if not isinstance(name, str):
        raise ConversionError("a message without a type", where=f"{path}.type", hint=HINT)
    if data is None or "content" in message:
        return _opened(name, message, path, message, losses)
    if len(message) > 2:
        others = ((key, value) for key, value in message.items() if key not in ("type", "data"))
        losses += (Loss.of(f"{path}.{key}", value, UNREAD) for key, value in others)
    return _opened(name, _object(data, f"{path}.data"), f"{path}.data", message, losses)


def _open_constructor(message: JsonObject, path: str, losses: list[Loss]) -> Opened:
    names, fields = message.get("id"), message.get("kwargs")
    if not is_array(names) or not names or not isinstance(names[-1], str) or not is_object(fields):
        raise ConversionError("a constructor without a class and kwargs", where=path, hint=HINT)
    losses.append(Loss.of(f"{path}.id", names[:-1], DERIVED, "minor"))
    expected = {"lc": 1, "type": "constructor"}
    for key, value in message.items():
        if key not in ("id", "kwargs") and expected.get(key) != value:
            losses.append(Loss.of(f"{path}.{key}", value, DERIVED, "minor"))
    return _opened(names[-1], fields, f"{path}.kwargs", message, losses)


def _opened(name: str, data: JsonObject, path: str, raw: JsonObject, losses: list[Loss]) -> Opened:
    is_chunk = name.endswith("Chunk")
    type_ = CLASSES.get(name.removesuffix("Chunk"), name)
    inner = data.get("type", name)
    if inner not in (name, type_):
        losses.append(Loss.of(f"{path}.type", inner, DERIVED, "changed"))
    if is_chunk:
        losses.append(Loss.of(f"{path}.type", name, JOINED, "minor"))
    return Opened(data if data.get("type") == type_ else {**data, "type": type_}, path, raw, is_chunk)


def _object(value: Json, path: str) -> JsonObject:
    if not is_object(value):
        raise ConversionError(f"expected an object, found {kind_of(value)}", where=path, hint=HINT)
    return value


# Chunks: `add_ai_message_chunks` in langchain_core/messages/ai.py, `utils/_merge.py`


def _joined(messages: list[Opened], losses: list[Loss]) -> Iterator[Opened]:
    """Yield the messages. The chunks of a message are joined."""
    pending: Opened | None = None
    for message in (_without_derived(one, losses) if one.is_chunk else one for one in messages):
        if pending is not None and _continues(pending.data, message):
            position = message.data.get("chunk_position")
            data = {**_merge_objects(pending.data, message.data), "chunk_position": position}
            pending = replace(pending, data=data)
            continue
        if pending is not None:
            yield _with_calls(pending, losses)
        pending = message if message.is_chunk and message.data["type"] == "ai" else None
        if pending is None:
            yield message
    if pending is not None:
        yield _with_calls(pending, losses)


def _continues(pending: JsonObject, message: Opened) -> bool:
    is_next = message.is_chunk and message.data["type"] == "ai" and pending.get("chunk_position") != "last"
    ids = (pending.get("id"), message.data.get("id"))
    return is_next and (None in ids or ids[0] == ids[1])


def _without_derived(message: Opened, losses: list[Loss]) -> Opened:
    """Return a chunk without the calls that LangChain derives from its chunks of calls."""
    data, path = message.data, message.path
    for name in (*LISTS, "tool_call_chunks"):
        calls = data.get(name)
        if calls is not None and not (is_array(calls) and all(map(is_object, calls))):
            raise ConversionError(f"{name} is not a list of objects", where=f"{path}.{name}", hint=HINT)
    for name in ("usage_metadata", "additional_kwargs", "response_metadata"):
        if data.get(name) is not None:
            _object(data[name], f"{path}.{name}")
    for index, call in enumerate(data.get("tool_call_chunks") or ()):
        if call.get("type", "tool_call_chunk") != "tool_call_chunk":
            where = f"{path}.tool_call_chunks[{index}].type"
            losses.append(Loss.of(where, call["type"], JOINED, "minor"))
    if data.get("chunk_position") not in (None, "last"):
        losses.append(Loss.of(f"{path}.chunk_position", data["chunk_position"], JOINED, "minor"))
    if not data.get("tool_call_chunks"):
        return message
    losses += (Loss.of(f"{path}.{name}", data[name], DERIVED, "minor") for name in LISTS if data.get(name))
    return replace(message, data={key: value for key, value in data.items() if key not in LISTS})


def _with_calls(message: Opened, losses: list[Loss]) -> Opened:
    """Return a joined message with the calls of its chunks."""
    data = {key: value for key, value in message.data.items() if key != "chunk_position"}
    chunks: list[JsonObject] = data.pop("tool_call_chunks", None) or []
    if chunks:
        indices = [chunk.get("index") for chunk in chunks]
        losses.append(Loss.of(f"{message.path}.tool_call_chunks", indices, JOINED, "minor"))
        derived = ((f"{message.path}.{name}", data[name]) for name in LISTS if data.get(name))
        losses += (Loss.of(path, value, DERIVED, "minor") for path, value in derived)
        calls = [_call_of(chunk) for chunk in chunks]
        data["tool_calls"] = [call for call in calls if "error" not in call]
        data["invalid_tool_calls"] = [call for call in calls if "error" in call]
    return replace(message, data=data)


def _call_of(chunk: JsonObject) -> JsonObject:
    text = chunk.get("args")
    rest = {key: value for key, value in chunk.items() if key not in ("type", "index")}
    try:
        args: Json = loads(text) if isinstance(text, str) and text else None if text else {}
    except DecodeError:
        args = None
    return {**rest, "args": args} if is_object(args) else {**rest, "error": None}


def _merge(left: Json, right: Json) -> Json:
    if left is None or right is None:
        return right if left is None else left
    if is_object(left) and is_object(right):
        return _merge_objects(left, right)
    if is_array(left) or is_array(right):
        both = [one if is_array(one) else [one] if one else [] for one in (left, right)]
        return _merge_arrays(both[0], both[1])
    if isinstance(left, str) and isinstance(right, str):
        return left + right
    return left + right if type(left) is int and type(right) is int else right


def _merge_objects(left: JsonObject, right: JsonObject) -> JsonObject:
    merged = dict(left)
    for key, value in right.items():
        is_same = key in ("type", "index", "id") and merged.get(key) == value
        merged[key] = value if is_same else _merge(merged.get(key), value)
    return merged


def _merge_arrays(left: list[Any], right: list[Any]) -> list[Any]:
    """Merge the items with the same index."""
    merged = list(left)
    places = {index: at for at, item in enumerate(merged) if (index := _index(item)) is not None}
    for item in right:
        index = _index(item)
        at = None if index is None else places.get(index)
        if at is not None:
            merged[at] = _merge_objects(merged[at], item)
            continue
        if index is not None:
            places[index] = len(merged)
        merged.append(item)
    return merged


def _index(item: Json) -> int | str | None:
    index = item.get("index") if is_object(item) else None
    return index if isinstance(index, int | str) else None
