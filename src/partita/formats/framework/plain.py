"""Messages that say no more than every framework has a place for: words, thoughts, steps, calls with outputs.

Most do. They can be written at once, for nothing of them has to be looked for elsewhere, and nothing is lost.
"""

from typing import NamedTuple, TypeAlias

from msgspec import UNSET

from partita.formats.bare import is_alone, is_bare_answer, is_bare_call, is_bare_reasoning, is_bare_text
from partita.types.json import Json, is_object
from partita.types.messages import (
    AssistantMessage,
    Content,
    Message,
    ToolCallPart,
)
from partita.types.parts import ReasoningPart, StepStartPart, TextPart
from partita.types.tools import JsonOutput, TextOutput, ToolOutput

Said: TypeAlias = TextPart | ReasoningPart | ToolCallPart


class UnusualError(Exception):
    """What is read is not plain, and has to be read in the general way."""


class PlainStep(NamedTuple):
    """What the assistant said and called in one step, and what came of it."""

    starts: list[int]
    """The places of the boundaries before it."""
    parts: list[Said]
    outputs: list[tuple[ToolCallPart, Json]]
    """The calls that have an output, and the text or the object that it is."""


def is_plain_call(call: ToolCallPart) -> bool:
    """Whether a call is input by name, alone or with an output that is text or an object."""
    output, state = call.output, call.state
    if not is_object(call.input) or not is_bare_call(call):
        return False
    if output is None:
        return state == "input-available"
    if not is_alone(output) or state != "output-available":
        return False
    return type(output) is TextOutput or (type(output) is JsonOutput and is_object(output.value))


def _is_plain_content(content: Content) -> bool:
    return content.provider_metadata is None and content.metadata is UNSET and content.extra is None


def plain_text(message: Message) -> str | None:
    """The text of a message that is one text and no more."""
    content = message.content
    if message.extra is not None or len(content.parts) != 1 or not _is_plain_content(content):
        return None
    part = content.parts[0]
    if type(part) is not TextPart or not is_bare_text(part):
        return None
    return part.text if content.content is None or content.content == part.text else None


def plain_steps(message: AssistantMessage) -> list[PlainStep] | None:
    """The steps of an answer that is plain as a whole. The last has no parts if boundaries are behind all."""
    content = message.content
    if message.extra is not None or not is_bare_answer(content):
        return None
    steps = [step := PlainStep([], [], [])]
    calls: set[str] = set()
    for index, part in enumerate(content.parts):
        if type(part) is TextPart:
            if not is_bare_text(part):
                return None
            step.parts.append(part)
        elif type(part) is ReasoningPart:
            if not is_bare_reasoning(part):
                return None
            step.parts.append(part)
        elif type(part) is ToolCallPart:
            if not is_plain_call(part):
                return None
            if part.id in calls:
                steps.append(step := PlainStep([], [], []))
                calls.clear()
            calls.add(part.id)
            step.parts.append(part)
            if part.output is not None:
                step.outputs.append((part, _value(part.output)))
        elif type(part) is StepStartPart and is_alone(part):
            if step.parts:
                steps.append(step := PlainStep([], [], []))
                calls.clear()
            step.starts.append(index)
        else:
            return None
    return steps


def _value(output: ToolOutput) -> Json:
    return output.value if type(output) is TextOutput or type(output) is JsonOutput else None
