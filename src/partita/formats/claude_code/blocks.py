"""Content blocks of an answer, whole → chunks: words, reasoning, calls, and what API-side tools bring.

What a chunk has no place for stands in its provider metadata under `anthropic`, under the names of the block;
redacted reasoning under `redactedData` and the type of a result block under `type`, so that the blocks can
be written again.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from msgspec import UNSET

from partita.types.chunks import (
    Chunk,
    DataChunk,
    FileChunk,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    SourceUrlChunk,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolOutputChunk,
)
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import FilePart, ForeignPart
from partita.types.tools import ErrorJsonOutput, JsonOutput, ToolOutput

from .citations import citations_of
from .media import ANTHROPIC, UNKNOWN_IMAGE, media_part
from .results import CLAUDE_CODE, output_chunk

RESULT: Final = "_tool_result"
"""How the types of blocks end that hold what a tool of the API gave back: `web_search_tool_result`."""

MCP_PREFIX: Final = "mcp__"

Read: TypeAlias = Callable[[JsonObject, str, JsonObject | None], Sequence[Chunk] | None]


def block_chunks(block: JsonObject, id: str, metadata: JsonObject | None = None) -> Sequence[Chunk] | None:
    """The chunks that a whole block amounts to; `None` when it is unknown or not what its type says.

    `id` names a text or a reasoning; `metadata` is provider metadata to stand beside that of the block.
    """
    kind = block.get("type")
    if not isinstance(kind, str):
        return None
    read = READERS.get(kind)
    if read is None and kind.endswith(RESULT):
        read = server_result
    return None if read is None else read(block, id, metadata)


def text_chunks(block: JsonObject, id: str, metadata: JsonObject | None = None) -> Sequence[Chunk] | None:
    """A text with its citations."""
    text = block.get("text")
    if not isinstance(text, str):
        return None
    told = beside(metadata, rest_of(block, "type", "text"))
    start = TextStart(id, told)
    end = TextEnd(id, citations=citations_of(block.get("citations"), id))
    return (start, TextDelta(id, text), end) if text else (start, end)


def thinking_chunks(block: JsonObject, id: str, metadata: JsonObject | None = None) -> Sequence[Chunk] | None:
    """Reasoning and its signature. Empty reasoning is no error: some versions show the signature alone."""
    text = block.get("thinking")
    if not isinstance(text, str):
        return None
    start = ReasoningStart(id, beside(metadata, rest_of(block, "type", "thinking")))
    return (start, ReasoningDelta(id, text), ReasoningEnd(id)) if text else (start, ReasoningEnd(id))


def redacted_chunks(block: JsonObject, id: str, metadata: JsonObject | None = None) -> Sequence[Chunk] | None:
    """Reasoning that only the provider can read."""
    if not isinstance(block.get("data"), str):
        return None
    fields = {"redactedData": block["data"], **rest_of(block, "type", "data")}
    return ReasoningStart(id, beside(metadata, fields)), ReasoningEnd(id)


class CallFacts(NamedTuple):
    """What a block says of a call, without its input."""

    call_id: str
    name: str
    provider_executed: bool | None
    provider_metadata: JsonObject | None
    tool_metadata: JsonObject | None


def call_facts(block: JsonObject, metadata: JsonObject | None = None) -> CallFacts | None:
    """The call that a block holds; its name is empty when the block has none yet."""
    call_id, name, kind = block.get("id"), block.get("name"), block.get("type")
    if not isinstance(call_id, str):
        return None
    name = name if isinstance(name, str) else ""
    told = rest_of(block, "type", "id", "name", "input", "server_name")
    if kind == "tool_use":
        return CallFacts(call_id, name, None, beside(metadata, told), server_of(name))
    server = block.get("server_name")
    of_server = {CLAUDE_CODE: {"server": server, "tool": name}} if isinstance(server, str) else None
    return CallFacts(call_id, name, True, beside(metadata, {"type": kind, **told}), of_server)


def call_chunks(block: JsonObject, id: str, metadata: JsonObject | None = None) -> Sequence[Chunk] | None:
    """A call and its whole input."""
    facts = call_facts(block, metadata)
    if facts is None or not facts.name:
        return None
    return (
        ToolInputAvailable(
            facts.call_id,
            facts.name,
            block.get("input", {}),
            provider_executed=facts.provider_executed,
            provider_metadata=facts.provider_metadata,
            tool_metadata=facts.tool_metadata,
        ),
    )


def server_of(name: str) -> JsonObject | None:
    """Tool metadata that tells server and tool apart; the tool's own name may hold `__` again."""
    if not name.startswith(MCP_PREFIX):
        return None
    server, found, tool = name[len(MCP_PREFIX) :].partition("__")
    return {CLAUDE_CODE: {"server": server, "tool": tool}} if found else None


def server_result(block: JsonObject, id: str, metadata: JsonObject | None = None) -> Sequence[Chunk] | None:
    """What a tool of the API gave back, and the pages it found."""
    call_id, content = block.get("tool_use_id"), block.get("content")
    if not isinstance(call_id, str):
        return None
    if block["type"] == "mcp_tool_result":
        told = beside(metadata, {"type": block["type"]})
        return (output_chunk(block, UNSET, provider_metadata=told, provider_executed=True),)
    fields = {"type": block["type"], **rest_of(block, "type", "tool_use_id", "content")}
    output: ToolOutput = ErrorJsonOutput(content) if _is_error(content) else JsonOutput(content)
    chunk = ToolOutputChunk(
        call_id, output, provider_executed=True, provider_metadata=beside(metadata, fields)
    )
    return chunk, *sources_of(content, call_id)


def sources_of(content: Json, call_id: str) -> Sequence[SourceUrlChunk]:
    """The pages that a search found or a fetch read."""
    pages: list[Json] = content if is_array(content) else [content]
    chunks: list[SourceUrlChunk] = []
    for number, page in enumerate(pages):
        if is_object(page) and isinstance(page.get("url"), str):
            chunks.append(SourceUrlChunk(f"{call_id}-{number}", page["url"], _title(page)))
    return chunks


def file_chunks(block: JsonObject, id: str, metadata: JsonObject | None = None) -> Sequence[Chunk] | None:
    """A picture or document of the model; one that only the provider holds is data."""
    part = media_part(block)
    if isinstance(part, ForeignPart):
        return None
    if isinstance(part, FilePart) and part.provider_reference is not None:
        return (DataChunk("data-claude-file", block),)
    own = (part.provider_metadata or {}).get(ANTHROPIC, {})
    return (FileChunk(part.url, part.media_type or UNKNOWN_IMAGE, beside(metadata, own)),)


def data_chunks(block: JsonObject, id: str, metadata: JsonObject | None = None) -> Sequence[Chunk] | None:
    """A block that is a notice, not words: `data-claude-fallback` and the like."""
    return (DataChunk(f"data-claude-{str(block['type']).replace('_', '-')}", block),)


def rest_of(block: JsonObject, *known: str) -> JsonObject:
    """The fields of a block that have no name here."""
    return {key: value for key, value in block.items() if key not in known}


def beside(metadata: JsonObject | None, fields: JsonObject) -> JsonObject | None:
    """Provider metadata with the fields of a block added; `None` when there is nothing to say."""
    if not fields:
        return metadata
    return {ANTHROPIC: fields} if metadata is None else {**metadata, ANTHROPIC: fields}


def _is_error(content: Json) -> bool:
    kind = content.get("type") if is_object(content) else None
    return isinstance(kind, str) and kind.endswith("_error")


def _title(page: JsonObject) -> str | None:
    """A search names its pages itself, a fetch names the document it brought."""
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
"""Blocks by type. Types that end in `_tool_result` are results of the API's own tools, whatever the tool."""
