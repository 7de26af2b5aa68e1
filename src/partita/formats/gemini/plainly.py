"""Questions and answers of which there is no more to say than their words, calls and results."""

from typing import NamedTuple

from msgspec import UNSET

from partita.formats.bare import is_bare, is_bare_message, plain_result
from partita.types.json import is_object
from partita.types.messages import AssistantMessage, AssistantPart, ToolCallPart, UserMessage
from partita.types.parts import ReasoningPart, StepStartPart, TextPart
from partita.types.tools import ToolResultPart


class Step(NamedTuple):
    """What a model said and called in a step, the paths of that, and what came of the calls."""

    parts: list[AssistantPart]
    places: list[str]
    results: dict[str, tuple[ToolResultPart, str]]


def plain_question(message: UserMessage) -> str | None:
    """What a person said, if it is one text and no more."""
    parts = message.content.parts
    if len(parts) != 1 or type(parts[0]) is not TextPart:
        return None
    is_plain = is_bare(parts[0]) and is_bare_message(message)
    return parts[0].text or None if is_plain else None


def plain_steps(message: AssistantMessage, path: str) -> list[Step] | None:
    """The steps of an answer, if there is no more to it; else none."""
    if not is_bare_message(message):
        return None
    step = Step([], [], {})
    steps = [step]
    for number, part in enumerate(message.content.parts):
        if type(part) is ToolCallPart:  # the type itself: `isinstance` is slow where the class has one
            is_plain = plain_result(part) is not UNSET and is_object(part.input)
            if not is_plain or part.id in step.results or part.output is None:
                return None
            result = ToolResultPart(part.id, part.name, part.output)
            step.results[part.id] = (result, f"{path}.content.parts[{number}]")
        elif type(part) is StepStartPart and is_bare(part):
            step = Step([], [], {})
            steps.append(step)
            continue
        elif type(part) not in WORDS or not is_bare(part):
            return None
        step.parts.append(part)
        step.places.append(f"{path}.content.parts[{number}]")
    return [step for step in steps if step.parts]


WORDS = frozenset({TextPart, ReasoningPart})
