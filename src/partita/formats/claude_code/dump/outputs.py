"""Outputs of calls → `tool_result` blocks, as they were in the log."""

from typing import assert_never

from msgspec import UNSET

from partita.formats.claude_code.results import KNOWN
from partita.formats.session_losses import Losses
from partita.types.json import Json, JsonObject
from partita.types.messages import ToolCallPart
from partita.types.tools import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)

from .blocks import content_item, notes_of


def restored_result(part: ToolCallPart, output: ToolOutput, path: str, losses: Losses) -> JsonObject:
    """The block that an output was made of."""
    notes = notes_of(output.provider_metadata)
    content, is_error = _content(output, f"{path}.output", losses), _is_error(output)
    if "content" in notes:
        absent = notes["content"] == "absent" and isinstance(output, TextOutput | ErrorTextOutput)
        content = UNSET if absent else notes["content"]
    if "isError" in notes:
        is_error = UNSET if notes["isError"] == "absent" else notes["isError"]
    block: JsonObject = {"type": "tool_result", "tool_use_id": part.id}
    if content is not UNSET:
        block["content"] = content
    if is_error is not UNSET:
        block["is_error"] = is_error
    rest = notes_of(part.result_provider_metadata)
    return block | {name: value for name, value in rest.items() if name not in KNOWN}


def _content(output: ToolOutput, path: str, losses: Losses) -> Json:
    match output:
        case TextOutput() | JsonOutput() | ErrorTextOutput() | ErrorJsonOutput():
            return output.value
        case ContentOutput(value=items):
            found = [content_item(item, f"{path}.value[{index}]", losses) for index, item in enumerate(items)]
            return [item for item in found if item is not UNSET]
        case ExecutionDeniedOutput(reason=words) | InterruptedOutput(message=words):
            return UNSET if words is None else words
        case _:
            assert_never(output)


def _is_error(output: ToolOutput) -> Json:
    return UNSET if isinstance(output, TextOutput | JsonOutput | ContentOutput) else True
