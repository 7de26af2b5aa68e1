"""The steps of an answer, as they can be sent: one call of the model each, every call answered."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from partita.formats.answers.model_view import model_view
from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.messages import AssistantMessage, AssistantPart, ToolCallPart, ToolMessage
from partita.types.parts import SteeringMessagePart, StepStartPart, TextPart
from partita.types.tools import InterruptedOutput, ToolResultPart


class Step(NamedTuple):
    """Parts of one call of the model with their numbers, and the step start or steering before them."""

    parts: list[tuple[int, AssistantPart]]
    before: StepStartPart | SteeringMessagePart | None = None
    number: int = 0


def steps_of(message: AssistantMessage) -> list[Step]:
    """The calls of the model that a message holds."""
    steps = [Step([])]
    for number, part in enumerate(_parts(message)):
        if isinstance(part, StepStartPart | SteeringMessagePart):
            steps.append(Step([], part, number))
        else:
            steps[-1].parts.append((number, part))
    return steps


def settled_part(part: AssistantPart, path: str, losses: list[Loss]) -> AssistantPart | None:
    """A part as it can be sent: a call that has no output gets one; `None` for a call that was cut."""
    if not isinstance(part, ToolCallPart):
        return part
    has_ended = part.output is not None and not isinstance(part.output, InterruptedOutput)
    if has_ended and part.state != "input-streaming":
        return part
    view = model_view([AssistantMessage(id="m", content=[part])])
    for repair in view.repairs:
        told = Loss(f"{path}.output", repair.what, repair.why, "repaired")
        losses.append(told if view.messages else Loss.of(path, to_json(part), repair.why))
    match view.messages:
        case ():
            return None
        case (_, ToolMessage(content=content)) if content.parts and part.output is None:
            result = content.parts[0]
            return replace(part, output=result.output) if isinstance(result, ToolResultPart) else part
        case _:
            return part


def _parts(message: AssistantMessage) -> Iterator[AssistantPart]:
    """The parts of a message; of a network's turn that has no words of its own, what it came to."""
    yield from message.parts
    network = message.content.network_execution
    result = None if network is None else network.final_result
    if result is not None and result.text and not any(isinstance(part, TextPart) for part in message.parts):
        yield TextPart(result.text)
