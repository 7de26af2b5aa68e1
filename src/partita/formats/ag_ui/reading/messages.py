"""AG-UI messages → canonical messages.

Reasoning messages become parts of the assistant message behind them. An activity is a notice with data in it.
Messages of a sub-agent whose name is the id of a call hang under that call; those of any other are internal.
"""

from collections.abc import Sequence
from functools import cached_property

from partita.formats.ag_ui.notes import FORMAT
from partita.formats.losses import Loss
from partita.types.fold import fold
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, Message
from partita.types.parts import ForeignPart, ReasoningPart

from .agents import Grouped, calls_in, grouped
from .answers import Answer, OpenCall, Piece, read_piece
from .raw import Raw, checked
from .results import Result, read_result
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
        self._read: list[Message | Answer] = []
        self._thoughts: list[ReasoningPart] = []
        self._answer: Answer | None = None  # the last one, if it may go on
        self._open: dict[str, list[OpenCall]] = {}  # by id, the next one last

    def read(self) -> list[Message]:
        """All of them. Results that stand before their calls are brought to them at the end."""
        for raw in self._raws:
            self._take(raw)
        self._end_thoughts()
        return fold([one.message() if isinstance(one, Answer) else one for one in self._read])

    def _take(self, raw: Raw) -> None:
        match raw.value["role"]:
            case "reasoning":
                self._thoughts.append(read_reasoning(raw))
            case "assistant":
                self._piece(read_piece(raw, self._thoughts, self._below))
                self._thoughts = []
            case "tool":
                self._end_thoughts()
                self._result(read_result(raw))
            case _:
                self._end_thoughts()
                self._answer = None
                self._read.append(_turn(raw))

    def _piece(self, piece: Piece) -> None:
        answer = self._answer
        if answer is not None and answer.goes_on(piece):
            answer.add(piece)
        else:
            self._answer = answer = Answer(piece)
            self._read.append(answer)
        for call in reversed(answer.open_calls(piece)):
            self._open.setdefault(call.part.id, []).append(call)

    def _result(self, result: Result) -> None:
        """A result belongs to the nearest call before it that has none."""
        calls = self._open.get(result.call_id)
        if calls:
            calls.pop().take(result)
        else:
            self._read.append(result.alone(self._names.get(result.call_id, "")))

    def _end_thoughts(self) -> None:
        if self._thoughts:
            self._read.append(alone(self._thoughts))
            self._thoughts, self._answer = [], None

    def _below(self, call: JsonObject) -> tuple[Message, ...]:
        raws = self._groups.below(call)
        return tuple(_Agent(raws, self._groups).read()) if raws else ()

    @cached_property
    def _names(self) -> dict[str, str]:
        """The tools of all calls. Of several calls of one id, the first counts."""
        calls = [call for raw in self._raws for call in calls_in(raw.value)]
        return {call["id"]: call["function"]["name"] for call in reversed(calls)}


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
