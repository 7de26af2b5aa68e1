"""Content parts of a request → what a user or a tool shows. What is not known is kept whole."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from msgspec.structs import replace

from partita.formats.openai_responses.amending import PART, amendments, joined
from partita.formats.openai_responses.fields import FORMAT, NAMESPACE, inner, present, text
from partita.formats.openai_responses.request_content import content_of, own
from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import FilePart, ForeignPart, ImagePart, TextPart

Read: TypeAlias = TextPart | ImagePart | FilePart | ForeignPart

SOUNDS: Final[Mapping[str, str]] = {"wav": "audio/wav", "mp3": "audio/mpeg"}
ANY_FILE: Final = "application/octet-stream"
ANY_IMAGE: Final = "image/*"


def read_content(content: list[Json]) -> list[Read]:
    """The parts that a list of content parts amounts to."""
    return [_part(part) for part in content]


def _part(raw: Json) -> Read:
    if (
        is_object(raw)
        and len(raw) == 2
        and raw.get("type") == "input_text"
        and isinstance(raw.get("text"), str)
    ):
        return TextPart(raw["text"])
    build = BUILDS.get(text(raw, "type")) if is_object(raw) else None
    part = None if build is None else build(raw)
    if part is None:
        return ForeignPart(FORMAT, raw)
    written = content_of([part], "", [])
    if not written:
        return ForeignPart(FORMAT, raw)
    more = amendments(raw, written[0], PART)
    if not more:
        return part
    return replace(part, provider_metadata={NAMESPACE: joined(own(part.provider_metadata), more)})


def _text(raw: JsonObject) -> Read | None:
    return TextPart(raw["text"]) if isinstance(raw.get("text"), str) else None


def _image(raw: JsonObject) -> Read | None:
    detail = present(imageDetail=text(raw, "detail"))
    metadata = {NAMESPACE: detail} if detail else None
    if url := text(raw, "image_url"):
        return ImagePart(url, _media_type(url), provider_metadata=metadata)
    if file_id := text(raw, "file_id"):
        return FilePart("", ANY_IMAGE, provider_reference={NAMESPACE: file_id}, provider_metadata=metadata)
    return None


def _file(raw: JsonObject) -> Read | None:
    name = text(raw, "filename") or None
    if file_id := text(raw, "file_id"):
        return FilePart("", ANY_FILE, name, {NAMESPACE: file_id})
    url = text(raw, "file_data") or text(raw, "file_url")
    if text(raw, "file_data") and not url.startswith("data:"):
        return None
    media_type = _media_type(url) or ("application/pdf" if url.endswith(".pdf") else ANY_FILE)
    return FilePart(url, media_type, name) if url else None


def _sound(raw: JsonObject) -> Read | None:
    given = inner(raw, "input_audio")
    media_type = SOUNDS.get(text(given, "format"))
    if media_type is None or not isinstance(given.get("data"), str):
        return None
    return FilePart(f"data:{media_type};base64,{given['data']}", media_type)


def _media_type(url: str) -> str | None:
    """The media type that a data: url names."""
    if not url.startswith("data:"):
        return None
    return url[5:].partition(",")[0].partition(";")[0] or None


BUILDS: Final[Mapping[str, Callable[[JsonObject], Read | None]]] = {
    "input_text": _text,
    "input_image": _image,
    "input_file": _file,
    "input_audio": _sound,
}
