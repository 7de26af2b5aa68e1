"""A conversation as Markdown: words as they are, reasoning aside, tools as fenced blocks."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import UNSET

from partita.formats.format import Dumped
from partita.types.json import Json, indented, is_object
from partita.types.messages import AssistantMessage, Message, ToolCallPart, result_text
from partita.types.parts import (
    CustomPart,
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningFilePart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
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

from .markdown_losses import untold

NAMES: Final = {"user": "User", "assistant": "Assistant", "system": "System", "tool": "Tool"}
DEEPEST: Final = 6
_TICKS: Final = re.compile("`+")
_SPACES: Final = re.compile(r"\s+")
_WEB: Final = re.compile(r"https?://[^\s<>()\[\]]+")


def dump(messages: Sequence[Message]) -> Dumped:
    """A conversation as one document to read."""
    text = "".join(document(messages, "A conversation", {}, folds=True))
    return Dumped(text, tuple(untold(messages)))


def document(
    messages: Sequence[Message], title: str, facts: Mapping[str, str | None], *, folds: bool = False
) -> Iterator[str]:
    """The text, piece by piece: a title, facts about the conversation, its messages.

    Reasoning is a quotation, or where it `folds` a block that opens.
    """
    yield f"# {_line(title)}\n\n"
    yield "".join(f"- {name}: {_line(value)}\n" for name, value in facts.items() if value)
    writer = _Writer(folds)
    for message in messages:
        yield from writer.message(message, 2)


class _Writer:
    """Writes messages. `folds` puts reasoning into a block that opens."""

    def __init__(self, folds: bool) -> None:
        self._folds = folds

    def message(self, message: Message, level: int) -> Iterator[str]:
        """One message under a heading, and the messages inside it under deeper ones."""
        moment = moment_text(message.created_at)
        name = NAMES[str(message.__struct_config__.tag)]
        yield f"\n{'#' * min(level, DEEPEST)} {name}{f' · {moment}' if moment else ''}\n\n"
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
                yield _quoted("*Said meanwhile*")
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
    """A file by its name: its bytes are in no Markdown."""
    named = part.name if isinstance(part, ImagePart) else part.filename
    name = _line(named or part.media_type or "file")
    if _WEB.fullmatch(part.url):
        return f"File: {_link(name, part.url)}"
    return f"*File: {name} (not included)*"


def _fenced(text: str, language: str = "") -> str:
    """A block that nothing in it can end."""
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
    """A moment as people read it."""
    return None if moment is None else f"{moment:%Y-%m-%d %H:%M:%S} UTC"
