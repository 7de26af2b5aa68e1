"""Uploads as temporary files, and their formats: logs of agents, or messages.

An upload is the body of a request, or the files of a form. It is never in memory as a whole. Compressed data
is decompressed while it arrives, so that its real size is limited, too.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from starlette.requests import ClientDisconnect, Request

from partita.errors import FormatError
from partita.formats.detection.guess import sniff
from partita.formats.registry import all_formats, get_format
from partita.logs.detection import detect
from partita.logs.files import is_ignored
from partita.logs.lines.blocks import Decompressor, open_log
from partita.logs.lines.heads import WINDOW, values_of
from partita.logs.sources.registry import LOG_FORMATS
from partita.logs.sources.source import LogFormat
from partita.server.problems import Problem
from partita.server.settings import Limits
from partita.server.worker_pool import check_expansion
from partita.types.json import Json, is_array

BUFFER_BYTES: Final = 1024 * 1024
"""About how many bytes are written at once."""

MAX_FILES: Final = 500
"""The largest number of files of a form."""

MAX_NAME_LENGTH: Final = 120
COMPRESSED: Final = (".gz", ".zst")
UNNAMED: Final = "upload"
NUMBERED_FOLDER: Final = ".{}"
"""The names of folders for files whose name exists already. No file has such a name."""

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")

_FORMS: Final[Any] = import_module("multipart")
"""The parser of forms. It is imported by name: type checkers would find python-multipart instead."""


class Upload(NamedTuple):
    """An uploaded file: its name, its temporary path, its decompressed size, and the hash of its content."""

    name: str
    path: Path
    size: int
    digest: str


class UploadWriter:
    """Writes the file of an upload while it arrives. `max_bytes` limits its decompressed size."""

    def __init__(self, folder: Path, name: str, limits: Limits, max_bytes: int) -> None:
        self._name = safe_name(name)
        self._path = _free_path(folder, self._name)
        self._file: BinaryIO = self._path.open("wb")
        self._decompressor = Decompressor(self._name)
        self._digest = sha256()
        self._limits = limits
        self._max_bytes = max_bytes
        self._buffer = bytearray()
        self._received = 0
        self.size = 0

    async def write(self, data: bytes) -> None:
        """Add data, which is written once there is enough of it."""
        self._buffer += data
        if len(self._buffer) >= BUFFER_BYTES:
            await self._flush()

    async def finish(self) -> Upload:
        """Write the rest, and return the complete upload."""
        await self._flush()
        await asyncio.to_thread(self._write, self._decompressor.finish())
        self.close()
        return Upload(self._name, self._path, self.size, self._digest.hexdigest())

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    async def _flush(self) -> None:
        data = bytes(self._buffer)
        self._buffer.clear()
        self._received += len(data)
        if data:
            await asyncio.to_thread(self._write, self._decompressor.feed(data))

    def _write(self, blocks: Iterable[bytes]) -> None:
        try:
            for block in blocks:
                self.size += len(block)
                if self.size > self._max_bytes:
                    raise Problem(
                        413, f"{self._name} has more than {self._max_bytes} bytes", hint="send it in pieces"
                    )
                check_expansion(self._received, self.size, self._limits, self._name)
                self._digest.update(block)
                self._file.write(block)
        except OSError:
            raise Problem(507, "there is no space for the upload", hint="try again later") from None


async def receive(request: Request, folder: Path, *, name: str | None, limits: Limits) -> list[Upload]:
    """The uploads of a request. A body that is not a form is one upload."""
    kind, options = _FORMS.parse_options_header(request.headers.get("content-type", ""))
    try:
        async with aclosing(request.stream()) as body:
            if kind == "multipart/form-data":
                return await _receive_form(body, folder, Form(options.get("boundary", "")), limits)
            return await _receive_body(body, folder, name or UNNAMED, limits)
    except ClientDisconnect:
        raise Problem(400, "the upload is incomplete", hint="send it again") from None


async def _receive_body(body: AsyncIterator[bytes], folder: Path, name: str, limits: Limits) -> list[Upload]:
    writer = UploadWriter(folder, name, limits, limits.upload_bytes)
    try:
        async for data in body:
            await writer.write(data)
        return [await writer.finish()]
    finally:
        writer.close()


async def _receive_form(
    body: AsyncGenerator[bytes, None], folder: Path, form: "Form", limits: Limits
) -> list[Upload]:
    uploads: list[Upload] = []
    writer: UploadWriter | None = None
    try:
        async for data in body:
            for event in form.feed(data):
                if isinstance(event, str):
                    left = limits.upload_bytes - sum(upload.size for upload in uploads)
                    writer = UploadWriter(folder, event, limits, left) if event else None
                elif writer is not None and event is None:
                    uploads.append(await writer.finish())
                elif writer is not None and event is not None:
                    await writer.write(event)
        form.finish()
    finally:
        if writer is not None:
            writer.close()
    if not uploads:
        raise Problem(400, "the form has no file", hint="send files with their names")
    return uploads


class Form:
    """Parses a form: for each field, the name of its file (empty: not a file), its data, then `None`."""

    def __init__(self, boundary: str) -> None:
        self._parser = self._checked(
            lambda: _FORMS.PushMultipartParser(boundary, max_segment_count=MAX_FILES)
        )

    def feed(self, data: bytes) -> Iterator[str | bytes | None]:
        """Parse bytes, and return their events."""
        if not data or self._parser.closed:  # for the parser, empty data would be the end
            return
        event: Any
        for event in self._checked(lambda: list(self._parser.parse(data))):
            yield (event.filename or "") if isinstance(event, _FORMS.MultipartSegment) else event

    def finish(self) -> None:
        """Refuse an incomplete form."""
        self._checked(self._parser.close)

    def _checked(self, parse: Callable[[], Any]) -> Any:
        try:
            return parse()
        except _FORMS.MultipartError as error:
            raise Problem(400, f"the form cannot be read: {error}", hint="send a complete form") from None


def safe_name(name: str) -> str:
    """The last segment of a name, in characters that every file system allows, without `.gz` or `.zst`."""
    last = re.split(r"[/\\]", name)[-1]
    for suffix in COMPRESSED:
        last = last.removesuffix(suffix)
    return _UNSAFE.sub("_", last)[-MAX_NAME_LENGTH:].lstrip(".") or UNNAMED


def _free_path(folder: Path, name: str) -> Path:
    """A path in a folder that does not exist yet: files of one form may have the same name."""
    path, number = folder / name, 1
    while path.exists():
        number += 1
        path = folder / NUMBERED_FOLDER.format(number) / name
    path.parent.mkdir(exist_ok=True)
    return path


class DetectedUpload(NamedTuple):
    """An upload and its format. `agent` is the agent of a log; messages have none."""

    upload: Upload
    format: str
    why: str
    confidence: float
    agent: str | None
    head: Sequence[Json]
    """Its first values."""

    @property
    def log_format(self) -> LogFormat:
        """The format of a log."""
        return LOG_FORMATS[self.format]


NAMED: Final = "the request names it"
"""The reason for the format of an upload, if it was not detected."""


def is_companion(upload: Upload) -> bool:
    """Whether an upload only describes another file, and is not imported itself."""
    return is_ignored(upload.name)


def detect_upload(upload: Upload, format: str | None = None) -> DetectedUpload:
    """An upload with its format: the given one, or the one that is detected by its first values."""
    head = _head(upload)
    if format is not None:
        name = format if format in LOG_FORMATS else get_format(format).name
        return DetectedUpload(upload, name, NAMED, 1.0, _agent_of(name), head)
    if not head:
        raise Problem(400, "the file has no JSON", where=upload.name, hint=_known())
    log = detect(head, "" if upload.name == UNNAMED else upload.name)
    guesses = sniff(head[0] if len(head) == 1 and is_array(head[0]) else list(head))
    if log is not None and (not guesses or log.confidence >= guesses[0].confidence):
        return DetectedUpload(upload, log.format, log.why, log.confidence, log.agent, head)
    if not guesses:
        raise FormatError("cannot detect the format", where=upload.name, hint=_known())
    best = guesses[0]
    return DetectedUpload(upload, best.format, best.why, best.confidence, _agent_of(best.format), head)


def _agent_of(format: str) -> str | None:
    log_format = LOG_FORMATS.get(format)
    return None if log_format is None else log_format.agent


def _known() -> str:
    others = sorted(set(all_formats()) - set(LOG_FORMATS))
    return f"send a log ({', '.join(LOG_FORMATS)}) or messages ({', '.join(others)})"


def _head(upload: Upload) -> list[Json]:
    data = next(open_log(upload.path), b"")[:WINDOW]
    return values_of(data.decode(errors="replace"), cut=len(data) == WINDOW)
