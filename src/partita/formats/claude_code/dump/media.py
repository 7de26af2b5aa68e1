"""Pictures and files → blocks: as they were in the log, or as the API takes them."""

from base64 import b64decode
from binascii import Error as BinasciiError
from typing import Final

from partita.formats.claude_code.media import ANTHROPIC, UNKNOWN_FILE, UNKNOWN_IMAGE
from partita.types.json import JsonObject, is_object
from partita.types.parts import FilePart, ImagePart

PICTURES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
PDF: Final = "application/pdf"
PLAIN: Final = "text/plain"

ONLY_STORED: Final = "its bytes are in a store"
UNREADABLE: Final = "its bytes cannot be read"


def media_block(part: ImagePart | FilePart) -> JsonObject:
    """The block that a part was made of."""
    own = (part.provider_metadata or {}).get(ANTHROPIC)
    fields: JsonObject = dict(own) if is_object(own) else {}
    rest = fields.pop("source", None)
    source = _source(part, rest if is_object(rest) else {})
    if isinstance(part, ImagePart) or (source["type"] == "file" and part.media_type == UNKNOWN_IMAGE):
        return {"type": "image", "source": source, **fields}
    named: JsonObject = {} if part.filename is None else {"title": part.filename}
    return {"type": "document", "source": source, **named, **fields}


def _source(part: ImagePart | FilePart, rest: JsonObject) -> JsonObject:
    reference = None if isinstance(part, ImagePart) else part.provider_reference
    if reference is not None and ANTHROPIC in reference:
        return {"type": "file", "file_id": reference[ANTHROPIC], **rest}
    kind = part.media_type
    start = f"data:{kind};base64,"
    if not part.url.startswith(start):
        named: JsonObject = {} if kind is None or kind == UNKNOWN_FILE else {"media_type": kind}
        return {"type": "url", "url": part.url, **named, **rest}
    data = part.url[len(start) :]
    text = _decoded(data) if rest.get("type") == "text" else None
    if text is not None:
        return {"media_type": kind, "data": text, **rest}
    return {**rest, "type": "base64", "media_type": kind, "data": data}


def _decoded(data: str) -> str | None:
    try:
        return b64decode(data, validate=True).decode("utf-8", "surrogatepass")
    except (BinasciiError, ValueError):
        return None


def file_block(part: ImagePart | FilePart) -> JsonObject | str:
    """The block in which the API takes a file; or why it takes none."""
    reference = None if isinstance(part, ImagePart) else part.provider_reference
    is_picture = isinstance(part, ImagePart) or part.media_type.startswith("image/")
    if reference is not None and ANTHROPIC in reference:
        return _block(is_picture, {"type": "file", "file_id": reference[ANTHROPIC]}, part)
    scheme, _, rest = part.url.partition(":")
    match scheme.lower():
        case "https" | "http":
            if not is_picture and part.media_type != PDF:
                return f"the API fetches pictures and PDF, no {part.media_type}"
            return _block(is_picture, {"type": "url", "url": part.url}, part)
        case "data":
            return _data_block(part, is_picture, rest)
        case "blob":
            return ONLY_STORED
        case _:
            return f"the API takes no address that begins with {scheme[:20]!r}"


def _data_block(part: ImagePart | FilePart, is_picture: bool, data: str) -> JsonObject | str:
    head, comma, data = data.partition(",")
    kind, *parameters = head.split(";")
    kind = kind or part.media_type or PLAIN
    if not comma or parameters[-1:] != ["base64"]:
        return UNREADABLE
    if kind in PICTURES or kind == PDF:
        return _block(kind != PDF, {"type": "base64", "media_type": kind, "data": data}, part)
    if is_picture or not kind.startswith("text/"):
        return f"the API takes no {kind}"
    text = _decoded(data)
    if text is None:
        return UNREADABLE
    return _block(False, {"type": "text", "media_type": PLAIN, "data": text}, part)


def _block(is_picture: bool, source: JsonObject, part: ImagePart | FilePart) -> JsonObject:
    if is_picture:
        return {"type": "image", "source": source}
    title = part.name if isinstance(part, ImagePart) else part.filename
    return {"type": "document", "source": source, **({"title": title} if title else {})}
