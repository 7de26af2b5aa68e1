"""Media with a `source`, as Anthropic has it, or a `source_type`, as LangChain had it ↔ standard blocks."""

from collections.abc import Mapping
from typing import Final

from partita.formats.framework.members import present
from partita.types.json import JsonObject, is_object

PLACES: Final[Mapping[str, tuple[str, str]]] = {
    "base64": ("data", "base64"),
    "url": ("url", "url"),
    "file": ("file_id", "file_id"),
    "text": ("data", "text"),
}
"""By the type of a source: where it has its value, and where a standard block has it."""

OLD_PLACES: Final[Mapping[str, tuple[str, str]]] = {
    "base64": ("data", "base64"),
    "url": ("url", "url"),
    "id": ("id", "file_id"),
    "text": ("text", "text"),
}


def from_source(block: JsonObject) -> list[JsonObject] | None:
    """A standard block of Anthropic's image or document."""
    source: JsonObject = block["source"]
    kind = source.get("type")
    place = PLACES.get(kind) if isinstance(kind, str) else None
    rest = {key: value for key, value in block.items() if key not in {"type", "source"}}
    if place is None or {"mime_type", *(new for _, new in PLACES.values())} & set(rest):
        return None
    if set(source) - {"type", "media_type", place[0]} or not isinstance(source.get(place[0]), str):
        return None
    media_type = source.get("media_type")
    if kind == "text" and (block["type"] == "image" or media_type != "text/plain"):
        return None
    if media_type is not None and not isinstance(media_type, str):
        return None
    type_ = "image" if block["type"] == "image" else "text-plain" if kind == "text" else "file"
    return [{"type": type_, place[1]: source[place[0]], **present(mime_type=media_type), **rest}]


def to_source(block: JsonObject) -> JsonObject:
    """Anthropic's image or document of a standard block."""
    kind, (old, new) = next((item for item in PLACES.items() if item[1][1] in block), ("url", ("url", "url")))
    source = {"type": kind, old: block.get(new, ""), **present(media_type=block.get("mime_type"))}
    rest = {key: value for key, value in block.items() if key not in {"type", new, "mime_type"}}
    return {"type": "image" if block["type"] == "image" else "document", "source": source, **rest}


def from_source_type(block: JsonObject) -> list[JsonObject] | None:
    """A standard block of one as LangChain had it before."""
    kind = block["source_type"]
    place = OLD_PLACES.get(kind) if isinstance(kind, str) else None
    if place is None or block["type"] not in {"image", "audio", "file"}:
        return None
    old, new = place
    rest = {key: value for key, value in block.items() if key not in {"type", "source_type", old}}
    if not isinstance(block.get(old), str) or ({"base64", "url", new, "text"} & set(rest)):
        return None
    if new == "text" and (block["type"] != "file" or rest.get("mime_type", "text/plain") != "text/plain"):
        return None
    type_ = "text-plain" if new == "text" else block["type"]
    filename = rest.get("filename")
    if isinstance(filename, str) and "extras" not in rest:
        del rest["filename"]
        rest["extras"] = {"filename": filename}
    return [{"type": type_, new: block[old], **rest}]


def to_source_type(block: JsonObject) -> JsonObject:
    """A standard block as LangChain had it before."""
    found = next((item for item in OLD_PLACES.items() if item[1][1] in block), ("url", ("url", "url")))
    kind, (old, new) = found
    rest = {key: value for key, value in block.items() if key not in {"type", new}}
    type_ = "file" if block["type"] in {"text-plain", "video"} else block["type"]
    extras = rest.get("extras")
    if is_object(extras) and set(extras) == {"filename"} and "filename" not in rest:
        del rest["extras"]
        rest["filename"] = extras["filename"]
    return {"type": type_, "source_type": kind, old: block.get(new, ""), **rest}
