"""A stored conversation as it is sent to a model: one message for each step, each result after its call.

Everything for which a provider would refuse the conversation is repaired and reported: calls whose input was
cut off are removed, calls without a result get one or are removed, results without a call and second results
are removed. Events and internal messages are not sent. `convert(…, repair=…)` repairs in the same way, before
a format writes.
"""

from collections.abc import Iterator, Sequence
from operator import is_
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
"""Parts that are for people or programs and never sent to a model."""

_UNSENT: Final = frozenset[type](NOT_SENT)

SECOND_RESULT: Final = "the call already has a result"
SECOND_CALL: Final = "the same call is in another place too"
UNFINISHED: Final = "the network execution has no result"

SEPARATOR: Final = "\n"
"""The text between two texts that are joined."""

OpenCalls: TypeAlias = Literal["answer", "remove"]
"""What is done about a call without a result: it gets one that states this, or it is removed."""


class ModelView(NamedTuple):
    """The messages that are sent to a model, and the repairs they needed."""

    messages: tuple[Message, ...]
    repairs: tuple[Loss, ...]


class Repaired(NamedTuple):
    """Repaired messages with outputs in their calls, the repairs, and the origin of each message."""

    messages: tuple[Message, ...]
    repairs: tuple[Loss, ...]
    origins: tuple[Origin, ...]


def model_view(
    messages: Sequence[Message], *, open_calls: OpenCalls = "answer", flatten_text: bool = False
) -> ModelView:
    """Return the messages that are sent to a model, one for each step, each followed by its results."""
    repair = _Repair(messages, open_calls, flatten_text)
    kept = [one.message for one in repair.run()]
    view = [message for turn in split(kept, _is_sent) for message in _messages_of(turn)]
    return ModelView(tuple(view), tuple(repair.repairs))


def repair_calls(
    messages: Sequence[Message], *, open_calls: OpenCalls = "answer", flatten_text: bool = False
) -> Repaired:
    """Return the same messages before they are split into steps, as formats write them."""
    repair = _Repair(messages, open_calls, flatten_text)
    kept = repair.run()
    messages = tuple(one.message for one in kept)
    return Repaired(messages, tuple(repair.repairs), tuple(map(repair.origin, kept)))


class _SentMessage(NamedTuple):
    """A message that is sent, its index among the folded messages, and the original numbers of its parts."""

    message: Message
    index: int
    numbers: tuple[int, ...] | None = None  # `None`: all of them, in order


class _Repair:
    """Repairs one conversation."""

    def __init__(self, messages: Sequence[Message], open_calls: OpenCalls, flatten_text: bool) -> None:
        self._messages = messages
        self._folded = fold(messages)
        self._open_calls = open_calls
        self._flatten_text = flatten_text
        self._origins: list[Origin] | None = None
        self._finished: set[tuple[str, str, bytes]] | None = None
        self.repairs: list[Loss] = []

    def run(self) -> list[_SentMessage]:
        kept: list[_SentMessage] = []
        for index, message in enumerate(self._folded):
            if message.internal or message.type == "event":
                continue
            match message:
                case AssistantMessage():
                    kept.append(self._assistant(message, index))
                case ToolMessage():
                    self._drop_results(message, index)
                case _:
                    kept.append(_SentMessage(message, index))
        return [self._flattened(one) for one in kept] if self._flatten_text else kept

    def origin(self, kept: _SentMessage) -> Origin:
        """Where a message was in the given messages."""
        origin = self._origin(kept.index)
        if kept.numbers is None:
            return origin
        return origin._replace(parts=[origin.parts[number] for number in kept.numbers])

    def _origin(self, index: int) -> Origin:
        if self._origins is None:
            self._origins = origins(self._messages)
        return self._origins[index]

    def _path(self, index: int, number: int) -> str:
        message, part = self._origin(index).parts[number]
        return f"$[{message}].content.parts[{part}]"

    def _remove(self, part: Part, index: int, number: int, why: str) -> None:
        self.repairs.append(Loss.of(self._path(index, number), to_json(part), why))

    def _drop_results(self, message: ToolMessage, index: int) -> None:
        calls = (part for one in self._folded for part in one.parts if isinstance(part, ToolCallPart))
        called = {part.id for part in calls}
        for number, part in enumerate(message.parts):
            if isinstance(part, ToolResultPart):
                self._remove(part, index, number, SECOND_RESULT if part.id in called else NO_CALL)

    def _assistant(self, message: AssistantMessage, index: int) -> _SentMessage:
        parts: list[AssistantPart] = []
        numbers: list[int] = []
        repeated = _repeated_calls(message.parts)
        for number, part in enumerate(message.parts):
            sent: AssistantPart | None = part
            if number in repeated:
                self._remove(part, index, number, SECOND_CALL)
                sent = None
            elif isinstance(part, ToolCallPart):
                sent = self._call(part, index, number)
            if sent is not None:
                parts.append(sent)
                numbers.append(number)
        content = message.content
        network = content.network_execution
        if network is not None and not has_ended(network):
            path = f"$[{self._origin(index).index}].content.networkExecution"
            self.repairs.append(Loss.of(path, to_json(network), UNFINISHED))
            content = replace(content, network_execution=None)
        is_same = len(parts) == len(message.parts) and all(map(is_, parts, message.parts))
        if is_same and content is message.content:
            return _SentMessage(message, index)
        changed = replace(message, content=replace(content, parts=tuple(parts)))
        return _SentMessage(changed, index, tuple(numbers))

    def _call(self, call: ToolCallPart, index: int, number: int) -> ToolCallPart | None:
        """Return the call as it may be sent, or `None` if it is removed."""
        if is_cut(call):
            self._remove(call, index, number, CUT_OFF)
            return None
        if call.output is not None:
            return call if call.state in FINISHED_STATES else replace(call, state=state_after(call.output))
        if call.provider_executed:
            return call
        if _same_call(call) in self._finished_calls():
            self._remove(call, index, number, SECOND_CALL)
            return None
        output, why = missing_output(call)
        self._finished_calls().add(_same_call(call))
        if why is not None and self._open_calls == "remove":
            self._remove(call, index, number, why)
            return None
        if why is not None:
            self.repairs.append(Loss.of(self._path(index, number), call.id, why, "repaired"))
        return replace(call, state=state_after(output), output=output)

    def _finished_calls(self) -> set[tuple[str, str, bytes]]:
        """Return the calls that have an output, in any message."""
        if self._finished is None:
            calls = (part for one in self._folded for part in one.parts if isinstance(part, ToolCallPart))
            self._finished = {_same_call(part) for part in calls if part.output is not None}
        return self._finished

    def _flattened(self, kept: _SentMessage) -> _SentMessage:
        """Return a message with adjoining texts joined, and with its text as content if it has no more."""
        parts: list[Any] = []
        numbers: list[int] = []
        known = range(len(kept.message.parts)) if kept.numbers is None else kept.numbers
        for number, part in zip(known, kept.message.parts, strict=True):
            last = parts[-1] if parts else None
            if isinstance(last, TextPart) and isinstance(part, TextPart) and _joins(last) and _joins(part):
                parts[-1] = TextPart(last.text + SEPARATOR + part.text)
                where = self._path(kept.index, number)
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
        return _SentMessage(replace(kept.message, content=content), kept.index, tuple(numbers))


def _joins(part: TextPart) -> bool:
    """Whether a text has no metadata, citations or unknown members."""
    return part.provider_metadata is None and part.citations is None and not part.extra


def _same_call(call: ToolCallPart) -> tuple[str, str, bytes]:
    """Return the key that copies of one call have in common."""
    return call.id, call.name, b"" if call.input is UNSET else dumps(call.input)


def _repeated_calls(parts: Sequence[AssistantPart]) -> set[int]:
    """Return the numbers of calls that repeat the id of another call of their step.

    Of the calls with one id, the first that has an output is used, or else the first.
    """
    dropped: set[int] = set()
    used: dict[str, tuple[int, ToolCallPart]] = {}
    for number, part in enumerate(parts):
        if isinstance(part, StepStartPart | SteeringMessagePart):
            used.clear()
        elif isinstance(part, ToolCallPart):
            twin = used.get(part.id)
            if twin is not None and (twin[1].output is not None or part.output is None):
                dropped.add(number)
                continue
            if twin is not None:
                dropped.add(twin[0])
            used[part.id] = (number, part)
    return dropped


def _is_sent(part: AssistantPart) -> bool:
    return type(part) not in _UNSENT


def _messages_of(turn: Turn) -> Iterator[Message]:
    """Yield the message of a turn without parts that are not sent, if anything is left."""
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
