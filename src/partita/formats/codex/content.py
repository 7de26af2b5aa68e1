"""Content items, tool calls and their outputs → parts, inputs and typed outputs.

A rollout has no flag for a failed call. The first lines of the output text show it, and each version of Codex
writes them in another way (`codex-rs/core/src/tools/mod.rs`, `context.rs`). The text is kept with these
lines, because that is what the model received.
"""

import re
from collections.abc import Callable
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import UNSET

from partita.formats.core.members import parsed, present
from partita.formats.core.tool_text import read_arguments
from partita.types.data_url import data_url
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import SystemPart, UserPart
from partita.types.parts import (
    ContentItem,
    ContentOutput,
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

from .wire import AGENT, codex_metadata, member, text

# Content items

TEXTS: Final = frozenset({"input_text", "output_text", "text", "inputText"})
IMAGES: Final = frozenset({"input_image", "image", "inputImage"})
IMAGE_MEMBERS: Final = ("image_url", "imageUrl", "url", "data", "mime_type", "mimeType")


def blocks_in(content: Json) -> list[Json]:
    """The items of a content; a string is one item."""
    if is_array(content):
        return content
    return [] if content is None else [content]


def block_text(block: Json) -> str | None:
    """The text of a text item."""
    if isinstance(block, str):
        return block
    if is_object(block) and _is(block, TEXTS):
        return text(block, "text")
    return None


def content_text(content: Json) -> str:
    """All texts of a content, joined, as events repeat them."""
    return "".join(piece for block in blocks_in(content) if (piece := block_text(block)) is not None)


def item_text(item: JsonObject) -> str:
    """The text of an agent message of events and streams: a string, or a content."""
    string = text(item, "text")
    if string is not None:
        return string
    blocks = (block.get("text") for block in blocks_in(member(item, "content")) if is_object(block))
    return "".join(piece for piece in blocks if isinstance(piece, str))


def user_parts(content: Json) -> tuple[UserPart, ...]:
    """The parts of a user message."""
    return tuple(read_part(block) for block in blocks_in(content))


def system_parts(content: Json) -> tuple[SystemPart, ...]:
    """The parts of instructions: texts, and other items as they are."""
    blocks = blocks_in(content)
    return tuple(ForeignPart(AGENT, block) if block_text(block) is None else _text(block) for block in blocks)


def output_parts(content: list[Json]) -> tuple[ContentItem, ...]:
    """The parts of an output."""
    return tuple(read_part(block) for block in content)


def read_part(block: Json) -> TextPart | ImagePart | FilePart | ForeignPart:
    """The part of an item; one of an unknown type is kept as it is."""
    if block_text(block) is not None:
        return _text(block)
    image = read_image(block) if is_object(block) and _is(block, IMAGES) else None
    return image or ForeignPart(AGENT, block)


def read_image(block: JsonObject) -> ImagePart | None:
    """An image with a URL, or with data and their type as in MCP."""
    url, data = text(block, "image_url") or text(block, "url"), text(block, "data")
    media_type = text(block, "mime_type")
    if url is None and data is not None:
        url = data if data.startswith("data:") else data_url(data, media_type or "image/png")
    if url is None:
        return None
    metadata = codex_metadata(other_members(block, *IMAGE_MEMBERS))
    return ImagePart(url, media_type or media_type_of(url), provider_metadata=metadata)


def media_type_of(url: str) -> str | None:
    """The media type in a `data:` URL."""
    if not url.startswith("data:"):
        return None
    return url[5:200].partition(",")[0].partition(";")[0] or None


def other_members(block: Json, *names: str) -> JsonObject:
    """The members of an item that are not empty, except its type and the named ones."""
    if not is_object(block):
        return {}
    return {name: value for name, value in block.items() if name != "type" and name not in names and value}


def _is(block: JsonObject, kinds: frozenset[str]) -> bool:
    kind = block.get("type")
    return isinstance(kind, str) and kind in kinds


def _text(block: Json) -> TextPart:
    return TextPart(block_text(block) or "", provider_metadata=codex_metadata(other_members(block, "text")))


# Calls of tools

INPUTS: Final = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "tool_search_call": "arguments",
}
"""The member of a call that is its input."""

NAMES: Final = {"local_shell_call": "local_shell", "tool_search_call": "tool_search"}
"""The name of the tool, for types of calls without one."""


class CallItem(NamedTuple):
    """A call: its tool, its input, and its other members as notes."""

    name: str
    input: Json
    notes: JsonObject


def read_call(item: JsonObject) -> CallItem:
    """Read an item that is a call."""
    kind = item["type"]
    input_, status = item.get(INPUTS[kind]), text(item, "status")
    encoding = "text" if kind == "custom_tool_call" else None
    if kind == "function_call" and isinstance(input_, str):
        value, raw = read_arguments(input_)
        if raw is UNSET:
            input_ = value
        else:
            encoding = "text"
    notes = present(
        id=text(item, "id"),
        type=None if kind == "function_call" else kind,
        inputEncoding=encoding,
        namespace=text(item, "namespace"),
        status=None if status == "completed" else status,
        execution=text(item, "execution"),
    )
    return CallItem(NAMES.get(kind) or text(item, "name") or "", input_, notes)


# Outputs of tools

Failure: TypeAlias = Literal["failed", "denied", "aborted", "timeout"]

FAILURE_PREFIXES: Final[tuple[tuple[str, Failure], ...]] = (
    ("exec command rejected by user", "denied"),
    ("rejected by user", "denied"),
    ("patch rejected", "denied"),
    ("user rejected MCP tool call", "denied"),
    ("user cancelled MCP tool call", "denied"),
    ("aborted by user", "aborted"),
    ("command timed out after", "timeout"),
    ("failed in sandbox", "failed"),
    ("tool call error", "failed"),
    ("tool call failed", "failed"),
    ("execution error:", "failed"),
    ("err: ", "failed"),
    ("error: Failed to", "failed"),
    ("apply_patch verification failed", "failed"),
    ("failed to parse function arguments", "failed"),
    ("unsupported call:", "failed"),
    ("unsupported custom tool call:", "failed"),
    ("exec_command failed", "failed"),
    ("write_stdin failed", "failed"),
)
"""Prefixes of the outputs of calls that failed, were denied or were interrupted."""

_PREFIXES: Final = tuple(prefix for prefix, _ in FAILURE_PREFIXES)

HEADER_PREFIXES: Final = ("Exit code: ", "Chunk ID: ", "Wall time: ")
HEADER: Final = re.compile(
    r"(?:Chunk ID: (.*)\n)?"
    r"(?:Exit code: (-?\d{1,18})(?:\n|\Z))?"
    r"(?:Wall time: (\d{1,9}(?:\.\d+)?) seconds?(?:\n|\Z))?"
    r"(?:Process exited with code (-?\d{1,18})(?:\n|\Z))?"
    r"(?:Process running with session ID (\d{1,18})(?:\n|\Z))?"
    r"(?:Original token count: (\d{1,18})(?:\n|\Z))?"
    r"(?:Total output lines: (\d{1,18})(?:\n|\Z))?"
    r"(?:Output:(?:\n|\Z))?"
)
HEADER_FIELDS: Final[tuple[tuple[str, Callable[[str], Json]], ...]] = (
    ("chunkId", str),
    ("exitCode", int),
    ("durationSeconds", float),
    ("exitCode", int),
    ("processId", int),
    ("originalTokenCount", int),
    ("totalOutputLines", int),
)
"""The names of the groups of `HEADER`, and their types."""

EXIT_CODE: Final = re.compile(r"exit code: (-?\d{1,18})")


class Outcome(NamedTuple):
    """The result of a call: its output, and metadata such as its exit code."""

    output: ToolOutput
    metadata: JsonObject


def read_outcome(output: Json) -> Outcome:
    """Read the `output` of a record."""
    if isinstance(output, str):
        return _read_text(output)
    if is_array(output):
        return _read_items(output)
    if is_object(output) and isinstance(output.get("content"), str):  # early 2025
        outcome = _read_text(output["content"])
        return as_failure(outcome) if output.get("success") is False else outcome
    return Outcome(ContentOutput(output_parts([output])), {})


def as_failure(outcome: Outcome) -> Outcome:
    """Return a result as a failure: with an error text, or with a note in its metadata."""
    output, metadata = outcome
    if isinstance(output, TextOutput):
        return Outcome(ErrorTextOutput(output.value), metadata)
    return Outcome(output, metadata | {"failed": True}) if isinstance(output, ContentOutput) else outcome


def _read_text(value: str) -> Outcome:
    if value.startswith("{"):
        return _read_json(value) or Outcome(TextOutput(value), {})
    if value.startswith("[{"):
        return _read_blocks(value) or Outcome(TextOutput(value), {})
    if not value.startswith(HEADER_PREFIXES):
        return _text_outcome(value, 0, {})
    header = HEADER.match(value)
    assert header is not None, "all lines of a header are optional"
    lines = zip(HEADER_FIELDS, header.groups(), strict=True)
    metadata = {name: read(line) for (name, read), line in lines if line is not None}
    return _text_outcome(value, header.end(), metadata)


def _text_outcome(value: str, body: int, metadata: JsonObject) -> Outcome:
    """Return a text as an output, by its prefix after the header, and by the exit code."""
    failure: Failure | None = None
    if value.startswith(_PREFIXES, body):
        failure = next(kind for prefix, kind in FAILURE_PREFIXES if value.startswith(prefix, body))
    if value == "aborted":
        failure = "aborted"
    if failure == "failed" and (code := EXIT_CODE.search(value, body, body + 400)) is not None:
        metadata = metadata | {"exitCode": int(code.group(1))}
    match failure:
        case "denied":
            return Outcome(ExecutionDeniedOutput(value), metadata)
        case "aborted" | "timeout":
            return Outcome(InterruptedOutput(failure, value), metadata)
        case None if metadata.get("exitCode") in (None, 0):
            return Outcome(TextOutput(value), metadata)
        case "failed" | None:
            return Outcome(ErrorTextOutput(value), metadata)


def _read_json(value: str) -> Outcome | None:
    """`{"output": …, "metadata": {"exit_code", "duration_seconds"}}` in a string, as until 2025."""
    decoded = parsed(value) if '"output"' in value else None
    if not is_object(decoded) or not isinstance(decoded.get("output"), str) or len(decoded) > 2:
        return None
    known = decoded.get("metadata", {})
    if len(decoded) == 2 and not is_object(known):
        return None
    names = {"exit_code": "exitCode", "duration_seconds": "durationSeconds"}
    metadata = {names.get(name, name): item for name, item in known.items()}
    return _text_outcome(decoded["output"], 0, metadata | {"outputEncoding": "json"})


def _read_blocks(value: str) -> Outcome | None:
    """A list of content blocks of MCP in a string."""
    decoded = parsed(value)
    if not is_array(decoded) or not all(is_object(block) and "type" in block for block in decoded):
        return None
    return Outcome(ContentOutput(output_parts(decoded)), {"outputEncoding": "json"})


def _read_items(output: list[Json]) -> Outcome:
    """Content items. A single text is read like a string; of several, the first may have a header."""
    pieces = [item["text"] for item in output if is_object(item) and isinstance(item.get("text"), str)]
    first = _read_text(pieces[0]) if pieces else None
    if first is not None and len(output) == 1 and not isinstance(first.output, TextOutput | ContentOutput):
        return first
    metadata = {} if first is None or "outputEncoding" in first.metadata else first.metadata
    outcome = Outcome(ContentOutput(output_parts(output)), metadata)
    return as_failure(outcome) if first is not None and isinstance(first.output, ErrorTextOutput) else outcome
