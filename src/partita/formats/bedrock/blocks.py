"""The blocks of a message ↔ parts, in requests and responses.

They need a module of their own because some blocks belong to the one before them: a cache point is a note on
a part, and the result of a server tool is the output of its call.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from partita.formats.core.metadata import add_notes, notes
from partita.formats.core.turns import Placed
from partita.formats.core.wire import UnknownVariant, Wire, kind_of, to_json
from partita.types.fold import state_after
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import CustomPart, ForeignPart, TextPart
from partita.types.tools import ToolResultPart

from . import wire
from .parts import ASSISTANT_BLOCKS, RESULTS, USER_BLOCKS
from .wire import NAME

CACHE: Final = "cachePoint"
"""A block, and the note of the AI SDK on what is before it."""

BEHIND: Final = "behind"
"""The note of how many blocks are between the call of a server tool and its result."""

Role: TypeAlias = Literal["user", "assistant", "system"]


class PlacedPart(NamedTuple):
    """A part, and the number of its block."""

    part: Any
    place: int


def read_blocks(raws: Sequence[JsonObject], role: Role, calls: Mapping[str, str]) -> list[PlacedPart]:
    """The parts of a message. `calls` are the names of open calls by id."""
    found: list[PlacedPart] = []
    served: dict[str, int] = {}
    for number, raw in enumerate(raws):
        last = found[-1] if found else None
        point = raw.get(CACHE) if len(raw) == 1 else None
        if is_object(point) and last is not None and last.place == number - 1:
            found[-1] = last._replace(part=_noted(last.part, {CACHE: point}))
            continue
        part = read_block(wire.BLOCKS.read(raw), role, calls)
        if isinstance(part, ToolCallPart) and part.provider_executed:
            served.setdefault(part.id, len(found))
        at = served.pop(part.id, None) if role == "assistant" and isinstance(part, ToolResultPart) else None
        if at is not None:
            found[at] = found[at]._replace(
                part=add_result(found[at].part, part, number - found[at].place - 1)
            )
        elif role == "assistant" and isinstance(part, ToolResultPart | ForeignPart):
            found.append(PlacedPart(custom(raw), number))
        else:
            found.append(PlacedPart(part, number))
    return found


def read_block(block: Wire | UnknownVariant, role: Role, calls: Mapping[str, str]) -> Any:
    """The part of a block. One that has no part in a message of that role is kept whole."""
    if isinstance(block, wire.ToolResultBlock) and role != "system":
        return RESULTS.read(block, calls)
    part = (ASSISTANT_BLOCKS if role == "assistant" else USER_BLOCKS).read(block, role)
    is_kept = role == "system" and not isinstance(part, TextPart)
    return ForeignPart(NAME, to_json(block)) if is_kept else part


def add_result(call: ToolCallPart, result: ToolResultPart, behind: int) -> ToolCallPart:
    """The call of a server tool with its result."""
    metadata = add_notes(result.provider_metadata, NAME, {BEHIND: behind} if behind else {})
    state = state_after(result.output)
    return replace(call, state=state, output=result.output, result_provider_metadata=metadata)


def custom(raw: JsonObject) -> CustomPart:
    """The part of a block that has no other."""
    return CustomPart(f"{NAME}.{next(iter(raw), '')}", provider_metadata={NAME: raw})


def _noted(part: Any, more: JsonObject) -> Any:
    field = "call_provider_metadata" if isinstance(part, ToolCallPart) else "provider_metadata"
    return replace(part, **{field: add_notes(getattr(part, field), NAME, more)})


def write_blocks(parts: Sequence[Placed], role: Role) -> tuple[list[JsonObject], list[int | None]]:
    """The blocks of a message, and the number of each part's block."""
    blocks: list[JsonObject] = []
    places: list[int | None] = []
    waiting: list[tuple[int, JsonObject]] = []  # results of server tools, and where they go
    for part, _ in parts:
        block = _write_block(part, role)
        places.append(None if block is None else len(blocks))
        if block is None:
            continue
        blocks.append(to_json(block))
        metadata = part.call_provider_metadata if isinstance(part, ToolCallPart) else part.provider_metadata
        point = notes(metadata, NAME).get(CACHE)
        if is_object(point) and not isinstance(part, CustomPart):
            blocks.append({CACHE: point})
        if isinstance(part, ToolCallPart) and part.provider_executed and part.output is not None:
            result = ToolResultPart(part.id, part.name, part.output, part.result_provider_metadata)
            behind = notes(part.result_provider_metadata, NAME).get(BEHIND)
            at = len(blocks) + (behind if type(behind) is int else 0)
            waiting.append((at, to_json(RESULTS.write(result))))
        while waiting and waiting[0][0] <= len(blocks):
            blocks.append(waiting.pop(0)[1])
    return [*blocks, *(block for _, block in waiting)], places


def _write_block(part: Any, role: Role) -> Wire | JsonObject | None:
    match part:
        case CustomPart():
            own = notes(part.provider_metadata, NAME)
            # Unknown deltas of a stream are kept in `deltas`: such a block is not known as a whole.
            return own if own and part.kind.startswith(f"{NAME}.") and "deltas" not in own else None
        case ToolResultPart():
            return RESULTS.write(part)
        case _ if role == "system" and not isinstance(part, TextPart | ForeignPart):
            return None
        case _:
            return (ASSISTANT_BLOCKS if role == "assistant" else USER_BLOCKS).write(part)


def is_written(part: AssistantPart) -> bool:
    """Whether a part of the assistant has a block."""
    return _write_block(part, "assistant") is not None


def has_kind(block: Json, *kinds: type[Wire]) -> bool:
    """Whether a block is one of these kinds."""
    return is_object(block) and any(kind_of(kind) in block for kind in kinds)
