"""Files of messages as clients have them: under an address of this server, not as bytes inside the message.

`POST /api/blobs` and stored messages give such addresses. In a client's message they stand for the stored
file: agents and models receive its bytes.
"""

import re
from collections.abc import Sequence
from typing import Final, TypeVar
from urllib.parse import urlsplit

from msgspec.structs import replace

from partita.errors import ConversionError, NotFoundError
from partita.store.blob_moves import BLOB, REFERENCE, THRESHOLD, data_of
from partita.types.chunks import Chunk, FileChunk, ReasoningFileChunk
from partita.types.messages import Message
from partita.types.parts import FilePart, ImagePart, ReasoningFilePart

from .hub import CallerView

ROUTE: Final = "/api/blobs/"
ADDRESS: Final = re.compile(r"(?:.*/)?api/blobs/(?P<hash>[0-9a-f]{64})")
FILES: Final = (FilePart, ImagePart, ReasoningFilePart)

M = TypeVar("M", bound=Message)
P = TypeVar("P")


def address_of(caller: CallerView, reference: str) -> str:
    """The address of a stored file, below the path that the application is mounted under."""
    match = REFERENCE.fullmatch(reference)
    return reference if match is None else f"{caller.root}{ROUTE}{match['hash']}"


def with_addresses(caller: CallerView, messages: Sequence[Message]) -> list[Message]:
    """Messages whose stored files have addresses that a browser can open."""
    return [_changed(one, [_addressed(caller, part) for part in one.parts]) for one in messages]


def _addressed(caller: CallerView, part: P) -> P:
    return replace(part, url=address_of(caller, part.url)) if isinstance(part, FILES) else part


async def addressed_chunk(caller: CallerView, chunk: Chunk) -> Chunk:
    """A chunk whose file has an address, as it has in the stored message; the file is stored now."""
    if not isinstance(chunk, FileChunk | ReasoningFileChunk) or len(chunk.url) <= THRESHOLD:
        return chunk
    found = data_of(chunk.url)
    if found is None:
        return chunk
    blob = await caller.store.put_blob(found.data, media_type=found.media_type or chunk.media_type)
    return replace(chunk, url=address_of(caller, blob.url))


async def with_references(caller: CallerView, message: M, where: str) -> M:
    """A client's message in which addresses of stored files are references to them.

    A file that is not there, or belongs to another owner, is refused.
    """
    parts = [
        await _referenced(caller, part, f"{where}.parts[{place}].url")
        for place, part in enumerate(message.parts)
    ]
    return _changed(message, parts)


async def _referenced(caller: CallerView, part: P, where: str) -> P:
    if not isinstance(part, FILES):
        return part
    try:
        split = urlsplit(part.url) if not part.url.startswith("data:") else None
    except ValueError:
        return part
    if split is None:
        return part
    found = ADDRESS.fullmatch(split.path) if split.scheme in ("", "http", "https") else None
    stored = REFERENCE.fullmatch(part.url) if found is None else None
    digest = found["hash"] if found else stored["hash"] if stored else None
    if digest is None:
        return part
    try:
        await caller.store.describe_blob(digest)
    except NotFoundError:
        if split.netloc and split.netloc != caller.headers.get("host"):
            return part  # an address of another server
        raise ConversionError(
            f"no file {part.url[:120]!r}", where=where, hint="upload it first: POST /api/blobs"
        ) from None
    return part if stored else replace(part, url=f"{BLOB}{digest}")


def same_files(one: Message, other: Message) -> bool:
    """Whether two messages have the same parts, whether their files stand in them or are stored."""
    return [_by_hash(part) for part in one.parts] == [_by_hash(part) for part in other.parts]


def _by_hash(part: P) -> P:
    if not isinstance(part, FILES):
        return part
    found = data_of(part.url)
    return part if found is None else replace(part, url=f"{BLOB}{found.hash}")


def _changed(message: M, parts: Sequence[object]) -> M:
    if all(new is old for new, old in zip(parts, message.parts, strict=True)):
        return message
    return replace(message, content=replace(message.content, parts=tuple(parts)))
