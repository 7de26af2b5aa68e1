"""A conversation as a Markdown document, as GitHub and similar renderers show it.

Texts are written as they are. Tool calls are written by their kind (`markdown_calls`). Reasoning, sub-agents
and long outputs are in `<details>` blocks. A document cannot be read back. Its losses follow from the tables
of written members, and from what occurs in the text of a call.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from msgspec import UNSET

from partita.formats.format import Dumped, Format
from partita.formats.losses import NO_PLACE, Loss
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, indented, is_array, is_object
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    ToolCallPart,
    ToolMessage,
    result_text,
)
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
    ToolResultPart,
    UnknownPart,
)
from partita.types.tool_results import fold
from partita.types.tool_views import Prompt
from partita.views.messages import model_of
from partita.views.prompts import prompts
from partita.views.text import counted
from partita.views.tool_view import call_of_result

from .markdown_calls import WrittenCall, file_line, text_lines, write_call
from .markdown_text import WEB, code, fenced, folded, line, link, prose, quoted

NAMES: Final = {"user": "User", "assistant": "Assistant", "system": "System", "tool": "Tool"}
UNTITLED: Final = "A conversation"
MAX_LEVEL: Final = 6

NOT_INCLUDED: Final = "the document has the names of files, and links to those on the web"
BY_KIND: Final = "the document shows calls of this kind in a shorter form"

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
USAGE_MEMBERS: Final = frozenset({"inputTokens", "outputTokens"})
FILES: Final = frozenset({"image", "file", "reasoning-file"})


class ResponseFacts(NamedTuple):
    """What is known about a response besides its message."""

    model: str | None = None
    cost: float | None = None  # in US dollars


def dump(messages: Sequence[Message]) -> Dumped:
    """Write a conversation as one document."""
    return Dumped("".join(document(messages, UNTITLED)), lambda: _losses(messages))


def document(
    messages: Sequence[Message],
    title: str,
    facts: Mapping[str, str | None] | None = None,
    *,
    directory: str | None = None,
    responses: Mapping[str, ResponseFacts] | None = None,
) -> Iterator[str]:
    """Yield the text in pieces: a title, facts about the conversation, its messages.

    `directory`: that of the session; paths inside it become relative. `responses`: facts by message id.
    """
    yield f"# {line(title)}\n\n"
    yield "".join(f"- {name}: {line(value)}\n" for name, value in (facts or {}).items() if value)
    writer = _Writer(directory, responses or {})
    for message in messages:
        yield from writer.message(message, 2)


def cost_text(cost: float) -> str:
    """A price in US dollars: `$0.42`, `$0.0031`."""
    return f"${cost:,.2f}" if cost >= 1 or cost == 0 else f"${cost:.4f}"


def tokens_text(given: int | None, generated: int | None) -> str:
    """The tokens of a response: `12,500 tokens in, 860 out`."""
    counts = [f"{count:,} {name}" for count, name in ((given, "tokens in"), (generated, "out")) if count]
    return ", ".join(counts)


class _Writer:
    """Writes messages."""

    def __init__(self, directory: str | None, responses: Mapping[str, ResponseFacts]) -> None:
        self._directory = directory
        self._responses = responses

    def message(self, message: Message, level: int) -> Iterator[str]:
        """Yield a message under a heading, and the messages inside it under deeper ones."""
        moment = moment_text(message.created_at)
        name = NAMES[str(message.__struct_config__.tag)]
        yield f"\n{'#' * min(level, MAX_LEVEL)} {name}{f' · {moment}' if moment else ''}\n\n"
        facts = self._facts(message)
        yield f"{facts}\n\n" if facts else ""
        written = prompts(message)
        for index, part in enumerate(message.content.parts):
            yield from self._part(part, level) if index not in written else _prompt(written[index])
        if isinstance(message, AssistantMessage) and (execution := message.content.network_execution):
            yield f"**{execution.primitive_type} {code(execution.primitive_id)}**\n\n"
            if execution.final_result is not None:
                yield quoted(result_text(execution.final_result))
                for inner in execution.final_result.messages:
                    yield from self.message(inner, level + 1)

    def _facts(self, message: Message) -> str:
        """The model of a response, its tokens and its cost."""
        known = self._responses.get(message.id or "", ResponseFacts())
        model = model_of(message) or known.model
        usage = message.content.usage if isinstance(message.content, AssistantContent) else None
        facts = [
            code(model) if model else "",
            "" if usage is None else tokens_text(usage.input_tokens, usage.output_tokens),
            cost_text(known.cost) if known.cost is not None else "",
        ]
        return " · ".join(filter(None, facts))

    def _part(self, part: object, level: int) -> Iterator[str]:
        match part:
            case TextPart():
                yield prose(part.text)
            case ReasoningPart():
                yield folded("Reasoning", _reasoning(part.text)) if part.text.strip() else ""
            case ToolCallPart():
                written = write_call(part, self._directory)
                yield written.start
                if part.children:
                    inner = "".join(text for one in part.children for text in self.message(one, level + 1))
                    yield folded(f"Sub-agent: {counted(len(part.children), 'message')}", inner)
                yield written.end
            case ToolResultPart():
                written = write_call(call_of_result(part), self._directory)
                yield f"Result of {written.start}{written.end}"
            case ImagePart() | FilePart() | ReasoningFilePart():
                yield f"{file_line(part)}\n\n"
            case SourceUrlPart():
                yield f"Source: {link(part.title or part.url, part.url)}\n\n"
            case SourceDocumentPart():
                yield f"Source: {line(part.title)}\n\n"
            case DataPart():
                shown = "" if part.data is UNSET else fenced(_json(part.data), "json")
                yield f"**Data {code(part.name)}**\n\n{shown}"
            case SteeringMessagePart():
                yield quoted("*Sent while running*")
                for inner in part.parts:
                    yield from self._part(inner, level)
            case CustomPart():
                yield f"*{line(part.kind)}*\n\n"
            case ForeignPart():
                yield f"**{code(part.format)}**\n\n{fenced(_json(part.value), 'json')}"
            case UnknownPart():
                yield fenced(_json(dict(part.raw)), "json")
            case _:
                return


def _prompt(prompt: Prompt) -> Iterator[str]:
    """Yield what the user wrote, and in blocks that fold what an editor or an agent added."""
    yield prose(prompt.text) if prompt.text else ""
    for notice in prompt.added:
        yield folded(notice.label, fenced(notice.text))


def _reasoning(text: str) -> str:
    """A reasoning inside its block, which it cannot end."""
    return fenced(text) if "</details>" in text.lower() else prose(text.rstrip())


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
        yield from _message_losses(message, to_json(message), f"$[{index}]")


def _message_losses(message: Message, raw: JsonObject, path: str) -> Iterator[Loss]:
    yield from _other_members(raw, path, frozenset({"role", "type", "content", "createdAt"}))
    content = raw["content"]
    written = frozenset({"parts", "format", "networkExecution", "usage"})
    yield from _other_members(content, f"{path}.content", written)
    if is_object(content.get("usage")):
        yield from _other_members(content["usage"], f"{path}.content.usage", USAGE_MEMBERS)
    for index, (part, raw_part) in enumerate(zip(message.content.parts, content["parts"], strict=True)):
        yield from _part_losses(part, raw_part, f"{path}.content.parts[{index}]")
    network = content.get("networkExecution")
    if is_object(network) and isinstance(message, AssistantMessage):
        where = f"{path}.content.networkExecution"
        yield from _other_members(network, where, NETWORK_MEMBERS)
        result = network.get("finalResult")
        execution = message.content.network_execution
        if is_object(result) and execution is not None and execution.final_result is not None:
            yield from _other_members(result, f"{where}.finalResult", RESULT_MEMBERS)
            inner = execution.final_result.messages
            yield from _messages_losses(inner, result.get("messages"), f"{where}.finalResult.messages")


def _messages_losses(messages: Sequence[Message], raws: Json, path: str) -> Iterator[Loss]:
    for index, (message, raw) in enumerate(zip(messages, raws or [], strict=True)):
        yield from _message_losses(message, raw, f"{path}[{index}]")


def _part_losses(part: object, raw: JsonObject, path: str) -> Iterator[Loss]:
    kind = raw.get("type")
    written = WRITTEN.get(kind) if isinstance(kind, str) else None
    if written is None:
        return  # parts of unknown types are written as JSON
    if kind in FILES and not raw.get("name", raw.get("filename")):
        written |= {"mediaType"}
    if isinstance(part, ToolCallPart):
        written |= {"rawInput"} if part.input is UNSET else frozenset()
    yield from _other_members(raw, path, written | {"type"})
    url = raw.get("url")
    if kind in FILES and isinstance(url, str) and not WEB.fullmatch(url):
        yield Loss.of(f"{path}.url", url, NOT_INCLUDED)
    if kind == "source-url" and not WEB.fullmatch(raw["url"]):
        yield Loss.of(f"{path}.url", raw["url"], NOT_INCLUDED)
    if isinstance(part, ToolCallPart):
        yield from _call_losses(write_call(part), raw, path)
        yield from _messages_losses(part.children, raw.get("children"), f"{path}.children")
    elif isinstance(part, ToolResultPart):
        yield from _call_losses(write_call(call_of_result(part)), raw, path)
    elif isinstance(part, SteeringMessagePart):
        for index, (inner, raw_inner) in enumerate(zip(part.parts, raw["parts"], strict=True)):
            yield from _part_losses(inner, raw_inner, f"{path}.parts[{index}]")


def _call_losses(written: WrittenCall, raw: JsonObject, path: str) -> Iterator[Loss]:
    """Yield the losses of a call: the values that do not occur in its text."""
    lines = frozenset(text_lines(written))
    text = f"{written.start}\n{written.end}"
    for name in ("name", "title"):
        yield from _leaf_losses(raw.get(name, ""), f"{path}.{name}", text, lines)
    if not written.has_input:
        name = "input" if "input" in raw else "rawInput"
        yield from _leaf_losses(raw.get(name, ""), f"{path}.{name}", text, lines)
    output = raw.get("output")
    if not is_object(output):
        return
    yield from _other_members(output, f"{path}.output", OUTPUT_MEMBERS)
    if output["type"] == "content":
        for index, item in enumerate(output["value"]):
            where = f"{path}.output.value[{index}]"
            yield from _part_losses(None, item, where)
            if not written.has_output:
                yield from _leaf_losses(item.get("text", ""), f"{where}.text", text, lines)
    elif not written.has_output:
        yield from _leaf_losses(output.get("value", ""), f"{path}.output.value", text, lines)


def _leaf_losses(value: Json, path: str, text: str, lines: frozenset[str]) -> Iterator[Loss]:
    """Yield the leaves of a value that do not occur in a text, as a whole or line by line."""
    if is_object(value):
        for key, item in value.items():
            yield from _leaf_losses(item, f"{path}.{key}", text, lines)
    elif is_array(value):
        for index, item in enumerate(value):
            yield from _leaf_losses(item, f"{path}[{index}]", text, lines)
    elif not isinstance(value, str):
        yield Loss.of(path, value, BY_KIND)
    elif value.strip() not in text and any(one.strip() not in lines for one in value.split("\n")):
        yield Loss.of(path, value, BY_KIND, "changed")


def _other_members(value: JsonObject, path: str, written: frozenset[str]) -> Iterator[Loss]:
    for key, item in value.items():
        if key not in written:
            yield Loss.of(f"{path}.{key}", item, NO_PLACE, "minor" if key in ("seq", "id") else "lost")


FORMAT: Final = Format("markdown", "a Markdown document to read", dump=dump, is_complete=True)
