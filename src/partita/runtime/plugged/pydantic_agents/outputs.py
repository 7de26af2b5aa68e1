"""What came of a call: ours ↔ Pydantic AI's."""

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias, assert_never

from pydantic_ai.messages import BaseToolReturnPart, UserContent

from partita.runtime.plugged.jsonable import as_json
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

from .media import content_of, items_of

Outcome: TypeAlias = Literal["success", "failed", "denied", "interrupted", "retried"]

DENIED: Final = "The tool call was denied."
INTERRUPTED: Final = "The tool call was interrupted."


def output_of(part: BaseToolReturnPart[Any], more: str | Sequence[UserContent] | None = None) -> ToolOutput:
    """The output that a return is; `more` is what the model is shown beside it."""
    if part.outcome == "success":
        if part.files or more:
            beside = [more] if isinstance(more, str) else list(more or ())
            return ContentOutput((*items_of(part.content), *items_of(beside)))
        value = as_json(part.content)
        return TextOutput(value) if isinstance(value, str) else JsonOutput(value)
    words = part.model_response_str(wrap_if_error=False)
    if part.outcome == "denied":
        return ExecutionDeniedOutput(words)
    if part.outcome == "interrupted":
        return InterruptedOutput("aborted", words)
    return ErrorTextOutput(words)


def return_of(output: ToolOutput) -> tuple[Any, Outcome]:
    """The content and the outcome of the return that an output is."""
    match output:
        case TextOutput() | JsonOutput():
            return output.value, "success"
        case ErrorTextOutput() | ErrorJsonOutput():
            return output.value, "failed"
        case ExecutionDeniedOutput():
            return output.reason or DENIED, "denied"
        case InterruptedOutput():
            return output.message or INTERRUPTED, "interrupted"
        case ContentOutput():
            return content_of(output.value), "success"
        case _:
            assert_never(output)
