"""The blocks of the assistant ↔ parts: in the messages of a request, and in a response.

They need a module of their own because results of server tools are blocks behind their calls, and sources are
derived from results and citations.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from partita.formats.core.metadata import notes
from partita.formats.core.report import Place
from partita.formats.core.turns import Placed
from partita.formats.core.wire import Wire, to_json
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import (
    CustomPart,
    ForeignPart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
)

from . import wire
from .parts import ASSISTANT_BLOCKS, CALL_ID
from .server_tools import INDEX, SEARCH, Sources, add_result, is_result, write_result
from .wire import NAME

# The API takes these blocks back only while the tool is declared (seen in its error messages).
DECLARED: Final = ("advisor", SEARCH)


class PlacedPart(NamedTuple):
    """A part of a step, and its place among the blocks."""

    part: Any
    place: Place


def read_blocks(blocks: Sequence[Any], response: str) -> list[PlacedPart]:
    """The parts of the assistant's blocks. `response` is for the ids of sources.

    Results of server tools are in their calls. Sources are derived from results and citations.
    """
    found: list[PlacedPart] = []
    sources = Sources(response)
    calls: dict[str, int] = {}
    for index, block in enumerate(blocks):
        if isinstance(block, wire.UnknownBlock) and is_result(raw := dict(block.raw)):
            at = calls.get(raw["tool_use_id"])
            if at is None or found[at].part.output is not None:
                found.append(PlacedPart(custom(raw), index))
            else:
                found[at] = found[at]._replace(part=add_result(found[at].part, raw, index))
            found += [PlacedPart(page, source_place(page)) for page in sources.add_result(raw)]
            continue
        if isinstance(block, wire.Call) and block.id in calls:
            found.append(PlacedPart(custom(to_json(block)), index))
            continue
        part = read_block(block, index, sources)
        if isinstance(part, ToolCallPart):
            calls[part.id] = len(found)
        found.append(PlacedPart(part, index))
        for number, raw in enumerate(block.citations or () if isinstance(block, wire.Text) else ()):
            if is_object(raw) and (document := sources.cited_document(raw, index, number)) is not None:
                found.append(PlacedPart(document, source_place(document)))
    return [*found, *(PlacedPart(page, source_place(page)) for page in sources.cited_pages())]


def read_block(block: Any, index: int, sources: Sources) -> Any:
    """The part of a block that is not a result."""
    if isinstance(block, wire.Thinking) and not block.signature:
        return ReasoningPart(block.thinking)
    sources.index = index
    part = ASSISTANT_BLOCKS.read(block, sources)
    return custom(part.value) if isinstance(part, ForeignPart) else part


def custom(raw: JsonObject) -> CustomPart:
    """The part of a block that has no other."""
    return CustomPart(f"{NAME}.{raw['type']}", provider_metadata={NAME: raw})


def source_place(part: SourceUrlPart | SourceDocumentPart) -> Place:
    """The place of a source, which has no block: what it refers to."""
    return part.type, part.url if isinstance(part, SourceUrlPart) else part.title, str(part.provider_metadata)


def write_blocks(
    parts: Sequence[Placed], declared: frozenset[str] | None
) -> tuple[list[Json], list[Place | None]]:
    """The blocks of the assistant's parts, and the place of each part.

    `declared` are the names of the server tools of the request; `None` if they are unknown.
    """
    blocks: list[tuple[Json, int | None]] = []
    places: list[Place | None] = [None] * len(parts)
    waiting: list[tuple[int, Json]] = []  # results of server tools, by position

    def flush(before: int | None) -> None:
        due = [one for one in waiting if before is None or one[0] < before]
        waiting[:] = [one for one in waiting if one not in due]
        blocks.extend((block, None) for _, block in sorted(due, key=lambda one: one[0]))

    for number, (part, _) in enumerate(parts):
        if isinstance(part, SourceUrlPart | SourceDocumentPart):
            places[number] = source_place(part)
            continue
        block = _write_block(part, declared)
        if block is None:
            continue
        position = index_of(part.call_provider_metadata) if type(part) is ToolCallPart else None
        if waiting:
            flush(position)
        blocks.append((block, number))
        if type(part) is ToolCallPart and part.provider_executed:
            result = write_result(part, CALL_ID.fit(part.id))
            if result is not None:
                at = index_of(part.result_provider_metadata)
                waiting.append((-1 if at is None else at, result))
    flush(None)
    for index, (_, owner) in enumerate(blocks):
        if owner is not None:
            places[owner] = index
    return [block for block, _ in blocks], places


def _write_block(part: Any, declared: frozenset[str] | None) -> Wire | JsonObject | None:
    if isinstance(part, CustomPart):
        own = notes(part.provider_metadata, NAME)
        # Unknown deltas of a stream are kept in `deltas`: such a block is not known as a whole.
        return own if isinstance(own.get("type"), str) and "deltas" not in own else None
    is_served = isinstance(part, ToolCallPart) and part.provider_executed
    if is_served and part.name.startswith(DECLARED) and declared is not None and part.name not in declared:
        return None
    return ASSISTANT_BLOCKS.write(part)


def index_of(metadata: JsonObject | None) -> int | None:
    """The position that a block had."""
    index = notes(metadata, NAME).get(INDEX)
    return index if type(index) is int else None


def is_written(part: AssistantPart) -> bool:
    """Whether a part has a block."""
    return isinstance(part, CustomPart) or ASSISTANT_BLOCKS.can_write(part)
