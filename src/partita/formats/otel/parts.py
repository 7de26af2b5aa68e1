"""Codecs for the parts of recorded messages, and for the outputs of tools."""

from typing import Any, Final, TypeAlias

from msgspec import UNSET, Struct
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.core.codec import PartCodec, PartCodecs
from partita.formats.core.metadata import KIND, add_notes, notes
from partita.formats.core.tool_text import read_arguments, read_tool_text, write_tool_text
from partita.formats.core.wire import Wire, to_json
from partita.types.data_url import OCTETS, data_url, inline_data, media_kind
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    ContentOutput,
    CustomPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningPart,
    TextPart,
    ToolOutput,
    ToolResultPart,
)
from partita.types.tool_results import state_after

from . import wire
from .wire import NAME, PART

COMPACTION: Final = f"{NAME}.compaction"

# Notes in the provider metadata of calls and results
POSITION: Final = "at"  # where the output of a provider's call was, if not directly after the call
MEMBER: Final = "key"  # the member with the output, if not `response`
NAMED: Final = "named"  # the result has the name of its tool
OLD_NOTES: Final = frozenset({"of", "untyped", "args", "bare", "made"})
"""Notes that older versions wrote. They are ignored."""

THINKING: Final = "thinking"
TOOL_CALL: Final = "tool_call"


class Called(Struct, frozen=True):
    """The id and the name of the call that a block belongs to, for blocks that omit them."""

    id: str
    name: str = ""


NO_CALL: Final = Called("")


def _id(value: Any, default: str) -> str:
    return value if isinstance(value, str) else default


# Text and reasoning


def read_text(block: wire.Text, context: Called) -> TextPart:
    return TextPart(block.content)


def write_text(part: TextPart) -> Wire:
    return wire.Text(content=part.text)


def read_reasoning(block: wire.Reasoning, context: Called) -> ReasoningPart:
    return ReasoningPart(block.content)


def write_reasoning(part: ReasoningPart) -> Wire:
    return wire.Reasoning(content=part.text)


def read_thinking(block: wire.Thinking, context: Called) -> ReasoningPart:
    return ReasoningPart(block.content, provider_metadata={NAME: {KIND: THINKING}})


def write_thinking(part: ReasoningPart) -> Wire:
    return wire.Thinking(content=part.text)


def is_thinking(part: ReasoningPart) -> bool:
    """Whether reasoning was recorded under its other name."""
    return notes(part.provider_metadata, NAME).get(KIND) == THINKING


def read_compaction(block: wire.Compaction, context: Called) -> CustomPart:
    return CustomPart(COMPACTION)


def write_compaction(part: CustomPart) -> Wire | None:
    return wire.Compaction() if part.kind == COMPACTION else None


# Calls


def read_call(block: wire.ToolCall, context: Called) -> ToolCallPart:
    input_, raw_input = block.arguments, UNSET
    if isinstance(input_, str):
        input_, raw_input = read_arguments(input_)
    id_ = _id(block.id, context.id)
    return ToolCallPart(id_, block.name, "input-available", input_, raw_input=raw_input)


def write_call(part: ToolCallPart) -> Wire:
    arguments: Json = part.raw_input if part.input is UNSET else part.input
    if isinstance(part.input, str):
        arguments = dumps(arguments).decode()  # a text is read as JSON
    return wire.ToolCall(id=part.id, name=part.name, arguments=None if arguments is UNSET else arguments)


def read_server_call(block: wire.ServerToolCall, context: Called) -> ToolCallPart:
    input_ = _without_type(block.server_tool_call, block.name)
    id_ = _id(block.id, context.id)
    return ToolCallPart(id_, block.name, "input-available", input_, provider_executed=True)


def write_server_call(part: ToolCallPart) -> Wire:
    input_: Json = {} if part.input is UNSET else part.input
    return wire.ServerToolCall(
        id=part.id, name=part.name, server_tool_call=_with_type(input_, part.name, "input")
    )


def _with_type(value: Json, name: str, member: str) -> JsonObject:
    """Return an object with a type, as the conventions require. Any other value becomes a member of it."""
    return {"type": name, **value} if is_object(value) else {"type": name, member: value}


def _without_type(value: JsonObject, name: str) -> JsonObject:
    if value.get("type") != name:
        return value
    return {key: item for key, item in value.items() if key != "type"}


# Outputs


def read_output(value: Json) -> ToolOutput:
    """Read an output: text, files and texts, or any other JSON. Whether a call failed is not recorded."""
    if is_array(value) and any(is_object(one) and one.get("type") in FILES for one in value):
        try:
            items = tuple(PARTS.read(PART.read(one), NO_CALL) for one in value)
        except DecodeError:
            items = ()
        if items and all(type(item) in ITEMS for item in items):
            return ContentOutput(items)
    return read_tool_text("success", value)


def write_output(output: ToolOutput) -> Json:
    """Return the value of an output, as a model receives it."""
    text = write_tool_text(output)
    if text.items is None:
        return text.value
    return to_json([block for item in text.items if (block := PARTS.write(item)) is not None])


def read_response(block: wire.ToolCallResponse, call: Called) -> ToolResultPart | None:
    value, noted = block.response, JsonObject()
    if value is UNSET:
        value, noted[MEMBER] = block.result, "result"
    if value is UNSET:
        return None
    if block.name is not UNSET:
        noted[NAMED] = True
    metadata = add_notes(None, NAME, noted)
    return ToolResultPart(_id(block.id, call.id), block.name or call.name, read_output(value), metadata)


def write_response(part: ToolResultPart) -> Wire:
    noted = notes(part.provider_metadata, NAME)
    value = write_output(part.output)
    member: Any = {"result": value} if noted.get(MEMBER) == "result" else {"response": value}
    return wire.ToolCallResponse(id=part.id, name=part.name if noted.get(NAMED) is True else UNSET, **member)


def _executed(call: ToolCallPart, output: ToolOutput, metadata: JsonObject | None = None) -> ToolCallPart:
    """Return a call with an output in the same message: the provider ran it, regardless of its type."""
    about = call.call_provider_metadata
    return replace(
        call,
        state=state_after(output),
        output=output,
        provider_executed=True,
        call_provider_metadata=about if call.provider_executed else add_notes(about, NAME, {KIND: TOOL_CALL}),
        result_provider_metadata=metadata,
    )


def read_call_response(block: wire.ToolCallResponse, call: ToolCallPart) -> ToolCallPart | None:
    result = read_response(block, Called(call.id, call.name))
    return None if result is None else _executed(call, result.output, result.provider_metadata)


def write_call_response(call: ToolCallPart) -> Wire | None:
    if call.output is None:
        return None
    return write_response(ToolResultPart(call.id, call.name, call.output, call.result_provider_metadata))


def read_server_response(block: wire.ServerToolCallResponse, call: ToolCallPart) -> ToolCallPart:
    value = block.server_tool_call_response
    found = _without_type(value, call.name)
    is_member = found is not value and found.keys() == {"output"}
    return _executed(call, read_output(found["output"] if is_member else found))


def write_server_response(call: ToolCallPart) -> Wire | None:
    if call.output is None:
        return None
    value = _with_type(write_output(call.output), call.name, "output")
    return wire.ServerToolCallResponse(id=call.id, server_tool_call_response=value)


def is_server_call(call: ToolCallPart) -> bool:
    """Whether a call is written as a server tool call."""
    is_tool_call = notes(call.call_provider_metadata, NAME).get(KIND) == TOOL_CALL
    return call.provider_executed is True and not is_tool_call


# Files

Media: TypeAlias = ImagePart | FilePart


def _media(block: wire.Media, url: str) -> Media:
    media_type = _media_type(block)
    kind = block.modality or media_kind(media_type or OCTETS)
    if kind == "image":
        return ImagePart(url, media_type=media_type)
    return FilePart(url, OCTETS if media_type is None else media_type)


def _media_type(block: wire.Media) -> str | None:
    return None if block.mime_type is UNSET else block.mime_type


def _about(part: Media) -> Any:
    modality = "image" if isinstance(part, ImagePart) else media_kind(part.media_type)
    return {"modality": modality, "mime_type": UNSET if part.media_type is None else part.media_type}


def read_blob(block: wire.Blob, context: Called) -> Media:
    return _media(block, data_url(block.content, _media_type(block)))


def write_blob(part: Media) -> Wire | None:
    inline = inline_data(part.url)
    if inline is None:
        return None
    about = _about(part)
    if part.media_type is None and inline.media_type is not None:
        about["mime_type"] = inline.media_type
    return wire.Blob(content=inline.data, **about)


def read_uri(block: wire.Uri, context: Called) -> Media:
    return _media(block, block.uri)


def write_uri(part: Media) -> Wire:
    return wire.Uri(uri=part.url, **_about(part))


def read_file(block: wire.File, context: Called) -> FilePart:
    media_type = _media_type(block)
    reference = {NAME: block.file_id}
    return FilePart("", OCTETS if media_type is None else media_type, provider_reference=reference)


def write_file(part: FilePart) -> Wire | None:
    if part.url or not part.provider_reference:
        return None
    return wire.File(file_id=next(iter(part.provider_reference.values())), **_about(part))


# Tables of codecs

PARTS: Final[PartCodecs[Called]] = PartCodecs(
    NAME,
    PartCodec(wire.Text, TextPart, read_text, write_text),
    PartCodec(wire.Thinking, ReasoningPart, read_thinking, write_thinking, suits=is_thinking),
    PartCodec(wire.Reasoning, ReasoningPart, read_reasoning, write_reasoning),
    PartCodec(
        wire.ServerToolCall,
        ToolCallPart,
        read_server_call,
        write_server_call,
        suits=is_server_call,
        metadata="call_provider_metadata",
    ),
    PartCodec(wire.ToolCall, ToolCallPart, read_call, write_call, metadata="call_provider_metadata"),
    PartCodec(wire.File, FilePart, read_file, write_file),
    PartCodec(wire.Blob, (ImagePart, FilePart), read_blob, write_blob),
    PartCodec(wire.Uri, (ImagePart, FilePart), read_uri, write_uri),
    PartCodec(wire.Compaction, CustomPart, read_compaction, write_compaction),
    reserved=OLD_NOTES,
)
CALL_RESPONSES: Final[PartCodecs[ToolCallPart]] = PartCodecs(
    NAME,
    PartCodec(
        wire.ServerToolCallResponse,
        ToolCallPart,
        read_server_response,
        write_server_response,
        suits=is_server_call,
        metadata="result_provider_metadata",
    ),
    PartCodec(
        wire.ToolCallResponse,
        ToolCallPart,
        read_call_response,
        write_call_response,
        metadata="result_provider_metadata",
    ),
    reserved=OLD_NOTES | {POSITION, MEMBER, NAMED},
)
RESPONSES: Final[PartCodecs[Called]] = PartCodecs(
    NAME,
    PartCodec(wire.ToolCallResponse, ToolResultPart, read_response, write_response),
    reserved=OLD_NOTES | {MEMBER, NAMED},
)
FILES: Final = ("blob", "uri", "file")
ITEMS: Final = (TextPart, ImagePart, FilePart, ForeignPart)
"""Parts of prompts, and items of outputs."""
