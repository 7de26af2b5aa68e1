"""AG-UI messages → canonical messages.

Reasoning messages become parts of the assistant message behind them. An activity is a notice with data in it.
Messages of a sub-agent whose name is the id of a call hang under that call; those of any other are internal.
"""

from collections.abc import Sequence
from functools import cached_property

from msgspec.structs import replace

from partita.formats.ag_ui.notes import FORMAT
from partita.formats.losses import Loss
from partita.types.fold import fold
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, Message, ToolCallPart, derive_type
from partita.types.parts import ForeignPart, ReasoningPart

from .agents import Grouped, calls_in, grouped
from .answers import read_answer
from .raw import Raw, checked
from .results import read_result
from .turns import alone, read_activity, read_reasoning, read_system, read_user


def read_messages(raws: Sequence[Json], path: str, losses: list[Loss]) -> list[Message]:
    """Canonical messages of a list of messages."""
    known = [checked(raw, f"{path}[{place}]", place, losses) for place, raw in enumerate(raws)]
    groups = grouped(known)
    return _Agent(groups.messages.pop(None, []), groups).read()


class _Agent:
    """The messages of one agent on their way."""

    def __init__(self, raws: Sequence[Raw], groups: Grouped) -> None:
        self._raws = raws
        self._groups = groups
        self._messages: list[Message] = []
        self._thoughts: list[ReasoningPart] = []
        self._before: AssistantMessage | None = None
        self._names: dict[str, str] = {}  # the tools of the calls so far

    def read(self) -> list[Message]:
        """All of them."""
        for raw in self._raws:
            self._take(raw)
        self._end_thoughts()
        return [_typed(message) for message in fold(self._messages)]

    def _take(self, raw: Raw) -> None:
        match raw.value["role"]:
            case "reasoning":
                self._thoughts.append(read_reasoning(raw))
            case "assistant":
                self._answer(raw)
            case "tool":
                self._end_thoughts()
                self._messages.append(read_result(raw, self._name_of))
            case _:
                self._end_thoughts()
                self._before = None
                self._messages.append(_turn(raw))

    def _answer(self, raw: Raw) -> None:
        message = read_answer(raw, self._thoughts, self._before, self._below)
        self._messages.append(message)
        self._before, self._thoughts = message, []
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                self._names[part.id] = part.name

    def _name_of(self, call_id: str) -> str:
        """The tool of a call: of the last one of that id, or the next one if none was before."""
        name = self._names.get(call_id)
        return self._later_names.get(call_id, "") if name is None else name

    @cached_property
    def _later_names(self) -> dict[str, str]:
        calls = [call for raw in self._raws for call in calls_in(raw.value)]
        return {call["id"]: call["function"]["name"] for call in reversed(calls)}

    def _end_thoughts(self) -> None:
        if self._thoughts:
            self._messages.append(alone(self._thoughts))
            self._thoughts = []

    def _below(self, call: JsonObject) -> tuple[Message, ...]:
        raws = self._groups.below(call)
        return tuple(_Agent(raws, self._groups).read()) if raws else ()


def _turn(raw: Raw) -> Message:
    match raw.value["role"]:
        case "system" | "developer":
            return read_system(raw)
        case "user":
            return read_user(raw)
        case "activity" if isinstance(raw.value.get("activityType"), str):
            return read_activity(raw)
        case _:
            return AssistantMessage(id=raw.id, type="event", content=[ForeignPart(FORMAT, raw.value)])


def _typed(message: Message) -> Message:
    """A message of several pieces is of the type of all its parts."""
    is_text = isinstance(message, AssistantMessage) and message.type == "text"
    return replace(message, type="tool") if is_text and derive_type(message.parts) == "tool" else message
