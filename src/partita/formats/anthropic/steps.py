"""The steps of an answer, as they can be sent: one call of the model each, every call answered."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from partita.formats.answers.model_view import model_view
from partita.formats.losses import Loss
from partita.types.messages import AssistantMessage, AssistantPart, ToolCallPart, ToolMessage, network_text
from partita.types.parts import SteeringMessagePart, StepStartPart, TextPart
from partita.types.tools import InterruptedOutput, ToolResultPart

BETWEEN: Final = (StepStartPart, SteeringMessagePart)
"""Parts that stand between two calls of the model."""


class Step(NamedTuple):
    """Parts of one call of the model with their numbers, and the step start or steering before them."""

    parts: list[tuple[int, AssistantPart]]
    before: StepStartPart | SteeringMessagePart | None = None
    number: int = 0


def steps_of(message: AssistantMessage) -> list[Step]:
    """The calls of the model that a message holds."""
    step = Step([])
    steps = [step]
    for numbered in enumerate(_parts(message)):
        number, part = numbered
        if isinstance(part, BETWEEN):
            step = Step([], part, number)
            steps.append(step)
        else:
            step.parts.append(numbered)
    return steps


def settled_parts(
    parts: list[tuple[int, AssistantPart]], path: str, losses: list[Loss]
) -> list[tuple[int, AssistantPart]]:
    """Parts as they can be sent: a call that has no output gets one, and one that was cut is left out."""
    settled: list[tuple[int, AssistantPart]] = []
    for place in parts:
        number, part = place
        if isinstance(part, ToolCallPart) and not _has_ended(part):
            kept = _settled(part, f"{path}[{number}]", losses)
            if kept is not None:
                settled.append((number, kept))
        else:
            settled.append(place)
    return settled


def _has_ended(call: ToolCallPart) -> bool:
    output = call.output
    return output is not None and type(output) is not InterruptedOutput and call.state != "input-streaming"


def _settled(part: ToolCallPart, path: str, losses: list[Loss]) -> ToolCallPart | None:
    view = model_view([AssistantMessage(id="m", content=[part])])
    for repair in view.repairs:
        told = Loss(f"{path}.output", repair.what, repair.why, "repaired")
        losses.append(told if view.messages else Loss.of(path, part, repair.why))
    match view.messages:
        case ():
            return None
        case (_, ToolMessage(content=content)) if content.parts and part.output is None:
            result = content.parts[0]
            return replace(part, output=result.output) if isinstance(result, ToolResultPart) else part
        case _:
            return part


def _parts(message: AssistantMessage) -> Sequence[AssistantPart]:
    """The parts of a message, and the result of its network execution as text."""
    text = network_text(message)
    return message.parts if text is None else [*message.parts, TextPart(text)]
