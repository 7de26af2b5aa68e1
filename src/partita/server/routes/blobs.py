"""Blobs: bytes under their hash, served so that no browser takes them for a page of this server."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from litestar import Request, Response, get, head, post
from litestar.openapi import ResponseSpec
from litestar.openapi.spec import OpenAPIFormat, OpenAPIMediaType, OpenAPIType, Operation, RequestBody, Schema
from litestar.params import PathParameter, QueryParameter, RawBody
from litestar.types import ControllerRouterHandler

from partita.server.files import address_of
from partita.server.hub import Caller
from partita.server.problems import Problem
from partita.server.replies import Reply
from partita.store.blobs import hash_of
from partita.store.values import Blob

from .parameters import routes_for_callers

TAGS: Final = ["blobs"]
UNKNOWN_TYPE: Final = "application/octet-stream"

# A type may come from a data URL that somebody wrote: what is not exactly a type is not sent on.
MEDIA_TYPE: Final = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*")
SHOWN: Final = re.compile(
    r"(?:audio|video)/.*|image/(?:png|jpeg|gif|webp|avif|bmp)|application/pdf|text/plain"
)
"""What a browser may show: pictures that are no programs, sounds, films, documents, plain text."""

RANGE: Final = re.compile(r"bytes=\s*(?P<first>\d{0,18})-(?P<last>\d{0,18})\s*", re.IGNORECASE)

SAFETY: Final[Mapping[str, str]] = {
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "cache-control": "private, max-age=31536000, immutable",
    "accept-ranges": "bytes",
}

Digest = Annotated[
    str,
    PathParameter(
        description="The SHA-256 of the bytes, in hex; `blob:sha256:…` as in messages is taken too."
    ),
]


@dataclass
class Upload(Operation):
    """How the documentation tells of a body that is bytes."""

    def __post_init__(self) -> None:
        anything = OpenAPIMediaType(schema=Schema(type=OpenAPIType.STRING, format=OpenAPIFormat.BINARY))
        self.request_body = RequestBody(content={"*/*": anything}, description="The bytes.", required=True)


class Span(NamedTuple):
    """Bytes from the first to the last of these, both included."""

    first: int
    last: int


@get(
    "/api/blobs/{digest:str}",
    tags=TAGS,
    summary="The bytes of a blob",
    media_type=UNKNOWN_TYPE,
    responses={
        200: ResponseSpec(bytes, media_type="*/*", description="The bytes.", generate_examples=False),
        206: ResponseSpec(bytes, media_type="*/*", description="A range of them.", generate_examples=False),
    },
)
async def get_blob(caller: Caller, request: Request[Any, Any, Any], digest: Digest) -> Response[bytes]:
    """Whole, or one range of them. What a browser could run is given to be saved, not to be shown."""
    blob = await caller.store.describe_blob(digest)
    headers = headers_of(blob)
    if is_known(request.headers.get("if-none-match"), headers["etag"]):
        return Response(b"", status_code=304, headers=headers)
    span = span_of(request.headers, blob.size, headers["etag"])
    data = await caller.store.get_blob(blob.url)
    if span is None:
        return Response(data, headers=headers)
    headers["content-range"] = f"bytes {span.first}-{span.last}/{blob.size}"
    return Response(data[span.first : span.last + 1], status_code=206, headers=headers)


@head("/api/blobs/{digest:str}", tags=TAGS, summary="The size and type of a blob")
async def head_blob(caller: Caller, request: Request[Any, Any, Any], digest: Digest) -> Response[None]:
    """What `GET` says of it, without the bytes."""
    blob = await caller.store.describe_blob(digest)
    headers = headers_of(blob)
    if is_known(request.headers.get("if-none-match"), headers["etag"]):
        return Response(None, status_code=304, headers=headers)
    return Response(None, headers={**headers, "content-length": str(blob.size)})


class UploadedFile(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """A file that was uploaded: a `file` part of a message, with `url`, `mediaType` and `filename`."""

    url: str
    """Where a browser can open it, and what messages refer to it by."""
    media_type: str
    filename: str | None = None
    size: int
    reference: str
    """`blob:sha256:…`, as in messages of the format `canonical`."""
    created_at: datetime | None = None


@post("/api/blobs", tags=TAGS, summary="Upload a file", operation_class=Upload)
async def put_blob(
    caller: Caller,
    request: Request[Any, Any, Any],
    body: RawBody,
    filename: Annotated[
        str | None, QueryParameter(max_length=255, description="The name of the file, which is given back.")
    ] = None,
) -> Reply[UploadedFile]:
    """The body is kept as it is, under its hash, with its `content-type`. What is returned can be sent as a
    file of `useChat`: the browser can show it, and the model receives its bytes.
    """
    blob = await caller.store.put_blob(body, media_type=request.headers.get("content-type"))
    file = UploadedFile(
        url=address_of(caller, blob.url),
        media_type=type_of(blob),
        filename=filename,
        size=blob.size,
        reference=blob.url,
        created_at=blob.created_at,
    )
    return Reply(file, headers={"location": f"blobs/{hash_of(blob.url)}"})


def headers_of(blob: Blob) -> dict[str, str]:
    """What is said of every answer with a blob, or about one. Text is sent as UTF-8."""
    digest, media_type = hash_of(blob.url), type_of(blob)
    return {
        **SAFETY,
        "etag": f'"{digest}"',
        "content-type": f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type,
        "content-disposition": "inline"
        if SHOWN.fullmatch(media_type)
        else f'attachment; filename="{digest}"',
    }


def type_of(blob: Blob) -> str:
    """The type of a blob, without the parameters that it came with."""
    essence = (blob.media_type or "").partition(";")[0].strip().lower()
    return essence if MEDIA_TYPE.fullmatch(essence) else UNKNOWN_TYPE


def is_known(condition: str | None, etag: str) -> bool:
    """Whether a client that says this has the bytes already."""
    said = [one.strip().removeprefix("W/") for one in (condition or "").split(",")]
    return etag in said or "*" in said


def span_of(headers: Mapping[str, str], size: int, etag: str) -> Span | None:
    """The range that is asked for; `None`: everything. What is no single range means everything."""
    asked = RANGE.fullmatch(headers.get("range", ""))
    if asked is None or headers.get("if-range", etag) != etag or size == 0:
        return None
    first, last = asked["first"], asked["last"]
    if not (first or last) or (first and last and int(last) < int(first)):
        return None
    start = int(first) if first else max(size - int(last), 0)
    end = min(int(last), size - 1) if first and last else size - 1
    if start > end:
        span = f"bytes */{size}"
        raise Problem(416, f"there are {size} bytes", hint="ask for less", headers={"content-range": span})
    return Span(start, end)


BLOBS: Final[list[ControllerRouterHandler]] = [routes_for_callers(get_blob, head_blob, put_blob)]
