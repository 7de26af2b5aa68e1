"""Parts of messages → the items of a rollout: content items, tool calls, outputs."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, assert_never

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.core.metadata import notes
from partita.formats.core.report import COMMON_REASONS
from partita.formats.core.tool_text import as_text, read_tool_text, write_tool_text
from partita.formats.log.session_file import Losses, content_blocks
from partita.formats.losses import NO_PLACE, OTHER_FORM, RENAMED, Loss, Severity
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.messages import ToolCallPart, UserPart
from partita.types.parts import (
    ContentItem,
    ContentOutput,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    PartBase,
    ReasoningFilePart,
    TextOutput,
    TextPart,
    ToolOutput,
    UnknownPart,
)
from partita.types.tool_results import state_after

from .content import media_type_of, read_call, read_outcome
from .tool_items import read_patch_changes
from .wire import AGENT

ONLY_IMAGES: Final = "Codex takes images, and only in prompts and outputs"
ONLY_STORED: Final = "its bytes are in a store"
AS_JSON: Final = "an output is text or content items: it is written as JSON"

# Content


def part_losses(part: PartBase, path: str, losses: Losses, *written: str) -> None:
    """Report the members of a part that are not written, and the metadata of other providers."""
    is_done = getattr(part, "state", None) == "done"
    losses.add_members(part, path, *written, "provider_metadata", *(["state"] if is_done else []))
    for name, value in (part.provider_metadata or {}).items():
        if name != AGENT:
            losses.add(f"{path}.providerMetadata.{name}", value, NO_PLACE)


def note_losses(part: PartBase, path: str, losses: Losses, *written: str) -> None:
    """Report the notes of a part that are not written."""
    for name, value in notes(part.provider_metadata, AGENT).items():
        if name not in written and (name, value) != ("source", "event"):
            losses.add(f"{path}.providerMetadata.{AGENT}.{name}", value, NO_PLACE)


def text_block(part: TextPart, path: str, losses: Losses) -> JsonObject:
    """The content item of a text of the user or of the developer."""
    part_losses(part, path, losses, "text")
    return {"type": "input_text", "text": part.text, **notes(part.provider_metadata, AGENT)}


def user_blocks(parts: Sequence[UserPart], path: str, losses: Losses) -> list[JsonObject]:
    """The content items of a user message."""
    blocks: list[JsonObject] = []
    for index, part in enumerate(parts):
        where = f"{path}.parts[{index}]"
        match part:
            case TextPart():
                blocks.append(text_block(part, where, losses))
            case ImagePart() | FilePart():
                blocks += image_blocks(part, where, losses)
            case ForeignPart(format="codex", value=value) if is_object(value):
                blocks.append(value)
            case DataPart() | ReasoningFilePart() | ForeignPart() | UnknownPart():
                losses.add_whole(part, where, COMMON_REASONS.get(part.type, NO_PLACE))
            case _:
                assert_never(part)
    return blocks


def image_blocks(part: ImagePart | FilePart, path: str, losses: Losses) -> list[JsonObject]:
    """The content item of an image, if Codex accepts it."""
    if isinstance(part, FilePart) and not part.media_type.startswith("image/"):
        losses.add_whole(part, path, ONLY_IMAGES)
        return []
    if part.url.startswith("blob:"):
        losses.add_whole(part, path, ONLY_STORED)
        return []
    part_losses(part, path, losses, "url", "media_type")
    if isinstance(part, FilePart):
        losses.add(f"{path}.type", "file", ONLY_IMAGES)
    if part.media_type != media_type_of(part.url):
        losses.add(f"{path}.mediaType", part.media_type, NO_PLACE)
    return [{"type": "input_image", "image_url": part.url, **notes(part.provider_metadata, AGENT)}]


# Tool calls

NAME: Final = re.compile(r"[^A-Za-z0-9_-]")
LONGEST_NAME: Final = 128
"""The names that the API accepts: https://platform.openai.com/docs/api-reference/responses/create."""

NO_NAME: Final = "unknown"
WRITTEN: Final = ("id", "name", "state", "input", "raw_input", "output", "tool_metadata")
SEARCH: Final = "web_search_call"


class CallItems(NamedTuple):
    """A call, and its output if it has one."""

    call: JsonObject
    output: JsonObject | None


def call_items(part: ToolCallPart, call_id: str, path: str, losses: Losses) -> CallItems:
    """The items of a call."""
    call_notes = notes(part.tool_metadata, AGENT)
    kind = call_notes.get("type")
    _call_losses(part, part.id if kind == SEARCH else call_id, path, losses)
    items = _call_items(part, call_id, path, losses)
    reread = _read_notes(items)
    for name, value in call_notes.items():
        if reread.get(name) != value:
            losses.add(f"{path}.toolMetadata.{AGENT}.{name}", value, NO_PLACE)
    return items


def _read_notes(items: CallItems) -> JsonObject:
    """Return the notes that the reader makes of the items."""
    if items.call["type"] == SEARCH:
        return {"type": SEARCH}
    name, input_, call_notes = read_call(items.call)
    if (changes := read_patch_changes(name, input_)) is not None:
        call_notes["changes"] = changes
    return call_notes | (
        read_outcome(items.output.get("output")).metadata if items.output is not None else {}
    )


def _call_items(part: ToolCallPart, call_id: str, path: str, losses: Losses) -> CallItems:
    call_notes = notes(part.tool_metadata, AGENT)
    kind = call_notes.get("type")
    input_: Json = part.raw_input if part.input is UNSET else part.input
    kept = {name: call_notes[name] for name in ("id", "namespace", "status") if name in call_notes}
    call: JsonObject
    match kind:
        case "web_search_call":
            id_ = (
                {} if ":" in part.id else {"id": part.id}
            )  # old searches have no id; the reader generated it
            action = input_ if is_object(input_) else {"type": "search"}
            return CallItems({"type": SEARCH, **id_, "status": "completed", **kept, "action": action}, None)
        case "tool_search_call" if isinstance(part.output, JsonOutput) and is_object(part.output.value):
            around = {
                "call_id": call_id,
                "status": "completed",
                "execution": call_notes.get("execution", "client"),
            }
            call = {"type": kind, **around, "arguments": {} if input_ is UNSET else input_}
            return CallItems(call, {"type": "tool_search_output", **around, **part.output.value})
        case "custom_tool_call" if isinstance(input_, str):
            call = {
                "type": kind,
                "status": "completed",
                "call_id": call_id,
                "name": part.name,
                "input": input_,
            }
        case "local_shell_call" if is_object(input_):
            call = {"type": kind, "call_id": call_id, "status": "completed", "action": input_}
        case _:
            is_text = call_notes.get("inputEncoding") == "text" and isinstance(input_, str)
            arguments = input_ if is_text else dumps({} if input_ is UNSET else input_).decode()
            call = {"type": "function_call", "name": _name(part), "arguments": arguments, "call_id": call_id}
    return CallItems(call | kept, _output_item(part, call, path, losses))


def _output_item(part: ToolCallPart, call: JsonObject, path: str, losses: Losses) -> JsonObject | None:
    output = part.output
    if output is None or part.preliminary:
        if part.preliminary and output is not None:
            losses.add_whole(output, f"{path}.output", COMMON_REASONS["preliminary"])
        losses.add(f"{path}.state", part.state, COMMON_REASONS["state"])
        return None
    if part.state != state_after(output):
        losses.add(f"{path}.state", part.state, COMMON_REASONS["state"])
    if isinstance(output, InterruptedOutput) and output.reason == "lost" and not output.message:
        return None  # Codex writes no output for such a call either
    kind = "custom_tool_call_output" if call["type"] == "custom_tool_call" else "function_call_output"
    return {
        "type": kind,
        "call_id": call["call_id"],
        "output": write_output(output, f"{path}.output", losses),
    }


def _name(part: ToolCallPart) -> str:
    return NAME.sub("_", part.name)[:LONGEST_NAME] or NO_NAME


def _call_losses(part: ToolCallPart, call_id: str, path: str, losses: Losses) -> None:
    for name, value, written in (("id", part.id, call_id), ("name", part.name, _name(part))):
        if value != written:
            losses.found.append(Loss.of(f"{path}.{name}", value, RENAMED, "repaired"))
    if part.raw_input is not UNSET:
        severity: Severity = "changed" if part.input is UNSET else "lost"
        losses.found.append(Loss.of(f"{path}.rawInput", part.raw_input, NO_PLACE, severity))
    for name, value in (part.tool_metadata or {}).items():
        if name != AGENT or not is_object(value):
            losses.add(f"{path}.toolMetadata.{name}", value, NO_PLACE)
    losses.add_members(part, path, *WRITTEN)


# Outputs


def write_output(output: ToolOutput, path: str, losses: Losses) -> Json:
    """Return the output as Codex writes it: the first of its forms that is read back as the same output."""
    losses.add_members(output, path, "value", "reason", "message")
    if isinstance(output, JsonOutput | ErrorJsonOutput):
        losses.add(f"{path}.type", output.type, AS_JSON)
        output = read_tool_text(write_tool_text(output).outcome, as_text(output.value))
    expected = replace(output, provider_metadata=None)
    forms = _forms(expected, path, losses)
    for one in forms:
        if read_outcome(one).output == expected:
            return one
    losses.found.append(Loss.of(path, to_json(expected), OTHER_FORM, "changed"))
    return forms[-1]


def _forms(output: ToolOutput, path: str, losses: Losses) -> list[Json]:
    """Return the ways to write an output, the simplest first. The last one is the fallback."""
    match output:
        case TextOutput(value=text):
            return [text, _with_code(text, 0), text]
        case ErrorTextOutput(value=text):
            return [text, _with_code(text, 1)]
        case ContentOutput(value=(TextPart(text=text),) as items):
            return [_blocks(items, path, losses), text]
        case ContentOutput(value=items):
            return [_blocks(items, path, losses)]
        case ExecutionDeniedOutput(reason=reason):
            return [reason, f"rejected by user: {reason}"] if reason else ["rejected by user"]
        case InterruptedOutput(reason="timeout", message=message):
            prefix = "command timed out after"
            return [message, f"{prefix}: {message}"] if message else [prefix]
        case InterruptedOutput(message=message):
            return [message, f"aborted by user: {message}"] if message else ["aborted"]
        case JsonOutput() | ErrorJsonOutput():
            raise AssertionError("JSON is written as text")
        case _:
            assert_never(output)


def _with_code(text: str, code: int) -> str:
    """A text with its exit code, as the shell tools of Codex returned it until 2025."""
    return dumps({"output": text, "metadata": {"exit_code": code, "duration_seconds": 0.0}}).decode()


def _blocks(items: Sequence[ContentItem], path: str, losses: Losses) -> list[JsonObject]:
    return content_blocks(items, path, losses, text_blocks=_text_blocks, file_blocks=image_blocks)


def _text_blocks(text: str) -> list[JsonObject]:
    return [{"type": "input_text", "text": text}]
