"""Tool parts → chunks."""

from collections.abc import Iterator
from typing import Final

from partita.types.chunks import Chunk, ToolInputAvailable, ToolOutputChunk
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import ForeignPart, TextPart
from partita.types.tools import (
    ContentItem,
    ContentOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    TextOutput,
    ToolOutput,
)

from .content import KEY, file_of, provider_metadata, text_or, without

STATUSES: Final = frozenset({"pending", "running", "completed", "error"})

STOPPED: Final = "aborted"
REFUSED: Final = "permission.rejected"
ABORTED: Final = "Tool execution aborted"
REFUSALS: Final = (
    "The user rejected permission",
    "The user has specified a rule which prevents you from using this specific tool call",
    "The user dismissed this question",
)
"""How the error of a call begins that was not allowed to run."""

ENDINGS: Final = (
    ("terminated command after exceeding timeout", "timeout"),
    ("User aborted the command", "aborted"),
)
"""What a shell says at the end of its output about a command that did not end by itself."""

ENDING_LENGTH: Final = 500
INVALID: Final = "invalid"
"""The tool that bad calls are sent to; it reports them as completed."""


def call_of(part: JsonObject, otherwise: str) -> str:
    """The id of a call."""
    return text_or(part.get("callID"), otherwise)


def state_of(part: JsonObject) -> JsonObject:
    """How far a call has come."""
    state = part.get("state")
    return state if is_object(state) else {}


def tool_chunks(call_id: str, part: JsonObject) -> Iterator[Chunk]:
    """A call as it is now: its input, and its output if there is one."""
    state = state_of(part)
    yield ToolInputAvailable(
        call_id,
        text_or(part.get("tool"), "unknown"),
        state.get("input", state.get("raw")),
        title=text_or(state.get("title"), "") or None,
        provider_executed=True if part.get("executed") is True else None,
        provider_metadata=provider_metadata(part),
        tool_metadata={KEY: _metadata(part, state)},
    )
    output = output_of(part)
    if output is not None:
        yield ToolOutputChunk(call_id, output)
    elif state.get("status") == "running" and isinstance(so_far := _told(state).get("output"), str):
        yield ToolOutputChunk(call_id, TextOutput(so_far), preliminary=True)


def output_of(part: JsonObject) -> ToolOutput | None:
    """What came of a call, if it has ended."""
    state = state_of(part)
    match state.get("status"):
        case "completed":
            return _completed(text_or(part.get("tool"), ""), state)
        case "error":
            return _failed(text_or(state.get("error"), ""), state.get("errorType"))
        case _:
            return None


def child_of(part: JsonObject) -> str | None:
    """The session that a call started."""
    told = _told(state_of(part))
    child = told.get("sessionId", told.get("sessionID"))
    return child if isinstance(child, str) and child else None


def _completed(tool: str, state: JsonObject) -> ToolOutput:
    """What a tool gave back. A shell's exit code alone tells that its command failed."""
    content = state.get("content")
    items: list[JsonObject] = [it for it in content if is_object(it)] if is_array(content) else []
    text = text_or(state.get("output"), "") or "\n".join(_texts(items))
    told = _told(state)
    code = told.get("exit")
    if "exit" in told and code is None:
        for words, why in ENDINGS:
            if words in text[-ENDING_LENGTH:]:
                return InterruptedOutput("timeout" if why == "timeout" else "aborted", text)
    if tool == INVALID or (isinstance(code, int) and code != 0):
        return ErrorTextOutput(text)
    if len(items) > 1 or len(_texts(items)) < len(items):
        return ContentOutput(tuple([_item(item) for item in items]))
    attachments = state.get("attachments")
    if is_array(attachments) and attachments:
        return ContentOutput(
            (TextPart(text), *(file_of(file) or ForeignPart(KEY, file) for file in attachments))
        )
    return TextOutput(text)


def _texts(items: list[JsonObject]) -> list[str]:
    return [it["text"] for it in items if it.get("type") == "text" and isinstance(it.get("text"), str)]


def _item(item: JsonObject) -> ContentItem:
    """A piece of what a tool gave back."""
    if item.get("type") == "text" and isinstance(text := item.get("text"), str):
        return TextPart(text)
    return file_of(item) or ForeignPart(KEY, item)


def _failed(error: str, kind: Json) -> ToolOutput:
    """Why a call failed; version 2 says what kind of failure it was."""
    if kind == STOPPED or error.startswith(ABORTED):
        return InterruptedOutput("aborted", error)
    if kind == REFUSED or error.removeprefix("Error: ").startswith(REFUSALS):
        return ExecutionDeniedOutput(error)
    return ErrorTextOutput(error)


def _told(state: JsonObject) -> JsonObject:
    metadata = state.get("metadata")
    return metadata if is_object(metadata) else {}


def _metadata(part: JsonObject, state: JsonObject) -> JsonObject:
    """What a call holds besides: its times, what the tool told, the child it started."""
    own = without(state, "input", "output", "title", "error", "attachments", "metadata", "content")
    told: Json = state.get("metadata")
    if is_object(told) and told.get("output") == state.get("output"):
        told = without(told, "output")
    if told:
        own["metadata"] = told
    if (child := child_of(part)) is not None:
        own["childSessionId"] = child
    if isinstance(id_ := part.get("id"), str):
        own["partId"] = id_
    return own
