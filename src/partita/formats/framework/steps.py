"""A stored conversation as a framework keeps it: one step of the model after the other, and what came of it.

An assistant message is cut where a step starts, where the user steered, and where a call id comes again, for
in each framework a call and its result find each other by that id.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from partita.types.json import JsonObject
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    network_text,
)
from partita.types.parts import SteeringMessagePart, StepStartPart

NETWORK: Final = "content.networkExecution.finalResult"


class Placed(NamedTuple):
    """A part, and where it is."""

    part: AssistantPart
    path: str


class Spoken(NamedTuple):
    """A message of the system or of the user."""

    message: SystemMessage | UserMessage
    path: str


class Unasked(NamedTuple):
    """Results that no call waits for."""

    message: ToolMessage
    path: str


class Step(NamedTuple):
    """What the assistant said and called in one step."""

    message: AssistantMessage
    path: str
    number: int
    starts: Sequence[Placed]
    """The boundaries that stand before it."""
    parts: Sequence[Placed]
    said: str | None = None
    """What a network came to, when nothing else says it."""

    @property
    def id(self) -> str:
        """The id of the step, as `expand` would give it."""
        return self.message.id if self.number == 1 else f"{self.message.id}#{self.number}"

    @property
    def results_id(self) -> str:
        """The id of the message that its results stand in, unless they came in one of their own."""
        return f"{self.message.id}#{self.number}:results"


class Steered(NamedTuple):
    """What the user said while the assistant was at work."""

    part: SteeringMessagePart
    path: str


class Idle(NamedTuple):
    """Boundaries behind the last step."""

    starts: Sequence[Placed]


Turn: TypeAlias = Spoken | Unasked | Step | Steered | Idle


def turns_in(message: Message, path: str, is_told: Callable[[AssistantPart], bool]) -> Iterator[Turn]:
    """The turns of a message in the merged view. What is not told makes no step."""
    match message:
        case AssistantMessage():
            yield from _steps(message, path, is_told)
        case ToolMessage():
            yield Unasked(message, path)
        case _:
            yield Spoken(message, path)


def _steps(
    message: AssistantMessage, path: str, is_told: Callable[[AssistantPart], bool]
) -> Iterator[Step | Steered | Idle]:
    number = 1
    starts: list[Placed] = []
    parts: list[Placed] = []
    calls: set[str] = set()
    has_told = False
    for index, part in enumerate(message.parts):
        placed = Placed(part, f"{path}.content.parts[{index}]")
        again = isinstance(part, ToolCallPart) and part.id in calls
        is_other = again or isinstance(part, StepStartPart | SteeringMessagePart)
        if is_other and has_told:
            yield Step(message, path, number, starts, parts)
            number, starts, parts = number + 1, [], []
            calls.clear()
            has_told = False
        match part:
            case SteeringMessagePart():
                yield Steered(part, placed.path)
            case StepStartPart():
                starts.append(placed)
            case _:
                parts.append(placed)
                has_told = has_told or is_told(part)
        if isinstance(part, ToolCallPart):
            calls.add(part.id)
    said = network_text(message)
    if parts or said is not None or number == 1:
        yield Step(message, path, number, starts, parts, said)
    elif starts:
        yield Idle(starts)


def insert_at_places(blocks: list[JsonObject], moved: Iterable[tuple[int, JsonObject]]) -> None:
    """Insert blocks at the places they had among others, in order. A place beyond the end is the end."""
    for at, block in sorted(moved, key=lambda pair: pair[0]):
        blocks.insert(max(-len(blocks), min(at, len(blocks))), block)
