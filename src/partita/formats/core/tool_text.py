"""Inputs and outputs of calls in the form in which a model receives them, and outputs for unfinished calls.

Canonical outputs have seven types. APIs have fewer: `write_tool_text` reduces an output to its outcome and a
value or content, `read_tool_text` is the inverse. `rules` uses `missing_output` for calls without a result.
"""

from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import UNSET

from partita.errors import DecodeError
from partita.types.json import Json, JsonObject, dumps, is_object, loads
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    INTERRUPTIONS,
    ContentItem,
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
    interruption_text,
)

Outcome: TypeAlias = Literal["success", "failed", "denied", "interrupted"]

DENIED: Final = "Tool execution denied."
"""The text of a denied call without a reason. The AI SDK uses the same."""


class ToolText(NamedTuple):
    """An output as a model receives it. `items` is set instead of `value` for content with files."""

    outcome: Outcome
    value: Json = None
    items: tuple[ContentItem, ...] | None = None


def write_tool_text(output: ToolOutput) -> ToolText:
    """Return an output as a model receives it."""
    match output:
        case TextOutput() | JsonOutput():
            return ToolText("success", output.value)
        case ContentOutput():
            return ToolText("success", items=output.value)
        case ErrorTextOutput() | ErrorJsonOutput():
            return ToolText("failed", output.value)
        case ExecutionDeniedOutput():
            return ToolText("denied", DENIED if output.reason is None else output.reason)
        case InterruptedOutput():
            return ToolText("interrupted", interruption_text(output))


def parse_input(text: str) -> Json:
    """Parse the JSON text of a call's input. An empty text is an empty object."""
    return loads(text) if text.strip() else {}


def read_arguments(text: str) -> tuple[Json, Json]:
    """Parse the arguments of a call. Returns the value and unset, or unset and the text if it is not JSON."""
    try:
        return loads(text), UNSET
    except DecodeError:
        return UNSET, text


def object_input(part: ToolCallPart) -> JsonObject:
    """Return the input of a call as an object: another value is in its member `input`.

    While an input is streamed, `input` is a guess, and the text so far is in `raw_input`.
    """
    value: Json = part.input if part.raw_input is UNSET else part.raw_input
    if is_object(value):
        return value
    return {} if value is UNSET or value is None else {"input": value}


def bad_input_text(error: DecodeError) -> str:
    """Return the error text for a call whose input is not JSON."""
    return f"the input is not JSON: {error}"


def as_text(value: Json) -> str:
    """Return a string as it is, and any other value as JSON."""
    return value if isinstance(value, str) else dumps(value).decode()


def read_tool_text(outcome: Outcome, value: Json) -> ToolOutput:
    """Return the output for an outcome and a value: the inverse of `write_tool_text`."""
    text = value if isinstance(value, str) else None
    match outcome:
        case "success":
            return JsonOutput(value) if text is None else TextOutput(text)
        case "denied":
            return ExecutionDeniedOutput(None if text == DENIED else text)
        case "interrupted":
            return _read_interruption(text)
        case "failed":
            return ErrorJsonOutput(value) if text is None else ErrorTextOutput(text)


def _read_interruption(text: str | None) -> InterruptedOutput:
    for reason in INTERRUPTIONS:
        without = interruption_text(InterruptedOutput(reason))
        if text is not None and text.startswith(without):
            return InterruptedOutput(reason, text[len(without) + 1 :] or None)
    return InterruptedOutput("aborted", text)


# Calls that were not completed

CUT_OFF: Final = "the input of the call was cut off"
UNANSWERED: Final = "the call never got a result"
WAITS: Final = "the call still waits for an approval"


def is_cut(call: ToolCallPart) -> bool:
    """Whether the input of a call was cut off, so that it cannot be sent to a model."""
    if call.state == "input-streaming":
        return True
    was_written = call.input is UNSET or call.raw_input is not UNSET  # the text so far is kept
    return was_written and isinstance(call.output, InterruptedOutput)


def missing_output(call: ToolCallPart) -> tuple[ToolOutput, str | None]:
    """Return the output for a call that has none, and the reason for that repair, if it is one."""
    approval = call.approval
    if call.state == "output-denied" or (approval is not None and approval.approved is False):
        return ExecutionDeniedOutput(None if approval is None else approval.reason), None
    if call.state == "approval-requested":
        return InterruptedOutput("lost", WAITS), WAITS
    return InterruptedOutput("lost", UNANSWERED), UNANSWERED
