"""A recording as a value and as a file: exchanges in order, their origin, and the messages."""

import os
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.private_files import whole_file
from partita.stream.records import Framing, reader_of
from partita.types.json import Json, JsonObject, dumps, is_object, loads
from partita.version import __version__

EVENT_STREAM: Final = "text/event-stream"
JSON: Final = "application/json"

OriginKind: TypeAlias = Literal["run", "thread", "endpoint", "model"]


class Member(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, rename="camel"):
    """The base of all members of a recording."""


class RecordedRequest(Member, frozen=True, kw_only=True):
    """An HTTP request. Headers are not recorded: they may contain keys."""

    method: str
    path: str
    """Relative to the base URL of the API, with the query, without keys."""
    body: Json | UnsetType = UNSET
    base64: str | None = None
    """A body that is not JSON."""


class RecordedResponse(Member, frozen=True, kw_only=True):
    """An HTTP response: a stream, or one body as JSON, as text, or as bytes."""

    status: int
    headers: dict[str, str] = {}
    stream: list[str] | None = None
    """The records of a stream, which together are the body."""
    json: Json | UnsetType = UNSET
    text: str | None = None
    base64: str | None = None

    @property
    def pieces(self) -> list[bytes]:
        """The body in pieces: the records of a stream."""
        if self.stream is not None:
            return [record.encode() for record in self.stream]
        if self.json is not UNSET:
            return [dumps(self.json)]
        if self.base64 is not None:
            return [b64decode(self.base64)]
        return [(self.text or "").encode()]

    @property
    def framing(self) -> Framing:
        """The framing of the body."""
        return "body" if self.stream is None else "sse"


class Exchange(Member, frozen=True, kw_only=True):
    """One response of a model, and its request.

    With `request` and `response`, it is an HTTP exchange. The `output` of a program is recorded line by line.
    Of other responses only the `chunks` are known.
    """

    format: str | None = None
    """The format that reads the response, such as `openai-chat`."""
    request: RecordedRequest | None = None
    response: RecordedResponse | None = None
    prompt: str | None = field(default=None, name="asked")
    """The text of the user's last message, if there is no request."""
    framing: Framing | None = None
    output: list[str] | None = field(default=None, name="said")
    chunks: list[JsonObject] | None = None
    end: JsonObject | None = None
    """The event that it ended with, unless it completed."""


class Origin(Member, frozen=True, kw_only=True):
    """The origin of a recording."""

    kind: OriginKind
    id: str | None = None
    """The run or the thread."""
    title: str | None = None
    """The title of the thread."""
    agent: str | None = None
    model: str | None = None
    recorded: str | None = None
    """The day, as 2026-03-01."""
    version: str | None = None
    """The version of Partita."""


class Recording(Member, frozen=True, kw_only=True):
    """Requests and responses, in order."""

    partita: str = ""
    """The version of the file format."""
    origin: Origin
    exchanges: list[Exchange]
    messages: list[JsonObject] = []
    """The canonical messages of the conversation, if it was stored."""

    @property
    def is_http(self) -> bool:
        """Whether all exchanges have a request, so that the recording can be served as an API."""
        return all(one.request is not None for one in self.exchanges)


def request_of(method: str, path: str, body: bytes) -> RecordedRequest:
    """A request as it is recorded."""
    if not body:
        return RecordedRequest(method=method, path=path)
    try:
        return RecordedRequest(method=method, path=path, body=loads(body))
    except DecodeError:
        return RecordedRequest(method=method, path=path, base64=b64encode(body).decode())


def response_of(status: int, headers: Mapping[str, str], body: bytes) -> RecordedResponse:
    """A response as it is recorded."""
    kept = dict(headers)
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return RecordedResponse(status=status, headers=kept, base64=b64encode(body).decode())
    if headers.get("content-type", "").startswith(EVENT_STREAM):
        return RecordedResponse(status=status, headers=kept, stream=records_of(body, "sse"))
    try:
        return RecordedResponse(status=status, headers=kept, json=loads(body))
    except DecodeError:
        return RecordedResponse(status=status, headers=kept, text=text)


def records_of(body: bytes, framing: Framing) -> list[str]:
    """The records of a body in UTF-8, as texts."""
    reader = reader_of(framing)
    return [record.raw.decode() for record in (*reader.feed(body), *reader.finish())]


def same_exchanges(one: Sequence[Exchange], other: Sequence[Exchange]) -> bool:
    """Whether the exchanges of two recordings are the same."""
    return dumps(one) == dumps(other)


# Recordings as files: formatted JSON, so that people can read and compare it

VERSION: Final = "recording/1"
EPOCH: Final = "SOURCE_DATE_EPOCH"
"""The environment variable with the time to record, so that a build makes the same file on any day."""

RECORD_AGAIN: Final = "record it again: partita fixture RUN -o FILE, or pytest --partita-record"


def to_bytes(recording: Recording) -> bytes:
    """The content of the file of a recording."""
    data = dumps(replace(recording, partita=VERSION))
    return msgspec.json.format(data, indent=2) + b"\n"


def write_recording(path: Path, recording: Recording) -> None:
    """Write the file of a recording, or replace it."""
    with whole_file(path, force=True) as file:
        file.write(to_bytes(recording))


def read_recording(path: Path) -> Recording:
    """The recording in a file; a `DecodeError` if it is not one."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DecodeError(
            f"the recording cannot be read: {error.strerror}", where=str(path), hint=RECORD_AGAIN
        ) from None
    return parse_recording(data, str(path))


def parse_recording(data: bytes, where: str) -> Recording:
    """The recording in the content of a file."""
    try:
        value = loads(data)
    except DecodeError as error:
        raise DecodeError(f"this is not a recording: {error.what}", where=where, hint=RECORD_AGAIN) from None
    version = value.get("partita") if is_object(value) else None
    if version != VERSION:
        found = f"its version is {version!r}" if version else "it has no version"
        what = f"this is not a recording of version {VERSION!r}: {found}"
        raise DecodeError(what, where=where, hint=RECORD_AGAIN)
    try:
        return msgspec.convert(value, Recording)
    except msgspec.ValidationError as error:
        raise DecodeError(f"this is not a recording: {error}", where=where, hint=RECORD_AGAIN) from None


def origin_of(
    kind: OriginKind,
    id: str | None = None,
    *,
    title: str | None = None,
    agent: str | None = None,
    model: str | None = None,
) -> Origin:
    """The origin of a recording that is made now."""
    epoch = os.environ.get(EPOCH, "")
    now = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
    day = now.date().isoformat()
    return Origin(kind=kind, id=id, title=title, agent=agent, model=model, recorded=day, version=__version__)
