"""What came of a call: ours ↔ Pydantic AI's."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from pydantic_ai.messages import BaseToolReturnPart, UserContent

from partita.formats.core.tool_text import tool_text
from partita.runtime.plugged.jsonable import as_json
from partita.types.tools import (
    ContentOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)

from .media import content_of, items_of

Outcome: TypeAlias = Literal["success", "failed", "denied", "interrupted", "retried"]


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
    """The content and the outcome of the return of an output."""
    outcome, value, items = tool_text(output)
    return (value if items is None else content_of(items)), outcome
