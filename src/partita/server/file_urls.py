"""Files of messages as URLs of this server, instead of bytes inside the message.

`POST /api/blobs` and stored messages return such URLs. In a client's message they refer to the stored file:
agents and models receive its bytes.
"""

import re
from collections.abc import Sequence
from typing import Final, TypeVar
from urllib.parse import urlsplit

from msgspec.structs import replace

from partita.errors import ConversionError, NotFoundError
from partita.store.blobs.moves import BLOB, REFERENCE, THRESHOLD, data_of
from partita.types.chunks import Chunk, FileChunk, ReasoningFileChunk
from partita.types.messages import Message
from partita.types.parts import FilePart, ImagePart, ReasoningFilePart

from .callers import CallerView

ROUTE: Final = "/api/blobs/"
URL_PATH: Final = re.compile(r"(?:.*/)?api/blobs/(?P<hash>[0-9a-f]{64})")
FILES: Final = (FilePart, ImagePart, ReasoningFilePart)

M = TypeVar("M", bound=Message)
P = TypeVar("P")


def file_url(caller: CallerView, reference: str) -> str:
    """The URL of a stored file, below the path under which the application is mounted."""
    match = REFERENCE.fullmatch(reference)
    return reference if match is None else f"{caller.root}{ROUTE}{match['hash']}"


def with_file_urls(caller: CallerView, messages: Sequence[Message]) -> list[Message]:
    """Messages whose stored files have URLs that a browser can open."""
    return [_with_parts(one, [_with_url(caller, part) for part in one.parts]) for one in messages]


def _with_url(caller: CallerView, part: P) -> P:
    return replace(part, url=file_url(caller, part.url)) if isinstance(part, FILES) else part


async def chunk_with_file_url(caller: CallerView, chunk: Chunk) -> Chunk:
    """A chunk whose file has a URL, like in the stored message; the file is stored first."""
    if not isinstance(chunk, FileChunk | ReasoningFileChunk) or len(chunk.url) <= THRESHOLD:
        return chunk
    found = data_of(chunk.url)
    if found is None:
        return chunk
    blob = await caller.store.blobs.put(found.data, media_type=found.media_type or chunk.media_type)
    return replace(chunk, url=file_url(caller, blob.url))


async def with_references(caller: CallerView, message: M, where: str) -> M:
    """A client's message in which URLs of stored files are replaced by references to them.

    A file that does not exist, or belongs to another owner, is refused.
    """
    parts = [
        await _with_reference(caller, part, f"{where}.parts[{index}].url")
        for index, part in enumerate(message.parts)
    ]
    return _with_parts(message, parts)


async def _with_reference(caller: CallerView, part: P, where: str) -> P:
    if not isinstance(part, FILES):
        return part
    try:
        split = urlsplit(part.url) if not part.url.startswith("data:") else None
    except ValueError:
        return part
    if split is None:
        return part
    found = URL_PATH.fullmatch(split.path) if split.scheme in ("", "http", "https") else None
    stored = REFERENCE.fullmatch(part.url) if found is None else None
    digest = found["hash"] if found else stored["hash"] if stored else None
    if digest is None:
        return part
    try:
        await caller.store.blobs.describe(digest)
    except NotFoundError:
        if split.netloc and split.netloc != caller.headers.get("host"):
            return part  # a URL of another server
        raise ConversionError(
            f"no file {part.url[:120]!r}", where=where, hint="upload it first: POST /api/blobs"
        ) from None
    return part if stored else replace(part, url=f"{BLOB}{digest}")


def same_files(left: Message, right: Message) -> bool:
    """Whether two messages have the same parts, comparing files by their hashes."""
    return [_by_hash(part) for part in left.parts] == [_by_hash(part) for part in right.parts]


def _by_hash(part: P) -> P:
    if not isinstance(part, FILES):
        return part
    found = data_of(part.url)
    return part if found is None else replace(part, url=f"{BLOB}{found.hash}")


def _with_parts(message: M, parts: Sequence[object]) -> M:
    if all(new is old for new, old in zip(parts, message.parts, strict=True)):
        return message
    return replace(message, content=replace(message.content, parts=tuple(parts)))
