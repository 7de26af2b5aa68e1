"""The texts that tools of Codex gave back → typed outputs, exit codes, durations.

There is no flag for failure: it stands in the head of the text, in a form for every age of Codex. The text
itself stays whole, head and all, for that is what the model saw.
"""

import re
from collections.abc import Callable
from typing import Final, Literal, NamedTuple, TypeAlias

from partita.errors import DecodeError
from partita.types.json import Json, JsonObject, is_array, is_object, loads
from partita.types.tools import (
    ContentOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    TextOutput,
    ToolOutput,
)

from .content import parts_of_output

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
"""How the words of an unhappy end begin."""

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
SAID: Final[tuple[tuple[str, Callable[[str], Json]], ...]] = (
    ("chunkId", str),
    ("exitCode", int),
    ("durationSeconds", float),
    ("exitCode", int),
    ("processId", int),
    ("originalTokenCount", int),
    ("totalOutputLines", int),
)
"""What the lines of a head say, in their order, and of what kind it is."""

CODE_INSIDE: Final = re.compile(r"exit code: (-?\d{1,18})")


class Outcome(NamedTuple):
    """What came of a call: its output, and what was said beside it."""

    output: ToolOutput
    metadata: JsonObject


def outcome_of(output: Json) -> Outcome:
    """The outcome of a call, from the `output` of its record, whatever that is."""
    if isinstance(output, str):
        return outcome_of_text(output)
    if is_array(output):
        return _outcome_of_items(output)
    if is_object(output) and isinstance(output.get("content"), str):  # as in early 2025
        outcome = outcome_of_text(output["content"])
        return failed(outcome) if output.get("success") is False else outcome
    return Outcome(ContentOutput(parts_of_output([output])), {})


def outcome_of_text(words: str) -> Outcome:
    """The outcome that a text tells of."""
    if words.startswith("{"):
        return _outcome_of_json(words) or Outcome(TextOutput(words), {})
    if words.startswith("[{"):
        return _outcome_of_blocks(words) or Outcome(TextOutput(words), {})
    if words.startswith(HEADS):
        metadata, body = _head(words)
        return _ended(words, body, metadata)
    return _ended(words, 0, {})


def failed(outcome: Outcome) -> Outcome:
    """The same outcome, known to be a failure. What cannot say so says it in its metadata."""
    output, metadata = outcome
    if isinstance(output, TextOutput):
        return Outcome(ErrorTextOutput(output.value), metadata)
    return Outcome(output, metadata | {"failed": True}) if isinstance(output, ContentOutput) else outcome


def _head(words: str) -> tuple[JsonObject, int]:
    """What the head of a text says, and where it ends."""
    head = HEAD.match(words)
    assert head is not None, "every line of a head may be missing"
    lines = zip(SAID, head.groups(), strict=True)
    return {name: read(line) for (name, read), line in lines if line is not None}, head.end()


def _ended(words: str, body: int, metadata: JsonObject) -> Outcome:
    """`words` as an output, by how they begin after their head, and by the exit code."""
    ending: Ending | None = None
    if words.startswith(_BEGINNINGS, body):
        ending = next(end for beginning, end in ENDINGS if words.startswith(beginning, body))
    if words == "aborted":
        ending = "aborted"
    if ending == "failed" and (code := CODE_INSIDE.search(words, body, body + 400)) is not None:
        metadata = metadata | {"exitCode": int(code.group(1))}
    exit_code = metadata.get("exitCode")
    match ending:
        case "denied":
            return Outcome(ExecutionDeniedOutput(words), metadata)
        case "aborted" | "timeout":
            return Outcome(InterruptedOutput(ending, words), metadata)
        case "failed":
            return Outcome(ErrorTextOutput(words), metadata)
        case None if exit_code is None or exit_code == 0:
            return Outcome(TextOutput(words), metadata)
        case None:
            return Outcome(ErrorTextOutput(words), metadata)


def _outcome_of_json(words: str) -> Outcome | None:
    """`{"output": …, "metadata": {"exit_code", "duration_seconds"}}`, in a string, as until 2025."""
    if '"output"' not in words:
        return None
    value = _loaded(words)
    if not is_object(value) or not isinstance(value.get("output"), str) or len(value) > 2:
        return None
    said = value.get("metadata", {})
    if len(value) == 2 and not is_object(said):
        return None
    names = {"exit_code": "exitCode", "duration_seconds": "durationSeconds"}
    metadata = {names.get(name, name): item for name, item in said.items()}
    return _ended(value["output"], 0, metadata | {"outputEncoding": "json"})


def _outcome_of_blocks(words: str) -> Outcome | None:
    """A list of content blocks of MCP, in a string."""
    value = _loaded(words)
    if not is_array(value) or not all(is_object(block) and "type" in block for block in value):
        return None
    return Outcome(ContentOutput(parts_of_output(value)), {"outputEncoding": "json"})


def _outcome_of_items(output: list[Json]) -> Outcome:
    """Content items. A single text is read like a bare one; of several the first may have a head."""
    texts = [item["text"] for item in output if is_object(item) and isinstance(item.get("text"), str)]
    first = outcome_of_text(texts[0]) if texts else None
    if first is not None and len(output) == 1 and not isinstance(first.output, TextOutput | ContentOutput):
        return first
    metadata = {} if first is None or "outputEncoding" in first.metadata else first.metadata
    outcome = Outcome(ContentOutput(parts_of_output(output)), metadata)
    return failed(outcome) if first is not None and isinstance(first.output, ErrorTextOutput) else outcome


def _loaded(words: str) -> Json:
    try:
        return loads(words)
    except DecodeError:
        return None


_BEGINNINGS = tuple(beginning for beginning, _ in ENDINGS)
