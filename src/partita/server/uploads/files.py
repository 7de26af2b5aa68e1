"""What an upload is: the log of an agent, or messages of some format."""

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

# Uploads, as they come, into files: the body of a request, or the files of a form. Never all in memory.
#
# What is compressed is unpacked on the way, so that what it holds is counted too.

AT_ONCE: Final = 1024 * 1024
"""About how many bytes are written at once."""

FILES: Final = 500
"""How many files a form may hold."""

LONGEST_NAME: Final = 120
PACKED: Final = (".gz", ".zst")
UNNAMED: Final = "upload"
OTHERS: Final = "."
"""How folders are called for files whose name is taken: no file is called so."""
_ODD: Final = re.compile(r"[^A-Za-z0-9._-]+")

_FORMS: Final[Any] = import_module("multipart")
"""The parser of forms, by its name: type checkers would take a folder of python-multipart for it."""


class Upload(NamedTuple):
    """A file that was uploaded, where it lies meanwhile, and what tells its content from others."""

    name: str
    path: Path
    size: int
    digest: str


class Spool:
    """A file while it is uploaded. `most` is how much it may hold, unpacked."""

    def __init__(self, folder: Path, name: str, limits: Limits, most: int) -> None:
        self._name = plain_name(name)
        self._path = _free(folder, self._name)
        self._file: BinaryIO = self._path.open("wb")
        self._unpacker = Decompressor(self._name)
        self._digest = sha256()
        self._limits = limits
        self._most = most
        self._waiting: list[bytes] = []
        self._waits = 0
        self._received = 0
        self.size = 0

    async def take(self, data: bytes) -> None:
        """Take some bytes; they are written with others."""
        self._waiting.append(bytes(data))
        self._waits += len(data)
        if self._waits >= AT_ONCE:
            await self._flush()

    async def end(self) -> Upload:
        """The file, once it is complete."""
        await self._flush()
        await asyncio.to_thread(self._write, self._unpacker.finish())
        self.close()
        return Upload(self._name, self._path, self.size, self._digest.hexdigest())

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    async def _flush(self) -> None:
        data, self._waiting, self._waits = b"".join(self._waiting), [], 0
        self._received += len(data)
        if data:
            await asyncio.to_thread(self._write, self._unpacker.feed(data))

    def _write(self, blocks: Iterable[bytes]) -> None:
        try:
            for block in blocks:
                self.size += len(block)
                if self.size > self._most:
                    raise Problem(
                        413, f"{self._name} holds more than {self._most} bytes", hint="send it in pieces"
                    )
                check_expansion(self._received, self.size, self._limits, self._name)
                self._digest.update(block)
                self._file.write(block)
        except OSError:
            raise Problem(507, "there is no room for the upload", hint="try again later") from None


async def receive(request: Request, folder: Path, *, name: str | None, limits: Limits) -> list[Upload]:
    """The files that a request brings. A body that is no form is one file."""
    kind, options = _FORMS.parse_options_header(request.headers.get("content-type", ""))
    try:
        async with aclosing(request.stream()) as body:
            if kind == "multipart/form-data":
                return await _receive_form(body, folder, Form(options.get("boundary", "")), limits)
            return await _receive_body(body, folder, name or UNNAMED, limits)
    except ClientDisconnect:
        raise Problem(400, "the upload broke off", hint="send it again") from None


async def _receive_body(body: AsyncIterator[bytes], folder: Path, name: str, limits: Limits) -> list[Upload]:
    spool = Spool(folder, name, limits, limits.upload_bytes)
    try:
        async for data in body:
            await spool.take(data)
        return [await spool.end()]
    finally:
        spool.close()


async def _receive_form(
    body: AsyncGenerator[bytes, None], folder: Path, form: "Form", limits: Limits
) -> list[Upload]:
    files: list[Upload] = []
    spool: Spool | None = None
    try:
        async for data in body:
            for said in form.feed(data):
                if isinstance(said, str):
                    left = limits.upload_bytes - sum(file.size for file in files)
                    spool = Spool(folder, said, limits, left) if said else None
                elif spool is not None and said is None:
                    files.append(await spool.end())
                elif spool is not None and said is not None:
                    await spool.take(said)
        form.finish()
    finally:
        if spool is not None:
            spool.close()
    if not files:
        raise Problem(400, "the form holds no file", hint="send files with their names")
    return files


class Form:
    """The bytes of a form in, files out: the name of each (none: no file), its bytes, `None` at its end."""

    def __init__(self, boundary: str) -> None:
        self._parser = self._guarded(lambda: _FORMS.PushMultipartParser(boundary, max_segment_count=FILES))

    def feed(self, data: bytes) -> Iterator[str | bytes | None]:
        """What these bytes bring."""
        if not data or self._parser.closed:  # to the parser, no data would be the end
            return
        said: Any
        for said in self._guarded(lambda: list(self._parser.parse(data))):
            yield (said.filename or "") if isinstance(said, _FORMS.MultipartSegment) else said

    def finish(self) -> None:
        """Refuse a form that has no end."""
        self._guarded(self._parser.close)

    def _guarded(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except _FORMS.MultipartError as error:
            raise Problem(400, f"the form cannot be read: {error}", hint="is it complete?") from None


def plain_name(name: str) -> str:
    """The last part of a name, in letters that every file system takes, without the mark of a packing."""
    last = re.split(r"[/\\]", name)[-1]
    for ending in PACKED:
        last = last.removesuffix(ending)
    return _ODD.sub("_", last)[-LONGEST_NAME:].lstrip(".") or UNNAMED


def _free(folder: Path, name: str) -> Path:
    """A path in a folder where nothing lies yet: files of one form may have one name."""
    path, number = folder / name, 1
    while path.exists():
        number += 1
        path = folder / f"{OTHERS}{number}" / name
    path.parent.mkdir(exist_ok=True)
    return path


class Recognised(NamedTuple):
    """An upload, and what it is. `agent` is that of a log; messages have none."""

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


BY_NAME: Final = "it was said"


def is_beside(upload: Upload) -> bool:
    """Whether it only says what another file is for."""
    return is_ignored(upload.name)


def recognise(upload: Upload, named: str | None = None) -> Recognised:
    """What an upload is, by the format that is named or by its first values."""
    head = _head(upload)
    if named is not None:
        name = named if named in LOG_FORMATS else get_format(named).name
        return Recognised(upload, name, BY_NAME, 1.0, _agent_of(name), head)
    if not head:
        raise Problem(400, "there is no JSON in it", where=upload.name, hint=_known())
    log = detect(head, "" if upload.name == UNNAMED else upload.name)
    guesses = sniff(head[0] if len(head) == 1 and is_array(head[0]) else list(head))
    if log is not None and (not guesses or log.confidence >= guesses[0].confidence):
        return Recognised(upload, log.format, log.why, log.confidence, log.agent, head)
    if not guesses:
        raise FormatError("cannot tell what this is", where=upload.name, hint=_known())
    best = guesses[0]
    return Recognised(upload, best.format, best.why, best.confidence, _agent_of(best.format), head)


def _agent_of(format: str) -> str | None:
    log_format = LOG_FORMATS.get(format)
    return None if log_format is None else log_format.agent


def _known() -> str:
    others = sorted(set(all_formats()) - set(LOG_FORMATS))
    return f"looked for logs ({', '.join(LOG_FORMATS)}) and messages ({', '.join(others)})"


def _head(upload: Upload) -> list[Json]:
    data = next(open_log(upload.path), b"")[:WINDOW]
    return values_of(data.decode(errors="replace"), cut=len(data) == WINDOW)
