"""`tool_result` blocks and the structured results beside them ↔ typed outputs.

Types are kept: text that looks like JSON stays text. Members of the block without a field in the output are
in its provider metadata under `anthropic`, so that the block can be written back:

    isError    the `is_error` of the block, if it does not follow from the type of the output
    content    `"absent"` or null if the block has no content; the content of the block if the
               output has only a part of it (the reason of a denial, the message of an interruption)
    denial     the name of the denial in the log or stream: `user-rejected`, `permission-rule`, …

Unknown members of the block are in the chunk's provider metadata.
"""

from collections.abc import Sequence
from typing import Any, Final, Literal

from msgspec import UNSET, UnsetType

from partita.formats.core.metadata import add_notes, notes
from partita.formats.core.tool_text import as_text, write_tool_text
from partita.types.chunks import ToolOutputChunk
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)

from .user_content import content_block, content_part, new_block
from .wire import ANTHROPIC, CLAUDE_CODE

KNOWN: Final = frozenset({"type", "tool_use_id", "content", "is_error"})
ABSENT: Final = "absent"

INTERRUPTIONS: Final = frozenset({"interrupted", "cancelled"})
"""Kinds of denial of calls that were stopped before they ran."""

USER_REJECTED: Final = "User rejected tool use"
"""The structured result of a call that a person denied."""

# Texts of denied calls, seen in recordings: the prefix, and a text that must follow if that is ambiguous.
# Only errors are compared with them: the same text in a file that a tool read means nothing.
DENIED: Final[Sequence[tuple[str, str]]] = (
    ("The user doesn't want to proceed with this tool use", ""),
    ("The user doesn't want to take this action right now", ""),
    ("The user has declined this action", ""),
    ("The agent proposed a plan that was rejected by the user", ""),
    ("Claude requested permissions to ", ""),
    ("This command requires approval", ""),
    ("This Bash command contains multiple operations", " approval"),
    ("This action was blocked by ", ""),
    ("Permission to use ", "denied"),
    ("Permission for this ", ""),
    ("PreToolUse:", " hook "),
    ("", "was blocked. For security, Claude Code may only "),
)
STOPPED: Final = (
    "<tool_use_error>Sibling tool call errored",
    "<tool_use_error>Cancelled: parallel tool call",
    "<tool_use_error>Streaming fallback - tool execution discarded",
    "Sibling tool call errored",
    "Cancelled: parallel tool call",
    "Permission prompt was aborted",
    "[Request interrupted",
)
"""Texts of calls that were stopped, seen in recordings."""

REASONS: Final = (" the user said:\n", " The user said:\n", " declined this action. Reason: ")
"""The text before the reason that the person typed."""

MEMORY_NOTE: Final = "\n\nNote: The user's next message may contain a correction or preference."
"""Advice to the model that newer versions add to a denial (seen in recordings)."""

# Texts that are written for outputs of other formats
INTERRUPTED: Final = "[Request interrupted by user for tool use]"
FAILED: Final = "The tool failed without a message."
"""The API refuses an error without text (seen in its error messages)."""


# Reading


def output_chunk(
    block: JsonObject,
    structured: Json | UnsetType,
    *,
    denied: str | None = None,
    reason: str | None = None,
    provider_metadata: JsonObject | None = None,
    provider_executed: bool | None = None,
) -> ToolOutputChunk:
    """The chunk of a `tool_result` block.

    `denied` is the name of the denial in the source, `reason` its reason if that is elsewhere.
    """
    output = _output(block, structured, denied, reason)
    if not block.keys() <= KNOWN:
        fields = {key: value for key, value in block.items() if key not in KNOWN}
        provider_metadata = add_notes(provider_metadata, ANTHROPIC, fields)
    call_id = block.get("tool_use_id")
    return ToolOutputChunk(
        call_id if type(call_id) is str else "",
        output,
        provider_executed=provider_executed,
        provider_metadata=provider_metadata,
        tool_metadata=None if structured is UNSET else {CLAUDE_CODE: {"toolUseResult": structured}},
    )


def _output(
    block: JsonObject, structured: Json | UnsetType, denied: str | None, reason: str | None
) -> ToolOutput:
    content, is_error = block.get("content", UNSET), block.get("is_error", UNSET)
    if denied is not None or is_error is True:
        text = _text(content)
        how = _end_reason(text, structured, denied)
        if how is not None:
            message = text if how == "interrupted" else reason or _reason(text)
            return _stopped(how, message, content, is_error, denied)
    members: JsonObject = {} if is_error in (UNSET, True) else {"isError": is_error}
    if content is UNSET or content is None:
        members["content"] = ABSENT if content is UNSET else None
        content = ""
    metadata: JsonObject | None = {ANTHROPIC: members} if members else None
    if type(content) is str:
        type_ = ErrorTextOutput if is_error is True else TextOutput
        return type_(content, provider_metadata=metadata)
    if is_error is True:
        return ErrorJsonOutput(content)
    if is_array(content):
        return ContentOutput(tuple([content_part(item) for item in content]), provider_metadata=metadata)
    return JsonOutput(content, provider_metadata=metadata)


def _stopped(
    how: Literal["denied", "interrupted"],
    message: str,
    content: Json | UnsetType,
    is_error: Json | UnsetType,
    denied: str | None,
) -> ToolOutput:
    members: JsonObject = {}
    if content is not UNSET and (content != message or not message):
        members["content"] = content
    if is_error is not True:
        members["isError"] = ABSENT if is_error is UNSET else is_error
    if denied is not None:
        members["denial"] = denied
    metadata: JsonObject | None = {ANTHROPIC: members} if members else None
    if how == "interrupted":
        return InterruptedOutput("aborted", message or None, provider_metadata=metadata)
    return ExecutionDeniedOutput(message or None, provider_metadata=metadata)


def _end_reason(
    text: str, structured: Json | UnsetType, denied: str | None
) -> Literal["denied", "interrupted"] | None:
    """Return how a call without an output ended; `None` for a call that ran and failed."""
    if denied is not None:
        return "interrupted" if denied in INTERRUPTIONS else "denied"
    if text.startswith(STOPPED):
        return "interrupted"
    head = text[:400]
    if structured == USER_REJECTED or any(head.startswith(begin) and more in head for begin, more in DENIED):
        return "denied"
    return None


def _reason(text: str) -> str:
    """Return the reason that the person typed; the whole text if nothing was typed."""
    for mark in REASONS:
        at = text.find(mark, 0, 400)
        if at >= 0:
            return text[at + len(mark) :].split(MEMORY_NOTE, 1)[0] or text
    return text


def _text(content: Json | UnsetType) -> str:
    """Return the text of a content: its string, or its only text block."""
    if isinstance(content, str):
        return content
    if is_array(content) and len(content) == 1:
        item = content[0]
        if is_object(item) and item.get("type") == "text" and isinstance(item.get("text"), str):
            return str(item["text"])
    return ""


# Writing


def restored_result(part: ToolCallPart, output: ToolOutput) -> JsonObject:
    """Return the block that an output was read from."""
    members = notes(output.provider_metadata, ANTHROPIC)
    is_error: Json = UNSET if isinstance(output, TextOutput | JsonOutput | ContentOutput) else True
    content: Json
    match output:
        case ContentOutput(value=items):
            content = [block for item in items if (block := content_block(item)) is not UNSET]
        case ExecutionDeniedOutput(reason=text) | InterruptedOutput(message=text):
            content = UNSET if text is None else text
        case _:
            content = output.value
    if "content" in members:
        absent = members["content"] == ABSENT and isinstance(output, TextOutput | ErrorTextOutput)
        content = UNSET if absent else members["content"]
    if "isError" in members:
        is_error = UNSET if members["isError"] == ABSENT else members["isError"]
    block: JsonObject = {"type": "tool_result", "tool_use_id": part.id}
    if content is not UNSET:
        block["content"] = content
    if is_error is not UNSET:
        block["is_error"] = is_error
    rest = notes(part.result_provider_metadata, ANTHROPIC)
    return block | {name: value for name, value in rest.items() if name not in KNOWN}


def new_result(call: ToolCallPart, call_id: str) -> tuple[JsonObject, JsonObject]:
    """Return the block of an output of any format, as the API accepts it, and members of its record.

    A call without an output, or with one that was not the last, was interrupted.
    """
    output = call.output
    content: Any
    more: JsonObject = {}
    if output is None or call.preliminary:
        output = InterruptedOutput("aborted")
    outcome, value, items = write_tool_text(output)
    if isinstance(output, ExecutionDeniedOutput):
        content = f"{DENIED[0][0]}."
        content += f" Instead,{REASONS[0]}{output.reason}" if output.reason else ""
        more = {"toolUseResult": USER_REJECTED, "toolDenialKind": "user-rejected"}
    elif isinstance(output, InterruptedOutput):
        content = output.message if output.message and output.message.strip() else INTERRUPTED
        more = {"toolDenialKind": "interrupted"}
    elif items is not None:
        content = [block for item in items if (block := new_block(item)) is not None] or ""
    else:
        content = as_text(value)
        content = FAILED if outcome == "failed" and not content.strip() else content
    block: JsonObject = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return (block if outcome == "success" else {**block, "is_error": True}), more
