"""Arguments of a call that are streamed value by value, each with its JSON path → JSON text, as it grows.

As long as the values come in the order of the text, the text is the JSON of the arguments. A value that comes
too late for its position in the text is in the value that `close` returns.

Source: `partialArgs` of https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

from partita.types.json import Json, JsonObject, dumps, is_array, is_object, join_surrogates

Segment: TypeAlias = str | int

DEEPEST: Final = 200
"""The longest path that is followed."""

SEGMENT: Final = re.compile(
    r"""\.([^.\[\]'"]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""", re.DOTALL
)
ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)


class Container:
    """An object or an array being written. Texts in it are lists of their pieces."""

    __slots__ = ("is_array", "members")

    def __init__(self, *, is_array: bool) -> None:
        self.is_array = is_array
        self.members: dict[Segment, Json] = {}

    @property
    def closing(self) -> str:
        """What ends it in the text."""
        return "]" if self.is_array else "}"

    def value(self) -> Json:
        """The JSON value. Places of an array that have no value are left out."""
        values = {key: _value(member) for key, member in self.members.items()}
        return [values[key] for key in sorted(values)] if self.is_array else values


class Frame:
    """A container that the text is in, the segment that leads to it, and whether a member was written."""

    __slots__ = ("container", "has_members", "segment")

    def __init__(self, container: Container, segment: Segment = "") -> None:
        self.container = container
        self.segment = segment
        self.has_members = False

    def name(self, segment: Segment) -> str:
        """The text before the next member: a comma, unless it is the first, and its name, if any."""
        comma = "," if self.has_members else ""
        self.has_members = True
        return comma + (f"{dumps(segment).decode()}:" if isinstance(segment, str) else "")


class ArgumentWriter:
    """Values with paths in, JSON text out."""

    def __init__(self) -> None:
        self._root = Container(is_array=False)
        self._frames: list[Frame] = []
        self._open: tuple[Segment, ...] | None = None

    @property
    def is_inside_text(self) -> bool:
        """Whether the last value is a text that continues."""
        return self._open is not None

    def write(self, piece: Json) -> str | None:
        """What a value adds to the text; `None` if it is not understood."""
        path = _path_of(piece)
        found = _value_of(piece)
        if path is None or found is None:
            return None
        continues = isinstance(found.value, str) and piece.get("willContinue") is True
        if path == self._open and isinstance(found.value, str):
            return self._continue(path, found.value, continues=continues)
        containers = self._containers(path)
        if containers is None:
            return None
        place = containers[-1].members
        is_new = path[-1] not in place
        if not is_new and isinstance(found.value, str) and is_array(place[path[-1]]):
            place[path[-1]].append(found.value)
        else:
            place[path[-1]] = [found.value] if isinstance(found.value, str) else found.value
        return self._navigate(path, containers, found.value, continues=continues) if is_new else ""

    def close(self) -> tuple[str, JsonObject]:
        """What ends the text, and the arguments."""
        text = self._end_string() if self._frames else "{}"
        text += self._leave(0)
        return text, self._root.value()

    def _continue(self, path: tuple[Segment, ...], more: str, *, continues: bool) -> str:
        self._frames[-1].container.members[path[-1]].append(more)
        return dumps(more).decode()[1:-1] + ("" if continues else self._end_string())

    def _containers(self, path: tuple[Segment, ...]) -> list[Container] | None:
        """The containers on a path, made where they are missing; `None` where another value is."""
        containers = [self._root]
        for segment, inner in zip(path, [*path[1:], None], strict=True):
            container = containers[-1]
            if container.is_array is isinstance(segment, str):
                return None
            if inner is None:
                return None if isinstance(container.members.get(segment), Container) else containers
            made = container.members.setdefault(segment, Container(is_array=isinstance(inner, int)))
            if not isinstance(made, Container):
                return None
            containers.append(made)
        return None

    def _navigate(
        self, path: tuple[Segment, ...], containers: list[Container], value: Json, *, continues: bool
    ) -> str:
        """Leave the containers that the value is not in, enter those it is in, and write it."""
        pieces = [self._end_string()]
        if not self._frames:
            self._frames.append(Frame(self._root))
            pieces.append("{")
        shared = 0
        for frame, segment in zip(self._frames[1:], path[:-1], strict=False):
            if frame.segment != segment:
                break
            shared += 1
        pieces.append(self._leave(shared + 1))
        for segment, container in zip(path[shared:-1], containers[shared + 1 :], strict=True):
            pieces += [self._frames[-1].name(segment), "[" if container.is_array else "{"]
            self._frames.append(Frame(container, segment))
        text = dumps(value).decode()
        pieces += [self._frames[-1].name(path[-1]), text[:-1] if continues else text]
        self._open = path if continues else None
        return "".join(pieces)

    def _leave(self, kept: int) -> str:
        """Leave all containers but the outermost ones."""
        text = "".join(frame.container.closing for frame in reversed(self._frames[kept:]))
        del self._frames[kept:]
        return text

    def _end_string(self) -> str:
        text = "" if self._open is None else '"'
        self._open = None
        return text


def read_arguments(pieces: Sequence[Json]) -> JsonObject:
    """The arguments that values with paths form. Values that are not understood are left out."""
    writer = ArgumentWriter()
    for piece in pieces:
        writer.write(piece)
    return writer.close()[1]


class Found(NamedTuple):
    """A value, which may be null."""

    value: Json


def _path_of(piece: Json) -> tuple[Segment, ...] | None:
    path = piece.get("jsonPath") if is_object(piece) else None
    if not isinstance(path, str) or not path.startswith("$"):
        return None
    segments: list[Segment] = []
    at = 1
    while at < len(path):
        match = SEGMENT.match(path, at)
        if match is None or len(segments) == DEEPEST:
            return None
        name, index, *quoted = match.groups()
        words = name or next((word for word in quoted if word is not None), "")
        segments.append(int(index) if index else ESCAPED.sub(r"\1", words))
        at = match.end()
    return tuple(segments) or None


def _value_of(piece: Json) -> Found | None:
    match piece:
        case {"stringValue": str(text)}:
            return Found(text)
        case {"numberValue": int() | float() as number}:
            return Found(number)
        case {"boolValue": bool(flag)}:
            return Found(flag)
        case {"nullValue": _}:
            return Found(None)
        case _:
            return None


def _value(member: Json) -> Json:
    if isinstance(member, Container):
        return member.value()
    return join_surrogates("".join(member)) if is_array(member) else member
