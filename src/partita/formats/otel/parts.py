"""Parts of recorded messages ↔ parts, but for calls. Parts of other types are kept whole."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from partita.formats.framework.members import Members, metadata_of, noted, present
from partita.types.data_url import OCTETS, data_url, inline_of, kind_of_media
from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import CustomPart, FilePart, ForeignPart, ImagePart, ReasoningPart, TextPart

from .wrapping import NAME

COMPACTION: Final = f"{NAME}.compaction"
PLACES: Final = {"blob": "content", "uri": "uri", "file": "file_id"}
"""By the type of a medium: where its value stands."""

WORDS: Final[Mapping[str, Callable[[str], TextPart | ReasoningPart]]] = {
    "text": TextPart,
    "reasoning": ReasoningPart,
}
"""By the type of what is content and no more, the part that it is."""

Plain = TextPart | ReasoningPart | ImagePart | FilePart | CustomPart | ForeignPart


def read_plain(raw: Json) -> Plain:
    """The part that something other than a call amounts to."""
    match raw:
        case {"type": str(kind), "content": str(text)} if len(raw) == 2 and kind in WORDS:
            return WORDS[kind](text)
        case _:
            pass
    part: Plain | None = None
    if is_object(raw):
        members = Members(raw)
        type_ = members.any("type")
        match type_:
            case "text" if isinstance(raw.get("content"), str):
                text = members.any("content")
                part = TextPart(text, provider_metadata=metadata_of(NAME, members.left))
            case "reasoning" | "thinking" if isinstance(raw.get("content"), str):
                text = members.any("content")
                if type_ == "thinking":
                    members.left["of"] = type_
                part = ReasoningPart(text, provider_metadata=metadata_of(NAME, members.left))
            case "blob" | "uri" | "file":
                part = _read_media(members, type_)
            case "compaction":
                part = CustomPart(COMPACTION, provider_metadata={NAME: members.left})
            case _:
                pass
    return ForeignPart(NAME, raw) if part is None else part


def write_plain(part: Any) -> JsonObject | None:
    """The part that holds a part other than a call; `None` if there is none for it."""
    match part:
        case TextPart():
            return {"type": "text", **noted(part.provider_metadata, NAME), "content": part.text}
        case ReasoningPart():
            note = dict(noted(part.provider_metadata, NAME))
            type_ = "thinking" if note.pop("of", None) == "thinking" else "reasoning"
            return {"type": type_, **note, "content": part.text}
        case ImagePart() | FilePart():
            return _write_media(part)
        case CustomPart(kind=kind) if kind == COMPACTION:
            return {"type": "compaction", **noted(part.provider_metadata, NAME)}
        case ForeignPart(format="otel-genai", value=value) if is_object(value):
            return value
        case _:
            return None


def _read_media(members: Members, type_: str) -> ImagePart | FilePart | None:
    value = members.text(PLACES[type_])
    media_type, modality = members.left.get("mime_type"), members.text("modality")
    if value is None or not (media_type is None or isinstance(media_type, str)):
        return None
    if "modality" in members.left:
        return None
    if "mime_type" in members.left and media_type is not None:
        members.any("mime_type")
    if modality != _modality(media_type, is_image=modality == "image"):
        members.left["modality"] = modality
    url = data_url(value, media_type) if type_ == "blob" else value if type_ == "uri" else ""
    if type_ == "uri" and inline_of(url) is not None:
        members.left["of"] = "uri"
    is_image = modality == "image" or (
        modality is None and media_type and kind_of_media(media_type) == "image"
    )
    if is_image and type_ != "file":
        return ImagePart(url, media_type=media_type, provider_metadata=metadata_of(NAME, members.left))
    if media_type is None:
        members.left["untyped"] = True
    reference = {NAME: value} if type_ == "file" else None
    metadata = metadata_of(NAME, members.left)
    return FilePart(
        url,
        OCTETS if media_type is None else media_type,
        provider_reference=reference,
        provider_metadata=metadata,
    )


def _write_media(part: ImagePart | FilePart) -> JsonObject:
    note = dict(noted(part.provider_metadata, NAME))
    of, untyped = note.pop("of", None), note.pop("untyped", False)
    media_type = None if untyped else part.media_type
    has_modality = "modality" in note
    modality = note.pop("modality", None)
    if not has_modality:
        modality = _modality(media_type, is_image=isinstance(part, ImagePart))
    about = {**note, **present(modality=modality, mime_type=media_type)}
    reference = part.provider_reference if isinstance(part, FilePart) else None
    if reference and not part.url:
        return {"type": "file", **about, "file_id": next(iter(reference.values()))}
    inline = inline_of(part.url)
    if inline is None or of == "uri":
        return {"type": "uri", **about, "uri": part.url}
    typed = {} if media_type or untyped else present(mime_type=inline.media_type)
    return {"type": "blob", **typed, **about, "content": inline.data}


def _modality(media_type: str | None, *, is_image: bool) -> str:
    if is_image:
        return "image"
    return kind_of_media(OCTETS if media_type is None else media_type)
