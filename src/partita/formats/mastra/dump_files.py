"""Canonical files and pictures → file parts of V2, and the attachments that some of them were."""

from collections.abc import Mapping

from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import FilePart, ImagePart

from .mirrors import ATTACHED, ATTACHMENT
from .notes import kept_of, note_of
from .parts import ADDRESS_NAMES, MEDIA_NAMES, address

ANY_IMAGE = "image/*"


def as_file(part: ImagePart) -> FilePart:
    """A picture as a file, which is what V2 has."""
    return FilePart(
        part.url,
        part.media_type or ANY_IMAGE,
        part.name,
        provider_metadata=part.provider_metadata,
        extra=part.extra,
    )


def dump_file(part: FilePart) -> JsonObject:
    """A file under the names it came with, or those of version 4."""
    names = note_of(part).get("names")
    media, where = names if is_array(names) and len(names) == 2 else (MEDIA_NAMES[0], ADDRESS_NAMES[0])
    result: JsonObject = {"type": "file", str(where): _address_of(part)}
    if media is not None:
        result[str(media)] = part.media_type
    if part.filename is not None:
        result["filename"] = part.filename
    if part.provider_metadata is not None:
        result["providerMetadata"] = part.provider_metadata
    return {**kept_of(part), **result}


def _address_of(part: FilePart) -> str:
    """The url of a file, its id if only a provider has it, or bare base64, as version 4 has data."""
    if not part.url and part.provider_reference:
        return next(iter(part.provider_reference.values()))
    start = f"data:{part.media_type};base64,"
    bare = part.url.removeprefix(start)
    is_bare = bare != part.url and address(bare, part.media_type) == (part.url, None)
    return bare if is_bare and note_of(part).get("data") != "url" else part.url


def attachment_of(part: FilePart) -> Json:
    """What an attachment said of the same file; `None` when there was none."""
    extra: Mapping[str, Json] = part.extra or {}
    attached, apart = extra.get(ATTACHED), extra.get(ATTACHMENT)
    if is_object(attached):
        return {"url": _address_of(part), **attached}
    if not is_object(apart):
        return None
    is_named = "names" in note_of(part)  # else the url was one, and no bare base64
    known: JsonObject = {"url": _address_of(part) if is_named else part.url}
    if (note_of(part).get("names") or [MEDIA_NAMES[1]])[0] is not None:
        known["contentType"] = part.media_type
    if part.filename is not None:
        known["name"] = part.filename
    return {**known, **apart}


def is_attachment(part: FilePart) -> bool:
    """Whether a file was an attachment and no part."""
    return part.extra is not None and is_object(part.extra.get(ATTACHMENT))
