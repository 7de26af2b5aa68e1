"""Codecs for the parts of responses, the items of prompts, and the outputs of tools."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.core.codec import PartCodec, PartCodecs
from partita.formats.core.files import file_part, is_image
from partita.formats.core.metadata import KIND, notes
from partita.formats.core.tool_text import Outcome, read_arguments, read_tool_text, write_tool_text
from partita.formats.core.wire import Wire, to_json
from partita.types.data_url import OCTETS, data_url, inline_data, is_base64, media_kind
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    Citation,
    ContentOutput,
    CustomPart,
    DocumentCitationSource,
    FilePart,
    ImagePart,
    ReasoningPart,
    TextPart,
    ToolOutput,
    ToolResultPart,
    UrlCitationSource,
)
from partita.types.tool_results import state_after

from . import wire
from .wire import ITEM, NAME

COMPACTION: Final = f"{NAME}.compaction"
POSITION: Final = "position"
"""The note of the position of the return of a built-in call, if it is not directly after the call."""


class Context(NamedTuple):
    """The context of the parts of a response."""

    provider: str | None
    """The provider of the response, for parts without a provider."""
    call_id: str
    """The id of a call without one."""


# Signatures and ids of providers, in the members of the models of Pydantic AI: pydantic_ai/models

Members: TypeAlias = Mapping[str, Mapping[str, str]]
"""By namespace of provider metadata: names of members on the wire, and their names in that namespace."""

PROVIDERS: Final[Mapping[str, str]] = {
    "anthropic": "anthropic",
    "openai": "openai",
    "azure": "openai",
    "google": "google",
    "google-gla": "google",
    "google-vertex": "google",
    "google-cloud": "google",
}
"""Pydantic AI's names of providers, and their namespaces of provider metadata."""

THOUGHT_SIGNATURE: Final = "thought_signature"
"""The member of `provider_details` with Google's signature."""

THINKING_MEMBERS: Final[Members] = {
    "anthropic": {"signature": "signature"},
    "openai": {"id": "itemId", "signature": "reasoningEncryptedContent"},
    "google": {"signature": "thoughtSignature"},
}
OTHER_MEMBERS: Final[Members] = {
    "openai": {"id": "itemId"},
    "google": {THOUGHT_SIGNATURE: "thoughtSignature"},
}


def read_signatures(block: wire.ResponsePart, members: Members, context: Context) -> JsonObject | None:
    """Return provider metadata with the signatures of a part."""
    namespace = PROVIDERS.get(block.provider_name or context.provider or "", "")
    found: JsonObject = {}
    for member, name in members.get(namespace, {}).items():
        is_detail = member == THOUGHT_SIGNATURE
        value = (block.provider_details or {}).get(member) if is_detail else getattr(block, member)
        if isinstance(value, str):
            found[name] = value
    return {namespace: found} if found else None


def write_signatures(metadata: JsonObject | None, members: Members) -> JsonObject:
    """Return the members of a part with its signatures."""
    for namespace in members if metadata else ():
        own = notes(metadata, namespace)
        names = members[namespace].items() if own else ()
        found = {member: own[name] for member, name in names if isinstance(own.get(name), str)}
        if found:
            signature = found.pop(THOUGHT_SIGNATURE, None)
            details = {} if signature is None else {"provider_details": {THOUGHT_SIGNATURE: signature}}
            return {"provider_name": namespace, **found, **details}
    return {}


# Text and reasoning


def read_text(block: wire.Text, context: Context) -> TextPart:
    citations = None
    if block.citations is not None:
        read = (_read_citation(raw, at) for at, raw in enumerate(block.citations, 1))
        citations = tuple(one for one in read if one is not None)
    return TextPart(
        block.content, citations=citations, provider_metadata=read_signatures(block, OTHER_MEMBERS, context)
    )


def write_text(part: TextPart) -> Wire:
    citations = None if part.citations is None else list(map(_write_citation, part.citations))
    return wire.Text(
        content=part.text, citations=citations, **write_signatures(part.provider_metadata, OTHER_MEMBERS)
    )


def _read_citation(raw: Json, number: int) -> Citation | None:
    """Read a citation of one web page. Others remain in the residue."""
    match raw:
        case {"sources": [{"url": str(url), "kind": "web", **about}]}:
            anchor = raw.get("anchor")
            start, end = (anchor.get("start"), anchor.get("end")) if is_object(anchor) else (None, None)
            title, excerpts = about.get("title"), about.get("excerpts")
            return Citation(
                UrlCitationSource(f"citation-{number}", url, title=title if isinstance(title, str) else None),
                start_index=start if type(start) is int else None,
                end_index=end if type(end) is int else None,
                cited_text=excerpts[0]
                if is_array(excerpts) and excerpts and isinstance(excerpts[0], str)
                else None,
            )
        case _:
            return None


def _write_citation(citation: Citation) -> JsonObject:
    match citation.source:
        case UrlCitationSource() as source:
            about: JsonObject = {"url": source.url, "title": source.title, "kind": "web"}
        case DocumentCitationSource() as source:
            about = {"document_id": source.id, "title": source.title, "kind": "document"}
    about["excerpts"] = [] if citation.cited_text is None else [citation.cited_text]
    start, end = citation.start_index, citation.end_index
    anchor = None if start is None or end is None else {"start": start, "end": end, "kind": "content"}
    return {"sources": [about], "anchor": anchor}


# Anthropic's redacted thinking is an empty text whose signature is the redacted data.
# `REDACTED_THINKING_PART_IDS` in pydantic_ai/_thinking_part.py
REDACTED: Final = "redacted_thinking"


def read_thinking(block: wire.Thinking, context: Context) -> ReasoningPart:
    is_redacted = block.id == REDACTED and not block.content and block.provider_name == "anthropic"
    if is_redacted and block.signature is not None:
        return ReasoningPart("", provider_metadata={"anthropic": {"redactedData": block.signature}})
    metadata = read_signatures(block, THINKING_MEMBERS, context)
    id_ = None if "itemId" in notes(metadata, "openai") else block.id
    return ReasoningPart(block.content, id=id_, provider_metadata=metadata)


def write_thinking(part: ReasoningPart) -> Wire:
    redacted = notes(part.provider_metadata, "anthropic").get("redactedData")
    if isinstance(redacted, str) and not part.text:
        return wire.Thinking(content="", id=REDACTED, signature=redacted, provider_name="anthropic")
    about: Any = {"id": part.id, **write_signatures(part.provider_metadata, THINKING_MEMBERS)}
    return wire.Thinking(content=part.text, **about)


def read_compaction(block: wire.Compaction, context: Context) -> CustomPart:
    return CustomPart(COMPACTION)


def write_compaction(part: CustomPart) -> Wire | None:
    return wire.Compaction() if part.kind == COMPACTION else None


# Calls and outputs


def read_call(block: wire.Call, context: Context) -> ToolCallPart:
    input_: Json = UNSET if block.args is None else block.args
    raw_input: Json = UNSET
    if isinstance(input_, str):
        input_, raw_input = read_arguments(input_)
    return ToolCallPart(
        context.call_id if block.tool_call_id is UNSET else block.tool_call_id,
        block.tool_name,
        "input-available",
        input_,
        raw_input=raw_input,
        provider_executed=True if type(block) is wire.BuiltinToolCall else None,
        call_provider_metadata=read_signatures(block, OTHER_MEMBERS, context),
    )


def write_call(part: ToolCallPart) -> Wire:
    args: Json = part.raw_input if part.input is UNSET else part.input
    if args is UNSET:
        args = None
    elif not isinstance(args, str if part.input is UNSET else dict):
        args = dumps(args).decode()
    type_ = wire.BuiltinToolCall if part.provider_executed else wire.ToolCall
    about = write_signatures(part.call_provider_metadata, OTHER_MEMBERS)
    return type_(tool_name=part.name, tool_call_id=part.id, args=args, **about)


# `outcome` of tool returns in pydantic_ai/messages.py
OUTCOMES: Final[Mapping[str, Outcome]] = {
    "success": "success",
    "failed": "failed",
    "retried": "failed",
    "denied": "denied",
    "interrupted": "interrupted",
}


def read_output(block: wire.ToolReturn | wire.BuiltinToolReturn) -> ToolOutput | None:
    outcome = OUTCOMES.get(block.outcome)
    if outcome == "success" and _has_files(block.content):
        return ContentOutput(tuple(read_item(ITEM.read(item)) for item in block.content))
    return None if outcome is None else read_tool_text(outcome, block.content)


def write_output(output: ToolOutput) -> JsonObject:
    outcome, value, items = write_tool_text(output)
    if items is not None:
        value = to_json([item for part in items if (item := write_item(part)) is not None])
    digests: Any = UNSET if isinstance(value, str) else []
    return {"content": value, "outcome": outcome, "content_file_digests": digests}


def _has_files(content: Json) -> bool:
    """Whether an output consists of texts and files for the model, and is not data."""
    others = [item for item in content if not isinstance(item, str)] if is_array(content) else []
    return bool(others) and all(is_object(item) and item.get("kind") in FILES for item in others)


def read_return(block: wire.ToolReturn, context: None) -> ToolResultPart | None:
    output = read_output(block)
    return None if output is None else ToolResultPart(block.tool_call_id, block.tool_name, output)


def write_return(part: ToolResultPart) -> Wire:
    return wire.ToolReturn(tool_name=part.name, tool_call_id=part.id, **write_output(part.output))


def read_retry(block: wire.RetryPrompt, context: None) -> ToolResultPart | None:
    if block.tool_name is None or block.tool_call_id is UNSET:
        return None
    return ToolResultPart(block.tool_call_id, block.tool_name, read_tool_text("failed", block.content))


def write_retry(part: ToolResultPart) -> Wire:
    output = write_output(part.output)
    return wire.RetryPrompt(tool_name=part.name, tool_call_id=part.id, content=output["content"])


def read_builtin_return(block: wire.BuiltinToolReturn, call: ToolCallPart) -> ToolCallPart | None:
    output = read_output(block)
    return None if output is None else replace(call, state=state_after(output), output=output)


def write_builtin_return(call: ToolCallPart) -> Wire | None:
    if call.output is None or not call.provider_executed:
        return None
    return wire.BuiltinToolReturn(
        tool_name=call.name,
        tool_call_id=call.id,
        provider_name=notes(call.call_provider_metadata, NAME).get("provider_name"),
        **write_output(call.output),
    )


# Files

# `UploadedFileProviderName` in pydantic_ai/messages.py
UPLOAD_PROVIDERS: Final = frozenset(
    {"anthropic", "openai", "google", "google-cloud", "google-gla", "google-vertex", "bedrock", "xai"}
)

Media: TypeAlias = ImagePart | FilePart


def read_binary(block: wire.Binary, context: Any) -> Media:
    return file_part(data_url(block.data, block.media_type), block.media_type)


def write_binary(part: Media) -> wire.Binary | None:
    inline = inline_data(part.url)
    if inline is None or not is_base64(inline.data):
        return None
    return wire.Binary(data=inline.data, media_type=part.media_type or inline.media_type or OCTETS)


def read_file(block: wire.File, context: Context) -> Media:
    return read_binary(block.content, context)


def write_file(part: Media) -> Wire | None:
    content = write_binary(part)
    return None if content is None else wire.File(content=content)


def read_image_url(block: wire.ImageUrl, context: None) -> ImagePart:
    return ImagePart(block.url, media_type=block.media_type or None)


def write_image_url(part: Media) -> Wire:
    return wire.ImageUrl(url=part.url, media_type=UNSET if part.media_type is None else part.media_type)


def url_codec(block: type[wire.Url], media: str) -> PartCodec[None]:
    """Return the codec of URLs of one kind of file."""

    def read(url: wire.Url, context: None) -> FilePart:
        return FilePart(url.url, url.media_type or OCTETS)

    def write(part: FilePart) -> Wire:
        return block(url=part.url, media_type=part.media_type)

    return PartCodec(block, FilePart, read, write, suits=lambda part: media_kind(part.media_type) == media)


def read_uploaded(block: wire.UploadedFile, context: None) -> FilePart | None:
    if block.provider_name not in UPLOAD_PROVIDERS:
        return None
    return FilePart("", block.media_type or OCTETS, provider_reference={block.provider_name: block.file_id})


def write_uploaded(part: FilePart) -> Wire | None:
    for provider, file_id in (part.provider_reference or {}).items():
        if provider in UPLOAD_PROVIDERS:
            return wire.UploadedFile(file_id=file_id, provider_name=provider, media_type=part.media_type)
    return None


def read_text_content(block: wire.TextContent, context: None) -> TextPart:
    return TextPart(block.content, provider_metadata={NAME: {KIND: "text-content"}})


def write_text_content(part: TextPart) -> Wire:
    return wire.TextContent(content=part.text)


# Tables of codecs

RESPONSE_PARTS: Final[PartCodecs[Context]] = PartCodecs(
    NAME,
    PartCodec(wire.Text, TextPart, read_text, write_text),
    PartCodec(wire.Thinking, ReasoningPart, read_thinking, write_thinking),
    PartCodec(
        wire.BuiltinToolCall,
        ToolCallPart,
        read_call,
        write_call,
        suits=lambda call: bool(call.provider_executed),
        metadata="call_provider_metadata",
    ),
    PartCodec(wire.ToolCall, ToolCallPart, read_call, write_call, metadata="call_provider_metadata"),
    PartCodec(wire.File, (ImagePart, FilePart), read_file, write_file),
    PartCodec(wire.Compaction, CustomPart, read_compaction, write_compaction),
)
BUILTIN_RETURNS: Final[PartCodecs[ToolCallPart]] = PartCodecs(
    NAME,
    PartCodec(
        wire.BuiltinToolReturn,
        ToolCallPart,
        read_builtin_return,
        write_builtin_return,
        metadata="result_provider_metadata",
    ),
    reserved=frozenset({POSITION}),
)
RETURNS: Final[PartCodecs[None]] = PartCodecs(
    NAME,
    PartCodec(wire.ToolReturn, ToolResultPart, read_return, write_return),
    PartCodec(wire.RetryPrompt, ToolResultPart, read_retry, write_retry),
)
ITEMS: Final[PartCodecs[None]] = PartCodecs(
    NAME,
    PartCodec(wire.TextContent, TextPart, read_text_content, write_text_content),
    PartCodec(wire.UploadedFile, FilePart, read_uploaded, write_uploaded),
    PartCodec(wire.Binary, (ImagePart, FilePart), read_binary, write_binary),
    PartCodec(wire.ImageUrl, (ImagePart, FilePart), read_image_url, write_image_url, suits=is_image),
    url_codec(wire.AudioUrl, "audio"),
    url_codec(wire.VideoUrl, "video"),
    url_codec(wire.DocumentUrl, "document"),
)
FILES: Final = ("image-url", "audio-url", "video-url", "document-url", "binary", "uploaded-file")


def read_item(item: str | wire.AnyItem) -> Any:
    """Return the part of an item."""
    return TextPart(item) if isinstance(item, str) else ITEMS.read(item, None)


def write_item(part: Any) -> Any:
    """Return the item of a part, or `None` if no item can hold it."""
    if isinstance(part, TextPart) and KIND not in notes(part.provider_metadata, NAME):
        return part.text
    return ITEMS.write(part)
