"""A stored conversation as a model may be sent it: one step a message, every call answered right behind it.

What would make a provider refuse the conversation is mended, and each repair is told: calls that were cut
while they were written are left out, calls that never got an answer get one that says so, results without a
call are left out. Notices and internal turns are not talk, and are not sent.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.losses import Loss
from partita.types.fold import fold
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
from partita.types.parts import (
    DataPart,
    ForeignPart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    StepStartPart,
    TextPart,
    UnknownPart,
)
from partita.types.tools import ExecutionDeniedOutput, InterruptedOutput, ToolOutput, ToolResultPart

NOT_SENT: Final = (DataPart, SourceUrlPart, SourceDocumentPart, ForeignPart, UnknownPart)
"""Parts that are for people or programs, never for a model."""

_UNSENT: Final = frozenset[type](NOT_SENT)

CUT: Final = "the call was cut while it was written"
NO_CALL: Final = "a result without a call"
UNANSWERED: Final = "the call never got an answer"
WAITS: Final = "the call still waits for someone to allow it"


class View(NamedTuple):
    """What a model is sent, and what had to be mended."""

    messages: tuple[Message, ...]
    repairs: tuple[Loss, ...]


def model_view(messages: Sequence[Message]) -> View:
    """The model's view of a conversation."""
    repairs: list[Loss] = []
    view: list[Message] = []
    for place, message in enumerate(fold(messages)):
        if not message.internal and message.type != "event":
            view += _seen(message, place, repairs)
    return View(tuple(view), tuple(repairs))


def _seen(message: Message, place: int, repairs: list[Loss]) -> Iterable[Message]:
    match message:
        case SystemMessage() | UserMessage():
            return _talk(message)
        case AssistantMessage():
            return _steps(message, place, repairs)
        case ToolMessage():
            repairs.extend(
                Loss.of(_path(place, number), part.id, NO_CALL)
                for number, part in enumerate(message.parts)
                if isinstance(part, ToolResultPart)
            )
            return ()


def _talk(message: SystemMessage | UserMessage) -> Iterable[Message]:
    """What is said to the model: a message as it is, unless some of it is for others."""
    if message.parts and _UNSENT.isdisjoint(map(type, message.parts)):
        return (message,)
    kept = tuple(part for part in message.parts if type(part) not in _UNSENT)
    return (replace(message, content=replace(message.content, parts=kept)),) if kept else ()  # pyright: ignore[reportArgumentType] # each role keeps its own parts


def _path(place: int, number: int) -> str:
    return f"$[{place}].content.parts[{number}]"


def _steps(message: AssistantMessage, place: int, repairs: list[Loss]) -> Iterator[Message]:
    step: list[AssistantPart] = []
    for number, part in enumerate(_parts(message)):
        match part:
            case StepStartPart():
                yield from _step(message, step)
                step = []
            case SteeringMessagePart():
                yield from _step(message, step)
                step = []
                said = tuple(item for item in part.parts if not isinstance(item, NOT_SENT))
                if said:
                    yield UserMessage(id=part.id, content=said)
            case ToolCallPart() if _is_cut(part):
                repairs.append(Loss.of(_path(place, number), part.id, CUT))
            case ToolCallPart() if part.provider_executed or part.output is not None:
                step.append(part)
            case ToolCallPart():
                step.append(_answered(part, _path(place, number), repairs))
            case _ if type(part) not in _UNSENT:
                step.append(part)
            case _:
                pass
    yield from _step(message, step)


def _parts(message: AssistantMessage) -> Sequence[AssistantPart]:
    """The parts of a message, and the result of its network execution as text."""
    text = network_text(message)
    return message.parts if text is None else [*message.parts, TextPart(text)]


def _step(message: AssistantMessage, step: Sequence[AssistantPart]) -> Iterator[Message]:
    """One step: what the model said and called, then what came of the calls."""
    if not step:
        return
    asked = [part for part in step if isinstance(part, ToolCallPart) and not part.provider_executed]
    said = tuple(
        replace(part, output=None) if isinstance(part, ToolCallPart) and not part.provider_executed else part
        for part in step
    )
    yield AssistantMessage(id=message.id, content=replace(message.content, parts=said))
    if asked:
        results = [
            ToolResultPart(part.id, part.name, part.output, part.result_provider_metadata)
            for part in asked
            if part.output is not None
        ]
        yield ToolMessage(id=f"{message.id}:results", content=results)


def _is_cut(call: ToolCallPart) -> bool:
    """Whether a call has no input that a model could be shown."""
    if call.state == "input-streaming":
        return True
    was_written = call.input is UNSET or call.raw_input is not UNSET  # the words so far are kept beside it
    return was_written and isinstance(call.output, InterruptedOutput)


def _answered(call: ToolCallPart, where: str, repairs: list[Loss]) -> ToolCallPart:
    output, repair = _missing_output(call)
    if repair:
        repairs.append(Loss.of(where, call.id, repair))
    return replace(call, output=output)


def _missing_output(call: ToolCallPart) -> tuple[ToolOutput, str | None]:
    """What to say of a call that has no output, and whether that is a repair."""
    approval = call.approval
    if call.state == "output-denied" or (approval is not None and approval.approved is False):
        return ExecutionDeniedOutput(None if approval is None else approval.reason), None
    if call.state == "approval-requested":
        return InterruptedOutput("lost", WAITS), WAITS
    return InterruptedOutput("lost", UNANSWERED), UNANSWERED
