"""Parts of OpenCode's messages → canonical parts and chunks.

Source: `packages/opencode/src/session/message-v2.ts` in https://github.com/sst/opencode.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from partita.formats.core.members import text_or, without
from partita.formats.core.metadata import add_notes
from partita.types.chunks import (
    Chunk,
    DataChunk,
    FileChunk,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolOutputChunk,
)
from partita.types.data_url import OCTETS, media_kind
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import UserPart
from partita.types.parts import (
    ContentItem,
    ContentOutput,
    DataPart,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    TextOutput,
    TextPart,
    ToolOutput,
)
from partita.types.times import from_milliseconds

KEY: Final = "openCode"
"""The namespace in metadata."""

KINDS: Final = frozenset(
    {
        "text",
        "reasoning",
        "file",
        "tool",
        "step-start",
        "step-finish",
        "snapshot",
        "patch",
        "agent",
        "skill",
        "subtask",
        "retry",
        "compaction",
    }
)
STEPS: Final = ("step-start", "step-finish")
IDS: Final = ("id", "messageID", "sessionID")


def kind_of_part(part: JsonObject) -> str:
    """The type of a part; empty for a text without a text, and for a file without a URL."""
    kind = part.get("type")
    if kind in ("text", "reasoning") and not isinstance(part.get("text"), str):
        return ""
    if kind == "file" and file_of(part) is None:
        return ""
    return kind if isinstance(kind, str) else ""


def user_part(part: JsonObject) -> UserPart:
    """Return a part of a user message."""
    kind = kind_of_part(part)
    if kind == "text":
        return TextPart(part["text"], provider_metadata=provider_metadata(part, "text"))
    file = file_of(part) if kind == "file" else None
    return file or DataPart(f"opencode-{kind or 'part'}", data_of(part, kind), _id_of(part))


def is_injected(part: JsonObject) -> bool:
    """Whether OpenCode added a part with the role of the user."""
    return part.get("type") == "text" and part.get("synthetic") is True


def part_chunks(part: JsonObject, block: str) -> Iterator[Chunk]:
    """Return the chunks of a part that is not a call. An unfinished text stays open."""
    match kind_of_part(part):
        case "text":
            yield TextStart(block, provider_metadata(part, "text"))
            yield TextDelta(block, part["text"])
            if not is_open(part):
                yield TextEnd(block)
        case "reasoning":
            yield ReasoningStart(block, provider_metadata(part, "text"))
            yield ReasoningDelta(block, part["text"])
            if not is_open(part):
                yield ReasoningEnd(block)
        case "step-start":
            yield StepStart()
        case "step-finish":
            return
        case "file":
            file = file_of(part)
            if file is not None:
                yield FileChunk(file.url, file.media_type or OCTETS, _described(file))
        case kind:
            yield DataChunk(f"data-opencode-{kind or 'part'}", data_of(part, kind), _id_of(part))


def change_chunks(old: JsonObject, new: JsonObject, block: str) -> list[Chunk] | None:
    """Return the chunks that change a part from `old` to `new`; `None` if no chunks can do so."""
    kind = kind_of_part(new)
    if kind != kind_of_part(old) or old.get("id") != new.get("id"):
        return None
    if kind == "step-finish":
        return []
    if kind in ("text", "reasoning") and is_open(old) and new["text"].startswith(old["text"]):
        delta, end = (TextDelta, TextEnd) if kind == "text" else (ReasoningDelta, ReasoningEnd)
        metadata = provider_metadata(new, "text")
        chunks: list[Chunk] = [delta(block, new["text"][len(old["text"]) :], metadata)]
        return chunks if is_open(new) else [*chunks, end(block)]
    is_data = kind not in ("text", "reasoning", "file", "tool", "step-start") and _id_of(new) is not None
    return [*part_chunks(new, block)] if is_data else None


def is_open(part: JsonObject) -> bool:
    """Whether a text is unfinished."""
    time = part.get("time")
    return is_object(time) and "start" in time and time.get("end") is None


def file_of(part: Json) -> ImagePart | FilePart | None:
    """A file, if the part is one."""
    if not is_object(part) or not isinstance(url := part.get("url"), str):
        return None
    media_type = text_or(part.get("mime"), OCTETS)
    name = part.get("filename")
    name = name if isinstance(name, str) else None
    metadata = provider_metadata(part, "url", "mime", "filename")
    if media_kind(media_type) == "image":
        return ImagePart(url, media_type, name, provider_metadata=metadata)
    return FilePart(url, media_type, name, provider_metadata=metadata)


def provider_metadata(part: JsonObject, *read: str) -> JsonObject | None:
    """Return the metadata of providers, and other members in the namespace of OpenCode."""
    metadata = part.get("metadata")
    theirs: JsonObject = metadata if is_object(metadata) else {}
    if part.get("type") == "tool":
        return theirs or None
    own = without(
        part, "type", "messageID", "sessionID", *read, *(("metadata",) if is_object(metadata) else ())
    )
    return {**theirs, KEY: own} if own else theirs or None


def data_of(part: JsonObject, kind: str) -> JsonObject:
    """A part as data: all members but ids; all of an unknown part."""
    return without(part, "type", *IDS) if kind in KINDS else part


def step_of(part: JsonObject) -> JsonObject:
    """The boundary of a step, for the metadata of its message."""
    return without(part, *IDS)


def _described(file: ImagePart | FilePart) -> JsonObject | None:
    """The metadata of a file, with its name: the chunk has no field for that."""
    name = file.name if isinstance(file, ImagePart) else file.filename
    return add_notes(file.provider_metadata, KEY, {} if name is None else {"filename": name})


def _id_of(part: JsonObject) -> str | None:
    id_ = part.get("id")
    return id_ if isinstance(id_, str) and id_ else None


def time_in(fields: JsonObject, name: str) -> datetime | None:
    """One of the times of an object, in milliseconds."""
    time = fields.get("time")
    return from_milliseconds(time.get(name)) if is_object(time) else None


# Tool calls

STATUSES: Final = frozenset({"pending", "running", "completed", "error"})

STOPPED_ERROR: Final = "aborted"
DENIED_ERROR: Final = "permission.rejected"
ABORTED_TEXT: Final = "Tool execution aborted"
DENIAL_PREFIXES: Final = (
    "The user rejected permission",
    "The user has specified a rule which prevents you from using this specific tool call",
    "The user dismissed this question",
)
"""Prefixes of the errors of denied calls."""

STOPPED_SUFFIXES: Final = (
    ("terminated command after exceeding timeout", "timeout"),
    ("User aborted the command", "aborted"),
)
"""Texts at the end of the output of a shell command that was stopped."""

SUFFIX_LENGTH: Final = 500
INVALID: Final = "invalid"
"""The tool for invalid calls, which reports them as completed."""


def call_of(part: JsonObject, otherwise: str) -> str:
    """The id of a call."""
    return text_or(part.get("callID"), otherwise)


def state_of(part: JsonObject) -> JsonObject:
    """The state of a call."""
    state = part.get("state")
    return state if is_object(state) else {}


def tool_chunks(call_id: str, part: JsonObject) -> Iterator[Chunk]:
    """A call: its input, and its output if there is one."""
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
    elif state.get("status") == "running" and isinstance(so_far := _tool_metadata(state).get("output"), str):
        yield ToolOutputChunk(call_id, TextOutput(so_far), preliminary=True)


def output_of(part: JsonObject) -> ToolOutput | None:
    """The output of a call, if it has ended."""
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
    known = _tool_metadata(state_of(part))
    child = known.get("sessionId", known.get("sessionID"))
    return child if isinstance(child, str) and child else None


def _completed(tool: str, state: JsonObject) -> ToolOutput:
    """The output of a tool. Only the exit code of a shell shows that its command failed."""
    content = state.get("content")
    items: list[JsonObject] = [it for it in content if is_object(it)] if is_array(content) else []
    text = text_or(state.get("output"), "") or "\n".join(_texts(items))
    known = _tool_metadata(state)
    code = known.get("exit")
    if "exit" in known and code is None:
        for ending, why in STOPPED_SUFFIXES:
            if ending in text[-SUFFIX_LENGTH:]:
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
    """An item of an output."""
    if item.get("type") == "text" and isinstance(text := item.get("text"), str):
        return TextPart(text)
    return file_of(item) or ForeignPart(KEY, item)


def _failed(error: str, kind: Json) -> ToolOutput:
    """The output of a failed call; version 2 has the type of the error."""
    if kind == STOPPED_ERROR or error.startswith(ABORTED_TEXT):
        return InterruptedOutput("aborted", error)
    if kind == DENIED_ERROR or error.removeprefix("Error: ").startswith(DENIAL_PREFIXES):
        return ExecutionDeniedOutput(error)
    return ErrorTextOutput(error)


def _tool_metadata(state: JsonObject) -> JsonObject:
    metadata = state.get("metadata")
    return metadata if is_object(metadata) else {}


def _metadata(part: JsonObject, state: JsonObject) -> JsonObject:
    """The notes of a call: its times, the metadata of the tool, the session that it started."""
    own = without(state, "input", "output", "title", "error", "attachments", "metadata", "content")
    known: Json = state.get("metadata")
    if is_object(known) and known.get("output") == state.get("output"):
        known = without(known, "output")
    if known:
        own["metadata"] = known
    if (child := child_of(part)) is not None:
        own["childSessionId"] = child
    if isinstance(id_ := part.get("id"), str):
        own["partId"] = id_
    return own
