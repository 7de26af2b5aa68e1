"""Codecs for the blocks of the Messages API, and the blocks of a message: in requests and in responses."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET

from partita.formats.core.anthropic import DOCUMENT, IMAGE
from partita.formats.core.codec import MessageBlocks, PartCodec, PartCodecs
from partita.formats.core.metadata import notes
from partita.formats.core.rules import Alphabet
from partita.formats.core.sources import source_position
from partita.formats.core.tool_text import as_text, object_input, read_tool_text, write_tool_text
from partita.formats.core.turns import LocatedPart, Position, ReadPart
from partita.formats.core.wire import Wire, to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    ContentOutput,
    ErrorJsonOutput,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    TextPart,
    ToolOutput,
    ToolResultPart,
)

from . import wire
from .server_tools import (
    CALLER,
    FIELDS,
    MCP,
    SERVED,
    Sources,
    add_result,
    inverse,
    is_result,
    renamed,
    write_server_result,
)
from .wire import NAME

# The pattern of ids and names: "^[a-zA-Z0-9_-]{1,128}$" for names, "^[a-zA-Z0-9_-]+$" for ids
# https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use
_REFUSED: Final = re.compile(r"[^A-Za-z0-9_-]")
CALL_ID: Final = Alphabet(_REFUSED)
TOOL_NAME: Final = Alphabet(_REFUSED, 128)

COMPACTION: Final = "compaction"
"""The note of the AI SDK on a text that is a compaction."""


# Text and reasoning


def read_text(block: wire.Text, context: Any) -> TextPart:
    raw = block.citations
    if not raw or not is_array(raw):
        return TextPart(block.text)
    found = [citation for one in raw if is_object(one) and (citation := context.citation(one)) is not None]
    return TextPart(block.text, citations=tuple(found) or None, provider_metadata={NAME: {"citations": raw}})


def write_text(part: TextPart) -> Wire:
    raw = notes(part.provider_metadata, NAME).get("citations")
    return wire.Text(text=part.text, citations=raw if is_array(raw) and raw else UNSET)


def is_compaction(part: TextPart) -> bool:
    return notes(part.provider_metadata, NAME).get("type") == COMPACTION


def write_compaction(part: TextPart) -> Wire:
    return wire.Compaction(content=part.text)


def read_thinking(block: wire.Thinking | wire.RedactedThinking, context: Any) -> ReasoningPart:
    if isinstance(block, wire.RedactedThinking):
        return ReasoningPart("", provider_metadata={NAME: {"redactedData": block.data}})
    return ReasoningPart(block.thinking, provider_metadata={NAME: {"signature": block.signature}})


def write_thinking(part: ReasoningPart) -> Wire | None:
    own = notes(part.provider_metadata, NAME)
    data, signature = own.get("redactedData"), own.get("signature")
    if isinstance(data, str):
        return wire.RedactedThinking(data=data)
    # The API refuses thinking that it did not sign:
    # https://docs.claude.com/en/docs/build-with-claude/extended-thinking#preserving-thinking-blocks
    is_signed = isinstance(signature, str) and bool(signature)
    return wire.Thinking(thinking=part.text, signature=signature) if is_signed else None


def unread(block: Wire, context: Any) -> None:
    """A block that has no part: it is kept whole."""


# Calls and results


def read_call(block: wire.Call, context: Any) -> ToolCallPart:
    own: JsonObject = {}
    if isinstance(block, wire.McpToolUse):
        own = {"type": MCP, "serverName": block.server_name}
    if is_object(block.caller):
        own["caller"] = renamed(block.caller, CALLER)
    is_served = type(block) is not wire.ToolUse
    if is_served:
        own[SERVED] = True
    return ToolCallPart(
        block.id,
        block.name,
        "input-available",
        block.input,
        provider_executed=True if is_served else None,
        dynamic=isinstance(block, wire.McpToolUse),
        call_provider_metadata={NAME: own} if own else None,
    )


def write_call(part: ToolCallPart) -> Wire | None:
    own = notes(part.call_provider_metadata, NAME)
    if part.provider_executed and not own:
        return None  # a server tool of another provider
    type_: Any = wire.ServerToolUse if part.provider_executed else wire.ToolUse
    about: JsonObject = {"caller": renamed(own["caller"], inverse(CALLER))} if "caller" in own else {}
    if part.provider_executed and own.get("type") == MCP:
        type_, about = wire.McpToolUse, {**about, "server_name": own.get("serverName")}
    id_, name = CALL_ID.fit(part.id), TOOL_NAME.fit(part.name)
    call: Wire = type_(id=id_, name=name, input=object_input(part), **about)
    return call


def read_result(block: wire.ToolResult, names: Mapping[str, str]) -> ToolResultPart:
    content, is_failed = block.content, block.is_error is True
    output: ToolOutput
    match content:
        case tuple():
            only = content[0] if len(content) == 1 else None
            if not is_failed:
                output = ContentOutput(tuple(USER_BLOCKS.read(item, Sources("")) for item in content))
            elif isinstance(only, wire.Text) and only == wire.Text(text=only.text):
                output = read_tool_text("failed", only.text)
            else:
                output = ErrorJsonOutput([to_json(item) for item in content])
        case _:
            output = read_tool_text("failed" if is_failed else "success", content or "")
    return ToolResultPart(block.tool_use_id, names.get(block.tool_use_id, ""), output)


def write_result(part: ToolResultPart) -> Wire:
    outcome, value, items = write_tool_text(part.output)
    content: Any = UNSET
    if items is not None:
        # The API refuses an empty text, also in a result (seen in its error messages)
        content = tuple(USER_BLOCKS.write_all(items, skips_blank=True))
    elif value is not None:
        content = as_text(value)
    is_error = True if outcome in ("failed", "interrupted") else UNSET
    return wire.ToolResult(tool_use_id=CALL_ID.fit(part.id), content=content or UNSET, is_error=is_error)


# The tables

# The AI SDK uses the namespace too, so the residue is in a member of its own.
_TEXT: Final = PartCodec(wire.Text, TextPart, read_text, write_text)
USER_BLOCKS: Final[PartCodecs[Any]] = PartCodecs(NAME, _TEXT, IMAGE, DOCUMENT, member=FIELDS)
ASSISTANT_BLOCKS: Final[PartCodecs[Any]] = PartCodecs(
    NAME,
    PartCodec(wire.Compaction, TextPart, unread, write_compaction, suits=is_compaction),
    _TEXT,
    PartCodec((wire.Thinking, wire.RedactedThinking), ReasoningPart, read_thinking, write_thinking),
    PartCodec(
        (wire.ToolUse, wire.ServerToolUse, wire.McpToolUse),
        ToolCallPart,
        read_call,
        write_call,
        metadata="call_provider_metadata",
    ),
    member=FIELDS,
    custom=True,
)
RESULTS: Final[PartCodecs[Mapping[str, str]]] = PartCodecs(
    NAME, PartCodec(wire.ToolResult, ToolResultPart, read_result, write_result), member=FIELDS
)


# The blocks of the assistant. Results of server tools are blocks after their calls.


def read_blocks(blocks: Sequence[Any], response: str) -> list[ReadPart]:
    """The parts of the assistant's blocks. `response` is for the ids of sources.

    Results of server tools are in their calls. Sources are derived from results and citations.
    """
    found: list[ReadPart] = []
    sources = Sources(response)
    calls: dict[str, int] = {}
    for index, block in enumerate(blocks):
        if isinstance(block, wire.UnknownBlock) and is_result(raw := dict(block.raw)):
            at = calls.get(raw["tool_use_id"])
            if at is None or found[at].part.output is not None:
                found.append(ReadPart(ASSISTANT_BLOCKS.keep(raw), index))
            else:
                call, position = found[at]
                found[at] = ReadPart(add_result(call, raw, index - position - 1), position)
            found += [ReadPart(page, source_position(page)) for page in sources.add_result(raw)]
            continue
        if isinstance(block, wire.Call) and block.id in calls:
            found.append(ReadPart(ASSISTANT_BLOCKS.keep(to_json(block)), index))
            continue
        part = read_block(block, sources)
        if isinstance(part, ToolCallPart):
            calls[part.id] = len(found)
        found.append(ReadPart(part, index))
        for number, raw in enumerate(block.citations or () if isinstance(block, wire.Text) else ()):
            if is_object(raw) and (document := sources.cited_document(raw, index, number)) is not None:
                found.append(ReadPart(document, source_position(document)))
    return [*found, *(ReadPart(page, source_position(page)) for page in sources.cited_pages())]


def read_block(block: Any, sources: Sources) -> Any:
    """The part of a block that is not a result."""
    if isinstance(block, wire.Thinking) and not block.signature:
        return ReasoningPart(block.thinking)
    return ASSISTANT_BLOCKS.read(block, sources)


class _Blocks(MessageBlocks):
    """The blocks of messages. Sources have positions, but no blocks."""

    def write_all(
        self, parts: Sequence[LocatedPart], role: str, text: str | None = None
    ) -> tuple[list[Json], list[Position | None]]:
        blocks, positions = super().write_all(parts, role, text)
        for number, (part, _) in enumerate(parts):
            if isinstance(part, SourceUrlPart | SourceDocumentPart):
                positions[number] = source_position(part)
        return blocks, positions

    def write_server_results(self, call: ToolCallPart) -> Sequence[tuple[Json, JsonObject]]:
        result = write_server_result(call, CALL_ID.fit(call.id))
        return [] if result is None else [(result, notes(call.result_provider_metadata, NAME))]


BLOCKS: Final = _Blocks(USER_BLOCKS, ASSISTANT_BLOCKS, RESULTS, lambda text: wire.Text(text=text))
