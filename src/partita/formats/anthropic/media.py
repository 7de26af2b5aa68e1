"""Pictures and files ↔ the blocks in which the API takes them; or why it takes none."""

from base64 import b64decode, b64encode
from typing import Final
from urllib.parse import unquote_to_bytes

from partita.types.json import JsonObject, is_object
from partita.types.parts import FilePart, ForeignPart, ImagePart, ReasoningFilePart

from .words import ANTHROPIC, fields_of, noted, own_of, rest_of

PICTURES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
PDF: Final = "application/pdf"
PLAIN: Final = "text/plain"

ANY_PICTURE: Final = "image/*"
ANY_FILE: Final = "application/octet-stream"
"""What files are that only the provider has."""

UNREADABLE: Final = "its bytes cannot be read"


def media_part(block: JsonObject) -> ImagePart | FilePart | ForeignPart:
    """An `image` or `document` block as a part; one that a part does not tell as it is, is kept whole."""
    part = _part(block)
    said = {key: item for key, item in block.items() if item is not None}
    return ForeignPart(ANTHROPIC, block) if part is None or media_block(part) != said else part


def _part(block: JsonObject) -> ImagePart | FilePart | None:
    is_picture, source = block.get("type") == "image", block.get("source")
    title = block.get("title")
    filename = title if isinstance(title, str) and title and not is_picture else None
    known = ("type", "source", *(["title"] if filename else []))
    note = noted(rest_of(block, known))
    url: str
    media_type: str | None
    match source if is_object(source) else {}:
        case {"type": "base64", "media_type": str(kind), "data": str(data)}:
            url, media_type = f"data:{kind};base64,{data}", kind
        case {"type": "text", "media_type": str(kind), "data": str(words)} if not is_picture:
            encoded = b64encode(words.encode("utf-8", "surrogatepass")).decode()
            url, media_type = f"data:{kind};base64,{encoded}", kind
        case {"type": "url", "url": str(address)}:
            url, media_type = address, None if is_picture else PDF
        case {"type": "file", "file_id": str(file_id)}:
            kind = ANY_PICTURE if is_picture else ANY_FILE
            return FilePart(
                "", kind, filename, provider_reference={ANTHROPIC: file_id}, provider_metadata=note
            )
        case _:
            return None
    if is_picture:
        return ImagePart(url, media_type, provider_metadata=note)
    return FilePart(url, media_type or PDF, filename, provider_metadata=note)


def media_block(part: ImagePart | FilePart | ReasoningFilePart) -> JsonObject | str:
    """An `image` or `document` block; or why there is none."""
    is_picture = isinstance(part, ImagePart) or part.media_type.startswith("image/")
    source = _source(part, is_picture)
    if isinstance(source, str):
        return source
    fields = fields_of(own_of(part.provider_metadata) or {})
    if is_picture:
        return {"type": "image", "source": source, **fields}
    title = None if isinstance(part, ImagePart) else part.filename
    return {"type": "document", "source": source, **({"title": title} if title else {}), **fields}


def _source(part: ImagePart | FilePart | ReasoningFilePart, is_picture: bool) -> JsonObject | str:
    reference = part.provider_reference if isinstance(part, FilePart) else None
    if reference is not None and ANTHROPIC in reference:
        return {"type": "file", "file_id": reference[ANTHROPIC]}
    scheme, _, rest = part.url.partition(":")
    match scheme.lower():
        case "https" | "http" if is_picture or part.media_type == PDF:
            return {"type": "url", "url": part.url}
        case "https" | "http":
            return f"the API fetches pictures and PDF, no {part.media_type}"
        case "data":
            return _data_source(part.media_type, rest, is_picture)
        case "blob":
            return "its bytes are in a store"
        case _:
            return f"the API takes no address that begins with {scheme[:20]!r}"


def _data_source(media_type: str | None, rest: str, is_picture: bool) -> JsonObject | str:
    head, comma, data = rest.partition(",")
    kind, *parameters = head.split(";")
    kind = kind or media_type or PLAIN
    is_base64 = parameters[-1:] == ["base64"]
    if not comma:
        return UNREADABLE
    if is_base64 and (kind in PICTURES or (kind == PDF and not is_picture)):
        return {"type": "base64", "media_type": kind, "data": data}
    if is_picture or not kind.startswith("text/"):
        return f"the API takes no {kind}{'' if is_base64 else ' that is not in base64'}"
    try:
        words = (b64decode(data, validate=True) if is_base64 else unquote_to_bytes(data)).decode()
    except ValueError:
        return UNREADABLE
    return {"type": "text", "media_type": PLAIN, "data": words}
