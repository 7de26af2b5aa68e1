"""A conversation as a server is sent it, where every piece still knows where it stood."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.answers.model_view import CUT, UNANSWERED, WAITS
from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.json import JsonObject
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import SteeringMessagePart, StepStartPart, TextPart
from partita.types.tools import ExecutionDeniedOutput, InterruptedOutput, ToolOutput, ToolResultPart

from .dialects import Dialect
from .owning import own_of

NO_TALK: Final = "notices and inner turns are not talk"
STEERED: Final = "it is sent as a message of the user"
OF_NETWORK: Final = "the turn has no words of its own: what the network came to is sent"


Step: TypeAlias = list[tuple[str, AssistantPart]]
"""The parts of a step, each with its place."""


class Placed(NamedTuple):
    """A message of the model's view: where it stood, where each part stood, and the form it came in."""

    message: Message
    path: str
    places: tuple[str, ...]
    notes: JsonObject


def placed(folded: Sequence[Message], dialect: Dialect, losses: list[Loss]) -> Iterator[Placed]:
    """The pieces of a conversation in the merged view."""
    for index, message in enumerate(folded):
        path = f"$[{index}]"
        notes = own_of(message.content.provider_metadata, dialect) or {}
        if message.internal or message.type == "event":
            losses.append(Loss.of(path, to_json(message), NO_TALK))
        elif isinstance(message, AssistantMessage):
            yield from _steps(message, path, dialect, losses)
        else:
            yield Placed(message, path, tuple(_places(path, len(message.parts))), notes)


def _places(path: str, count: int) -> Iterator[str]:
    return (f"{path}.content.parts[{index}]" for index in range(count))


def _steps(message: AssistantMessage, path: str, dialect: Dialect, losses: list[Loss]) -> Iterator[Placed]:
    notes = own_of(message.content.provider_metadata, dialect) or {}
    step: Step = []
    for place, part in _parts(message, path, losses):
        match part:
            case StepStartPart():
                if step:
                    yield _said(message, path, step, notes)
                    yield from _results(message, path, step)
                    notes = {}
                step, notes = [], notes | (own_of(part.provider_metadata, dialect) or {})
            case SteeringMessagePart():
                if step:
                    yield _said(message, path, step, notes)
                    yield from _results(message, path, step)
                step, notes = [], {}
                losses.append(Loss.of(place, to_json(replace(part, parts=())), STEERED, "changed"))
                spots = tuple(f"{place}.parts[{index}]" for index in range(len(part.parts)))
                yield Placed(UserMessage(id=part.id, content=part.parts), place, spots, {})
            case ToolCallPart() if _is_cut(part):
                losses.append(Loss.of(place, to_json(part), CUT))
            case ToolCallPart():
                step.append((place, _answered(part, place, losses)))
            case _:
                step.append((place, part))
    if step or notes:
        yield _said(message, path, step, notes)
        yield from _results(message, path, step)


def _parts(message: AssistantMessage, path: str, losses: list[Loss]) -> Iterator[tuple[str, AssistantPart]]:
    yield from zip(_places(path, len(message.parts)), message.parts, strict=True)
    network = message.content.network_execution
    result = None if network is None else network.final_result
    if result is None or not result.text or any(isinstance(part, TextPart) for part in message.parts):
        return
    place = f"{path}.content.networkExecution.finalResult.text"
    losses.append(Loss.of(place, result.text, OF_NETWORK, "changed"))
    yield place, TextPart(result.text)


def _said(message: AssistantMessage, path: str, step: Step, notes: JsonObject) -> Placed:
    """What the model said and called in a step."""
    said = [
        replace(part, output=None) if isinstance(part, ToolCallPart) and _is_asked(part) else part
        for _, part in step
    ]
    content = replace(message.content, parts=tuple(said))
    return Placed(replace(message, content=content), path, tuple(place for place, _ in step), notes)


def _results(message: AssistantMessage, path: str, step: Step) -> Iterator[Placed]:
    """What came of the calls of a step."""
    results = [
        (place, ToolResultPart(part.id, part.name, part.output, part.result_provider_metadata))
        for place, part in step
        if isinstance(part, ToolCallPart) and _is_asked(part) and part.output is not None
    ]
    if results:
        answers = ToolMessage(id=f"{message.id}:results", content=[result for _, result in results])
        yield Placed(answers, path, tuple(place for place, _ in results), {})


def _is_asked(part: AssistantPart) -> bool:
    return isinstance(part, ToolCallPart) and not part.provider_executed


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
