"""Renders messages as text for models. Reasoning, tool inputs and outputs are shortened."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple, assert_never

from msgspec import UNSET

from partita.runtime.tools.outputs import file_label, output_text, plain_json
from partita.types.messages import (
    AssistantMessage,
    Message,
    NetworkExecution,
    Part,
    ToolCallPart,
    failure_text,
    unlisted_calls,
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
    ToolOutput,
    ToolResultPart,
    UnknownPart,
)
from partita.types.tool_views import Notice
from partita.views.notices import notices

SHORT: Final = 800
"""How many characters of reasoning, an input or an output are shown, unless the call asks for all."""

HOW_TO_SEE_ALL: Final = "full: true shows all"
NO_SIZES: Final[Mapping[str, int]] = {}


class MessageText(NamedTuple):
    """The text of a message, and whether parts of it were shortened."""

    text: str
    shortened: bool


class _Renderer:
    """Yields the lines of a message."""

    def __init__(self, sizes: Mapping[str, int], *, full: bool) -> None:
        self.sizes = sizes
        self.full = full
        self.shortened = False

    def message(self, message: Message) -> Iterator[str]:
        found = notices(message)
        for place, part in enumerate(message.content.parts):
            notice = found.get(place)
            yield from self.part(part) if notice is None else self.notice(notice)
        if isinstance(message, AssistantMessage) and message.content.network_execution is not None:
            yield from self.network(message.content.network_execution)

    def notice(self, notice: Notice) -> Iterator[str]:
        if not notice.hidden:
            yield f"[{notice.label or 'output'}] {self.short(notice.text)}".rstrip()

    def part(self, part: Part) -> Iterator[str]:
        match part:
            case TextPart():
                yield part.text
            case ReasoningPart():
                if part.text:
                    yield f"[reasoning] {self.short(part.text)}"
            case ToolCallPart():
                yield from self.call(part)
            case ToolResultPart():
                yield f"[result of {part.name}, call {part.id}]"
                yield self.output(part.id, part.output)
            case FilePart() | ReasoningFilePart() | ImagePart():
                yield file_label(part)
            case SourceUrlPart() | SourceDocumentPart():
                yield _source(part)
            case DataPart():
                yield f"[data {part.name}] {self.short(plain_json(part.data))}"
            case SteeringMessagePart():
                yield "[sent during the response]"
                for inner in part.parts:
                    yield from self.part(inner)
            case CustomPart():
                yield f"[{part.kind}]"
            case ForeignPart():
                yield f"[part of {part.format}] {self.short(plain_json(part.value))}"
            case UnknownPart():
                yield f"[part of unknown type] {self.short(plain_json(dict(part.raw)))}"
            case StepStartPart():
                return
            case _:
                assert_never(part)

    def call(self, call: ToolCallPart) -> Iterator[str]:
        input_ = call.raw_input if call.input is UNSET else call.input
        yield f"[tool {call.name}, call {call.id}, {call.state}] {self.short(plain_json(input_))}"
        yield from self.children(call.children)
        if call.output is not None:
            yield self.output(call.id, call.output)

    def output(self, call_id: str, output: ToolOutput) -> str:
        text = output_text(output)
        size = max(self.sizes.get(call_id, 0), len(text))
        hint = f'of {size:,} characters; read_tool_output with call "{call_id}" returns all of it'
        return f"[output] {self.short(text, hint)}"

    def children(self, messages: tuple[Message, ...]) -> Iterator[str]:
        if messages and not self.full:
            self.shortened = True
            yield f"[sub-agent: {len(messages)} messages; {HOW_TO_SEE_ALL}]"
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
            if (failure := failure_text(result)) is not None:
                yield f"[failed] {failure}"
            for call in unlisted_calls(result):
                yield from self.call(call)
            yield from self.children(result.messages)

    def short(self, text: str, hint: str = HOW_TO_SEE_ALL) -> str:
        """The text, shortened if it is long. `hint` says how to read all of it."""
        if self.full or len(text) <= SHORT:
            return text
        self.shortened = True
        return f"{text[:SHORT]}… [shortened: {hint}]"


def render_message(
    message: Message, *, full: bool = False, sizes: Mapping[str, int] = NO_SIZES
) -> MessageText:
    """Render a message. Unless `full`, long outputs, inputs, reasoning and sub-agents are shortened.

    `sizes` are the original lengths of outputs that are already cut, by the ids of their calls.
    """
    renderer = _Renderer(sizes, full=full)
    text = "\n".join(line.rstrip() for line in renderer.message(message))
    return MessageText(text, renderer.shortened)


def calls_of(message: Message) -> Iterator[ToolCallPart | ToolResultPart]:
    """All tool calls and results of a message, including those of sub-agents."""
    for part in message.content.parts:
        if isinstance(part, ToolResultPart):
            yield part
        elif isinstance(part, ToolCallPart):
            yield from _call(part)
    execution = message.content.network_execution if isinstance(message, AssistantMessage) else None
    if execution is not None and execution.final_result is not None:
        for call in unlisted_calls(execution.final_result):
            yield from _call(call)
        for child in execution.final_result.messages:
            yield from calls_of(child)


def _call(call: ToolCallPart) -> Iterator[ToolCallPart | ToolResultPart]:
    yield call
    for child in call.children:
        yield from calls_of(child)


def output_sizes(messages: Sequence[Message]) -> dict[str, int]:
    """The lengths of the outputs of all calls in characters, by the ids of the calls."""
    calls = (call for message in messages for call in calls_of(message))
    return {call.id: len(output_text(call.output)) for call in calls if call.output is not None}


def _source(part: SourceUrlPart | SourceDocumentPart) -> str:
    address = f" {part.url}" if isinstance(part, SourceUrlPart) else ""
    return f"[source {part.title or part.source_id}]{address}"


def format_time(time: datetime | None) -> str | None:
    """A time as results write it: in UTC, to the second."""
    return None if time is None else f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
