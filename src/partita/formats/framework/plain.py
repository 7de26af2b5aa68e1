"""Values that say no more than every framework has a place for: words, steps, calls, outputs."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

from msgspec import NODEFAULT
from msgspec.structs import fields

from partita.types.messages import AssistantContent, SystemContent, ToolCallPart, UserContent
from partita.types.parts import ReasoningPart, StepStartPart, TextPart
from partita.types.tools import JsonOutput, TextOutput
from partita.types.value import Value

Test = Callable[[Any], bool]


def says_only(type_: type[Value], *names: str) -> Test:
    """A test whether a value of a type has nothing but these fields."""
    rest = [one for one in fields(type_) if one.name not in names and one.default is not NODEFAULT]
    values, nothing = attrgetter(*(one.name for one in rest)), tuple(one.default for one in rest)
    return lambda value: bool(values(value) == nothing)


is_only_words: Final = says_only(TextPart, "text")
is_only_thought: Final = says_only(ReasoningPart, "text")
is_only_step: Final = says_only(StepStartPart)
is_only_parts_of_assistant: Final = says_only(AssistantContent, "parts")
is_only_parts_of_user: Final = says_only(UserContent, "parts", "content")
is_only_parts_of_system: Final = says_only(SystemContent, "parts", "content")
_is_only_call: Final = says_only(ToolCallPart, "id", "name", "state", "input", "output")


def is_only_call(call: ToolCallPart) -> bool:
    """Whether a call is input by name, alone or with an output that is text or an object."""
    if type(call.input) is not dict or not _is_only_call(call):
        return False
    output = call.output
    if output is None:
        return call.state == "input-available"
    if output.provider_metadata is not None or output.extra is not None or call.state != "output-available":
        return False
    type_ = type(output)
    return type_ is TextOutput or (type_ is JsonOutput and type(output.value) is dict)
