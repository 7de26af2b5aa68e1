"""Content items, calls and outputs of tools → parts, inputs and typed outputs.

A rollout has no flag for a failed call: it shows in the first lines of the text, which every version of Codex
wrote in another way (`codex-rs/core/src/tools/mod.rs`, `context.rs`). The text itself is kept whole, with
these lines, because that is what the model received.
"""

import re
from collections.abc import Callable
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import UNSET

from partita.errors import DecodeError
from partita.formats.core.members import present
from partita.formats.core.tool_text import read_arguments
from partita.types.data_url import data_url
from partita.types.json import Json, JsonObject, is_array, is_object, loads
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

from .wire import AGENT, found, text, under_agent

# Content items

TEXTS: Final = frozenset({"input_text", "output_text", "text", "inputText"})
IMAGES: Final = frozenset({"input_image", "image", "inputImage"})
IMAGE_MEMBERS: Final = ("image_url", "imageUrl", "url", "data", "mime_type", "mimeType")


def blocks_of(content: Json) -> list[Json]:
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
    """All texts of a content, joined: what events repeat of it."""
    return "".join(piece for block in blocks_of(content) if (piece := block_text(block)) is not None)


def item_text(item: JsonObject) -> str:
    """The text of an agent message of events and streams: a string, or a content."""
    bare = text(item, "text")
    if bare is not None:
        return bare
    blocks = (block.get("text") for block in blocks_of(found(item, "content")) if is_object(block))
    return "".join(piece for piece in blocks if isinstance(piece, str))


def user_parts(content: Json) -> tuple[UserPart, ...]:
    """The parts of a user's message."""
    return tuple(part_of(block) for block in blocks_of(content))


def system_parts(content: Json) -> tuple[SystemPart, ...]:
    """The parts of instructions: texts, and anything else as it is."""
    blocks = blocks_of(content)
    return tuple(ForeignPart(AGENT, block) if block_text(block) is None else _text(block) for block in blocks)


def output_parts(content: list[Json]) -> tuple[ContentItem, ...]:
    """The parts of an output."""
    return tuple(part_of(block) for block in content)


def part_of(block: Json) -> TextPart | ImagePart | FilePart | ForeignPart:
    """The part of an item; one of an unknown type is kept as it is."""
    if block_text(block) is not None:
        return _text(block)
    image = image_of(block) if is_object(block) and _is(block, IMAGES) else None
    return image or ForeignPart(AGENT, block)


def image_of(block: JsonObject) -> ImagePart | None:
    """An image: a URL, or as MCP has it, its data and their type."""
    url, data = text(block, "image_url") or text(block, "url"), text(block, "data")
    media_type = text(block, "mime_type")
    if url is None and data is not None:
        url = data if data.startswith("data:") else data_url(data, media_type or "image/png")
    if url is None:
        return None
    metadata = under_agent(rest_of(block, *IMAGE_MEMBERS))
    return ImagePart(url, media_type or media_type_of(url), provider_metadata=metadata)


def media_type_of(url: str) -> str | None:
    """The type that a `data:` URL names."""
    if not url.startswith("data:"):
        return None
    return url[5:200].partition(",")[0].partition(";")[0] or None


def rest_of(block: Json, *names: str) -> JsonObject:
    """The members of an item that are not empty, besides its type and the named ones."""
    if not is_object(block):
        return {}
    return {name: value for name, value in block.items() if name != "type" and name not in names and value}


def _is(block: JsonObject, kinds: frozenset[str]) -> bool:
    kind = block.get("type")
    return isinstance(kind, str) and kind in kinds


def _text(block: Json) -> TextPart:
    return TextPart(block_text(block) or "", provider_metadata=under_agent(rest_of(block, "text")))


# Calls of tools

INPUTS: Final = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "tool_search_call": "arguments",
}
"""The member of a call that is its input."""

NAMES: Final = {"local_shell_call": "local_shell", "tool_search_call": "tool_search"}
"""The tool of a call that does not name it."""


class CallItem(NamedTuple):
    """A call: its tool, its input, and what is noted besides."""

    name: str
    input: Json
    notes: JsonObject


def read_call(item: JsonObject) -> CallItem:
    """An item that is a call."""
    kind = item["type"]
    given, status = item.get(INPUTS[kind]), text(item, "status")
    encoding = "text" if kind == "custom_tool_call" else None
    if kind == "function_call" and isinstance(given, str):
        value, raw = read_arguments(given)
        if raw is UNSET:
            given = value
        else:
            encoding = "text"
    own = present(
        id=text(item, "id"),
        type=None if kind == "function_call" else kind,
        inputEncoding=encoding,
        namespace=text(item, "namespace"),
        status=None if status == "completed" else status,
        execution=text(item, "execution"),
    )
    return CallItem(NAMES.get(kind) or text(item, "name") or "", given, own)


# Outputs of tools

Ending: TypeAlias = Literal["failed", "denied", "aborted", "timeout"]

ENDINGS: Final[tuple[tuple[str, Ending], ...]] = (
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
"""How the texts of calls begin that did not succeed."""

_BEGINNINGS: Final = tuple(beginning for beginning, _ in ENDINGS)

HEADS: Final = ("Exit code: ", "Chunk ID: ", "Wall time: ")
HEAD: Final = re.compile(
    r"(?:Chunk ID: (.*)\n)?"
    r"(?:Exit code: (-?\d{1,18})(?:\n|\Z))?"
    r"(?:Wall time: (\d{1,9}(?:\.\d+)?) seconds?(?:\n|\Z))?"
    r"(?:Process exited with code (-?\d{1,18})(?:\n|\Z))?"
    r"(?:Process running with session ID (\d{1,18})(?:\n|\Z))?"
    r"(?:Original token count: (\d{1,18})(?:\n|\Z))?"
    r"(?:Total output lines: (\d{1,18})(?:\n|\Z))?"
    r"(?:Output:(?:\n|\Z))?"
)
HEAD_LINES: Final[tuple[tuple[str, Callable[[str], Json]], ...]] = (
    ("chunkId", str),
    ("exitCode", int),
    ("durationSeconds", float),
    ("exitCode", int),
    ("processId", int),
    ("originalTokenCount", int),
    ("totalOutputLines", int),
)
"""The names of the groups of `HEAD`, and their types."""

CODE_INSIDE: Final = re.compile(r"exit code: (-?\d{1,18})")


class Outcome(NamedTuple):
    """The result of a call: its output, and what is known besides."""

    output: ToolOutput
    metadata: JsonObject


def outcome_of(output: Json) -> Outcome:
    """The result of a call, from the `output` of its record."""
    if isinstance(output, str):
        return _outcome_of_text(output)
    if is_array(output):
        return _outcome_of_items(output)
    if is_object(output) and isinstance(output.get("content"), str):  # early 2025
        outcome = _outcome_of_text(output["content"])
        return failed(outcome) if output.get("success") is False else outcome
    return Outcome(ContentOutput(output_parts([output])), {})


def failed(outcome: Outcome) -> Outcome:
    """The same result as a failure: an error text, or a note in the metadata."""
    output, metadata = outcome
    if isinstance(output, TextOutput):
        return Outcome(ErrorTextOutput(output.value), metadata)
    return Outcome(output, metadata | {"failed": True}) if isinstance(output, ContentOutput) else outcome


def _outcome_of_text(value: str) -> Outcome:
    if value.startswith("{"):
        return _outcome_of_json(value) or Outcome(TextOutput(value), {})
    if value.startswith("[{"):
        return _outcome_of_blocks(value) or Outcome(TextOutput(value), {})
    if not value.startswith(HEADS):
        return _ended(value, 0, {})
    head = HEAD.match(value)
    assert head is not None, "all lines of a head are optional"
    lines = zip(HEAD_LINES, head.groups(), strict=True)
    metadata = {name: read(line) for (name, read), line in lines if line is not None}
    return _ended(value, head.end(), metadata)


def _ended(value: str, body: int, metadata: JsonObject) -> Outcome:
    """A text as an output, by how it begins after its head, and by the exit code."""
    ending: Ending | None = None
    if value.startswith(_BEGINNINGS, body):
        ending = next(end for beginning, end in ENDINGS if value.startswith(beginning, body))
    if value == "aborted":
        ending = "aborted"
    if ending == "failed" and (code := CODE_INSIDE.search(value, body, body + 400)) is not None:
        metadata = metadata | {"exitCode": int(code.group(1))}
    match ending:
        case "denied":
            return Outcome(ExecutionDeniedOutput(value), metadata)
        case "aborted" | "timeout":
            return Outcome(InterruptedOutput(ending, value), metadata)
        case None if metadata.get("exitCode") in (None, 0):
            return Outcome(TextOutput(value), metadata)
        case "failed" | None:
            return Outcome(ErrorTextOutput(value), metadata)


def _outcome_of_json(value: str) -> Outcome | None:
    """`{"output": …, "metadata": {"exit_code", "duration_seconds"}}` in a string, as until 2025."""
    found = _loaded(value) if '"output"' in value else None
    if not is_object(found) or not isinstance(found.get("output"), str) or len(found) > 2:
        return None
    known = found.get("metadata", {})
    if len(found) == 2 and not is_object(known):
        return None
    names = {"exit_code": "exitCode", "duration_seconds": "durationSeconds"}
    metadata = {names.get(name, name): item for name, item in known.items()}
    return _ended(found["output"], 0, metadata | {"outputEncoding": "json"})


def _outcome_of_blocks(value: str) -> Outcome | None:
    """A list of content blocks of MCP in a string."""
    found = _loaded(value)
    if not is_array(found) or not all(is_object(block) and "type" in block for block in found):
        return None
    return Outcome(ContentOutput(output_parts(found)), {"outputEncoding": "json"})


def _outcome_of_items(output: list[Json]) -> Outcome:
    """Content items. A single text is read like a string; of several the first may have a head."""
    pieces = [item["text"] for item in output if is_object(item) and isinstance(item.get("text"), str)]
    first = _outcome_of_text(pieces[0]) if pieces else None
    if first is not None and len(output) == 1 and not isinstance(first.output, TextOutput | ContentOutput):
        return first
    metadata = {} if first is None or "outputEncoding" in first.metadata else first.metadata
    outcome = Outcome(ContentOutput(output_parts(output)), metadata)
    return failed(outcome) if first is not None and isinstance(first.output, ErrorTextOutput) else outcome


def _loaded(value: str) -> Json:
    try:
        return loads(value)
    except DecodeError:
        return None
