"""A pasted text as values: JSON, JSON lines, server-sent events, lines of a v4 stream, or ChatML."""

import re
from typing import Final, Literal, NamedTuple, TypeAlias

from partita.errors import DecodeError, StreamError
from partita.stream.secure_json import secure_loads
from partita.stream.sse import SseDecoder
from partita.types.json import Json, is_array, is_object, loads

Shape: TypeAlias = Literal["document", "lines", "events", "data-stream-v4", "text"]

MARK: Final = b"\xef\xbb\xbf"
MARK_OF_CHATML: Final = b"<|im_start|>"
V4_LINE: Final = re.compile(rb"[0-9a-k]:[\[{\"]")
EVENT_LINE: Final = re.compile(rb"(?:(?:data|event|id|retry):|:)")
HOLDERS: Final = ("messages", "chunks", "events")
"""Members of an object that holds what is meant, as requests and answers do."""


class Source(NamedTuple):
    """What a text holds. `path` is where the values are in it."""

    shape: Shape
    payload: Json
    data: bytes
    path: str = "$"

    @property
    def values(self) -> list[Json]:
        """The values one by one."""
        return self.payload if is_array(self.payload) else [self.payload]

    def inside(self) -> "Source | None":
        """The list that an object holds, as a source of its own."""
        if self.shape != "document" or not is_object(self.payload):
            return None
        for name in HOLDERS:
            if is_array(held := self.payload.get(name)):
                return self._replace(payload=held, path=f"$.{name}")
        return None


def read_source(data: bytes) -> Source:
    """The values of a text; a `DecodeError` that says where it breaks."""
    text = data.removeprefix(MARK)
    first = next((line for line in text.splitlines() if line.strip()), b"")
    if not first:
        raise DecodeError("there is nothing to read", hint="paste messages, a stream or a log")
    if EVENT_LINE.match(first):
        return Source("events", _events(text), data)
    if V4_LINE.match(first):
        lines = [line.decode(errors="replace") for line in text.splitlines() if line.strip()]
        return Source("data-stream-v4", lines, data)
    if first.lstrip().startswith(MARK_OF_CHATML):
        return Source("text", text.decode(errors="replace"), data)
    try:
        return Source("document", loads(text), data)
    except DecodeError as error:
        if not _is_whole(first):
            raise
        whole = error
    return Source("lines", _lines(text, whole), data)


def _is_whole(line: bytes) -> bool:
    try:
        loads(line)
    except DecodeError:
        return False
    return True


def _lines(text: bytes, whole: DecodeError) -> list[Json]:
    values: list[Json] = []
    for number, line in enumerate(text.split(b"\n"), 1):
        if line.strip():
            values.append(_parsed(line, number))
    if len(values) == 1:  # something stands behind a document on one line
        raise whole
    return values


def _parsed(line: bytes, number: int) -> Json:
    try:
        return loads(line)
    except DecodeError as error:
        inside = error.where.removeprefix("line 1, ")
        error.where = f"line {number}, {inside}" if inside else f"line {number}"
        raise


def _events(text: bytes) -> list[Json]:
    decoder = SseDecoder(errors="replace")
    values: list[Json] = []
    try:
        values.extend(map(secure_loads, decoder.feed(text)))
        values.extend(map(secure_loads, decoder.finish()))
    except (DecodeError, StreamError) as error:
        inside = error.where.removeprefix("line 1, ")
        error.where = f"event {len(values)}{f', {inside}' if inside else ''}"
        raise
    return values
