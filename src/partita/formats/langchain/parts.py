"""Codecs for standard content blocks, and the outputs of tools."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.core.codec import PartCodec, PartCodecs
from partita.formats.core.files import is_image
from partita.formats.core.metadata import notes
from partita.formats.core.tool_text import as_text, read_tool_text, write_tool_text
from partita.formats.core.wire import Wire, to_json
from partita.types.data_url import OCTETS, PLAIN, data_url, inline_data, media_kind, text_of_base64, text_url
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import AssistantMessage, Part, ToolCallPart
from partita.types.parts import (
    Citation,
    ContentItem,
    ContentOutput,
    ErrorJsonOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    JsonOutput,
    ReasoningPart,
    TextPart,
    ToolOutput,
    ToolResultPart,
    UrlCitationSource,
)
from partita.types.tool_results import state_after
from partita.types.usage import UsageNames

from . import wire
from .native import REASONING_CONTENT, STRING
from .wire import NAME

# Notes in the provider metadata of parts and calls
SHAPE: Final = "shape"  # the shape of the native block
NATIVE: Final = "native"  # the residue of the native block
POSITION: Final = (
    "position"  # the position of the result of a server call, if it is not directly after the call
)
ENTRY: Final = "entry"  # residue of the call in `tool_calls`; `False` if it is not there
BLOCK: Final = "block"  # `False`: a call is only in `tool_calls`, although the content has blocks for calls
ERROR: Final = "error"  # the error of an invalid call that has a result as well
UNSENT: Final = "unsent"  # an error that only the invalid call has, not a tool message
ROLE: Final = "role"  # of messages: the role of a chat message

OWN: Final = frozenset({SHAPE, NATIVE, POSITION, ENTRY, BLOCK, ERROR, UNSENT})
LEGACY_NOTES: Final = frozenset(
    {"spelt", "untyped", "wordless", "plain", "arguments", "at", "silent", "apart", "unlisted", "unnamed"}
    | {"made", "listed", "annotations", "summary"}
)
"""Notes that earlier versions wrote. They are ignored."""
RESERVED: Final = OWN | LEGACY_NOTES


Namespace: TypeAlias = str | None
"""The namespace for reading blocks: that of the provider of the message, or of the shape of the block."""


# Signatures and ids of providers

NAMESPACES: Final[Mapping[str, str]] = {
    "anthropic": "anthropic",
    "bedrock": "anthropic",
    "openai": "openai",
    "azure": "openai",
    "google_genai": "google",
    "google_vertexai": "google",
}
"""LangChain's names of providers, in `model_provider`, and their namespaces of provider metadata."""

PROVIDERS: Final[Mapping[str, str]] = {"anthropic": "anthropic", "openai": "openai", "google": "google_genai"}
"""Namespaces of provider metadata, and LangChain's names for them."""

PROVIDER: Final = "model_provider"
VERSION: Final = "output_version"
GOOGLE_SIGNATURES: Final = "__gemini_function_call_thought_signatures__"
"""The member of `additional_kwargs` in which langchain-google-genai keeps the signatures of calls, by id."""

SIGNED: Final = frozenset[type]({TextPart, ReasoningPart, ToolCallPart})
"""Parts whose provider metadata shows the provider of a message."""

# `extras.signature`: block_translators/anthropic.py and google_genai.py
SIGNATURES: Final[Mapping[str, str]] = {"anthropic": "signature", "google": "thoughtSignature"}
# `id` and `encrypted_content`: block_translators/openai.py
OPENAI_IDS: Final = (("id", "itemId"), ("encrypted_content", "reasoningEncryptedContent"))


def read_signatures(block: wire.Text | wire.Reasoning, namespace: str | None) -> JsonObject | None:
    """Return provider metadata with the signature or the ids of a block."""
    if namespace == "openai":
        found = {
            key: value for name, key in OPENAI_IDS if isinstance(value := getattr(block, name, None), str)
        }
        return {namespace: found} if found else None
    signature = block.extras.get("signature") if block.extras else None
    if namespace is None or not isinstance(signature, str):
        return None
    return {namespace: {SIGNATURES[namespace]: signature}}


def provider_of(message: AssistantMessage) -> Json:
    """Return the provider in the metadata of a message."""
    metadata = notes(message.content.provider_metadata, NAME).get("response_metadata")
    return metadata.get(PROVIDER) if is_object(metadata) else None


def namespace_of(provider: Json, parts: Iterable[Any], version: int) -> str | None:
    """Return the namespace of the provider of a response: the named one, else the first one of its parts."""
    if isinstance(provider, str) and provider in NAMESPACES:
        return NAMESPACES[provider]
    for part in parts:
        if type(part) in SIGNED:
            is_call = type(part) is ToolCallPart
            metadata = part.call_provider_metadata if is_call else part.provider_metadata
            if not metadata or (version == 0 and SHAPE in notes(metadata, NAME)):
                continue
            for namespace in metadata:
                if namespace in PROVIDERS:
                    return namespace
    return None


def write_signatures(
    metadata: JsonObject | None, names: Iterable[tuple[str, str]] = OPENAI_IDS
) -> JsonObject:
    """Return the members of a block with a signature or ids."""
    for namespace, key in SIGNATURES.items() if metadata else ():
        signature = notes(metadata, namespace).get(key)
        if isinstance(signature, str):
            return {"extras": {"signature": signature}}
    own = notes(metadata, "openai")
    return {name: own[key] for name, key in names if isinstance(own.get(key), str)} if own else {}


# Text and reasoning


def read_text(block: wire.Text, namespace: Namespace) -> TextPart:
    citations = None
    if block.annotations is not UNSET:
        read = (_read_citation(raw, number) for number, raw in enumerate(block.annotations, 1))
        citations = tuple(one for one in read if one is not None)
    return TextPart(block.text, citations=citations, provider_metadata=read_signatures(block, namespace))


def write_text(part: TextPart) -> Wire:
    annotations: Any = UNSET
    if part.citations is not None:
        annotations = [_write_citation(one, number) for number, one in enumerate(part.citations, 1)]
    return wire.Text(
        text=part.text, annotations=annotations, **write_signatures(part.provider_metadata, OPENAI_IDS[:1])
    )


def _read_citation(raw: Json, number: int) -> Citation | None:
    """Read a citation of a web page. Other annotations remain in the residue."""
    match raw:
        case {"type": "citation", "url": str(url)}:
            id_, title, cited = (_text(raw.get(name)) for name in ("id", "title", "cited_text"))
            start, end = raw.get("start_index"), raw.get("end_index")
            return Citation(
                UrlCitationSource(f"citation-{number}" if id_ is None else id_, url, title=title),
                start_index=start if type(start) is int else None,
                end_index=end if type(end) is int else None,
                cited_text=cited,
            )
        case _:
            return None


def _write_citation(citation: Citation, number: int) -> JsonObject:
    source = citation.source
    members: JsonObject = {
        "id": None if source.id == f"citation-{number}" else source.id,
        "url": source.url if isinstance(source, UrlCitationSource) else None,
        "title": source.title,
        "start_index": citation.start_index,
        "end_index": citation.end_index,
        "cited_text": citation.cited_text,
    }
    return {"type": "citation", **{name: value for name, value in members.items() if value is not None}}


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def read_reasoning(block: wire.Reasoning, namespace: Namespace) -> ReasoningPart:
    id_ = None if namespace == "openai" or block.id is UNSET else block.id
    return ReasoningPart(block.reasoning or "", id=id_, provider_metadata=read_signatures(block, namespace))


def write_reasoning(part: ReasoningPart) -> Wire:
    members: Any = {"id": UNSET if part.id is None else part.id, **write_signatures(part.provider_metadata)}
    return wire.Reasoning(reasoning=part.text, **members)


def read_redacted(block: wire.NonStandard, namespace: Namespace) -> ReasoningPart | None:
    """Read redacted thinking of Anthropic. Other non-standard blocks are kept as they are."""
    data = block.value.get("data")
    is_redacted = block.value.get("type") == "redacted_thinking" and isinstance(data, str)
    if not is_redacted or namespace not in (None, "anthropic"):
        return None
    return ReasoningPart("", provider_metadata={"anthropic": {"redactedData": data}})


def write_redacted(part: ReasoningPart) -> Wire | None:
    data = notes(part.provider_metadata, "anthropic").get("redactedData") if not part.text else None
    if not isinstance(data, str):
        return None
    return wire.NonStandard(value={"type": "redacted_thinking", "data": data})


# Calls

TEXT_ARGUMENT: Final = "__arg1"
"""The name of the argument of a tool with one text: `tools/simple.py` in langchain-core."""


def arguments(value: Json) -> JsonObject:
    """Return the input of a call as an object."""
    if is_object(value):
        return value
    return {} if value is UNSET else {TEXT_ARGUMENT: value}


def is_valid(call: ToolCallPart) -> bool:
    """Whether a call is in `tool_calls`, not in `invalid_tool_calls`."""
    return call.raw_input is UNSET or call.input is not UNSET


Call: TypeAlias = wire.ToolCall | wire.InvalidToolCall | wire.CallEntry | wire.InvalidCallEntry


def read_call(block: Call, default_id: str) -> ToolCallPart:
    """Read the call of a block, or of an entry in `tool_calls` or `invalid_tool_calls`."""
    id_ = default_id if block.id is None else block.id
    if is_object(block.args):
        return ToolCallPart(id_, block.name or "", "input-available", block.args)
    return ToolCallPart(id_, block.name or "", "input-available", raw_input=block.args)


def write_call(
    call: ToolCallPart,
    valid: type[wire.ToolCall | wire.CallEntry],
    invalid: type[wire.InvalidToolCall | wire.InvalidCallEntry],
    error: str | None = None,
) -> Wire:
    """Return a call as a block, or as an entry of `tool_calls` or `invalid_tool_calls`."""
    if is_valid(call):
        return valid(name=call.name, args=arguments(call.input), id=call.id)
    raw: Json = call.raw_input
    text = raw if raw is None or isinstance(raw, str) else as_text(raw)
    return invalid(name=call.name, args=text, id=call.id, error=error)


def write_call_block(call: ToolCallPart, error: str | None = None) -> Wire:
    """Return the block of a call."""
    return write_call(call, wire.ToolCall, wire.InvalidToolCall, error)


def write_call_entry(call: ToolCallPart, error: str | None = None) -> Wire:
    """Return the entry of a call."""
    return write_call(call, wire.CallEntry, wire.InvalidCallEntry, error)


def read_server_call(block: wire.ServerToolCall, namespace: Namespace) -> ToolCallPart:
    return ToolCallPart(block.id, block.name, "input-available", block.args, provider_executed=True)


def write_server_call(part: ToolCallPart) -> Wire | None:
    if not part.provider_executed:
        return None
    args = arguments(part.raw_input if part.input is UNSET else part.input)
    return wire.ServerToolCall(id=part.id, name=part.name, args=args)


def read_server_result(block: wire.ServerToolResult, call: ToolCallPart) -> ToolCallPart | None:
    if block.status not in ("success", "error"):
        return None
    value = None if block.output is UNSET else block.output
    output = read_tool_text("success" if block.status == "success" else "failed", value)
    return replace(call, state=state_after(output), output=output)


def write_server_result(call: ToolCallPart) -> Wire | None:
    if call.output is None or not call.provider_executed:
        return None
    outcome, value, items = write_tool_text(call.output)
    if items is not None:
        value = "\n".join(item.text for item in items if isinstance(item, TextPart))
    status = "success" if outcome == "success" else "error"
    return wire.ServerToolResult(tool_call_id=call.id, status=status, output=value)


# `UsageMetadata` in langchain_core/messages/ai.py
USAGE: Final = UsageNames(
    input=("input_tokens",),
    output=("output_tokens",),
    total=("total_tokens",),
    reasoning=("output_token_details.reasoning",),
    cached=("input_token_details.cache_read",),
    cache_write=("input_token_details.cache_creation",),
)


# Outputs of tools


def read_output(message: wire.Tool, items: Sequence[ContentItem]) -> ToolOutput:
    """Read the output in a tool message. JSON is text, with the value as the artifact."""
    content, is_error = message.content, message.status == "error"
    if not isinstance(content, str):
        return ErrorJsonOutput(to_json(content)) if is_error else ContentOutput(tuple(items))
    artifact = message.artifact
    is_json = artifact is not None and dumps(artifact).decode() == content
    return read_tool_text("failed" if is_error else "success", artifact if is_json else content)


def write_tool(result: ToolResultPart, content: Any = None, id_: str | None = None) -> wire.Tool:
    """Return a tool message. `content` is that of an output with files."""
    outcome, value, _ = write_tool_text(result.output)
    status = "success" if outcome == "success" else "error"
    artifact = None
    if content is None:
        is_blocks = status == "error" and is_array(value) and value and all(map(_is_block, value))
        content = value if is_blocks else as_text(value)
    if isinstance(result.output, JsonOutput | ErrorJsonOutput) and not is_array(content):
        artifact = value
    return wire.Tool(
        content=content, tool_call_id=result.id, name=result.name, id=id_, artifact=artifact, status=status
    )


def _is_block(item: Json) -> bool:
    return isinstance(item, str) or (is_object(item) and isinstance(item.get("type"), str))


# Files

Media: TypeAlias = ImagePart | FilePart

KINDS: Final[Mapping[str, tuple[type[wire.Media], str]]] = {
    "image": (wire.Image, "image/*"),
    "audio": (wire.Audio, "audio/*"),
    "video": (wire.Video, "video/*"),
    "text": (wire.PlainText, PLAIN),
    "document": (wire.File, OCTETS),
}
"""By the kind of a file: its block, and the default media type."""


def _kind(part: Media) -> str:
    if is_image(part):
        return "image"
    return "text" if part.media_type == PLAIN else media_kind(part.media_type or OCTETS)


def media_codec(kind: str) -> PartCodec[Namespace]:
    """Return the codec of one kind of file."""
    type_, default = KINDS[kind]

    def read(block: wire.Media, namespace: Namespace) -> Media | None:
        media_type = None if block.mime_type is UNSET else block.mime_type
        url = _read_url(block, PLAIN if kind == "text" and media_type is None else media_type)
        filename = _text(block.extras.get("filename")) if block.extras else None
        known_type = default if media_type is None else media_type
        if block.file_id is not UNSET:
            reference = {namespace or NAME: block.file_id}
            return FilePart(url or "", known_type, filename, provider_reference=reference)
        if url is None:
            return None
        if kind == "image":
            return ImagePart(url, media_type=media_type, name=filename)
        return FilePart(url, known_type, filename)

    def write(part: Media) -> Wire:
        name = part.name if isinstance(part, ImagePart) else part.filename
        members: Any = {} if name is None else {"extras": {"filename": name}}
        if part.media_type is not None:
            members["mime_type"] = part.media_type
        if isinstance(part, FilePart) and part.provider_reference:
            members["file_id"] = next(iter(part.provider_reference.values()))
        if part.url or "file_id" not in members:
            members = {**_write_url(part.url, is_text=kind == "text"), **members}
        return type_(**members)

    return PartCodec(type_, (ImagePart, FilePart), read, write, suits=lambda part: _kind(part) == kind)


def _read_url(block: wire.Media, media_type: str | None) -> str | None:
    if block.base64 is not UNSET:
        return data_url(block.base64, media_type)
    if block.url is not UNSET:
        return block.url
    text = getattr(block, "text", UNSET)
    if text is UNSET:
        return None
    url = text_url(text, media_type or PLAIN)
    inline = inline_data(url)
    return url if inline is not None and text_of_base64(inline.data) == text else None


def _write_url(url: str, *, is_text: bool) -> JsonObject:
    inline = inline_data(url)
    if inline is None:
        return {"url": url}
    text = text_of_base64(inline.data) if is_text else None
    if text is not None:
        return {"text": text}
    return {"base64": inline.data, **({"mime_type": inline.media_type} if inline.media_type else {})}


# Tables of codecs

BLOCKS: Final[PartCodecs[Namespace]] = PartCodecs(
    NAME,
    PartCodec(wire.Text, TextPart, read_text, write_text),
    PartCodec(wire.NonStandard, ReasoningPart, read_redacted, write_redacted),
    PartCodec(wire.Reasoning, ReasoningPart, read_reasoning, write_reasoning),
    PartCodec(
        wire.ServerToolCall,
        ToolCallPart,
        read_server_call,
        write_server_call,
        metadata="call_provider_metadata",
    ),
    *map(media_codec, KINDS),
    reserved=RESERVED,
)
SERVER_RESULTS: Final[PartCodecs[ToolCallPart]] = PartCodecs(
    NAME,
    PartCodec(
        wire.ServerToolResult,
        ToolCallPart,
        read_server_result,
        write_server_result,
        metadata="result_provider_metadata",
    ),
    reserved=RESERVED,
)


# Forms of the content of a response, and the notes on them

FORM: Final = "form"
"""The note of the form of a message or step, if it is not the default: `STRING`, `LIST` or `V1`."""
LIST: Final = "list"
V1: Final = "v1"
"""A list of standard blocks, as `output_version` states."""


def shape_of(part: Any) -> Json:
    """Return the noted shape of a part that is not a call."""
    return notes(getattr(part, "provider_metadata", None), NAME).get(SHAPE)


def is_open_call(part: Any) -> bool:
    """Whether a part is a call that the application runs."""
    return type(part) is ToolCallPart and not part.provider_executed


def is_in_kwargs(part: Any, namespace: str | None, version: int) -> bool:
    """Whether a part is reasoning in `additional_kwargs`, unless the content has standard blocks."""
    if type(part) is not ReasoningPart:
        return False
    shape = shape_of(part)
    if shape is None and version == 0:
        return namespace not in ("anthropic", "openai")
    return shape == REASONING_CONTENT


def default_form(
    parts: Iterable[Any], text: str | None, namespace: str | None, version: int, head: Json = None
) -> str:
    """Return the form of a response. `head`: the noted form of the first step."""
    if head == V1 or (head is None and version == 1):
        return V1
    return STRING if is_one_text(parts, text, namespace, version) else LIST


def is_one_text(parts: Iterable[Any], text: str | None, namespace: str | None, version: int) -> bool:
    """Whether the content of parts and a text can be a string: it is at most one text."""
    count = text is not None
    for part in parts:
        if is_open_call(part):
            kept = notes(part.call_provider_metadata, NAME)
            if SHAPE in kept or kept.get(BLOCK) is True:
                return False
        elif can_write(part) and not is_in_kwargs(part, namespace, version):
            is_plain = type(part) is TextPart and part.citations is None and not part.provider_metadata
            count += 1
            if count > 1 or not is_plain or not part.text:
                return False
    return True


WRITABLE: Final = frozenset[type]({TextPart, ReasoningPart, ImagePart, FilePart, ToolCallPart})


def can_write(part: Part) -> bool:
    """Whether a part can be written."""
    return type(part) in WRITABLE or is_raw(part)


def is_raw(part: Any) -> bool:
    """Whether a part is an unknown block of this format."""
    return type(part) is ForeignPart and part.format == NAME and isinstance(part.value, (str, dict))
