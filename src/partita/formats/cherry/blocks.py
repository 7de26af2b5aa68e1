"""Blocks of Cherry Studio before it used AI SDK parts → canonical parts.

Values without a place in a part are kept in its provider metadata under `cherry`, as in Cherry Studio's own
parts today. The status `success` and the id of the message are not kept. A block of an unknown type is kept
whole.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType

from partita.formats.core.files import guess_media_type
from partita.formats.rows import Row
from partita.types.json import Json, JsonObject, is_array, is_object, same_json
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import (
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    PartState,
    ReasoningPart,
    SourceUrlPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolState,
)

NAME: Final = "cherry"

RAW: Final = "rawMcpToolResponse"
"""The metadata member of a block with the call as the adapter of the agent stored it."""

UNNAMED: Final = "unknown"

Load: TypeAlias = Callable[[Row], Sequence[AssistantPart]]


def load_block(raw: Json, message_id: str, path: str) -> Sequence[AssistantPart]:
    """Return the parts of a block: usually one; for citations one for each web page."""
    type_ = raw.get("type") if is_object(raw) else None
    load = LOADERS.get(type_) if isinstance(type_, str) else None
    if load is None or not is_object(raw):
        return (ForeignPart(NAME, raw),)
    block = Row(raw, path)
    block.take("type")
    if block.get("messageId") == message_id:
        block.take("messageId")
    return load(block) or (ForeignPart(NAME, raw),)


def metadata_of(block: Row) -> JsonObject | None:
    """Return the members that are left of a block, as provider metadata."""
    if block.get("status") == "success":
        block.take("status")
    return {NAME: block.left} if block.left else None


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
    url, name = _location(block)
    if url is None:
        return ()
    media_type = guess_media_type(url, name)
    known = media_type if media_type.startswith("image/") else None
    return (ImagePart(url, known, name, provider_metadata=metadata_of(block)),)


def _file(block: Row) -> Sequence[AssistantPart]:
    url, name = _location(block)
    if url is None:
        return ()
    return (FilePart(url, guess_media_type(url, name), name, provider_metadata=metadata_of(block)),)


def _location(block: Row) -> tuple[str | None, str | None]:
    """Return the URL and the name of a file. Other members of the file are left."""
    file = block.get("file")
    known: JsonObject = file if is_object(file) else {}
    name = known.get("origin_name")
    path = known.get("path")
    url = block.take("url") if isinstance(block.get("url"), str) and block.get("url") else None
    if url is None and isinstance(path, str) and path:
        url = f"file://{path}"
    return url, name if isinstance(name, str) else None


def _citation(block: Row) -> Sequence[AssistantPart]:
    """Return a part for each web page, and a data part for everything else."""
    response = block.get("response")
    results = response.get("results") if is_object(response) else None
    pages: list[AssistantPart] = []
    others: list[Json] = []
    for index, result in enumerate(results if is_array(results) else []):
        match result:
            case {"url": str(url), **rest}:
                title = str(rest.pop("title")) if isinstance(rest.get("title"), str) else None
                kept = {NAME: rest} if rest else None
                source_id = f"{block.get('id') or 'citation'}:{index}"
                pages.append(SourceUrlPart(source_id, url, title, provider_metadata=kept))
            case _:
                others.append(result)
    if pages:
        block.left["response"] = {**response, "results": others}
    return (*pages, *_data("citation", "response", "knowledge", "memories")(block))


def _data(name: str, *members: str) -> Load:
    """Return a loader that makes a data part of some members."""

    def load(block: Row) -> Sequence[AssistantPart]:
        data = {member: block.take(member) for member in members if member in block}
        return (DataPart(name, data, provider_metadata=metadata_of(block)),)

    return load


def _error(block: Row) -> Sequence[AssistantPart]:
    error = block.take("error")
    return (DataPart("error", UNSET if error is None else error, provider_metadata=metadata_of(block)),)


class _Stored(NamedTuple):
    """A call as the adapter of the agent stored it."""

    name: Json
    input: Json | UnsetType
    output: Json | UnsetType
    status: Json


def _tool(block: Row) -> Sequence[AssistantPart]:
    """Return the call of a block, if it has an id."""
    if not isinstance(block.get("toolId"), str):
        return ()
    stored = _stored(block)
    id_ = str(block.take("toolId"))
    name = block.take_text("toolName") or (stored.name if isinstance(stored.name, str) else UNNAMED)
    input_ = block.take("arguments") if "arguments" in block else stored.input
    output = stored.output
    if "content" in block and (output is UNSET or same_json(output, block.get("content"))):
        output = block.take("content")
    failed = _failed(output) or "error" in (stored.status, block.get("status"))
    if failed and output is UNSET and "error" in block:
        output = block.take("error")
    state, typed = _outcome(output, failed, stored.status or block.get("status"))
    _drop_mirrors(block, id_, name, input_, output)
    return (
        ToolCallPart(
            id_, name, state, input_, output=typed, dynamic=True, call_provider_metadata=metadata_of(block)
        ),
    )


def _stored(block: Row) -> _Stored:
    raw = _raw(block)
    tool = raw.get("tool")
    return _Stored(
        tool.get("name") if is_object(tool) else None,
        raw.get("arguments", UNSET),
        raw.get("response", UNSET),
        raw.get("status"),
    )


def _raw(block: Row) -> JsonObject:
    metadata = block.get("metadata")
    raw = metadata.get(RAW) if is_object(metadata) else None
    return raw if is_object(raw) else {}


def _failed(output: Json | UnsetType) -> bool:
    return is_object(output) and output.get("isError") is True


def _outcome(output: Json | UnsetType, failed: bool, status: Json) -> tuple[ToolState, ToolOutput | None]:
    """Return the state of a call, and its output."""
    if failed:
        return "output-error", _error_output(output)
    if output is not UNSET:
        return "output-available", TextOutput(output) if isinstance(output, str) else JsonOutput(output)
    match status:
        case "done" | "success":
            return "output-available", None
        case "cancelled" | "paused":
            return "output-error", InterruptedOutput("aborted")
        case "streaming":
            return "input-streaming", None
        case _:
            return "input-available", None


def _error_output(output: Json | UnsetType) -> ToolOutput:
    if output is UNSET:
        return ErrorTextOutput("")
    return ErrorTextOutput(output) if isinstance(output, str) else ErrorJsonOutput(output)


def _drop_mirrors(
    block: Row, id_: str, name: str, input_: Json | UnsetType, output: Json | UnsetType
) -> None:
    """Remove members that repeat the call. Members with another value are left."""
    metadata, raw = block.get("metadata"), _raw(block)
    if not raw:
        return
    known: JsonObject = {"toolCallId": id_, "id": id_}
    known |= {} if input_ is UNSET else {"arguments": input_}
    known |= {} if output is UNSET else {"response": output}
    rest = {key: value for key, value in raw.items() if key not in known or not same_json(value, known[key])}
    if is_object(raw.get("tool")) and raw["tool"].get("name") == name:
        rest["tool"] = {key: value for key, value in raw["tool"].items() if key != "name"}
    block.left["metadata"] = {**metadata, RAW: rest}


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
"""By the type of the block. Blocks of the type `unknown` are placeholders without content."""
