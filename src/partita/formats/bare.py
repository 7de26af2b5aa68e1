"""Values that hold nothing but what they are for: most messages, texts, calls and outputs.

Formats write them without looking for what they might lose.
"""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import fields

from partita.types.json import Json
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolContent,
    ToolMessage,
    UserContent,
    UserMessage,
    derive_type,
)
from partita.types.parts import ReasoningPart, StepStartPart, TextPart
from partita.types.tools import JsonOutput, TextOutput, ToolResultPart
from partita.types.value import Value

OWN: Final[Mapping[type[Value], frozenset[str]]] = {
    **dict.fromkeys(
        (SystemMessage, UserMessage, AssistantMessage, ToolMessage), frozenset({"id", "type", "content"})
    ),
    **dict.fromkeys(
        (SystemContent, UserContent, AssistantContent, ToolContent), frozenset({"format", "parts"})
    ),
    **dict.fromkeys((TextPart, ReasoningPart), frozenset({"text"})),
    **dict.fromkeys((TextOutput, JsonOutput), frozenset({"value"})),
    StepStartPart: frozenset(),
    ToolCallPart: frozenset({"id", "name", "state", "input", "output"}),
    ToolResultPart: frozenset({"id", "name", "output"}),
}
"""What a bare value may have, by its type."""


def _aside(type_: type[Value], own: frozenset[str]) -> tuple[Callable[[Any], Any], tuple[Any, ...]]:
    """What gives all other fields of a value, and what they are when there is nothing in them."""
    rest = [field for field in fields(type_) if field.name not in own]
    return attrgetter(*(field.name for field in rest)), tuple(field.default for field in rest)


_ASIDE: Final = {type_: _aside(type_, own) for type_, own in OWN.items()}


def is_bare(value: Value) -> bool:
    """Whether a value has no more than what it is for. One that we know nothing of has."""
    found = _ASIDE.get(type(value))
    return found is not None and found[0](value) == found[1]


def is_bare_message(message: Message) -> bool:
    """Whether a message has an id and parts, and no more."""
    content = message.content
    return is_bare(message) and is_bare(content) and message.type == derive_type(content.parts)


def is_open(call: ToolCallPart) -> bool:
    """Whether a call has an input and no more than that."""
    waits = call.state == "input-available" and call.output is None
    return waits and call.input is not UNSET and is_bare(call)


def plain_result(call: ToolCallPart) -> Json:
    """What came of a call that has no more than an input and a text or other JSON; else `UNSET`."""
    output = call.output
    if output is None or call.state != "output-available" or call.input is UNSET:
        return UNSET
    if not is_bare(call) or not is_bare(output):
        return UNSET
    value: Json = output.value if isinstance(output, TextOutput | JsonOutput) else UNSET
    return UNSET if isinstance(value, str) and type(output) is JsonOutput else value
