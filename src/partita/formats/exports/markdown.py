"""A conversation as a Markdown document: texts unchanged, reasoning as quotes, tools as fenced blocks.

A document cannot be read back. Its losses follow from the tables of written members.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import UNSET

from partita.formats.format import Dumped, Format
from partita.formats.losses import NO_PLACE, Loss
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, indented, is_array, is_object
from partita.types.messages import AssistantMessage, Message, ToolCallPart, ToolMessage, result_text
from partita.types.parts import (
    ContentOutput,
    CustomPart,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningFilePart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
    UnknownPart,
)
from partita.types.tool_results import fold

NAMES: Final = {"user": "User", "assistant": "Assistant", "system": "System", "tool": "Tool"}
MAX_LEVEL: Final = 6

NOT_INCLUDED: Final = "the document has the names of files, and links to those on the web"

WRITTEN: Final[Mapping[str, frozenset[str]]] = {
    "text": frozenset({"text"}),
    "reasoning": frozenset({"text"}),
    "tool-call": frozenset({"name", "title", "state", "input", "output", "children"}),
    "tool-result": frozenset({"name", "output"}),
    "image": frozenset({"url", "name"}),
    "file": frozenset({"url", "filename"}),
    "reasoning-file": frozenset({"url", "filename"}),
    "source-url": frozenset({"title", "url"}),
    "source-document": frozenset({"title"}),
    "data": frozenset({"name", "data"}),
    "custom": frozenset({"kind"}),
    "foreign": frozenset({"format", "value"}),
    "steering-message": frozenset({"parts"}),
    "step-start": frozenset(),
}
"""The members that are written, by the type of the part."""

NETWORK_MEMBERS: Final = frozenset({"primitiveType", "primitiveId", "finalResult"})
RESULT_MEMBERS: Final = frozenset({"text", "messages"})
OUTPUT_MEMBERS: Final = frozenset({"type", "value", "reason", "message"})
FILES: Final = frozenset({"image", "file", "reasoning-file"})

_TICKS: Final = re.compile("`+")
_SPACES: Final = re.compile(r"\s+")
_WEB: Final = re.compile(r"https?://[^\s<>()\[\]]+")


def dump(messages: Sequence[Message]) -> Dumped:
    """Write a conversation as one document."""
    text = "".join(document(messages, "A conversation", {}, folds=True))
    return Dumped(text, lambda: _losses(messages))


def document(
    messages: Sequence[Message], title: str, facts: Mapping[str, str | None], *, folds: bool = False
) -> Iterator[str]:
    """Yield the text in pieces: a title, facts about the conversation, its messages.

    `folds`: whether reasoning is in a `<details>` block instead of a quotation.
    """
    yield f"# {_line(title)}\n\n"
    yield "".join(f"- {name}: {_line(value)}\n" for name, value in facts.items() if value)
    writer = _Writer(folds)
    for message in messages:
        yield from writer.message(message, 2)


class _Writer:
    """Writes messages. `folds`: see `document`."""

    def __init__(self, folds: bool) -> None:
        self._folds = folds

    def message(self, message: Message, level: int) -> Iterator[str]:
        """Yield a message under a heading, and the messages inside it under deeper ones."""
        moment = moment_text(message.created_at)
        name = NAMES[str(message.__struct_config__.tag)]
        yield f"\n{'#' * min(level, MAX_LEVEL)} {name}{f' · {moment}' if moment else ''}\n\n"
        for part in message.content.parts:
            yield from self._part(part, level)
        if isinstance(message, AssistantMessage) and (execution := message.content.network_execution):
            yield f"**{execution.primitive_type} {_code(execution.primitive_id)}**\n\n"
            if execution.final_result is not None:
                yield _quoted(result_text(execution.final_result))
                for inner in execution.final_result.messages:
                    yield from self.message(inner, level + 1)

    def _part(self, part: object, level: int) -> Iterator[str]:
        match part:
            case TextPart():
                yield f"{part.text}\n\n"
            case ReasoningPart():
                yield self._reasoning(part.text) if part.text else ""
            case ToolCallPart():
                yield from self._call(part, level)
            case ToolResultPart():
                yield f"**Result of {_code(part.name)}**\n\n{_output(part.output)}"
            case ImagePart() | FilePart() | ReasoningFilePart():
                yield f"{_file(part)}\n\n"
            case SourceUrlPart():
                yield f"Source: {_link(part.title or part.url, part.url)}\n\n"
            case SourceDocumentPart():
                yield f"Source: {_line(part.title)}\n\n"
            case DataPart():
                shown = "" if part.data is UNSET else _fenced(_json(part.data), "json")
                yield f"**Data {_code(part.name)}**\n\n{shown}"
            case SteeringMessagePart():
                yield _quoted("*Sent while running*")
                for inner in part.parts:
                    yield from self._part(inner, level)
            case CustomPart():
                yield f"*{_line(part.kind)}*\n\n"
            case ForeignPart():
                yield f"**{_code(part.format)}**\n\n{_fenced(_json(part.value), 'json')}"
            case UnknownPart():
                yield _fenced(_json(dict(part.raw)), "json")
            case _:
                return

    def _call(self, call: ToolCallPart, level: int) -> Iterator[str]:
        title = f" · {_line(call.title)}" if call.title else ""
        yield f"**Tool {_code(call.name)}**{title} · {call.state}\n\n"
        given = call.input or call.raw_input
        if (
            is_object(given)
            and set(given) <= {"command", "description"}
            and isinstance(given.get("command"), str)
        ):
            yield _fenced(given["command"], "sh")
        elif isinstance(given, str):
            yield _fenced(given)
        elif given:
            yield _fenced(_json(given), "json")
        for message in call.children:
            yield from self.message(message, level + 1)
        if call.output is not None:
            yield _output(call.output)

    def _reasoning(self, text: str) -> str:
        if not self._folds:
            return _quoted(f"*Reasoning*\n\n{text}")
        inner = _fenced(text) if "</details>" in text.lower() else f"{text.rstrip()}\n\n"
        return f"<details>\n<summary>Reasoning</summary>\n\n{inner}</details>\n\n"


def _output(output: ToolOutput) -> str:
    match output:
        case TextOutput(value=text):
            return _fenced(text)
        case ErrorTextOutput(value=text):
            return f"Error:\n\n{_fenced(text)}"
        case JsonOutput(value=value):
            return _fenced(value) if isinstance(value, str) else _fenced(_json(value), "json")
        case ErrorJsonOutput(value=value):
            return f"Error:\n\n{_fenced(_json(value), 'json')}"
        case ContentOutput(value=items):
            return "".join(_item(item) for item in items)
        case ExecutionDeniedOutput(reason=reason):
            return f"Denied{f': {_line(reason)}' if reason else ''}.\n\n"
        case InterruptedOutput(reason=reason, message=message):
            return f"Interrupted ({reason}){f': {_line(message)}' if message else ''}.\n\n"


def _item(item: object) -> str:
    match item:
        case TextPart(text=text):
            return _fenced(text)
        case ImagePart() | FilePart():
            return f"{_file(item)}\n\n"
        case ForeignPart(value=value):
            return _fenced(_json(value), "json")
        case UnknownPart(raw=raw):
            return _fenced(_json(dict(raw)), "json")
        case _:
            return ""


def _file(part: ImagePart | FilePart | ReasoningFilePart) -> str:
    """Return a file by its name. Its bytes are not in the document."""
    named = part.name if isinstance(part, ImagePart) else part.filename
    name = _line(named or part.media_type or "file")
    if _WEB.fullmatch(part.url):
        return f"File: {_link(name, part.url)}"
    return f"*File: {name} (not included)*"


def _fenced(text: str, language: str = "") -> str:
    """Return a block whose fence is longer than any in the text."""
    longest = max(map(len, _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}\n\n"


def _quoted(text: str) -> str:
    return "".join(f"> {line}\n" for line in text.splitlines()) + "\n" if text else ""


def _code(text: str) -> str:
    return f"`{_line(text).replace('`', 'ˋ')}`"


def _line(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


def _link(title: str, url: str) -> str:
    name = _line(title).replace("[", "(").replace("]", ")")
    return f"[{name}]({url})" if _WEB.fullmatch(url) else name


def _json(value: Json) -> str:
    return indented(value).decode()


def moment_text(moment: datetime | None) -> str | None:
    """Return a time as readable text."""
    return None if moment is None else f"{moment:%Y-%m-%d %H:%M:%S} UTC"


# Losses


def _losses(messages: Sequence[Message]) -> Iterator[Loss]:
    """Yield the losses, by paths in folded messages as in all formats."""
    has_results = any(isinstance(message, ToolMessage) for message in messages)
    for index, message in enumerate(fold(messages) if has_results else messages):
        yield from _message_losses(to_json(message), f"$[{index}]")


def _message_losses(message: JsonObject, path: str) -> Iterator[Loss]:
    yield from _other_members(message, path, frozenset({"role", "type", "content", "createdAt"}))
    content = message["content"]
    yield from _other_members(content, f"{path}.content", frozenset({"parts", "format", "networkExecution"}))
    for index, part in enumerate(content["parts"]):
        yield from _part_losses(part, f"{path}.content.parts[{index}]")
    network = content.get("networkExecution")
    if is_object(network):
        where = f"{path}.content.networkExecution"
        yield from _other_members(network, where, NETWORK_MEMBERS)
        result = network.get("finalResult")
        if is_object(result):
            yield from _other_members(result, f"{where}.finalResult", RESULT_MEMBERS)
            yield from _messages_losses(result.get("messages"), f"{where}.finalResult.messages")


def _messages_losses(messages: Json, path: str) -> Iterator[Loss]:
    for index, message in enumerate(messages if is_array(messages) else []):
        yield from _message_losses(message, f"{path}[{index}]")


def _part_losses(part: JsonObject, path: str) -> Iterator[Loss]:
    kind = part.get("type")
    written = WRITTEN.get(kind) if isinstance(kind, str) else None
    if written is None:
        return  # parts of unknown types are written as JSON
    if kind == "tool-call":
        written |= {"rawInput"} if not part.get("input") else frozenset()
        yield from _input_losses(part.get("input"), f"{path}.input")
    if kind in FILES and not part.get("name", part.get("filename")):
        written |= {"mediaType"}
    yield from _other_members(part, path, written | {"type"})
    url = part.get("url")
    if kind in FILES and isinstance(url, str) and not _WEB.fullmatch(url):
        yield Loss.of(f"{path}.url", url, NOT_INCLUDED)
    if kind == "source-url" and not _WEB.fullmatch(part["url"]):
        yield Loss.of(f"{path}.url", part["url"], NOT_INCLUDED)
    if "output" in written and is_object(part.get("output")):
        yield from _output_losses(part["output"], f"{path}.output")
    if "children" in written:
        yield from _messages_losses(part.get("children"), f"{path}.children")
    for index, item in enumerate(part["parts"] if "parts" in written else ()):
        yield from _part_losses(item, f"{path}.parts[{index}]")


def _input_losses(given: Json, path: str) -> Iterator[Loss]:
    """Yield the losses of an input. Of a command, only the command is written; an empty input is not."""
    if not given and given is not None and given != {}:
        yield Loss.of(path, given, NO_PLACE, "minor")
    if is_object(given) and given.keys() == {"command", "description"} and isinstance(given["command"], str):
        yield Loss.of(f"{path}.description", given["description"], NO_PLACE)


def _output_losses(output: JsonObject, path: str) -> Iterator[Loss]:
    yield from _other_members(output, path, OUTPUT_MEMBERS)
    if output["type"] == "content":
        for index, item in enumerate(output["value"]):
            yield from _part_losses(item, f"{path}.value[{index}]")


def _other_members(value: JsonObject, path: str, written: frozenset[str]) -> Iterator[Loss]:
    for key, item in value.items():
        if key not in written:
            yield Loss.of(f"{path}.{key}", item, NO_PLACE, "minor" if key in ("seq", "id") else "lost")


FORMAT: Final = Format("markdown", "a Markdown document to read", dump=dump, is_complete=True)
