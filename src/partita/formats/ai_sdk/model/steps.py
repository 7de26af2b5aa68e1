"""An assistant message cut into steps: what one model call said, and what tools answered."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.ai_sdk.ui.dump import dump_message
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, AssistantPart, ToolCallPart, ToolMessage
from partita.types.parts import ForeignPart, SteeringMessagePart, StepStartPart

from .calls import write_call
from .marks import note_of
from .outputs import is_result
from .parts import Pieces, convert_part, convert_ui, pieces_of, ui_version, write_part

Translate: TypeAlias = Callable[[Pieces], Pieces]
"""Turns the pieces of one canonical part into those of another version, or back."""


class Said(NamedTuple):
    """A part of a step, where it is, and what it became. A network has no part."""

    part: AssistantPart | None
    path: str
    pieces: Pieces

    @property
    def origin(self) -> ToolMessage | None:
        """The message that the result of a call came in, if it was one of its own."""
        return self.part.result_message if isinstance(self.part, ToolCallPart) else None

    @property
    def likeness(self) -> list[str]:
        """What it became, and where that stands: calls that are alike may share an id."""
        pieces = (*(self.pieces.said or ()), *(self.pieces.answered or ()))
        return [*(piece["type"] for piece in pieces), self.origin.id if self.origin else ""]


class Answers(NamedTuple):
    """One tool message behind a step: its id, what stands around its content, and its content."""

    id: str
    origin: ToolMessage | None
    content: list[Json]


@dataclass(slots=True)
class Step:
    """The parts of one model call, and what stands around the content of its assistant message."""

    options: JsonObject | None = None
    note: JsonObject = field(default_factory=dict[str, Json])
    starts: list[tuple[StepStartPart, str]] = field(default_factory=list[tuple[StepStartPart, str]])
    said: list[Said] = field(default_factory=list[Said])
    steering: JsonObject | None = None

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing in it, not even the note that there is nothing."""
        return not self.said and self.steering is None and self.note.get("content") != "empty"

    @property
    def content(self) -> list[Json] | None:
        """What the assistant says in it; `None` when there is no message."""
        found = [said.pieces.said for said in self.said if said.pieces.said is not None]
        if not found and self.note.get("content") != "empty":
            return None
        return [piece for pieces in found for piece in pieces]

    @property
    def is_silent(self) -> bool:
        """Whether it becomes no message at all."""
        return self.content is None and self.steering is None and not self.answers("")

    def answers(self, own_id: str) -> list[Answers]:
        """The tool messages behind it: one, and one more for every other message that results came in."""
        groups: dict[str, Answers] = {}
        for said in self.said:
            for piece in said.pieces.answered or ():
                origin = said.origin if is_result(piece) else None
                id_ = own_id if origin is None else origin.id
                group = groups.setdefault(id_, Answers(id_, origin, []))
                group.content.append(piece)
                if group.origin is None:
                    groups[id_] = group._replace(origin=origin)
        if not groups and any(said.pieces.answered is not None for said in self.said):
            return [Answers(own_id, None, [])]
        return sorted(groups.values(), key=lambda group: group.id != own_id)


def steps_of(
    message: AssistantMessage, path: str, version: int, superseded: bool, down: Translate
) -> list[Step]:
    """The steps of a message. The first has what stands around the message itself."""
    steps = [Step(message.content.provider_metadata, note_of(message) or {})]
    for index, part in enumerate(message.parts):
        where = f"{path}.content.parts[{index}]"
        match part:
            case StepStartPart():
                _start(steps, part, where)
            case SteeringMessagePart() | ForeignPart(value={"type": "steering-message"}):
                said = _steered(part, version, where)
                steps[-1].said.append(Said(part, where, Pieces(None)))
                if said:
                    steps[-1].steering = said[0]
                    steps.append(Step())
            case ToolCallPart():
                pieces = write_call(part, version, where, superseded)
                steps[-1].said.append(Said(part, where, down(pieces)))
            case _:
                pieces = write_part(part, "assistant", version, where)
                steps[-1].said.append(Said(part, where, down(pieces)))
    if message.content.network_execution is not None:
        steps[-1].said.append(_network(message, path, version, down))
    return steps


def _steered(part: AssistantPart, version: int, path: str) -> list[JsonObject]:
    """The user message that a steering message becomes, be it one that the SDK takes and we do not know."""
    try:
        return convert_part(part, "assistant", version, path)
    except ConversionError:
        return []


def _start(steps: list[Step], part: StepStartPart, path: str) -> None:
    if not steps[-1].is_blank:
        steps.append(Step())
    last = steps[-1]
    last.starts.append((part, path))
    if len(steps) > 1:
        last.options, last.note = part.provider_metadata, note_of(part) or {}


def _network(message: AssistantMessage, path: str, version: int, down: Translate) -> Said:
    bare = replace(message, content=replace(message.content, parts=()))
    ui = dump_message(bare, path, [], ui_version(version))
    converted = convert_ui(ui, version, path)
    return Said(None, path, down(pieces_of(converted, "assistant", version)))
