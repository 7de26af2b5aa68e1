"""Moving large values out of a message's content, and putting them back: exactly, byte for byte.

A data URL or a tool output over the threshold becomes `blob:sha256:…` in its place. What stood there is told
in the row of the message: where, which blob, and what to make of it.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Literal, NamedTuple, TypeAlias

from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads

THRESHOLD = 16 * 1024
"""How long a data URL or an output may be before it moves, in characters."""

BLOB = "blob:sha256:"
REFERENCE = re.compile(r"blob:sha256:(?P<hash>[0-9a-f]{64})(?:#(?P<rest>.*))?")
HASH = re.compile(r"blob:sha256:([0-9a-f]{64})")
DATA_URL = re.compile(r"data:(?P<type>[^,]{0,200}?);base64,")

Kind: TypeAlias = Literal["data", "text", "json"]
Step: TypeAlias = str | int


class Place(NamedTuple):
    """A value that may move: what holds it, under which key, and the way there."""

    holder: JsonObject
    key: str
    path: tuple[Step, ...]
    kind: Kind


class Move(NamedTuple):
    """A value that has moved: where it was, which blob it is, how to make it again."""

    path: tuple[Step, ...]
    hash: str
    kind: Kind
    media_type: str | None  # of a data URL


class Moved(NamedTuple):
    """A move, and the bytes to keep under its hash."""

    move: Move
    data: bytes


def places(content: JsonObject, path: tuple[Step, ...] = ()) -> Iterator[Place]:
    """Every place of a content where a large value may stand, sub-agents included."""
    parts: Json = content.get("parts")
    if is_array(parts):
        for index, part in enumerate(parts):
            if is_object(part):
                yield from _of_part(part, (*path, "parts", index))
    network: Json = content.get("networkExecution")
    result: Json = network.get("finalResult") if is_object(network) else None
    if is_object(result):
        way = (*path, "networkExecution", "finalResult")
        yield from _of_list(result, "toolCalls", way, _of_part)
        yield from _of_list(result, "messages", way, _of_message)


def _of_part(part: JsonObject, path: tuple[Step, ...]) -> Iterator[Place]:
    if isinstance(part.get("url"), str):
        yield Place(part, "url", path, "data")
    output: Json = part.get("output")
    if is_object(output):
        yield from _of_output(output, (*path, "output"))
    yield from _of_list(part, "children", path, _of_message)
    yield from _of_list(part, "parts", path, _of_part)  # what the user said while the agent was at work


def _of_output(output: JsonObject, path: tuple[Step, ...]) -> Iterator[Place]:
    match output.get("type"):
        case "text" | "error-text":
            yield Place(output, "value", path, "text")
        case "json" | "error-json":
            yield Place(output, "value", path, "json")
        case "content":
            yield from _of_list(output, "value", path, _of_item)
        case _:
            pass


def _of_item(item: JsonObject, path: tuple[Step, ...]) -> Iterator[Place]:
    for key, kind in _ITEM_KEYS:
        if isinstance(item.get(key), str):
            yield Place(item, key, path, kind)


_ITEM_KEYS: tuple[tuple[str, Kind], ...] = (("url", "data"), ("text", "text"))


def _of_message(message: JsonObject, path: tuple[Step, ...]) -> Iterator[Place]:
    content: Json = message.get("content")
    if is_object(content):
        yield from places(content, (*path, "content"))


def _of_list(
    holder: JsonObject,
    key: str,
    path: tuple[Step, ...],
    each: Callable[[JsonObject, tuple[Step, ...]], Iterator[Place]],
) -> Iterator[Place]:
    values: Json = holder.get(key)
    if is_array(values):
        for index, value in enumerate(values):
            if is_object(value):
                yield from each(value, (*path, key, index))


def move_out(content: JsonObject, known: Callable[[str], bool]) -> list[Moved | Move]:
    """Replace what is large in a content by references; what is a reference already, and known, is noted."""
    moved: list[Moved | Move] = []
    for place in list(places(content)):
        value: Json = place.holder.get(place.key)
        again = _reference(place, value, known)
        if again is not None:
            moved.append(again)
            continue
        out = _taken_out(place, value)
        if out is not None:
            place.holder[place.key] = _written(out.move, place)
            moved.append(out)
    return moved


def _reference(place: Place, value: Json, known: Callable[[str], bool]) -> Move | None:
    found = REFERENCE.fullmatch(value) if isinstance(value, str) else None
    if found is None or not known(found["hash"]):
        return None
    kind, _, media_type = (found["rest"] or "").partition(":")
    path = (*place.path, place.key)
    match kind:
        case "text" | "json":
            return Move(path, found["hash"], kind, None)
        case _ if place.kind == "data":
            return Move(path, found["hash"], "data", media_type or _media_type(place))
        case _:
            return None


def _taken_out(place: Place, value: Json) -> Moved | None:
    path = (*place.path, place.key)
    if place.kind == "json" and not isinstance(value, str):
        data = dumps(value)
        return _moved(path, data, "json") if len(data) > THRESHOLD else None
    if not isinstance(value, str) or len(value) <= THRESHOLD:
        return None
    if place.kind == "data":
        return _data_url(path, value)
    return _moved(path, value.encode("utf-8", "surrogatepass"), "text")


class FileData(NamedTuple):
    """The bytes of a data URL, their hash, and the type that it says."""

    data: bytes
    hash: str
    media_type: str | None


def data_of(url: str) -> FileData | None:
    """The bytes of a data URL that can be made again from them."""
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
    if base64.b64encode(data).decode() != encoded:  # some other way to write the same bytes: keep it
        return _moved(path, url.encode(), "text")
    return _moved(path, data, "data", match["type"])


def _moved(path: tuple[Step, ...], data: bytes, kind: Kind, media_type: str | None = None) -> Moved:
    return Moved(Move(path, sha256(data).hexdigest(), kind, media_type), data)


def _written(move: Move, place: Place) -> str:
    """The reference that stands in the content. It says what a bare hash could not."""
    if move.kind != "data":
        return f"{BLOB}{move.hash}#{move.kind}"
    same = move.media_type == _media_type(place)
    return f"{BLOB}{move.hash}" if same else f"{BLOB}{move.hash}#data:{move.media_type}"


def _media_type(place: Place) -> str | None:
    media_type: Json = place.holder.get("mediaType")
    return media_type if isinstance(media_type, str) else None


def put_back(content: JsonObject, moves: Sequence[Move], blobs: Mapping[str, bytes]) -> None:
    """Put values back where they were; one whose blob is missing stays a reference."""
    for move in moves:
        data = blobs.get(move.hash)
        if data is None:
            continue
        holder: Json = content
        for step in move.path[:-1]:
            holder = holder[step]
        holder[move.path[-1]] = restored(move, data)


def restored(move: Move, data: bytes) -> Json:
    """The value that a blob was made of."""
    match move.kind:
        case "data":
            return f"data:{move.media_type or ''};base64,{base64.b64encode(data).decode()}"
        case "text":
            return data.decode("utf-8", "surrogatepass")
        case "json":
            return loads(data)


def moves_to_json(moves: Sequence[Move]) -> str:
    """Moves as the row of a message holds them."""
    return dumps([[list(move.path), move.hash, move.kind, move.media_type] for move in moves]).decode()


def moves_from_json(text: str) -> list[Move]:
    """The moves that a row tells of."""
    return [Move(tuple(path), digest, kind, media_type) for path, digest, kind, media_type in loads(text)]
