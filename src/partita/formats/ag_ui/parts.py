"""Codecs for parts and messages, the metadata of other providers, and the report of losses."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.core.codec import PartCodec, PartCodecs
from partita.formats.core.files import is_image
from partita.formats.core.metadata import RAW_INPUT, add_notes, notes
from partita.formats.core.report import Report
from partita.formats.core.tool_text import as_text, read_arguments, write_tool_text
from partita.formats.core.wire import Wire, residue
from partita.formats.losses import NO_PLACE
from partita.types.data_url import OCTETS, data_url, inline_data, media_kind
from partita.types.json import Json, JsonObject, dumps, is_object, loads
from partita.types.messages import (
    SystemContent,
    ToolCallPart,
    UserContent,
)
from partita.types.parts import (
    ContentOutput,
    DataPart,
    ErrorTextOutput,
    FilePart,
    ImagePart,
    ReasoningFilePart,
    ReasoningPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
)

from . import wire
from .wire import ENCRYPTED, MESSAGE_ID, NAME, NAMESPACE, PARENT

# Notes in the provider metadata of messages
ROLE: Final = "role"  # the role of instructions, or `reasoning` for a message with only reasoning
CONTENT_FORM: Final = "content"  # "list": the content is a list although it is one text

REPORT: Final = Report(
    NAMESPACE,
    default=NO_PLACE,
    reasons={
        "internal": "all messages are shown",
        "usage": "only the end of a run has its usage",
        "approval": "approvals are interrupts of a run, not part of a message",
        "citations": "there are no citations",
        "children": "a sub-agent is known by the id of its call, and another call has it too",
        "output": "an output is a text, an error text, or a list of parts",
        "providerReference": "a file has a URL or one provider's id",
    },
    spelling=frozenset({MESSAGE_ID, PARENT, CONTENT_FORM, ROLE}),
)

# Metadata of other providers. A client stores `encryptedValue` for the agent and sends it back, so it is the
# place for signatures: https://docs.ag-ui.com/concepts/reasoning. Values of Partita have a prefix.

PREFIX: Final = "partita:"


def other_metadata(metadata: JsonObject | None) -> JsonObject:
    """Return provider metadata without the notes of this format."""
    return {name: value for name, value in (metadata or {}).items() if name != NAMESPACE}


def encrypted_value(metadata: JsonObject | None) -> str | UnsetType:
    """Return the metadata of other providers as a value that only Partita reads.

    It is unset if there are none, or if a value of another agent is noted, which must be sent back.
    """
    others = other_metadata(metadata) if metadata else None
    if not others or ENCRYPTED in notes(metadata, NAMESPACE):
        return UNSET
    return PREFIX + dumps(others).decode()


def read_encrypted_value(value: Json | UnsetType) -> JsonObject | None:
    """Return the metadata in a value of `encrypted_value`; `None` for other values."""
    if not isinstance(value, str) or not value.startswith(PREFIX):
        return None
    text = value.removeprefix(PREFIX)
    try:
        found = loads(text)
    except DecodeError:
        return None
    is_own = is_object(found) and found and NAMESPACE not in found and dumps(found).decode() == text
    return found if is_own else None


# Files

MEDIA_TYPES: Final[Mapping[str, str]] = {
    "image": "image/*",
    "audio": "audio/*",
    "video": "video/*",
    "document": OCTETS,
}
"""The media type of files that do not have one, by their kind."""

SOURCE_TYPE: Final = "sourceType"
"""The note that a data URL was written as a URL."""

File: TypeAlias = ImagePart | FilePart | ReasoningFilePart
PromptT = TypeVar("PromptT", SystemContent, UserContent)


def read_media(block: wire.Media, kind: str) -> ImagePart | FilePart | None:
    source, metadata = block.source, None
    if isinstance(source, wire.UnknownSource):
        return None
    name = block.metadata.get("filename") if is_object(block.metadata) else None
    filename = name if isinstance(name, str) else None
    media_type = None if source.mime_type is UNSET else source.mime_type
    known_type = MEDIA_TYPES[kind] if media_type is None else media_type
    if isinstance(source, wire.FileSource):
        reference = {NAME if source.provider is UNSET else source.provider: source.value}
        return FilePart("", known_type, filename, provider_reference=reference)
    if isinstance(source, wire.DataSource):
        url = data_url(source.value, media_type)
    else:
        url = source.value
        metadata = {NAMESPACE: {SOURCE_TYPE: "url"}} if inline_data(url) is not None else None
    if kind == "image":
        return ImagePart(url, media_type, filename, provider_metadata=metadata)
    return FilePart(url, known_type, filename, provider_metadata=metadata)


def write_source(part: File) -> wire.AnySource:
    media_type = UNSET if part.media_type is None else part.media_type
    references = part.provider_reference if isinstance(part, FilePart) else None
    if references and not part.url:
        provider, value = next(iter(references.items()))
        named = UNSET if provider == NAME else provider
        return wire.FileSource(value=value, provider=named, mime_type=media_type)
    inline = inline_data(part.url)
    is_url = notes(part.provider_metadata, NAMESPACE).get(SOURCE_TYPE) == "url"
    if inline is None or inline.media_type is None or is_url:
        return wire.UrlSource(value=part.url, mime_type=media_type)
    return wire.DataSource(value=inline.data, mime_type=inline.media_type)


def media_codec(block: type[wire.Media], kind: str) -> PartCodec[None]:
    """Return the codec of one kind of files."""

    def read(media: wire.Media, context: None) -> ImagePart | FilePart | None:
        return read_media(media, kind)

    def write(part: File) -> Wire:
        name = part.name if isinstance(part, ImagePart) else part.filename
        return block(source=write_source(part), metadata=UNSET if name is None else {"filename": name})

    def suits(part: File) -> bool:
        return is_image(part) if kind == "image" else media_kind(part.media_type or "") == kind

    return PartCodec(block, (ImagePart, FilePart, ReasoningFilePart), read, write, suits=suits)


def read_binary(block: wire.Binary, context: None) -> FilePart | None:
    filename = None if block.filename is UNSET else block.filename
    if block.data is not UNSET:
        return FilePart(data_url(block.data, block.mime_type), block.mime_type, filename)
    return None if block.url is UNSET else FilePart(block.url, block.mime_type, filename)


def write_binary(part: FilePart) -> Wire:
    inline = inline_data(part.url)
    return wire.Binary(
        mime_type=part.media_type,
        data=UNSET if inline is None else inline.data,
        url=part.url if inline is None else UNSET,
        filename=UNSET if part.filename is None else part.filename,
    )


def read_text(block: wire.Text, context: None) -> TextPart:
    return TextPart(block.text)


def write_text(part: TextPart) -> Wire:
    return wire.Text(text=part.text)


CONTENT: Final[PartCodecs[None]] = PartCodecs(
    NAMESPACE,
    PartCodec(wire.Text, TextPart, read_text, write_text),
    media_codec(wire.Image, "image"),
    media_codec(wire.Audio, "audio"),
    media_codec(wire.Video, "video"),
    media_codec(wire.Document, "document"),
    PartCodec(wire.Binary, FilePart, read_binary, write_binary, suits=lambda part: False),
    reserved=frozenset({SOURCE_TYPE}),
    format_name=NAME,
)


def read_content(content: tuple[wire.AnyPart, ...]) -> tuple[Any, ...]:
    return tuple([CONTENT.read(block, None) for block in content])


# Reasoning, calls and results


def read_reasoning(block: wire.Reasoning, context: None) -> ReasoningPart:
    metadata = read_encrypted_value(block.encrypted_value)
    return ReasoningPart(block.content, id=block.id, provider_metadata=metadata)


def write_reasoning(part: ReasoningPart) -> Wire:
    encrypted = encrypted_value(part.provider_metadata)
    return wire.Reasoning(id=part.id or "", content=part.text, encrypted_value=encrypted)


def parse_input(text: str) -> Json | UnsetType:
    """Parse the input of a call. An empty text is an empty object; invalid JSON is unset."""
    return read_arguments(text)[0] if text.strip() else {}


def read_call(block: wire.ToolCall, context: None) -> ToolCallPart:
    text, metadata = block.function.arguments, read_encrypted_value(block.encrypted_value)
    value = parse_input(text)
    if value is not UNSET and dumps(value).decode() != text:
        metadata = add_notes(metadata, NAMESPACE, {RAW_INPUT: text})
    return ToolCallPart(
        block.id,
        block.function.name,
        "input-available",
        value,
        text if value is UNSET else UNSET,
        call_provider_metadata=metadata,
    )


def write_call(part: ToolCallPart) -> Wire:
    function = wire.Function(name=part.name, arguments=write_arguments(part))
    encrypted = encrypted_value(part.call_provider_metadata)
    return wire.ToolCall(id=part.id, function=function, encrypted_value=encrypted)


def write_arguments(part: ToolCallPart) -> str:
    """Return the input of a call as text: the text that it was read from, unless the input changed."""
    text = notes(part.call_provider_metadata, NAMESPACE).get(RAW_INPUT)
    if isinstance(text, str) and part.input is not UNSET and parse_input(text) == part.input:
        return text
    if isinstance(part.raw_input, str):
        return part.raw_input
    return "{}" if part.input is UNSET else dumps(part.input).decode()


def read_result(block: wire.Tool, name: str) -> ToolResultPart:
    output: ToolOutput
    if block.error is not UNSET:
        output = ErrorTextOutput(block.error)
    elif isinstance(block.content, str):
        output = TextOutput(block.content)
    else:
        output = ContentOutput(read_content(block.content))
    metadata = read_encrypted_value(block.encrypted_value)
    return ToolResultPart(block.tool_call_id, name, output, metadata)


def write_result(part: ToolResultPart) -> Wire:
    outcome, value, items = write_tool_text(part.output)
    text = as_text(value)
    content: Any = text if items is None else tuple(CONTENT.write_all(items))
    return wire.Tool(
        id="",
        tool_call_id=part.id,
        content=content,
        error=UNSET if outcome == "success" else text,
        encrypted_value=encrypted_value(part.provider_metadata),
    )


def read_assistant_text(block: wire.Assistant, context: None) -> TextPart:
    return TextPart(block.content or "", provider_metadata=read_encrypted_value(block.encrypted_value))


def write_assistant_text(part: TextPart) -> Wire:
    encrypted = encrypted_value(part.provider_metadata)
    return wire.Assistant(id="", content=part.text, encrypted_value=encrypted)


TEXTS: Final[PartCodecs[None]] = PartCodecs(
    NAMESPACE,
    PartCodec(wire.Assistant, TextPart, read_assistant_text, write_assistant_text),
    reserved=frozenset({MESSAGE_ID}),
    format_name=NAME,
)
REASONING: Final[PartCodecs[None]] = PartCodecs(
    NAMESPACE,
    PartCodec(wire.Reasoning, ReasoningPart, read_reasoning, write_reasoning),
    reserved=frozenset({MESSAGE_ID}),
    format_name=NAME,
)
CALLS: Final[PartCodecs[None]] = PartCodecs(
    NAMESPACE,
    PartCodec(wire.ToolCall, ToolCallPart, read_call, write_call, metadata="call_provider_metadata"),
    reserved=frozenset({RAW_INPUT, PARENT}),
    format_name=NAME,
)
RESULTS: Final[PartCodecs[str]] = PartCodecs(
    NAMESPACE,
    PartCodec(wire.Tool, ToolResultPart, read_result, write_result),
    reserved=frozenset({MESSAGE_ID}),
    format_name=NAME,
)


# Messages of other roles. Their blocks have no id and no metadata: the messages have them


def read_user(message: wire.User) -> UserContent:
    """Return the content of a message of the user."""
    metadata, given = read_encrypted_value(message.encrypted_value), message.content
    if isinstance(given, str):
        return _with_residue(UserContent(parts=(TextPart(given),), provider_metadata=metadata), (), message)
    parts = read_content(given)
    if is_plain(parts):
        metadata = add_notes(metadata, NAMESPACE, {CONTENT_FORM: "list"})
    content = UserContent(parts=parts, provider_metadata=metadata)
    return _with_residue(content, tuple(CONTENT.write_all(parts)), message)


def read_system(message: wire.System | wire.Developer) -> SystemContent:
    """Return the content of instructions."""
    metadata = read_encrypted_value(message.encrypted_value)
    if isinstance(message, wire.Developer):
        metadata = add_notes(metadata, NAMESPACE, {ROLE: "developer"})
    content = SystemContent(parts=(TextPart(message.content),), provider_metadata=metadata)
    return _with_residue(content, (), message)


def _with_residue(content: PromptT, blocks: tuple[Any, ...], message: wire.Message) -> PromptT:
    """Return a content with the metadata of its message, and with what `write_prompt` does not write."""
    found = residue(write_prompt(content, blocks), replace(message, id="", metadata=UNSET))
    noted = add_notes(content.provider_metadata, NAMESPACE, found)
    return replace(content, metadata=message.metadata, provider_metadata=noted)


def write_prompt(content: SystemContent | UserContent, blocks: tuple[Any, ...]) -> Wire:
    """Return the message of a content. `blocks`: the blocks of its parts."""
    noted, encrypted = notes(content.provider_metadata, NAMESPACE), encrypted_value(content.provider_metadata)
    texts = [part.text for part in content.parts if isinstance(part, TextPart)]
    if isinstance(content, UserContent):
        is_text = is_plain(content.parts) and noted.get(CONTENT_FORM) != "list"
        return wire.User(id="", content=texts[0] if is_text else blocks, encrypted_value=encrypted)
    type_ = wire.Developer if noted.get(ROLE) == "developer" else wire.System
    return type_(id="", content="\n\n".join(texts), encrypted_value=encrypted)


def is_plain(parts: Sequence[Any]) -> bool:
    """Whether a content is only one text, which is written as a string."""
    return len(parts) == 1 and type(parts[0]) is TextPart and parts[0].provider_metadata is None


def read_activity(message: wire.Activity) -> DataPart:
    data = DataPart(str(message.activity_type), message.content, message.id)
    found = residue(write_activity(data), replace(message, id="", metadata=UNSET))
    return replace(data, provider_metadata={NAMESPACE: {ROLE: "activity", **found}})


def write_activity(data: DataPart) -> Wire:
    return wire.Activity(id="", activity_type=data.name, content=data.data)
