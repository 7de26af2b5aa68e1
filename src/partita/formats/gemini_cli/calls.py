"""Tool calls, as chats record them → chunks."""

from collections.abc import Iterator
from typing import Final

from partita.types.chunks import Chunk, ToolApprovalRequest, ToolInputAvailable, ToolOutputChunk
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import ForeignPart, TextPart
from partita.types.tools import (
    ContentItem,
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)

from .content import KEY, items_of, response_of, shown, text_or

RUNNING: Final = ("validating", "scheduled", "executing", "awaiting_approval")
ENDED: Final = ("success", "error", "cancelled")

CANCELLED: Final = "[Operation Cancelled] Reason: "
REFUSALS: Final = ("User did not allow", "User denied")
"""How the reason of a call begins that a person did not let run."""

SHELL: Final = "run_shell_command"
EXIT_CODE: Final = "\nExit Code: "

SAID: Final = frozenset({"id", "name", "args", "result", "displayName", "resultDisplay"})


def call_chunks(call_id: str, call: JsonObject) -> Iterator[Chunk]:
    """A call as it is now: its input, and its output once there is one."""
    output = output_of(call)
    yield ToolInputAvailable(
        call_id,
        text_or(call.get("name"), "unknown"),
        call.get("args"),
        title=text_or(call.get("displayName"), "") or None,
        tool_metadata={KEY: _metadata(call, output)},
    )
    if output is not None:
        yield ToolOutputChunk(call_id, output)
    elif call.get("status") == "awaiting_approval":
        yield ToolApprovalRequest(call_id, call_id)


def output_of(call: JsonObject) -> ToolOutput | None:
    """What came of a call, if it has ended."""
    status, result = call.get("status"), call.get("result")
    if status == "cancelled":
        return _stopped(_said(result))
    if status in RUNNING or (status not in ENDED and result is None):
        return None
    if result is None:
        display = call.get("resultDisplay")
        output: ToolOutput = TextOutput(display if isinstance(display, str) else "")
    else:
        output = result_of(result)
    return _failed(output) if status == "error" else output


def result_of(result: Json) -> ToolOutput:
    """What a tool gave back: the parts of its response."""
    items = list(items_of(result))
    if len(items) == 1 and (response := response_of(items[0])) is not None and not response.get("parts"):
        return _bare(response.get("response"))
    return ContentOutput(tuple(part for item in items for part in _looked_at(item)))


def _bare(response: Json) -> ToolOutput:
    match response:
        case {"output": str(text), **rest} if not rest:
            return TextOutput(text)
        case {"error": str(text), **rest} if not rest:
            return ErrorTextOutput(text)
        case {"error": error} if error:
            return ErrorJsonOutput(response)
        case str():
            return TextOutput(response)
        case _:
            return JsonOutput(response)


def _looked_at(item: Json) -> Iterator[ContentItem]:
    response = response_of(item)
    if response is None:
        yield shown(item) or ForeignPart(KEY, item)
        return
    output = _bare(response.get("response"))
    if isinstance(output, TextOutput | ErrorTextOutput):
        yield TextPart(output.value)
    elif response.get("response") is not None:
        yield ForeignPart(KEY, response["response"])
    inner = response.get("parts")
    for part in inner if is_array(inner) else ():
        yield shown(part) or ForeignPart(KEY, part)


def _failed(output: ToolOutput) -> ToolOutput:
    match output:
        case TextOutput(value=text):
            return ErrorTextOutput(text)
        case JsonOutput(value=value):
            return ErrorJsonOutput(value)
        case _:
            return output


def _stopped(said: str) -> ToolOutput:
    """A call that did not come to its end: refused by a person, or stopped."""
    reason = said.removeprefix(CANCELLED)
    if reason.startswith(REFUSALS):
        return ExecutionDeniedOutput(reason)
    return InterruptedOutput("aborted", reason or None)


def _said(result: Json) -> str:
    """The words of a result, or nothing."""
    output = None if result is None else result_of(result)
    return output.value if isinstance(output, TextOutput | ErrorTextOutput) else ""


def _metadata(call: JsonObject, output: ToolOutput | None) -> JsonObject:
    metadata: JsonObject = {key: value for key, value in call.items() if key not in SAID}
    text = output.value if isinstance(output, TextOutput | ErrorTextOutput) else None
    display = call.get("resultDisplay")
    if display is not None and display != text:
        metadata["resultDisplay"] = display
    if call.get("name") == SHELL and text is not None:
        code = _exit_code(text)
        if code is not None:
            metadata["exitCode"] = code
    return metadata


def _exit_code(text: str) -> int | None:
    """The exit code that the text of a shell command ends with; success is not told."""
    place = text.rfind(EXIT_CODE)
    digits = "" if place < 0 else text[place + len(EXIT_CODE) :].partition("\n")[0].strip()
    return int(digits) if digits.removeprefix("-").isdecimal() and len(digits) < 12 else None


def agent_of(call: JsonObject) -> str | None:
    """The sub-agent that a call started."""
    agent = call.get("agentId")
    return agent if isinstance(agent, str) and agent else None


def calls_of(record: JsonObject) -> list[JsonObject]:
    """The calls that a response records."""
    calls = record.get("toolCalls")
    return [call for call in calls if is_object(call)] if is_array(calls) else []
