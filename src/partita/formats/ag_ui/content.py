"""Content parts: text, images, audio, video and documents, in what people send and in what tools return."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from partita.errors import ConversionError
from partita.formats.bare import is_bare_text
from partita.types.json import Json, JsonObject, is_object, kind_of
from partita.types.parts import (
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningFilePart,
    TextPart,
    UnknownPart,
)

from .losses import NO_PLACE, Losses
from .notes import FORMAT, noted, notes_in, rest_of

Read: TypeAlias = TextPart | ImagePart | FilePart | ForeignPart
Written: TypeAlias = Read | ReasoningFilePart | DataPart | UnknownPart

UNTYPED: Final[Mapping[str, str]] = {
    "image": "image/*",
    "audio": "audio/*",
    "video": "video/*",
    "document": "application/octet-stream",
}
"""The kinds of media, and what stands for the type of one that does not say."""

FILENAME: Final = "filename"
_BASE64: Final = re.compile(r"data:([^;,]+);base64,(.*)", re.DOTALL)
_LEGACY: Final = "binary"


def read_content(content: list[Json], path: str) -> list[Read]:
    """The parts of a content."""
    return [_read_part(raw, f"{path}[{index}]") for index, raw in enumerate(content)]


def _read_part(raw: Json, path: str) -> Read:
    if not is_object(raw):
        raise ConversionError(f"a content part is {kind_of(raw)}", where=path, hint="give {type, …}")
    kind = raw.get("type")
    if kind == "text" and isinstance(raw.get("text"), str):
        return TextPart(raw["text"], provider_metadata=noted(rest_of(raw, "type", "text")))
    if kind == _LEGACY and (part := _read_legacy(raw)):
        return part
    source = raw.get("source")
    if not isinstance(kind, str) or kind not in UNTYPED or not is_object(source):
        return ForeignPart(FORMAT, raw)
    return _read_media(kind, raw, source) or ForeignPart(FORMAT, raw)


def _read_media(kind: str, raw: JsonObject, source: JsonObject) -> Read | None:
    value, media_type = source.get("value"), source.get("mimeType")
    if not isinstance(value, str) or not (media_type is None or isinstance(media_type, str)):
        return None
    name, metadata = _filename(raw.get("metadata"))
    notes = {**rest_of(raw, "type", "source", "metadata"), **metadata}
    rest = rest_of(source, "type", "value", "mimeType", "provider")
    provider, reference = source.get("provider"), None
    match source.get("type"):
        case "data" if media_type is not None and _BASE64.fullmatch(f"data:{media_type};base64,{value}"):
            url = f"data:{media_type};base64,{value}"
            if ";" in media_type or "," in media_type or provider is not None:
                return None
        case "url" if provider is None and not _BASE64.fullmatch(value):
            url = value
        case "file" if isinstance(provider, str) or provider is None:
            url, reference = "", {provider or FORMAT: value}
            if provider == FORMAT:
                return None
        case _:
            return None
    if ("provider" in source and provider is None) or ("mimeType" in source and media_type is None):
        return None
    if rest:
        notes["source"] = rest
    if kind == "image" and reference is None:
        return ImagePart(url, media_type, name, provider_metadata=noted(notes))
    known = UNTYPED[kind] if media_type is None else media_type
    if media_type is None:
        notes["mimeType"] = False
    if _kind_of(known) != kind or (reference is not None and kind == "image"):
        notes["type"] = kind
    return FilePart(
        url,
        known,
        name,
        provider_reference=reference,
        provider_metadata=noted(notes),
    )


def _read_legacy(raw: JsonObject) -> Read | None:
    """The one part for all media that there was before 1.0: a url, inline data, or an id."""
    media_type, name = raw.get("mimeType"), raw.get(FILENAME)
    if not isinstance(media_type, str) or not (name is None or isinstance(name, str)):
        return None
    url, data = raw.get("url"), raw.get("data")
    notes = {**rest_of(raw, "mimeType", FILENAME, "url", "data"), "type": _LEGACY}
    if isinstance(data, str) and url is None and _BASE64.fullmatch(f"data:{media_type};base64,{data}"):
        return FilePart(f"data:{media_type};base64,{data}", media_type, name, provider_metadata=noted(notes))
    if isinstance(url, str) and data is None and not _BASE64.fullmatch(url):
        return FilePart(url, media_type, name, provider_metadata=noted(notes))
    return None


def _filename(metadata: Json) -> tuple[str | None, JsonObject]:
    """The name of a file, and what else its metadata say, as notes."""
    if metadata is None:
        return None, {}
    if not is_object(metadata) or not isinstance(metadata.get(FILENAME), str):
        return None, {"metadata": metadata}
    rest = rest_of(metadata, FILENAME)
    return metadata[FILENAME], {"metadata": rest} if rest else {}


def is_plain(parts: Sequence[object]) -> bool:
    """Whether parts are one text and nothing else: they may be told as a string."""
    return len(parts) == 1 and isinstance(parts[0], TextPart) and parts[0].provider_metadata is None


def write_content(parts: tuple[Written, ...], path: str, losses: Losses) -> list[Json]:
    """The parts of a content, as far as they can be told."""
    written: list[Json] = []
    for index, part in enumerate(parts):
        where = f"{path}[{index}]"
        match part:
            case TextPart():
                if is_bare_text(part):
                    written.append({"type": "text", "text": part.text})
                    continue
                losses.rest(part, where, "text")
                written.append({"type": "text", "text": part.text, **notes_in(part.provider_metadata)})
            case ImagePart() | FilePart() | ReasoningFilePart():
                written.append(_write_media(part, where, losses))
            case ForeignPart(format=format_) if format_ == FORMAT:
                written.append(part.value)
            case _:
                losses.whole(part, where)
    return written


def _write_media(part: ImagePart | FilePart | ReasoningFilePart, path: str, losses: Losses) -> JsonObject:
    notes = notes_in(part.provider_metadata)
    name = part.name if isinstance(part, ImagePart) else part.filename
    losses.rest(part, path, "url", "media_type", "name", "filename", "provider_reference")
    if isinstance(part, ReasoningFilePart):
        losses.say(f"{path}.type", "reasoning-file", NO_PLACE, "changed")
    if notes.get("type") == _LEGACY and (legacy := _write_legacy(part, notes, name)):
        return legacy
    kind = "image" if isinstance(part, ImagePart) else notes.get("type")
    if kind not in UNTYPED:
        kind = _kind_of(part.media_type or "")
        if kind == "image":
            losses.say(f"{path}.type", "file", "a file that is an image is an image", "changed")
    source = {**_source(part, path, losses), **_noted_source(notes)}
    if notes.get("mimeType") is False and source.get("mimeType") in UNTYPED.values():
        del source["mimeType"]
    result: JsonObject = {"type": kind, "source": source, **rest_of(notes, "type", "source", "mimeType")}
    if name is not None:
        metadata = notes.get("metadata")
        result["metadata"] = {FILENAME: name, **metadata} if is_object(metadata) else {FILENAME: name}
        if metadata is not None and not is_object(metadata):
            losses.say(f"{path}.providerMetadata.agUi.metadata", metadata, NO_PLACE)
    return result


def _noted_source(notes: JsonObject) -> JsonObject:
    found = notes.get("source")
    return found if is_object(found) else {}


def _write_legacy(
    part: ImagePart | FilePart | ReasoningFilePart, notes: JsonObject, name: str | None
) -> JsonObject | None:
    if isinstance(part, FilePart) and part.provider_reference is not None:
        return None
    inline = _BASE64.fullmatch(part.url)
    place = {"data": inline[2]} if inline and inline[1] == part.media_type else {"url": part.url}
    named = {} if name is None else {FILENAME: name}
    return {"type": _LEGACY, "mimeType": part.media_type, **place, **named, **rest_of(notes, "type")}


def _source(part: ImagePart | FilePart | ReasoningFilePart, path: str, losses: Losses) -> JsonObject:
    typed: JsonObject = {} if part.media_type is None else {"mimeType": part.media_type}
    references = dict(part.provider_reference or {}) if isinstance(part, FilePart) else {}
    if references and not part.url:
        provider, value = next(iter(references.items()))
        losses_of = {name: one for name, one in references.items() if name != provider}
        if losses_of:
            losses.say(f"{path}.providerReference", losses_of, "one provider's file can be named")
        named = {} if provider == FORMAT else {"provider": provider}
        return {"type": "file", "value": value, **named, **typed}
    if references:
        losses.say(f"{path}.providerReference", references, "a file that has an address is told by it")
    inline = _BASE64.fullmatch(part.url)
    if inline is None:
        return {"type": "url", "value": part.url, **typed}
    if part.media_type not in (None, inline[1]):
        losses.say(f"{path}.mediaType", part.media_type, "the data say another type", "changed")
    return {"type": "data", "value": inline[2], "mimeType": inline[1]}


def _kind_of(media_type: str) -> str:
    kind = media_type.partition("/")[0]
    return kind if kind in UNTYPED else "document"
