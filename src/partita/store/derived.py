"""What is derived from a message when it is written: flags, a preview, the rows of its parts.

All of it can be made again from the message at any time.
"""

from collections.abc import Sequence
from typing import NamedTuple

from partita.types.json import Json, dumps, is_array, is_object
from partita.types.messages import (
    AssistantContent,
    Content,
    Message,
    NetworkResult,
    Part,
    ToolCallPart,
    calls_apart,
)
from partita.types.parts import (
    DataPart,
    FilePart,
    ImagePart,
    ReasoningFilePart,
    ReasoningPart,
    TextPart,
    UnknownPart,
)
from partita.types.tools import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
    ToolResultPart,
)

from .texts import mended

PREVIEW = 200
"""How many characters of a message its preview shows."""

ERROR = 500
"""How many characters of an error are kept beside its part."""

FILES = frozenset({FilePart, ImagePart, ReasoningFilePart})
HARMLESS = frozenset({type(None), TextOutput, JsonOutput, ContentOutput, ExecutionDeniedOutput})
TAGS: dict[type, str] = {}
NOTHING: frozenset[str] = frozenset()


class PartRow(NamedTuple):
    """A part as a row tells of it. The times are added from the run's log."""

    path: str
    type: str
    tool_name: str | None
    call_id: str | None
    state: str | None
    error: str | None
    interruption: str | None = None


class Derived(NamedTuple):
    """What a message's row holds besides the message."""

    has_tool_calls: bool
    has_reasoning: bool
    has_files: bool
    has_errors: bool
    preview: str
    parts: list[PartRow]


def derive(message: Message) -> Derived:
    """Flags, preview and part rows of a message; the parts of sub-agents count for the rows and errors."""
    rows: list[PartRow] = []
    parts = message.content.parts
    _walk(message.content, "", rows)
    types = {type(part) for part in parts}
    return Derived(
        has_tool_calls=ToolCallPart in types,
        has_reasoning=ReasoningPart in types,
        has_files=not FILES.isdisjoint(types),
        has_errors=any(row.error is not None for row in rows),
        preview=preview(message.content),
        parts=rows,
    )


def _walk(content: Content, prefix: str, rows: list[PartRow], known: frozenset[str] = NOTHING) -> None:
    """Add the rows of a message. Calls that are `known` above are not repeated: see `Promotion`."""
    _walk_parts(content.parts, prefix, rows, known)
    network = content.network_execution if isinstance(content, AssistantContent) else None
    result = None if network is None else network.final_result
    if result is None:
        return
    above = known | {part.id for part in content.parts if isinstance(part, ToolCallPart)}
    error = error_of(_output_of(result))
    if error is not None:
        path = f"{prefix}network"
        rows.append(PartRow(path, "network-execution", None, None, "output-error", error, result.interrupted))
    _walk_parts(calls_apart(result), f"{prefix}network.calls.", rows, above)
    for number, message in enumerate(result.messages):
        _walk(message.content, f"{prefix}network.messages.{number}.", rows, above)


def _output_of(result: NetworkResult) -> ToolOutput | None:
    """The failure of an execution, as that of a call."""
    if result.interrupted is not None:
        return InterruptedOutput(result.interrupted, result.error)
    return None if result.error is None else ErrorTextOutput(result.error)


def _walk_parts(parts: Sequence[Part], prefix: str, rows: list[PartRow], known: frozenset[str]) -> None:
    for index, part in enumerate(parts):
        kind = type(part)
        if kind is TextPart or kind is ReasoningPart:
            rows.append(PartRow(f"{prefix}{index}", _tag(kind), None, None, part.state, None))  # type: ignore[union-attr] # `kind` says so
        elif isinstance(part, ToolCallPart):
            _add_call(part, f"{prefix}{index}", rows, known)
        else:
            rows.append(_other(part, f"{prefix}{index}"))


def _tag(kind: type) -> str:
    tag = TAGS.get(kind)
    if tag is None:
        tag = TAGS[kind] = str(kind.__struct_config__.tag)  # type: ignore[attr-defined] # every part is a struct
    return tag


def _add_call(call: ToolCallPart, path: str, rows: list[PartRow], known: frozenset[str]) -> None:
    error = error_of(call.output)
    if error is None and call.state == "output-error":
        error = "error"
    cut_off = call.output.reason if type(call.output) is InterruptedOutput else None
    if call.id not in known:
        rows.append(
            PartRow(path, "tool-call", mended(call.name), mended(call.id), call.state, error, cut_off)
        )
    for number, child in enumerate(call.children):
        _walk(child.content, f"{path}.children.{number}.", rows, known)


def _other(part: Part, path: str) -> PartRow:
    match part:
        case ToolResultPart(id=id, name=name, output=output):
            return PartRow(path, "tool-result", mended(name), mended(id), None, error_of(output))
        case DataPart(name="error", data=data):
            return PartRow(path, "data", None, None, None, _short(data if isinstance(data, str) else "error"))
        case UnknownPart():
            return PartRow(path, mended(part.type), None, None, None, None)
        case _:
            return PartRow(path, _tag(type(part)), None, None, None, None)


def error_of(output: ToolOutput | None) -> str | None:
    """What went wrong with a call, in short; `None` when nothing did. A refusal is no error."""
    if type(output) in HARMLESS:  # nearly always: do not try one case after another
        return None
    match output:
        case ErrorTextOutput(value=text):
            return _short(text)
        case ErrorJsonOutput(value=value):
            return _short(dumps(_trimmed(value)).decode())
        case InterruptedOutput(reason="timeout" | "lost" as reason, message=text):
            return _short(f"{reason}: {text}" if text else reason)
        case (
            None
            | TextOutput()
            | JsonOutput()
            | ContentOutput()
            | ExecutionDeniedOutput()
            | InterruptedOutput()
        ):
            return None


def _trimmed(value: Json) -> Json:
    """Enough of a value to say what it is about: a large one is not written out."""
    if is_object(value):
        return {key: _trimmed(item) for key, item in list(value.items())[:20]}
    if is_array(value):
        return [_trimmed(item) for item in value[:20]]
    return value[:ERROR] if isinstance(value, str) else value


def _short(text: str) -> str:
    return mended(text[:ERROR])


def preview(content: Content) -> str:
    """The first words of a message; without words, what else it holds."""
    words: list[str] = []
    length = 0
    for part in content.parts:
        if isinstance(part, TextPart):
            piece = " ".join(part.text[: PREVIEW + 50].split())
            words.append(piece)
            length += len(piece)
            if length >= PREVIEW:
                break
    if length == 0:
        words = [part.name for part in content.parts if isinstance(part, ToolCallPart | ToolResultPart)][:10]
    return mended(" ".join(words)[:PREVIEW])
