"""What tools gave back, and how it went ↔ outputs."""

from typing import Final

from partita.formats.framework.members import Members
from partita.types.json import Json, JsonObject, is_array
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

from .items import is_file, read_item, write_item

OUTCOMES: Final = ("success", "failed", "denied", "interrupted", "retried")
SAID: Final = "said"
"""Where a note keeps what was said of a call that was denied or interrupted, if it is no text."""


def read_output(members: Members) -> ToolOutput | None:
    """The output in the members of a return; how it went stays there if that says more."""
    outcome = members.left.get("outcome", "success")
    if outcome not in OUTCOMES or "content" not in members.left:
        return None
    members.any("outcome")
    content = members.any("content")
    text = content if isinstance(content, str) else None
    match outcome:
        case "success":
            if text is not None:
                return TextOutput(text)
            return (
                ContentOutput(tuple(map(read_item, content))) if is_content(content) else JsonOutput(content)
            )
        case "denied" | "interrupted":
            if text is None:
                members.left[SAID] = content
            if outcome == "denied":
                return ExecutionDeniedOutput(text)
            return InterruptedOutput("aborted", text)
        case _:
            if outcome != "failed":
                members.left["outcome"] = outcome
            return ErrorJsonOutput(content) if text is None else ErrorTextOutput(text)


def write_output(output: ToolOutput, note: JsonObject) -> JsonObject:
    """The content of a return and its outcome, given what a note says."""
    kept = note.pop(SAID, None)
    failed = note.get("outcome") if note.get("outcome") in OUTCOMES else "failed"
    match output:
        case TextOutput() | JsonOutput():
            return {"content": output.value, "outcome": "success"}
        case ContentOutput():
            items = [item for part in output.value if (item := write_item(part)) is not None]
            return {"content": items, "outcome": "success"}
        case ErrorTextOutput() | ErrorJsonOutput():
            return {"content": output.value, "outcome": failed}
        case ExecutionDeniedOutput():
            said = output.reason if output.reason is not None else kept
            return {"content": "The call was denied." if said is None else said, "outcome": "denied"}
        case InterruptedOutput():
            said = output.message if output.message is not None else kept
            return {"content": "The call never ended." if said is None else said, "outcome": "interrupted"}


def is_content(content: Json) -> bool:
    """Whether an output is for a model to look at: texts and files, not data."""
    if not is_array(content) or not any(map(is_file, content)):
        return False
    return all(isinstance(item, str) or is_file(item) for item in content)
