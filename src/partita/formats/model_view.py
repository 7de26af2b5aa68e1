"""A stored conversation as it is sent to a model: one message for each step, each result after its call.

What would make a provider refuse the conversation is repaired, and each repair is reported: calls whose input
was cut off are removed, calls without a result get one or are removed, results without a call and second
results are removed. Events and internal messages are not sent.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.core.tool_text import CUT_OFF, is_cut, missing_output
from partita.formats.core.turns import Results, Step, Turn, split
from partita.formats.losses import JOINED, NO_CALL, Loss
from partita.types.codec import to_json
from partita.types.json import dumps
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    Part,
    ToolCallPart,
    ToolMessage,
    has_ended,
)
from partita.types.parts import (
    DataPart,
    ForeignPart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    StepStartPart,
    TextPart,
    ToolResultPart,
    UnknownPart,
)
from partita.types.tool_results import FINISHED_STATES, Origin, fold, origins, state_after

NOT_SENT: Final = (DataPart, SourceUrlPart, SourceDocumentPart, ForeignPart, UnknownPart)
"""Parts that are for people or programs, never for a model."""

_UNSENT: Final = frozenset[type](NOT_SENT)

SECOND_RESULT: Final = "the call already has a result"
SECOND_CALL: Final = "the same call is in another place too"
UNFINISHED: Final = "the network execution has no result"

SEPARATOR: Final = "\n"
"""Between two texts that are joined."""

OpenCalls: TypeAlias = Literal["answer", "remove"]
"""What happens to a call without a result: it gets one that reports this, or it is removed."""


class View(NamedTuple):
    """The messages that are sent to a model, and the repairs that they needed."""

    messages: tuple[Message, ...]
    repairs: tuple[Loss, ...]


class Repaired(NamedTuple):
    """Messages that a model takes, with outputs in their calls; the repairs; and where each message was."""

    messages: tuple[Message, ...]
    repairs: tuple[Loss, ...]
    origins: tuple[Origin, ...]


def model_view(
    messages: Sequence[Message], *, open_calls: OpenCalls = "answer", flatten_text: bool = False
) -> View:
    """The messages that are sent to a model, one for each step, each followed by its results."""
    repair = _Repair(messages, open_calls, flatten_text)
    kept = [one.message for one in repair.run()]
    view = [message for turn in split(kept, _is_sent) for message in _messages_of(turn)]
    return View(tuple(view), tuple(repair.repairs))


def repair_calls(
    messages: Sequence[Message], *, open_calls: OpenCalls = "answer", flatten_text: bool = False
) -> Repaired:
    """The same messages before they are split into steps, as formats write them."""
    repair = _Repair(messages, open_calls, flatten_text)
    kept = repair.run()
    messages = tuple(one.message for one in kept)
    return Repaired(messages, tuple(repair.repairs), tuple(map(repair.origin, kept)))


class _Kept(NamedTuple):
    """A message that is sent, its index among the folded ones, and the numbers its parts had there."""

    message: Message
    place: int
    numbers: tuple[int, ...] | None = None  # `None`: all of them, in order


class _Repair:
    """One pass over a conversation."""

    def __init__(self, messages: Sequence[Message], open_calls: OpenCalls, flatten_text: bool) -> None:
        self._given = messages
        self._folded = fold(messages)
        self._open_calls = open_calls
        self._flatten_text = flatten_text
        self._origins: list[Origin] | None = None
        self._calls: set[tuple[str, str, bytes]] | None = None
        self.repairs: list[Loss] = []

    def run(self) -> list[_Kept]:
        kept: list[_Kept] = []
        for place, message in enumerate(self._folded):
            if message.internal or message.type == "event":
                continue
            match message:
                case AssistantMessage():
                    kept.append(self._assistant(message, place))
                case ToolMessage():
                    self._drop_results(message, place)
                case _:
                    kept.append(_Kept(message, place))
        return [self._flattened(one) for one in kept] if self._flatten_text else kept

    def origin(self, kept: _Kept) -> Origin:
        """Where a message was in the given messages."""
        origin = self._origin(kept.place)
        if kept.numbers is None:
            return origin
        return origin._replace(parts=[origin.parts[number] for number in kept.numbers])

    def _origin(self, place: int) -> Origin:
        if self._origins is None:
            self._origins = origins(self._given)
        return self._origins[place]

    def _path(self, place: int, number: int) -> str:
        message, part = self._origin(place).parts[number]
        return f"$[{message}].content.parts[{part}]"

    def _remove(self, part: Part, place: int, number: int, why: str) -> None:
        self.repairs.append(Loss.of(self._path(place, number), to_json(part), why))

    def _drop_results(self, message: ToolMessage, place: int) -> None:
        calls = (part for one in self._folded for part in one.parts if isinstance(part, ToolCallPart))
        called = {part.id for part in calls}
        for number, part in enumerate(message.parts):
            if isinstance(part, ToolResultPart):
                self._remove(part, place, number, SECOND_RESULT if part.id in called else NO_CALL)

    def _assistant(self, message: AssistantMessage, place: int) -> _Kept:
        parts: list[AssistantPart] = []
        numbers: list[int] = []
        twins = _twins(message.parts)
        for number, part in enumerate(message.parts):
            sent: AssistantPart | None = part
            if number in twins:
                self._remove(part, place, number, SECOND_CALL)
                sent = None
            elif isinstance(part, ToolCallPart):
                sent = self._call(part, place, number)
            if sent is not None:
                parts.append(sent)
                numbers.append(number)
        content = message.content
        network = content.network_execution
        if network is not None and not has_ended(network):
            path = f"$[{self._origin(place).index}].content.networkExecution"
            self.repairs.append(Loss.of(path, to_json(network), UNFINISHED))
            content = replace(content, network_execution=None)
        is_same = len(parts) == len(message.parts) and all(map(_is, parts, message.parts))
        if is_same and content is message.content:
            return _Kept(message, place)
        return _Kept(replace(message, content=replace(content, parts=tuple(parts))), place, tuple(numbers))

    def _call(self, call: ToolCallPart, place: int, number: int) -> ToolCallPart | None:
        """A call that may be sent; `None` if it is removed."""
        if is_cut(call):
            self._remove(call, place, number, CUT_OFF)
            return None
        if call.output is not None:
            return call if call.state in FINISHED_STATES else replace(call, state=state_after(call.output))
        if call.provider_executed:
            return call
        if _same_call(call) in self._answered():
            self._remove(call, place, number, SECOND_CALL)
            return None
        output, why = missing_output(call)
        self._answered().add(_same_call(call))
        if why is not None and self._open_calls == "remove":
            self._remove(call, place, number, why)
            return None
        if why is not None:
            self.repairs.append(Loss.of(self._path(place, number), call.id, why, "repaired"))
        return replace(call, state=state_after(output), output=output)

    def _answered(self) -> set[tuple[str, str, bytes]]:
        """The calls that have an output, here or in any other message."""
        if self._calls is None:
            calls = (part for one in self._folded for part in one.parts if isinstance(part, ToolCallPart))
            self._calls = {_same_call(part) for part in calls if part.output is not None}
        return self._calls

    def _flattened(self, kept: _Kept) -> _Kept:
        """A message with texts that follow each other as one, and as its content if there is nothing else."""
        parts: list[Any] = []
        numbers: list[int] = []
        known = range(len(kept.message.parts)) if kept.numbers is None else kept.numbers
        for number, part in zip(known, kept.message.parts, strict=True):
            last = parts[-1] if parts else None
            if isinstance(last, TextPart) and isinstance(part, TextPart) and _joins(last) and _joins(part):
                parts[-1] = TextPart(last.text + SEPARATOR + part.text)
                where = self._path(kept.place, number)
                self.repairs.append(Loss(where, "where the text begins", JOINED, "changed"))
            else:
                parts.append(part)
                numbers.append(number)
        content = replace(kept.message.content, parts=tuple(parts))
        match [part for part in parts if not isinstance(part, (StepStartPart, *NOT_SENT))]:
            case [TextPart(text=text) as only] if _joins(only):
                content = replace(content, content=text)
            case _:
                pass
        return _Kept(replace(kept.message, content=content), kept.place, tuple(numbers))


def _joins(part: TextPart) -> bool:
    """Whether a text has nothing that belongs to it alone."""
    return part.provider_metadata is None and part.citations is None and not part.extra


def _is(one: object, other: object) -> bool:
    return one is other


def _same_call(call: ToolCallPart) -> tuple[str, str, bytes]:
    """What two copies of one call have in common."""
    return call.id, call.name, b"" if call.input is UNSET else dumps(call.input)


def _twins(parts: Sequence[AssistantPart]) -> set[int]:
    """The numbers of calls whose id another call of their step has; the first with an output is not in it."""
    dropped: set[int] = set()
    chosen: dict[str, tuple[int, ToolCallPart]] = {}
    for number, part in enumerate(parts):
        if isinstance(part, StepStartPart | SteeringMessagePart):
            chosen.clear()
        elif isinstance(part, ToolCallPart):
            twin = chosen.get(part.id)
            if twin is not None and (twin[1].output is not None or part.output is None):
                dropped.add(number)
                continue
            if twin is not None:
                dropped.add(twin[0])
            chosen[part.id] = (number, part)
    return dropped


def _is_sent(part: AssistantPart) -> bool:
    return type(part) not in _UNSENT


def _messages_of(turn: Turn) -> Iterator[Message]:
    """The message of a turn, without parts that are not sent; none if nothing is left."""
    parts: tuple[Any, ...] = tuple([part for part, _ in turn.parts if type(part) not in _UNSENT])
    message: Message = turn.message
    match turn:
        case Step(text=str(text)):
            parts = (*parts, TextPart(text))
        case Results(step=Step(message=calls)):
            message = ToolMessage(id=f"{calls.id}:results", content=turn.message.content)
        case _:
            pass
    if parts:
        yield (
            message
            if parts == message.parts
            else replace(message, content=replace(message.content, parts=parts))
        )
