"""Content as the Gemini API has it (a text, a part, a list of both) → canonical parts."""

from collections.abc import Iterator
from typing import Final, TypeAlias

from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import DataPart, FilePart, ImagePart, TextPart

KEY: Final = "geminiCli"
"""Where messages, parts and calls hold what is Gemini CLI's alone."""

UNTYPED: Final = "application/octet-stream"

Shown: TypeAlias = TextPart | ImagePart | FilePart


def items_of(content: Json) -> Iterator[Json]:
    """The parts of some content; an empty text is none."""
    for item in content if is_array(content) else [content]:
        if item is not None and item != "":
            yield {"text": item} if isinstance(item, str) else item


def shown(item: Json) -> Shown | None:
    """A part that people can look at, or nothing if it is another."""
    if not is_object(item):
        return None
    if isinstance(text := item.get("text"), str):
        return TextPart(text, provider_metadata=leftovers(_without(item, "text")))
    if is_object(blob := item.get("inlineData")) and isinstance(data := blob.get("data"), str):
        media_type = text_or(blob.get("mimeType"), UNTYPED)
        rest = _without(item, "inlineData")
        return _file(f"data:{media_type};base64,{data}", media_type, _without(blob, "data"), rest)
    if is_object(blob := item.get("fileData")) and isinstance(uri := blob.get("fileUri"), str):
        media_type = text_or(blob.get("mimeType"), UNTYPED)
        return _file(uri, media_type, _without(blob, "fileUri"), _without(item, "fileData"))
    return None


def response_of(item: Json) -> JsonObject | None:
    """What a tool gave back, if the part is that."""
    response = item.get("functionResponse") if is_object(item) else None
    return response if is_object(response) else None


def call_of(item: Json) -> JsonObject | None:
    """The call of a tool, if the part is one."""
    call = item.get("functionCall") if is_object(item) else None
    return call if is_object(call) else None


def kept(item: Json) -> DataPart:
    """A part that has no place among ours, whole."""
    return DataPart("gemini-part", item)


def leftovers(fields: JsonObject) -> JsonObject | None:
    """Fields that have no place among ours, as metadata."""
    return {KEY: fields} if fields else None


def text_or(value: Json, otherwise: str) -> str:
    """A text, if it is one and not empty."""
    return value if isinstance(value, str) and value else otherwise


def words_of(content: Json) -> str:
    """The texts of some content, in lines."""
    texts = [item.get("text") for item in items_of(content) if is_object(item)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _file(url: str, media_type: str, blob: JsonObject, rest: JsonObject) -> ImagePart | FilePart:
    name = blob.get("displayName")
    name = name if isinstance(name, str) else None
    metadata = leftovers({**_without(blob, "mimeType", "displayName"), **rest})
    if media_type.startswith("image/"):
        return ImagePart(url, media_type, name, provider_metadata=metadata)
    return FilePart(url, media_type, name, provider_metadata=metadata)


def _without(fields: JsonObject, *names: str) -> JsonObject:
    return {key: value for key, value in fields.items() if key not in names}
