"""Reads the texts of a view, which are not copied into it but located in its call."""

from partita.types.json import Json, is_array, is_object
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ForeignPart,
    JsonOutput,
    TextOutput,
)
from partita.types.tool_views import ToolText

from .call_data import CallData


def read_text(part: ToolCallPart, located: ToolText | None) -> str:
    """The text at a location of this call; empty if there is none."""
    if located is None:
        return ""
    if located.text is not None:
        return located.text
    text = _at(part, located.path)
    if not (located.skip_lines or located.line_count is not None or located.separator):
        return text
    lines = text.split("\n")[located.skip_lines :]
    if located.line_count is not None:
        lines = lines[: located.line_count]
    if located.separator:
        lines = [line.partition(located.separator)[2] for line in lines]
    return "\n".join(lines)


def _at(part: ToolCallPart, path: tuple[str | int, ...]) -> str:
    """The text at a path of the call's JSON."""
    if path == ("output",):
        return CallData(part).text
    first, *rest = path
    value: Json = None
    match first:
        case "input":
            value = part.input
        case "rawInput":
            value = part.raw_input
        case "toolMetadata":
            value = part.tool_metadata
        case "output" if isinstance(
            part.output, TextOutput | JsonOutput | ErrorTextOutput | ErrorJsonOutput | ContentOutput
        ):
            value, rest = part.output.value, rest[1:]
        case _:
            pass
    for step in rest:
        if isinstance(value, tuple) and isinstance(step, int) and step < len(value):
            value = value[step]  # an item of a content output
        elif isinstance(value, ForeignPart) and step == "value":
            value = value.value
        elif is_object(value) and isinstance(step, str):
            value = value.get(step)
        elif is_array(value) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return ""
    return value if isinstance(value, str) else ""
