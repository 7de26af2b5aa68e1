"""A recording as a value: exchanges in order, where they come from, and the messages they came to."""

import os
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.private_files import whole_file
from partita.stream.records import Framing, reader_of
from partita.types.json import Json, JsonObject, dumps, is_object, loads
from partita.version import __version__

EVENT_STREAM: Final = "text/event-stream"
JSON: Final = "application/json"

OriginKind: TypeAlias = Literal["run", "thread", "endpoint", "model"]


class Part(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, rename="camel"):
    """What all parts of a recording have in common."""


class Request(Part, frozen=True, kw_only=True):
    """What was asked. Headers are not kept: they hold keys."""

    method: str
    path: str
    """Behind the API's base address, with its query, without keys."""
    body: Json | UnsetType = UNSET
    base64: str | None = None
    """A body that is no JSON."""


class Response(Part, frozen=True, kw_only=True):
    """What was answered: a stream, or one body as JSON, as text, or as bytes."""

    status: int
    headers: dict[str, str] = {}
    stream: list[str] | None = None
    """The records of a stream. All of them in a row are what was sent."""
    json: Json | UnsetType = UNSET
    text: str | None = None
    base64: str | None = None

    @property
    def pieces(self) -> list[bytes]:
        """The body, a record of a stream each."""
        if self.stream is not None:
            return [record.encode() for record in self.stream]
        if self.json is not UNSET:
            return [dumps(self.json)]
        if self.base64 is not None:
            return [b64decode(self.base64)]
        return [(self.text or "").encode()]

    @property
    def framing(self) -> Framing:
        """How the body is read."""
        return "body" if self.stream is None else "sse"


class Exchange(Part, frozen=True, kw_only=True):
    """One answer of a model, and what it was asked.

    With a `request` and a `response` it went over HTTP. `said` is what a program wrote, line by line;
    `chunks` is all that is known of others.
    """

    format: str | None = None
    """Who reads the answer, such as `openai-chat`."""
    request: Request | None = None
    response: Response | None = None
    asked: str | None = None
    """The user's last words, where there is no request."""
    framing: Framing | None = None
    said: list[str] | None = None
    chunks: list[JsonObject] | None = None
    end: JsonObject | None = None
    """How it ended, unless it ended well: an event."""


class Origin(Part, frozen=True, kw_only=True):
    """Where a recording comes from."""

    kind: OriginKind
    id: str | None = None
    """The run or the thread."""
    title: str | None = None
    """Of the thread."""
    agent: str | None = None
    model: str | None = None
    recorded: str | None = None
    """The day, as 2026-03-01."""
    version: str | None = None
    """Of Partita."""


class Recording(Part, frozen=True, kw_only=True):
    """What was asked and answered, in order."""

    partita: str = ""
    """The version of the file's format."""
    origin: Origin
    exchanges: list[Exchange]
    messages: list[JsonObject] = []
    """The conversation, canonical, if it was stored."""

    @property
    def is_http(self) -> bool:
        """Whether all of it can be served as an API."""
        return all(one.request is not None for one in self.exchanges)


def request_of(method: str, path: str, body: bytes) -> Request:
    """What was asked, as it is kept."""
    if not body:
        return Request(method=method, path=path)
    try:
        return Request(method=method, path=path, body=loads(body))
    except DecodeError:
        return Request(method=method, path=path, base64=b64encode(body).decode())


def response_of(status: int, headers: Mapping[str, str], body: bytes) -> Response:
    """What was answered, as it is kept."""
    kept = dict(headers)
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return Response(status=status, headers=kept, base64=b64encode(body).decode())
    if headers.get("content-type", "").startswith(EVENT_STREAM):
        return Response(status=status, headers=kept, stream=records_of(body, "sse"))
    try:
        return Response(status=status, headers=kept, json=loads(body))
    except DecodeError:
        return Response(status=status, headers=kept, text=text)


def records_of(body: bytes, framing: Framing) -> list[str]:
    """The records of a body that is UTF-8, as texts."""
    reader = reader_of(framing)
    return [record.raw.decode() for record in (*reader.feed(body), *reader.finish())]


def same_exchanges(one: Sequence[Exchange], other: Sequence[Exchange]) -> bool:
    """Whether two recordings tell the same."""
    return dumps(one) == dumps(other)


# Recordings as files: JSON for people to read and to compare.

VERSION: Final = "recording/1"
EPOCH: Final = "SOURCE_DATE_EPOCH"
"""The variable that says which day it is, for those who want the same file on any day."""

ANEW: Final = "write it anew: partita fixture RUN -o FILE, or pytest --partita-record"


def written(recording: Recording) -> bytes:
    """The file of a recording."""
    told = dumps(replace(recording, partita=VERSION))
    return msgspec.json.format(told, indent=2) + b"\n"


def write_recording(path: Path, recording: Recording) -> None:
    """Write the file of a recording, in place of an earlier one."""
    with whole_file(path, force=True) as file:
        file.write(written(recording))


def read_recording(path: Path) -> Recording:
    """The recording in a file; an error that says what is wrong with it."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DecodeError(f"no recording can be read: {error.strerror}", where=str(path), hint=ANEW) from None
    return parse_recording(data, str(path))


def parse_recording(data: bytes, where: str) -> Recording:
    """The recording that a file holds."""
    try:
        value = loads(data)
    except DecodeError as error:
        raise DecodeError(f"this is no recording: {error.what}", where=where, hint=ANEW) from None
    version = value.get("partita") if is_object(value) else None
    if version != VERSION:
        found = f"it says {version!r}" if version else "it does not say which"
        raise DecodeError(f"this is no recording of version {VERSION!r}: {found}", where=where, hint=ANEW)
    try:
        return msgspec.convert(value, Recording)
    except msgspec.ValidationError as error:
        raise DecodeError(f"this is no recording: {error}", where=where, hint=ANEW) from None


def origin_of(
    kind: OriginKind,
    id: str | None = None,
    *,
    title: str | None = None,
    agent: str | None = None,
    model: str | None = None,
) -> Origin:
    """Where a recording that is made now comes from."""
    given = os.environ.get(EPOCH, "")
    now = datetime.fromtimestamp(int(given), UTC) if given.isdecimal() else datetime.now(UTC)
    day = now.date().isoformat()
    return Origin(kind=kind, id=id, title=title, agent=agent, model=model, recorded=day, version=__version__)
