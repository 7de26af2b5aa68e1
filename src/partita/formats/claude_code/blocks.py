"""Content blocks of responses, which are those of the API of Anthropic ↔ chunks and parts.

They become chunks, because logs and streams build their messages from chunks. Members without a field in the
chunk are in its provider metadata under `anthropic`, with the names of the block. Redacted thinking is under
`redactedData`, the type of the result of a server tool under `type`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from msgspec import UNSET

from partita.formats.core.files import ANY_IMAGE
from partita.formats.core.members import nonempty_text, without
from partita.formats.core.metadata import notes
from partita.types import chunks as c
from partita.types.data_url import OCTETS, PLAIN
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import (
    Citation,
    DocumentCitationSource,
    ErrorJsonOutput,
    FilePart,
    ImagePart,
    JsonOutput,
    ReasoningPart,
    TextPart,
    ToolOutput,
    UrlCitationSource,
)

from .tool_results import output_chunk
from .user_content import content_part
from .wire import ANTHROPIC, CLAUDE_CODE, MCP_PREFIX, RESULT

Chunks: TypeAlias = Sequence[c.Chunk] | None
Read: TypeAlias = Callable[[JsonObject, str, JsonObject | None], Chunks]


def block_chunks(block: JsonObject, id: str, metadata: JsonObject | None = None) -> Chunks:
    """The chunks of a whole block; `None` if it is unknown or malformed.

    `id`: that of a text or a reasoning; `metadata`: provider metadata to add that of the block to.
    """
    kind = block.get("type")
    if not isinstance(kind, str):
        return None
    read = READERS.get(kind)
    if read is None and kind.endswith(RESULT):
        read = server_result
    return None if read is None else read(block, id, metadata)


def text_chunks(block: JsonObject, id: str, metadata: JsonObject | None = None) -> Chunks:
    """A text with its citations."""
    text = block.get("text")
    if not isinstance(text, str):
        return None
    start = c.TextStart(id, add_block_metadata(metadata, without(block, "type", "text")))
    end = c.TextEnd(id, citations=citations_of(block.get("citations"), id))
    return (start, c.TextDelta(id, text), end) if text else (start, end)


def thinking_chunks(block: JsonObject, id: str, metadata: JsonObject | None = None) -> Chunks:
    """Reasoning and its signature. From 2.1.77 to 2.1.205 the text is empty (seen in recordings)."""
    text = block.get("thinking")
    if not isinstance(text, str):
        return None
    start = c.ReasoningStart(id, add_block_metadata(metadata, without(block, "type", "thinking")))
    return (start, c.ReasoningDelta(id, text), c.ReasoningEnd(id)) if text else (start, c.ReasoningEnd(id))


def redacted_chunks(block: JsonObject, id: str, metadata: JsonObject | None = None) -> Chunks:
    """Reasoning that only the provider can read."""
    if not isinstance(block.get("data"), str):
        return None
    fields = {"redactedData": block["data"], **without(block, "type", "data")}
    return c.ReasoningStart(id, add_block_metadata(metadata, fields)), c.ReasoningEnd(id)


class CallFacts(NamedTuple):
    """A call in a block, without its input."""

    call_id: str
    name: str
    provider_executed: bool | None
    provider_metadata: JsonObject | None
    tool_metadata: JsonObject | None


def call_facts(block: JsonObject, metadata: JsonObject | None = None) -> CallFacts | None:
    """The call in a block; its name is empty if the block has none yet."""
    call_id, name, kind = block.get("id"), block.get("name"), block.get("type")
    if not isinstance(call_id, str):
        return None
    name = name if isinstance(name, str) else ""
    rest = without(block, "type", "id", "name", "input", "server_name")
    if kind == "tool_use":
        return CallFacts(call_id, name, None, add_block_metadata(metadata, rest), mcp_metadata(name))
    server = block.get("server_name")
    server_metadata = {CLAUDE_CODE: {"server": server, "tool": name}} if isinstance(server, str) else None
    return CallFacts(
        call_id, name, True, add_block_metadata(metadata, {"type": kind, **rest}), server_metadata
    )


def call_chunks(block: JsonObject, id: str, metadata: JsonObject | None = None) -> Chunks:
    """A call with its whole input."""
    facts = call_facts(block, metadata)
    if facts is None or not facts.name:
        return None
    return (
        c.ToolInputAvailable(
            facts.call_id,
            facts.name,
            block.get("input", {}),
            provider_executed=facts.provider_executed,
            provider_metadata=facts.provider_metadata,
            tool_metadata=facts.tool_metadata,
        ),
    )


def mcp_metadata(name: str) -> JsonObject | None:
    """Tool metadata with the MCP server and its tool, whose name may contain `__` too."""
    if not name.startswith(MCP_PREFIX):
        return None
    server, found, tool = name[len(MCP_PREFIX) :].partition("__")
    return {CLAUDE_CODE: {"server": server, "tool": tool}} if found else None


def server_result(block: JsonObject, id: str, metadata: JsonObject | None = None) -> Chunks:
    """The result of a server tool, and the pages that it found."""
    call_id, content = block.get("tool_use_id"), block.get("content")
    if not isinstance(call_id, str):
        return None
    if block["type"] == "mcp_tool_result":
        own = add_block_metadata(metadata, {"type": block["type"]})
        return (output_chunk(block, UNSET, provider_metadata=own, provider_executed=True),)
    fields = {"type": block["type"], **without(block, "type", "tool_use_id", "content")}
    output: ToolOutput = ErrorJsonOutput(content) if _is_error(content) else JsonOutput(content)
    chunk = c.ToolOutputChunk(
        call_id, output, provider_executed=True, provider_metadata=add_block_metadata(metadata, fields)
    )
    return chunk, *sources_of(content, f"{call_id}-")


def sources_of(content: Json, prefix: str) -> list[c.SourceUrlChunk]:
    """The pages of a search or a fetch; their ids begin with `prefix`."""
    pages: list[Json] = content if is_array(content) else [content]
    return [
        c.SourceUrlChunk(f"{prefix}{number}", page["url"], _title(page))
        for number, page in enumerate(pages)
        if is_object(page) and isinstance(page.get("url"), str)
    ]


def file_chunks(block: JsonObject, id: str, metadata: JsonObject | None = None) -> Chunks:
    """An image or document of the model. One that only the provider has becomes data."""
    part = content_part(block)
    if not isinstance(part, ImagePart | FilePart):
        return None
    if isinstance(part, FilePart) and part.provider_reference is not None:
        return (c.DataChunk("data-claude-file", block),)
    own = notes(part.provider_metadata, ANTHROPIC)
    return (c.FileChunk(part.url, part.media_type or ANY_IMAGE, add_block_metadata(metadata, own)),)


def data_chunks(block: JsonObject, id: str, metadata: JsonObject | None = None) -> Chunks:
    """A block that is a notice: `data-claude-fallback` and the like."""
    return (c.DataChunk(data_type(str(block["type"])), block),)


def data_type(name: str) -> str:
    """The type of a data chunk for a block or an event of that name: `data-claude-compact-boundary`."""
    return f"data-claude-{name.replace('_', '-')}"


def add_block_metadata(metadata: JsonObject | None, fields: JsonObject) -> JsonObject | None:
    """Add the members of a block to provider metadata."""
    if not fields:
        return metadata
    return {ANTHROPIC: fields} if metadata is None else {**metadata, ANTHROPIC: fields}


def _is_error(content: Json) -> bool:
    kind = content.get("type") if is_object(content) else None
    return isinstance(kind, str) and kind.endswith("_error")


def _title(page: JsonObject) -> str | None:
    """The title of a page: a search has it in the page, a fetch in its document."""
    document = page.get("content")
    title = page.get("title") or (document.get("title") if is_object(document) else None)
    return title if isinstance(title, str) else None


READERS: Final[Mapping[str, Read]] = {
    "text": text_chunks,
    "thinking": thinking_chunks,
    "redacted_thinking": redacted_chunks,
    "tool_use": call_chunks,
    "server_tool_use": call_chunks,
    "mcp_tool_use": call_chunks,
    "image": file_chunks,
    "document": file_chunks,
    "compaction": data_chunks,
    "container_upload": data_chunks,
    "fallback": data_chunks,
}
"""Readers by the type of a block. Types that end in `_tool_result` are results of server tools."""


def response_block(part: AssistantPart) -> JsonObject | None:
    """The block of a response that a part was read from; `None` if the reader added the part."""
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": text, **notes(part.provider_metadata, ANTHROPIC)}
        case ReasoningPart(text=text):
            own = dict(notes(part.provider_metadata, ANTHROPIC))
            if "redactedData" in own:
                return {"type": "redacted_thinking", "data": own.pop("redactedData"), **own}
            return {"type": "thinking", "thinking": text, **own}
        case ToolCallPart():
            input_: Json = {} if part.input is UNSET else part.input
            call: JsonObject = {"type": "tool_use", "id": part.id, "name": part.name, "input": input_}
            return {**call, **notes(part.call_provider_metadata, ANTHROPIC)}
        case _:
            return None


# Citations. The original list is in the provider metadata of the text.

# https://docs.claude.com/en/docs/build-with-claude/citations
_DOCUMENTS: Final[Mapping[str, str]] = {
    "char_location": PLAIN,
    "page_location": "application/pdf",
    "content_block_location": PLAIN,
    "search_result_location": PLAIN,
}
"""The media type of the document by the type of a location in it."""


def citations_of(raw: Json, prefix: str) -> tuple[Citation, ...] | None:
    """The citations of a text that have a source; their ids begin with `prefix`."""
    if not is_array(raw):
        return None
    found = [_citation(item, f"{prefix}-{number}") for number, item in enumerate(raw) if is_object(item)]
    return tuple([citation for citation in found if citation is not None]) or None


def _citation(raw: JsonObject, id: str) -> Citation | None:
    title = nonempty_text(raw.get("title")) or nonempty_text(raw.get("document_title"))
    url, cited = nonempty_text(raw.get("url")) or nonempty_text(raw.get("source")), raw.get("cited_text")
    cited = cited if isinstance(cited, str) else None
    if url is not None and "://" in url:
        return Citation(UrlCitationSource(id, url, title), cited_text=cited)
    if url is None and "document_index" not in raw:
        return None
    kind, index = raw.get("type"), raw.get("document_index")
    media_type = _DOCUMENTS.get(kind, OCTETS) if isinstance(kind, str) else OCTETS
    name = f"document {index}" if isinstance(index, int) else "document"
    return Citation(DocumentCitationSource(id, media_type, title or url or name), cited_text=cited)
