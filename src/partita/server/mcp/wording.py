"""A message in words that a model reads: what was said, and in short what was done."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple, assert_never

from msgspec import UNSET, UnsetType

from partita.types.json import Json, dumps
from partita.types.messages import (
    AssistantMessage,
    Message,
    NetworkExecution,
    Part,
    ToolCallPart,
    calls_apart,
    failure_of,
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
    StepStartPart,
    TextPart,
    UnknownPart,
)
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
    ToolResultPart,
)

SHORT: Final = 800
"""How many characters of reasoning, an input or an output are shown unless all is asked for."""

ALL: Final = "full: true shows all"
NO_SIZES: Final[Mapping[str, int]] = {}


class Words(NamedTuple):
    """What a message comes to, and whether some of it is left out."""

    text: str
    shortened: bool


class _Wording:
    """The lines of a message."""

    def __init__(self, sizes: Mapping[str, int], *, full: bool) -> None:
        self.sizes = sizes
        self.full = full
        self.shortened = False

    def message(self, message: Message) -> Iterator[str]:
        for part in message.content.parts:
            yield from self.part(part)
        if isinstance(message, AssistantMessage) and message.content.network_execution is not None:
            yield from self.network(message.content.network_execution)

    def part(self, part: Part) -> Iterator[str]:
        match part:
            case TextPart():
                yield part.text
            case ReasoningPart():
                if part.text:
                    yield f"[reasoning] {self.short(part.text, ALL)}"
            case ToolCallPart():
                yield from self.call(part)
            case ToolResultPart():
                yield f"[result of {part.name}, call {part.id}]"
                yield self.output(part.id, part.output)
            case FilePart() | ReasoningFilePart() | ImagePart():
                yield _file(part)
            case SourceUrlPart() | SourceDocumentPart():
                yield _source(part)
            case DataPart():
                yield f"[data {part.name}] {self.short(_plain(part.data), ALL)}"
            case SteeringMessagePart():
                yield "[said meanwhile]"
                for inner in part.parts:
                    yield from self.part(inner)
            case CustomPart():
                yield f"[{part.kind}]"
            case ForeignPart():
                yield f"[part of {part.format}] {self.short(_plain(part.value), ALL)}"
            case UnknownPart():
                yield f"[part of unknown type] {self.short(_plain(dict(part.raw)), ALL)}"
            case StepStartPart():
                return
            case _:
                assert_never(part)

    def call(self, call: ToolCallPart) -> Iterator[str]:
        given = call.raw_input if call.input is UNSET else call.input
        yield f"[tool {call.name}, call {call.id}, {call.state}] {self.short(_plain(given), ALL)}"
        yield from self.children(call.children)
        if call.output is not None:
            yield self.output(call.id, call.output)

    def output(self, call_id: str, output: ToolOutput) -> str:
        text = output_text(output)
        size = max(self.sizes.get(call_id, 0), len(text))
        rest = f'of {size:,} characters; read_tool_output with call "{call_id}" gives all of it'
        return f"[output] {self.short(text, rest)}"

    def children(self, messages: tuple[Message, ...]) -> Iterator[str]:
        if messages and not self.full:
            self.shortened = True
            yield f"[sub-agent: {len(messages)} messages; {ALL}]"
            return
        for message in messages:
            yield f"[sub-agent, {message.__struct_config__.tag}]"
            yield from self.message(message)

    def network(self, execution: NetworkExecution) -> Iterator[str]:
        yield f"[{execution.primitive_type} {execution.primitive_id}]"
        result = execution.final_result
        if result is not None:
            if result.text:
                yield result.text
            if (failure := failure_of(result)) is not None:
                yield f"[failed] {failure}"
            for call in calls_apart(result):
                yield from self.call(call)
            yield from self.children(result.messages)

    def short(self, text: str, rest: str) -> str:
        if self.full or len(text) <= SHORT:
            return text
        self.shortened = True
        return f"{text[:SHORT]}… [shortened: {rest}]"


def words_of(message: Message, *, full: bool = False, sizes: Mapping[str, int] = NO_SIZES) -> Words:
    """A message as text. Unless `full`, long outputs, inputs, reasoning and sub-agents are shortened.

    `sizes` says how long outputs are, by the ids of their calls, where they were cut before.
    """
    wording = _Wording(sizes, full=full)
    text = "\n".join(line.rstrip() for line in wording.message(message))
    return Words(text, wording.shortened)


def calls_of(message: Message) -> Iterator[ToolCallPart | ToolResultPart]:
    """Every call and every result in a message, those of sub-agents too."""
    for part in message.content.parts:
        if isinstance(part, ToolResultPart):
            yield part
        elif isinstance(part, ToolCallPart):
            yield from _call(part)
    execution = message.content.network_execution if isinstance(message, AssistantMessage) else None
    if execution is not None and execution.final_result is not None:
        for call in calls_apart(execution.final_result):
            yield from _call(call)
        for child in execution.final_result.messages:
            yield from calls_of(child)


def _call(call: ToolCallPart) -> Iterator[ToolCallPart | ToolResultPart]:
    yield call
    for child in call.children:
        yield from calls_of(child)


def sizes_of(messages: Sequence[Message]) -> dict[str, int]:
    """How many characters the outputs of all calls have, by the ids of the calls."""
    calls = (call for message in messages for call in calls_of(message))
    return {call.id: len(output_text(call.output)) for call in calls if call.output is not None}


def output_text(output: ToolOutput) -> str:
    """What a tool gave back, as text."""
    match output:
        case TextOutput(value=text):
            return text
        case ErrorTextOutput(value=text):
            return f"error: {text}"
        case JsonOutput(value=value):
            return _plain(value)
        case ErrorJsonOutput(value=value):
            return f"error: {_plain(value)}"
        case ContentOutput(value=items):
            return "\n".join(_item(item) for item in items)
        case ExecutionDeniedOutput(reason=reason):
            return f"not allowed{f': {reason}' if reason else ''}"
        case InterruptedOutput(reason=reason, message=message):
            return f"interrupted ({reason}){f': {message}' if message else ''}"
        case _:
            assert_never(output)


def _item(item: ContentItem) -> str:
    match item:
        case TextPart(text=text):
            return text
        case FilePart() | ImagePart():
            return _file(item)
        case ForeignPart(value=value):
            return _plain(value)
        case UnknownPart(raw=raw):
            return _plain(dict(raw))
        case _:
            assert_never(item)


def _file(part: FilePart | ReasoningFilePart | ImagePart) -> str:
    """A file by its name: its bytes are not for reading."""
    name = part.name if isinstance(part, ImagePart) else part.filename
    return f"[file {name or 'without a name'}, {part.media_type or 'of unknown type'}]"


def _source(part: SourceUrlPart | SourceDocumentPart) -> str:
    address = f" {part.url}" if isinstance(part, SourceUrlPart) else ""
    return f"[source {part.title or part.source_id}]{address}"


def _plain(value: Json | UnsetType) -> str:
    """A text as it is, anything else as JSON; nothing for what was never given."""
    if value is UNSET:
        return ""
    return value if isinstance(value, str) else dumps(value).decode()


def time_of(moment: datetime | None) -> str | None:
    """A moment as answers write it."""
    return None if moment is None else f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
