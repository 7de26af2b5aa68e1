"""A conversation as a server is sent it: an answer a step at a time, behind it what came of its calls."""

from collections.abc import Sequence
from typing import Final, assert_never

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.answers.model_view import CUT, UNANSWERED, WAITS
from partita.formats.bare import is_bare_message
from partita.formats.losses import Loss
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
from partita.types.parts import SteeringMessagePart, StepStartPart, TextPart
from partita.types.tools import ExecutionDeniedOutput, InterruptedOutput, ToolOutput, ToolResultPart

from .dialects import Dialect
from .owning import own_of
from .plainly import PlainWriter, plain_words
from .talk import Talk

NO_TALK: Final = "notices and inner turns are not talk"
STEERED: Final = "it is sent as a message of the user"
OF_NETWORK: Final = "the turn has no words of its own: what the network came to is sent"


def place(folded: Sequence[Message], talk: Talk, dialect: Dialect) -> None:
    """Put a conversation in the merged view into a talk."""
    for index, message in enumerate(folded):
        path = f"$[{index}]"
        if _is_plain(message, path, talk, dialect):
            continue
        if message.internal or message.type == "event":
            talk.losses.append(Loss.of(path, message, NO_TALK))
            continue
        notes = own_of(message.content.provider_metadata, dialect) or {}
        places = [f"{path}.content.parts[{number}]" for number in range(len(message.parts))]
        match message:
            case AssistantMessage():
                _Answer(message, path, talk, dialect, notes).place(places)
            case UserMessage():
                talk.ask(message.parts, path, places, notes)
            case SystemMessage():
                talk.instruct(message.parts, path, places, notes)
            case ToolMessage():
                talk.begun.setdefault(path, len(talk.messages))
                talk.take_results(message.parts, places)
            case _:
                assert_never(message)


def _is_plain(message: Message, path: str, talk: Talk, dialect: Dialect) -> bool:
    """Whether a message was put into a talk as one of which there is no more to say."""
    if not is_bare_message(message):
        return False
    if type(message) is UserMessage:
        question = plain_words(message.parts)
        if question is not None:
            talk.say(question, path)
        return question is not None
    if type(message) is AssistantMessage:
        writer = PlainWriter(dialect)
        is_written = writer.answer(message.parts, path)
        if is_written:
            talk.take(writer, path)
        return is_written
    return False


class _Answer:
    """An answer on its way into a talk."""

    def __init__(
        self, message: AssistantMessage, path: str, talk: Talk, dialect: Dialect, notes: JsonObject
    ) -> None:
        self._message = message
        self._path = path
        self._talk = talk
        self._losses = talk.losses
        self._dialect = dialect
        self._notes = notes
        self._parts: list[AssistantPart] = []
        self._places: list[str] = []
        """The step at hand."""

    def place(self, places: Sequence[str]) -> None:
        """All of it; `places` are those of its parts."""
        for part, place in zip(self._message.parts, places, strict=True):
            match part:
                case ToolCallPart():
                    self._call(part, place)
                case StepStartPart():
                    self._begin_step(part)
                case SteeringMessagePart():
                    self._steer(part, place)
                case _:
                    self._add(part, place)
        if self._message.content.network_execution is not None:
            self._conclude()
        if self._parts or self._notes:
            self._end_step()

    def _add(self, part: AssistantPart, place: str) -> None:
        self._parts.append(part)
        self._places.append(place)

    def _call(self, call: ToolCallPart, place: str) -> None:
        if _is_cut(call):
            self._losses.append(Loss.of(place, call, CUT))
        else:
            self._add(_answered(call, place, self._losses), place)

    def _begin_step(self, part: StepStartPart) -> None:
        if self._parts:
            self._end_step()
        if part.provider_metadata:
            self._notes = {**self._notes, **(own_of(part.provider_metadata, self._dialect) or {})}

    def _steer(self, part: SteeringMessagePart, place: str) -> None:
        if self._parts:
            self._end_step()
        self._notes = {}
        self._losses.append(Loss.of(place, replace(part, parts=()), STEERED, "changed"))
        spots = [f"{place}.parts[{index}]" for index in range(len(part.parts))]
        self._talk.ask(part.parts, place, spots, {})

    def _conclude(self) -> None:
        """Add the result of the network execution as text."""
        text = network_text(self._message)
        if text is None:
            return
        place = f"{self._path}.content.networkExecution.finalResult"
        self._losses.append(Loss.of(place, text, OF_NETWORK, "changed"))
        self._add(TextPart(text), place)

    def _end_step(self) -> None:
        """What the model said and called, and what came of the calls."""
        parts, places = self._parts, self._places
        self._talk.answer(parts, self._path, places, self._notes)
        self._parts, self._places, self._notes = [], [], {}
        results = [
            (ToolResultPart(part.id, part.name, part.output, part.result_provider_metadata), place)
            for part, place in zip(parts, places, strict=True)
            if isinstance(part, ToolCallPart) and not part.provider_executed and part.output is not None
        ]
        if results:
            self._talk.take_results([result for result, _ in results], [place for _, place in results])


def _is_cut(call: ToolCallPart) -> bool:
    """Whether a call has no input that a model could be shown."""
    if call.state == "input-streaming":
        return True
    was_written = call.input is UNSET or call.raw_input is not UNSET
    return was_written and isinstance(call.output, InterruptedOutput)


def _answered(call: ToolCallPart, place: str, losses: list[Loss]) -> ToolCallPart:
    if call.provider_executed or call.output is not None:
        return call
    output, repair = _missing_output(call)
    losses.append(Loss.of(f"{place}.state", call.state, repair, "repaired"))
    return replace(call, output=output)


def _missing_output(call: ToolCallPart) -> tuple[ToolOutput, str]:
    approval = call.approval
    if call.state == "output-denied" or (approval is not None and approval.approved is False):
        return ExecutionDeniedOutput(None if approval is None else approval.reason), UNANSWERED
    why = WAITS if call.state == "approval-requested" else UNANSWERED
    return InterruptedOutput("lost", why), why
