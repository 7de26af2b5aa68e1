"""A `tool_result` block and the structured result beside it → one chunk with a typed output.

Types stay as they are: words that look like JSON stay words. What the typed output does not tell stands in
its provider metadata under `anthropic`, so that the block can be written again:

    isError    the block's own `is_error`, when it is there and not what the kind of output implies
    content    `"absent"` or null when an empty text stands for no content; the block's own content when the
               output tells only a part of it (a refusal's reason, an interruption's message)
    denial     what the log or stream calls the refusal: `user-rejected`, `permission-rule`, …

Fields of the block that have no name here stand in the chunk's provider metadata.
"""

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import UNSET, UnsetType

from partita.types.chunks import ToolOutputChunk
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

from .media import ANTHROPIC, media_part

CLAUDE_CODE: Final = "claudeCode"
"""The namespace of tool metadata and message metadata."""

KNOWN: Final = frozenset({"type", "tool_use_id", "content", "is_error"})

INTERRUPTIONS: Final = frozenset({"interrupted", "cancelled"})
"""Kinds of denial that are none: nobody refused the call, it was stopped before it ran."""

USER_REJECTED: Final = "User rejected tool use"
"""The structured result of a call that a person refused, whatever the block says."""

# Words with which Claude Code begins a result, and words that must follow when the beginning says too little.
# Only results marked as errors are looked at: the same words in a file that was read mean nothing.
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
OWN_WORDS: Final = (" the user said:\n", " The user said:\n", " declined this action. Reason: ")
"""After these comes what the person typed."""

MEMORY_NOTE: Final = "\n\nNote: The user's next message may contain a correction or preference."
"""Advice to the model that newer versions put after a refusal."""


def output_chunk(
    block: JsonObject,
    structured: Json | UnsetType,
    *,
    denied: str | None = None,
    reason: str | None = None,
    provider_metadata: JsonObject | None = None,
    provider_executed: bool | None = None,
) -> ToolOutputChunk:
    """The chunk that a `tool_result` block amounts to.

    `denied` is what the source calls a refusal, and `reason` what was said about it elsewhere.
    """
    content, is_error = block.get("content", UNSET), block.get("is_error", UNSET)
    size = 3 if is_error is UNSET else 4  # nearly every block is a string that is no error, and nothing else
    if type(content) is str and is_error is not True and denied is None and len(block) == size:
        notes: JsonObject | None = None if is_error is UNSET else {ANTHROPIC: {"isError": is_error}}
        output: ToolOutput = TextOutput(content, provider_metadata=notes)
    else:
        output = _output(content, is_error, structured, denied, reason)
        if any(key not in KNOWN for key in block):
            provider_metadata = _with_fields(provider_metadata, block)
    call_id = block.get("tool_use_id")
    return ToolOutputChunk(
        call_id if type(call_id) is str else "",
        output,
        provider_executed=provider_executed,
        provider_metadata=provider_metadata,
        tool_metadata=None if structured is UNSET else {CLAUDE_CODE: {"toolUseResult": structured}},
    )


def _output(
    content: Json | UnsetType,
    is_error: Json | UnsetType,
    structured: Json | UnsetType,
    denied: str | None,
    reason: str | None,
) -> ToolOutput:
    if denied is not None or is_error is True:
        text = _text(content)
        how = _ending(text, structured, denied)
        if how is not None:
            words = text if how == "interrupted" else reason or _own_words(text)
            return _stopped(how, words, content, is_error, denied)
    if is_error is True:
        return _failed(content)
    return _succeeded(content, None if is_error is UNSET else {"isError": is_error})


def _succeeded(content: Json | UnsetType, notes: JsonObject | None) -> ToolOutput:
    metadata: JsonObject | None = None if notes is None else {ANTHROPIC: notes}
    if isinstance(content, str):
        return TextOutput(content, provider_metadata=metadata)
    if is_array(content):
        return ContentOutput(tuple([content_item(item) for item in content]), provider_metadata=metadata)
    if content is UNSET or content is None:
        return TextOutput("", provider_metadata={ANTHROPIC: {**(notes or {}), "content": _absent(content)}})
    return JsonOutput(content, provider_metadata=metadata)


def _failed(content: Json | UnsetType) -> ToolOutput:
    if isinstance(content, str):
        return ErrorTextOutput(content)
    if content is UNSET or content is None:
        return ErrorTextOutput("", provider_metadata={ANTHROPIC: {"content": _absent(content)}})
    return ErrorJsonOutput(content)


def _stopped(
    how: Literal["denied", "interrupted"],
    words: str,
    content: Json | UnsetType,
    is_error: Json | UnsetType,
    denied: str | None,
) -> ToolOutput:
    notes: JsonObject = {}
    if content is not UNSET and (content != words or not words):
        notes["content"] = content
    if is_error is not True:
        notes["isError"] = "absent" if is_error is UNSET else is_error
    if denied is not None:
        notes["denial"] = denied
    metadata: JsonObject | None = {ANTHROPIC: notes} if notes else None
    if how == "interrupted":
        return InterruptedOutput("aborted", words or None, provider_metadata=metadata)
    return ExecutionDeniedOutput(words or None, provider_metadata=metadata)


def _ending(
    text: str, structured: Json | UnsetType, denied: str | None
) -> Literal["denied", "interrupted"] | None:
    """How a call ended that gave no output of its own; `None` for one that ran and failed."""
    if denied is not None:
        return "interrupted" if denied in INTERRUPTIONS else "denied"
    if text.startswith(STOPPED):
        return "interrupted"
    head = text[:400]
    if structured == USER_REJECTED or any(head.startswith(begin) and more in head for begin, more in DENIED):
        return "denied"
    return None


def _own_words(text: str) -> str:
    """What the person said who refused; the whole text when nobody said anything."""
    for mark in OWN_WORDS:
        at = text.find(mark, 0, 400)
        if at >= 0:
            return text[at + len(mark) :].split(MEMORY_NOTE, 1)[0] or text
    return text


def _text(content: Json | UnsetType) -> str:
    """The words of a content: its string, or its one text block."""
    if isinstance(content, str):
        return content
    if is_array(content) and len(content) == 1:
        item = content[0]
        if is_object(item) and item.get("type") == "text" and isinstance(item.get("text"), str):
            return str(item["text"])
    return ""


def content_item(item: Json) -> ContentItem:
    """An item of a result's content as a part; one that is unknown is kept whole."""
    if is_object(item):
        match item.get("type"):
            case "text" if isinstance(item.get("text"), str):
                rest: JsonObject = {key: value for key, value in item.items() if key not in ("type", "text")}
                return TextPart(item["text"], provider_metadata={ANTHROPIC: rest} if rest else None)
            case "image" | "document":
                return media_part(item)
            case _:
                pass
    return ForeignPart(ANTHROPIC, item)


def _absent(content: Json | UnsetType) -> Json:
    return "absent" if content is UNSET else content


def _with_fields(metadata: JsonObject | None, block: JsonObject) -> JsonObject:
    """Provider metadata with the fields of a block that have no name here."""
    fields = {key: value for key, value in block.items() if key not in KNOWN}
    own = (metadata or {}).get(ANTHROPIC)
    return {**(metadata or {}), ANTHROPIC: {**(own if is_object(own) else {}), **fields}}
