"""Pictures and documents in Anthropic's blocks → canonical parts.

What a part has no place for stands in its provider metadata under `anthropic`, so that the block can be
written again: `{"source": {"type": "text"}}` when the words of a document became base64.
"""

from base64 import b64encode
from typing import Final, NamedTuple

from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import FilePart, ForeignPart, ImagePart

ANTHROPIC: Final = "anthropic"
"""The namespace of provider metadata, and the name of the format of blocks kept whole."""

UNKNOWN_IMAGE: Final = "image/*"
UNKNOWN_FILE: Final = "application/octet-stream"


class Source(NamedTuple):
    """Where a picture or document is, and what its source says besides."""

    url: str
    media_type: str | None = None
    reference: dict[str, str] | None = None
    rest: JsonObject | None = None


def media_part(block: JsonObject) -> ImagePart | FilePart | ForeignPart:
    """An `image` or `document` block as a part; one whose source is unknown is kept whole."""
    raw = block.get("source")
    source = _source(raw) if is_object(raw) else None
    if source is None:
        return ForeignPart(ANTHROPIC, block)
    metadata = _metadata(block, source)
    if block.get("type") == "image":
        if source.reference is None:
            return ImagePart(source.url, source.media_type, provider_metadata=metadata)
        media_type = source.media_type or UNKNOWN_IMAGE
        return FilePart("", media_type, provider_reference=source.reference, provider_metadata=metadata)
    title = block.get("title")
    return FilePart(
        source.url,
        source.media_type or UNKNOWN_FILE,
        filename=title if isinstance(title, str) else None,
        provider_reference=source.reference,
        provider_metadata=metadata,
    )


def _source(raw: JsonObject) -> Source | None:
    media_type = raw.get("media_type")
    match raw:
        case {"type": "base64", "media_type": str(kind), "data": str(data)}:
            return Source(f"data:{kind};base64,{data}", kind, rest=_rest(raw, "data"))
        case {"type": "text", "media_type": str(kind), "data": str(data)}:
            encoded = b64encode(data.encode("utf-8", "surrogatepass")).decode()
            return Source(f"data:{kind};base64,{encoded}", kind, rest={"type": "text", **_rest(raw, "data")})
        case {"type": "url", "url": str(url)}:
            return Source(url, media_type if isinstance(media_type, str) else None, rest=_rest(raw, "url"))
        case {"type": "file", "file_id": str(file_id)}:
            return Source("", None, {ANTHROPIC: file_id}, _rest(raw, "file_id"))
        case _:
            return None


def _rest(raw: JsonObject, taken: str) -> JsonObject:
    """The members of a source that its part does not tell."""
    known = ("type", taken) if taken == "file_id" else ("type", "media_type", taken)
    return {key: value for key, value in raw.items() if key not in known}


def _metadata(block: JsonObject, source: Source) -> JsonObject | None:
    known = ("type", "source") if block.get("type") == "image" else ("type", "source", "title")
    fields: dict[str, Json] = {key: value for key, value in block.items() if key not in known}
    if not isinstance(block.get("title", ""), str):
        fields["title"] = block["title"]
    if source.rest:
        fields["source"] = source.rest
    return {ANTHROPIC: fields} if fields else None
