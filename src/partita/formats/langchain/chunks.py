"""Pieces of a streamed message in a row, joined to one as LangChain joins them."""

from collections.abc import Iterator, Sequence

from partita.errors import DecodeError
from partita.formats.framework.members import checked_array, checked_object
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array, is_object, loads

from .envelope import CHUNK, HINT, Kept

DERIVED = "it follows from the pieces of the calls"
PIECE = "tool_call_chunk"
COUNTED = "pieces of a call are joined by their index"


def joined_chunks(messages: Sequence[Kept], losses: list[Loss]) -> Sequence[Kept]:
    """The messages, the pieces of each in one."""
    return list(_joined(messages, losses)) if any(one.is_chunk for one in messages) else messages


def _joined(messages: Sequence[Kept], losses: list[Loss]) -> Iterator[Kept]:
    pending: Kept | None = None
    for message in (_without_derived(_checked(one, losses), losses) for one in messages):
        if pending is not None and _continues(pending, message):
            data = _merged(pending.data, message.data)
            is_last = message.data.get("chunk_position") == "last"
            pending = pending._replace(data={**data, "chunk_position": "last" if is_last else None})
            continue
        if pending is not None:
            yield _settled(pending, losses)
            pending = None
        if message.is_chunk and message.type == "ai":
            pending = message
        else:
            yield message
    if pending is not None:
        yield _settled(pending, losses)


def _checked(message: Kept, losses: list[Loss]) -> Kept:
    """`message`, if what is joined of it is of the kinds it should be."""
    if not message.is_chunk:
        return message
    for name in ("tool_calls", "invalid_tool_calls", "tool_call_chunks"):
        items = message.data.get(name)
        if items is not None:
            pieces = checked_array(items, f"{message.path}.{name}", name, HINT)
            for index, piece in enumerate(pieces):
                where = f"{message.path}.{name}[{index}]"
                checked_object(piece, where, "a call", HINT)
                if name == "tool_call_chunks" and piece.get("type", PIECE) != PIECE:
                    losses.append(Loss.of(f"{where}.type", piece["type"], COUNTED, "minor"))
    for name in ("usage_metadata", "additional_kwargs", "response_metadata"):
        if message.data.get(name) is not None:
            checked_object(message.data[name], f"{message.path}.{name}", name, HINT)
    position = message.data.get("chunk_position")
    if position not in (None, "last"):
        losses.append(Loss.of(f"{message.path}.chunk_position", position, CHUNK, "minor"))
    return message


def _continues(pending: Kept, message: Kept) -> bool:
    if not message.is_chunk or message.type != pending.type:
        return False
    is_over = pending.data.get("chunk_position") == "last"
    here, there = pending.data.get("id"), message.data.get("id")
    return not is_over and (here is None or there is None or here == there)


def _merged(left: JsonObject, right: JsonObject) -> JsonObject:
    merged = dict(left)
    for key, value in right.items():
        have = merged.get(key)
        if have is None:
            merged[key] = value
        elif value is not None and key != "id":
            merged[key] = _merged_values(have, value)
    return merged


def _merged_values(left: Json, right: Json) -> Json:
    if isinstance(left, str) and isinstance(right, str):
        return left + right
    if is_object(left) and is_object(right):
        return _merged_members(left, right)
    if is_array(left) and is_array(right):
        return _merged_lists(left, right)
    if is_array(left) and isinstance(right, str):
        return [*left, right] if right else left
    if isinstance(left, str) and is_array(right):
        return [left, *right] if left else right
    if type(left) is int and type(right) is int:
        return left + right
    return right


def _merged_members(left: JsonObject, right: JsonObject) -> JsonObject:
    merged = dict(left)
    for key, value in right.items():
        have = merged.get(key)
        is_same = key in {"type", "index", "id"} and have == value
        merged[key] = (
            value if have is None or is_same else have if value is None else _merged_values(have, value)
        )
    return merged


def _merged_lists(left: list[Json], right: list[Json]) -> list[Json]:
    merged = list(left)
    places = {item["index"]: at for at, item in enumerate(merged) if is_object(item) and _is_placed(item)}
    for item in right:
        at = places.get(item["index"]) if is_object(item) and _is_placed(item) else None
        if at is None:
            if is_object(item) and _is_placed(item):
                places[item["index"]] = len(merged)
            merged.append(item)
        else:
            merged[at] = _merged_members(merged[at], item)
    return merged


def _is_placed(item: JsonObject) -> bool:
    return isinstance(item.get("index"), int | str)


def _settled(message: Kept, losses: list[Loss]) -> Kept:
    """A joined message, its calls read from their pieces."""
    data = dict(message.data)
    pieces = data.pop("tool_call_chunks", None)
    data.pop("chunk_position", None)
    if is_array(pieces) and pieces:
        indices = [piece.get("index") for piece in pieces if is_object(piece)]
        losses.append(Loss.of(f"{message.path}.tool_call_chunks", indices, COUNTED, "minor"))
        losses += (
            Loss.of(f"{message.path}.{name}", data[name], DERIVED, "minor")
            for name in ("tool_calls", "invalid_tool_calls")
            if data.get(name)
        )
        calls = [_whole(piece) for piece in pieces if is_object(piece)]
        data["tool_calls"] = [call for call in calls if "error" not in call]
        data["invalid_tool_calls"] = [call for call in calls if "error" in call]
    return message._replace(data=data)


def _without_derived(message: Kept, losses: list[Loss]) -> Kept:
    """A piece without the calls that LangChain makes of what it has so far."""
    if not message.is_chunk or not message.data.get("tool_call_chunks"):
        return message
    derived = {name: message.data.get(name) for name in ("tool_calls", "invalid_tool_calls")}
    losses += (
        Loss.of(f"{message.path}.{name}", value, DERIVED, "minor") for name, value in derived.items() if value
    )
    data = {key: value for key, value in message.data.items() if key not in derived}
    return message._replace(data=data)


def _whole(piece: JsonObject) -> JsonObject:
    text = piece.get("args")
    rest = {key: value for key, value in piece.items() if key not in {"type", "index"}}
    args: Json = {} if not text else None
    try:
        args = loads(text) if isinstance(text, str) and text else args
    except DecodeError:
        args = None
    if is_object(args):
        return {**rest, "args": args, "type": "tool_call"}
    return {**rest, "error": None, "type": "invalid_tool_call"}
