"""What came of a call that the client ran → the item that answers it, in the way of its tool."""

from typing import Final, assert_never

from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
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

from .amending import OUTPUT, amended
from .fields import array, inner, text
from .request_content import content_of, own

NO_FLAG: Final = "an output says in words only that the call failed, was denied or was interrupted"
NO_SCREEN: Final = "a computer call is answered by a picture of the screen"

SCREEN: Final = frozenset({"image_url", "file_id"})
"""Where a picture of the screen may be."""

DENIED: Final = "The call was not allowed."
INTERRUPTED: Final = "The call was interrupted and gave no output"


def output_item(
    part: ToolResultPart, kind: str, call_id: str, where: str, losses: list[Loss]
) -> list[JsonObject]:
    """The item that answers a call of that kind; none if it cannot be answered so."""
    output = part.output
    match kind:
        case "apply_patch_call":
            status = "failed" if _failed(output) else "completed"
            said: JsonObject = {"status": status, "output": _words(output)}
        case "shell_call":
            said = {"output": _shell(output)}
        case "local_shell_call":
            said = {"output": _words(output)}
        case "tool_search_call":
            said = {"execution": "client", "status": "completed", "tools": _tools(output)}
        case "computer_call":
            picture = _picture(output, where, losses)
            if picture is None:
                losses.append(Loss.of(where, _words(output), NO_SCREEN))
                return []
            said = {"output": picture}
        case _:
            if _failed(output):
                losses.append(Loss.of(where, str(output.__struct_config__.tag), NO_FLAG))
            said = {"output": _shown(output, where, losses)}
    type_ = "tool_search_output" if kind == "tool_search_call" else f"{kind}_output"
    item = {"type": type_, "call_id": call_id, **said}
    return [amended(item, inner(own(part.provider_metadata), OUTPUT))]


def _failed(output: ToolOutput) -> bool:
    match output:
        case TextOutput() | JsonOutput() | ContentOutput():
            return False
        case ErrorTextOutput() | ErrorJsonOutput() | ExecutionDeniedOutput() | InterruptedOutput():
            return True
        case _:
            assert_never(output)


def _words(output: ToolOutput) -> str:
    """An output in words."""
    match output:
        case TextOutput() | ErrorTextOutput():
            return output.value
        case JsonOutput() | ErrorJsonOutput():
            return dumps(output.value).decode()
        case ExecutionDeniedOutput():
            return output.reason or DENIED
        case InterruptedOutput():
            return output.message or f"{INTERRUPTED} ({output.reason})."
        case ContentOutput():
            parts = content_of(output.value, "", [])
            return "\n".join(text(part, "text") for part in parts if part["type"] == "input_text")
        case _:
            assert_never(output)


def _shown(output: ToolOutput, where: str, losses: list[Loss]) -> Json:
    """An output as a function gives it: words, or content to look at."""
    if isinstance(output, ContentOutput):
        return content_of(output.value, f"{where}.output.value", losses) or ""
    return _words(output)


def _shell(output: ToolOutput) -> list[Json]:
    """The outputs of a shell's commands; what is no such list is the output of one command."""
    value = output.value if isinstance(output, JsonOutput) else None
    listed = value.get("output") if is_object(value) else value
    if is_array(listed):
        return [shell_output(one) if is_object(one) else one for one in listed]
    failed = _failed(output)
    words = _words(output)
    outcome = {"type": "exit", "exit_code": 1 if failed else 0}
    return [{"stdout": "" if failed else words, "stderr": words if failed else "", "outcome": outcome}]


def shell_output(output: JsonObject) -> JsonObject:
    """The output of one command, under the provider's names."""
    outcome = inner(output, "outcome")
    if "exitCode" not in outcome:
        return output
    renamed = {"exit_code" if name == "exitCode" else name: value for name, value in outcome.items()}
    return {**output, "outcome": renamed}


def _tools(output: ToolOutput) -> list[Json]:
    value = output.value if isinstance(output, JsonOutput) else None
    return array(value, "tools") if is_object(value) else value if is_array(value) else []


def _picture(output: ToolOutput, where: str, losses: list[Loss]) -> JsonObject | None:
    """The screen, as content or as the provider's own object."""
    match output:
        case JsonOutput(value=screen) if is_object(screen) and screen.keys() & SCREEN:
            return {"type": "computer_screenshot", **screen}
        case ContentOutput(value=content):
            shown = content_of(content, f"{where}.output.value", losses)
            images = [part for part in shown if part["type"] == "input_image"]
            return {**images[0], "type": "computer_screenshot"} if images else None
        case _:
            return None
