"""Outputs of tools in model messages ↔ typed outputs, and results that stand apart from their call."""

from collections.abc import Mapping
from typing import Any, assert_never

from msgspec import UNSET

from partita.formats.ai_sdk.convert.tools import DENIED
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import ForeignPart, UnknownPart
from partita.types.tools import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
    ToolResultPart,
)
from partita.types.value import kept, unkept

from .items import read_item, write_item
from .marks import FORMAT, amended, difference, note_of, options_of, with_note, with_options

TEXTS: Mapping[str, type[TextOutput | ErrorTextOutput]] = {"text": TextOutput, "error-text": ErrorTextOutput}
VALUES: Mapping[str, type[JsonOutput | ErrorJsonOutput]] = {"json": JsonOutput, "error-json": ErrorJsonOutput}

PLAIN_RESULT = frozenset({"type", "toolCallId", "toolName", "output"})
PLAIN_OUTPUT = frozenset({"type", "value"})
"""The members of a result and of an output that say no more."""

# Outputs


def plain_output(raw: Json) -> TextOutput | JsonOutput | None:
    """A text, or JSON that is none, and no more than that; `None` when it is anything else."""
    if not is_object(raw) or raw.keys() != PLAIN_OUTPUT:
        return None
    kind, value = raw["type"], raw["value"]
    if isinstance(value, str):
        return TextOutput(value) if kind == "text" else None
    return JsonOutput(value) if kind == "json" else None


def read_output(raw: Json, version: int) -> ToolOutput:
    """A typed output. What has no type we know is JSON."""
    if not is_object(raw):
        return JsonOutput(raw)
    tag, value = raw.get("type"), raw.get("value")
    type_ = tag if isinstance(tag, str) else ""
    if type_ in TEXTS and isinstance(value, str):
        return TEXTS[type_](value, **_around(raw, TEXTS[type_], "value"))
    if type_ in VALUES and "value" in raw:
        return VALUES[type_](value, **_around(raw, VALUES[type_], "value"))
    if type_ == "execution-denied":
        reason = raw.get("reason")
        told = isinstance(reason, str)
        around = _around(raw, ExecutionDeniedOutput, *(["reason"] if told else []))
        return ExecutionDeniedOutput(reason if told else None, **around)
    if type_ == "content" and is_array(value):
        items = tuple(read_item(item, version) for item in value)
        return ContentOutput(items, **_around(raw, ContentOutput, "value"))
    return JsonOutput(raw)


def write_output(output: ToolOutput, version: int) -> JsonObject:
    """A typed output as model messages have it."""
    written = with_options(_write_output(output, version), output.provider_metadata)
    return {**written, **unkept(output.extra)}


def words_of(output: InterruptedOutput) -> str:
    """What the model is told about a call that never ended."""
    why = {"aborted": "it was stopped", "timeout": "it took too long", "lost": "its process went away"}
    told = "" if output.message is None else f" {output.message}"
    return f"The tool call was interrupted: {why[output.reason]}.{told}"


def _around(raw: JsonObject, type_: type[Any], *known: str) -> JsonObject:
    """Provider options, and the members without a name here."""
    options = options_of(raw)
    known_here = {"type", *known, *([] if options is None else ["providerOptions"])}
    rest = {key: item for key, item in raw.items() if key not in known_here}
    return {"provider_metadata": options, "extra": kept(rest, type_)}


def _write_output(output: ToolOutput, version: int) -> JsonObject:
    match output:
        case TextOutput(value=text):
            return {"type": "text", "value": text}
        case JsonOutput(value=value):
            return {"type": "json", "value": value}
        case ErrorTextOutput(value=text):
            return {"type": "error-text", "value": text}
        case ErrorJsonOutput(value=value):
            return {"type": "error-json", "value": value}
        case ExecutionDeniedOutput(reason=reason):
            if version < 6:
                return {"type": "error-text", "value": DENIED if reason is None else reason}
            return {"type": "execution-denied", **({} if reason is None else {"reason": reason})}
        case ContentOutput(value=items):
            written = (write_item(item, version) for item in items)
            return {"type": "content", "value": [item for item in written if item is not UNSET]}
        case InterruptedOutput():
            return {"type": "error-text", "value": words_of(output)}
        case _:
            assert_never(output)


# Results that have no call here


def is_result(raw: Json) -> bool:
    """Whether a part is a tool result that says what it is the result of."""
    return (
        is_object(raw)
        and raw.get("type") == "tool-result"
        and isinstance(raw.get("toolCallId"), str)
        and isinstance(raw.get("toolName"), str)
    )


def read_tool_part(raw: Json, version: int) -> ToolResultPart | ForeignPart:
    """A part of a tool message that belongs to no call."""
    if not is_result(raw):
        return ForeignPart(FORMAT, raw)
    plain = plain_output(raw["output"]) if raw.keys() == PLAIN_RESULT else None
    if plain is not None:
        return ToolResultPart(raw["toolCallId"], raw["toolName"], plain)
    output = read_output(raw.get("output"), version)
    result = ToolResultPart(raw["toolCallId"], raw["toolName"], output, options_of(raw))
    note = difference(_write_result(result, version), raw)
    return with_note(result, note) if note else result


def write_tool_part(part: ToolResultPart | ForeignPart | UnknownPart, version: int) -> list[Json]:
    """The same as part of a tool message; nothing if it is of another format."""
    match part:
        case ToolResultPart():
            return [amended(_write_result(part, version), note_of(part))]
        case ForeignPart(format=format_, value=value):
            return [value] if format_ == FORMAT else []
        case UnknownPart():
            return []
        case _:
            assert_never(part)


def _write_result(part: ToolResultPart, version: int) -> JsonObject:
    result: JsonObject = {"type": "tool-result", "toolCallId": part.id, "toolName": part.name}
    return with_options({**result, "output": write_output(part.output, version)}, part.provider_metadata)
