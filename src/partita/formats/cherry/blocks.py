"""Blocks of Cherry Studio's first generation → canonical parts.

What a part has no place for stands in its provider metadata under `cherry`, as in Cherry Studio's own parts
of today. Not kept: the status `success`, and the id of the message. A block that fits nowhere is kept whole.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import UNSET

from partita.formats.ai_sdk.ui.v4_load import guessed_type
from partita.formats.rows import Row
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantPart
from partita.types.parts import (
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    PartState,
    ReasoningPart,
    SourceUrlPart,
    TextPart,
)

from .tools import load_tool

FORMAT: Final = "cherry"
NAMESPACE: Final = "cherry"

Load: TypeAlias = Callable[[Row], Sequence[AssistantPart]]


def load_block(raw: Json, message_id: str, path: str) -> Sequence[AssistantPart]:
    """The parts that a block becomes: mostly one, for citations one for each page."""
    type_ = raw.get("type") if is_object(raw) else None
    load = LOADERS.get(type_) if isinstance(type_, str) else None
    if load is None or not is_object(raw):
        return (ForeignPart(FORMAT, raw),)
    block = Row(raw, path)
    block.take("type")
    if block.get("messageId") == message_id:
        block.take("messageId")
    return load(block) or (ForeignPart(FORMAT, raw),)


def metadata_of(block: Row) -> JsonObject | None:
    """What is left of a block, as provider metadata."""
    if block.get("status") == "success":
        block.take("status")
    return {NAMESPACE: block.left} if block.left else None


def _text(block: Row) -> Sequence[AssistantPart]:
    if not isinstance(block.get("content"), str):
        return ()
    state, text = _state(block), str(block.take("content"))
    return (TextPart(text, state, provider_metadata=metadata_of(block)),)


def _thinking(block: Row) -> Sequence[AssistantPart]:
    if not isinstance(block.get("content"), str):
        return ()
    state, text = _state(block), str(block.take("content"))
    if "thinking_millsec" in block and "thinkingMs" not in block:
        block.left["thinkingMs"] = block.take("thinking_millsec")
    return (ReasoningPart(text, state=state, provider_metadata=metadata_of(block)),)


def _state(block: Row) -> PartState | None:
    match block.get("status"):
        case "streaming":
            block.take("status")
            return "streaming"
        case "success":
            return "done"
        case _:
            return None


def _image(block: Row) -> Sequence[AssistantPart]:
    url, name = _address(block)
    if url is None:
        return ()
    media_type = guessed_type(url, name)
    known = media_type if media_type.startswith("image/") else None
    return (ImagePart(url, known, name, provider_metadata=metadata_of(block)),)


def _file(block: Row) -> Sequence[AssistantPart]:
    url, name = _address(block)
    if url is None:
        return ()
    return (FilePart(url, guessed_type(url, name), name, provider_metadata=metadata_of(block)),)


def _address(block: Row) -> tuple[str | None, str | None]:
    """Where a file is, and its name. What the application knows about the file is left."""
    file = block.get("file")
    known: JsonObject = file if is_object(file) else {}
    name = known.get("origin_name")
    path = known.get("path")
    url = block.take("url") if isinstance(block.get("url"), str) and block.get("url") else None
    if url is None and isinstance(path, str) and path:
        url = f"file://{path}"
    return url, name if isinstance(name, str) else None


def _citation(block: Row) -> Sequence[AssistantPart]:
    """The pages that were found, and a data part with all that is no page."""
    response = block.get("response")
    results = response.get("results") if is_object(response) else None
    pages: list[AssistantPart] = []
    others: list[Json] = []
    for index, result in enumerate(results if is_array(results) else []):
        match result:
            case {"url": str(url), **rest}:
                title = str(rest.pop("title")) if isinstance(rest.get("title"), str) else None
                kept = {NAMESPACE: rest} if rest else None
                source_id = f"{block.get('id') or 'citation'}:{index}"
                pages.append(SourceUrlPart(source_id, url, title, provider_metadata=kept))
            case _:
                others.append(result)
    if pages:
        block.left["response"] = {**response, "results": others}
    return (*pages, *_data("citation", "response", "knowledge", "memories")(block))


def _data(name: str, *members: str) -> Load:
    """A loader that makes a data part of some members."""

    def load(block: Row) -> Sequence[AssistantPart]:
        data = {member: block.take(member) for member in members if member in block}
        return (DataPart(name, data, provider_metadata=metadata_of(block)),)

    return load


def _error(block: Row) -> Sequence[AssistantPart]:
    error = block.take("error")
    return (DataPart("error", UNSET if error is None else error, provider_metadata=metadata_of(block)),)


def _tool(block: Row) -> Sequence[AssistantPart]:
    return load_tool(block, metadata_of)


LOADERS: Mapping[str, Load] = {
    "main_text": _text,
    "thinking": _thinking,
    "tool": _tool,
    "image": _image,
    "file": _file,
    "citation": _citation,
    "error": _error,
    "code": _data("code", "content", "language"),
    "translation": _data("translation", "content", "targetLanguage", "sourceLanguage", "sourceBlockId"),
    "video": _data("video", "url", "filePath"),
    "compact": _data("compact", "content", "compactedContent"),
}
"""By the type of the block; `unknown` is a placeholder that was never filled."""
