"""Move large values of a message's content to blobs, and put them back exactly.

A data URL or a tool output over the threshold is replaced by `blob:sha256:…`. The row of the message has the
path of each moved value, its blob, and how to restore it.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Literal, NamedTuple, TypeAlias

from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads

THRESHOLD = 16 * 1024
"""The number of characters from which on a data URL or an output is moved."""

BLOB = "blob:sha256:"
REFERENCE = re.compile(r"blob:sha256:(?P<hash>[0-9a-f]{64})(?:#(?P<rest>.*))?")
HASH = re.compile(r"blob:sha256:([0-9a-f]{64})")
DATA_URL = re.compile(r"data:(?P<type>[^,]{0,200}?);base64,")

Kind: TypeAlias = Literal["data", "text", "json"]
Step: TypeAlias = str | int


class MovableValue(NamedTuple):
    """A value that may be moved: the object that has it, its key, and the path of the object."""

    parent: JsonObject
    key: str
    path: tuple[Step, ...]
    kind: Kind


class Move(NamedTuple):
    """A value that was moved: its path, the hash of its blob, and how to restore it."""

    path: tuple[Step, ...]
    hash: str
    kind: Kind
    media_type: str | None  # of a data URL


class Moved(NamedTuple):
    """A move, and the bytes of its blob."""

    move: Move
    data: bytes


def movable_values(content: JsonObject, path: tuple[Step, ...] = ()) -> Iterator[MovableValue]:
    """All values of a content that may be moved, also of sub-agents."""
    parts: Json = content.get("parts")
    if is_array(parts):
        for index, part in enumerate(parts):
            if is_object(part):
                yield from _of_part(part, (*path, "parts", index))
    network: Json = content.get("networkExecution")
    result: Json = network.get("finalResult") if is_object(network) else None
    if is_object(result):
        inner = (*path, "networkExecution", "finalResult")
        yield from _of_list(result, "toolCalls", inner, _of_part)
        yield from _of_list(result, "messages", inner, _of_message)


def _of_part(part: JsonObject, path: tuple[Step, ...]) -> Iterator[MovableValue]:
    if isinstance(part.get("url"), str):
        yield MovableValue(part, "url", path, "data")
    output: Json = part.get("output")
    if is_object(output):
        yield from _of_output(output, (*path, "output"))
    yield from _of_list(part, "children", path, _of_message)
    yield from _of_list(part, "parts", path, _of_part)  # of a message that the user sent during the run


def _of_output(output: JsonObject, path: tuple[Step, ...]) -> Iterator[MovableValue]:
    match output.get("type"):
        case "text" | "error-text":
            yield MovableValue(output, "value", path, "text")
        case "json" | "error-json":
            yield MovableValue(output, "value", path, "json")
        case "content":
            yield from _of_list(output, "value", path, _of_item)
        case _:
            pass


def _of_item(item: JsonObject, path: tuple[Step, ...]) -> Iterator[MovableValue]:
    for key, kind in _ITEM_KEYS:
        if isinstance(item.get(key), str):
            yield MovableValue(item, key, path, kind)


_ITEM_KEYS: tuple[tuple[str, Kind], ...] = (("url", "data"), ("text", "text"))


def _of_message(message: JsonObject, path: tuple[Step, ...]) -> Iterator[MovableValue]:
    content: Json = message.get("content")
    if is_object(content):
        yield from movable_values(content, (*path, "content"))


def _of_list(
    parent: JsonObject,
    key: str,
    path: tuple[Step, ...],
    each: Callable[[JsonObject, tuple[Step, ...]], Iterator[MovableValue]],
) -> Iterator[MovableValue]:
    values: Json = parent.get(key)
    if is_array(values):
        for index, value in enumerate(values):
            if is_object(value):
                yield from each(value, (*path, key, index))


def move_out(content: JsonObject, known: Callable[[str], bool]) -> list[Moved | Move]:
    """Replace large values of a content by references to blobs.

    Returns the moves, also of references that are in the content already, if their blob is `known`.
    """
    moved: list[Moved | Move] = []
    for movable in list(movable_values(content)):
        value: Json = movable.parent.get(movable.key)
        existing = _existing_move(movable, value, known)
        if existing is not None:
            moved.append(existing)
            continue
        new = _new_move(movable, value)
        if new is not None:
            movable.parent[movable.key] = _reference(new.move, movable)
            moved.append(new)
    return moved


def _existing_move(movable: MovableValue, value: Json, known: Callable[[str], bool]) -> Move | None:
    found = REFERENCE.fullmatch(value) if isinstance(value, str) else None
    if found is None or not known(found["hash"]):
        return None
    kind, _, media_type = (found["rest"] or "").partition(":")
    path = (*movable.path, movable.key)
    match kind:
        case "text" | "json":
            return Move(path, found["hash"], kind, None)
        case _ if movable.kind == "data":
            return Move(path, found["hash"], "data", media_type or _media_type(movable))
        case _:
            return None


def _new_move(movable: MovableValue, value: Json) -> Moved | None:
    path = (*movable.path, movable.key)
    if movable.kind == "json" and not isinstance(value, str):
        data = dumps(value)
        return _moved(path, data, "json") if len(data) > THRESHOLD else None
    if not isinstance(value, str) or len(value) <= THRESHOLD:
        return None
    if movable.kind == "data":
        return _data_url(path, value)
    return _moved(path, value.encode("utf-8", "surrogatepass"), "text")


class FileData(NamedTuple):
    """The bytes of a data URL, their hash, and their media type."""

    data: bytes
    hash: str
    media_type: str | None


def data_of(url: str) -> FileData | None:
    """The bytes of a data URL, if the same URL can be made from them."""
    found = _data_url((), url) if url.startswith("data:") else None
    if found is None or found.move.kind != "data":
        return None
    return FileData(found.data, found.move.hash, found.move.media_type)


def _data_url(path: tuple[Step, ...], url: str) -> Moved | None:
    match = DATA_URL.match(url)
    if match is None:
        data = url.encode("utf-8", "surrogatepass")
        return _moved(path, data, "text") if url.startswith("data:") else None
    encoded = url[match.end() :]
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return _moved(path, url.encode("utf-8", "surrogatepass"), "text")
    if base64.b64encode(data).decode() != encoded:  # another spelling of the same bytes
        return _moved(path, url.encode(), "text")
    return _moved(path, data, "data", match["type"])


def _moved(path: tuple[Step, ...], data: bytes, kind: Kind, media_type: str | None = None) -> Moved:
    return Moved(Move(path, sha256(data).hexdigest(), kind, media_type), data)


def _reference(move: Move, movable: MovableValue) -> str:
    """The reference for the content, with what the content does not have: the kind and the media type."""
    if move.kind != "data":
        return f"{BLOB}{move.hash}#{move.kind}"
    same = move.media_type == _media_type(movable)
    return f"{BLOB}{move.hash}" if same else f"{BLOB}{move.hash}#data:{move.media_type}"


def _media_type(movable: MovableValue) -> str | None:
    media_type: Json = movable.parent.get("mediaType")
    return media_type if isinstance(media_type, str) else None


def put_back(content: JsonObject, moves: Sequence[Move], blobs: Mapping[str, bytes]) -> None:
    """Put moved values back. If a blob is missing, the reference stays."""
    for move in moves:
        data = blobs.get(move.hash)
        if data is None:
            continue
        parent: Json = content
        for step in move.path[:-1]:
            parent = parent[step]
        parent[move.path[-1]] = restored(move, data)


def restored(move: Move, data: bytes) -> Json:
    """The value that was moved to a blob."""
    match move.kind:
        case "data":
            return f"data:{move.media_type or ''};base64,{base64.b64encode(data).decode()}"
        case "text":
            return data.decode("utf-8", "surrogatepass")
        case "json":
            return loads(data)


def moves_to_json(moves: Sequence[Move]) -> str:
    """Moves as they are stored in the row of a message."""
    return dumps([[list(move.path), move.hash, move.kind, move.media_type] for move in moves]).decode()


def moves_from_json(text: str) -> list[Move]:
    """The moves in the row of a message."""
    return [Move(tuple(path), digest, kind, media_type) for path, digest, kind, media_type in loads(text)]
