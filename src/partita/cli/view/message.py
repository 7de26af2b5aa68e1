"""Rendering of messages with their headers, parts and sub-agents, and of whole threads."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import assert_never

from msgspec import UNSET
from rich.console import RenderableType
from rich.text import Text

from partita.store.threads.lists import ThreadSummary
from partita.types.json import Json
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    NetworkExecution,
    Part,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    failure_text,
    unlisted_calls,
)
from partita.types.parts import ReasoningPart, SteeringMessagePart, StepStartPart, TextPart, ToolResultPart
from partita.types.tool_views import Notice, Prompt
from partita.views.messages import model_of
from partita.views.notices import notices
from partita.views.prompts import prompts
from partita.views.text import counted

from .console import DEEPEST, Beside, Block, Row, Rows, SubAgentMessages, indent_blocks
from .content import Prose, describe, draw_markdown, tree
from .context import ViewContext
from .text import clock, one_line, tokens_of
from .tool_cards import draw_call, draw_result
from .totals import draw_title, draw_totals, summarize_sub_agent

STYLES = {"user": "bold cyan", "assistant": "bold green", "system": "bold", "tool": "bold"}


def header(message: Message, context: ViewContext, before: datetime | None, name: str = "") -> Text:
    """Return the line above a message: `#3 claude-code · 14:02:11 · the-model · 12.5k in, 860 out`."""
    role = str(message.__struct_config__.tag)
    speaker = name or (context.agent if role == "assistant" else None) or role
    text = Text()
    number = context.numbers.get(message.id) if message.id is not None else None
    if number is not None:
        text.append(f"#{number} ", "dim")
    text.append(one_line(speaker, 40), STYLES[role])
    details = [
        clock(message.created_at, before, context.zone) if message.created_at else "",
        one_line(model_name(message, context), 60),
        _usage(message),
        "internal" if message.internal else "",
    ]
    return text.append("".join(f" · {detail}" for detail in details if detail), "dim")


def model_name(message: Message, context: ViewContext) -> str:
    """Return the model that generated a message, from its metadata or its run, or an empty text."""
    if not isinstance(message, AssistantMessage):
        return ""
    return model_of(message) or context.models.get(message.run_id or "", "")


def _usage(message: Message) -> str:
    usage = message.content.usage if isinstance(message.content, AssistantContent) else None
    if usage is None:
        return ""
    counts = [(usage.input_tokens, "in"), (usage.output_tokens, "out")]
    return ", ".join(f"{tokens_of(count)} {name}" for count, name in counts if count is not None)


PROMPT_ROWS = 30
SYSTEM_ROWS = 4
REASONING_ROWS = 5
EVENT_ROWS = 3


def draw_message(message: Message, context: ViewContext, before: datetime | None) -> Iterator[RenderableType]:
    """Yield a message with its header. `before` is the time of the previous message."""
    if message.type == "event":
        yield from indent_blocks(_event(message, context, before))
        return
    yield header(message, context, before)
    yield from indent_blocks(blocks_of(message, context))


def _event(message: Message, context: ViewContext, before: datetime | None) -> Iterator[Block]:
    """Yield the blocks of an event message: dim lines without a header, the first with number and time."""
    number = context.numbers.get(message.id) if message.id is not None else None
    head = [
        *([f"#{number}"] if number is not None else []),
        *([clock(message.created_at, before, context.zone)] if message.created_at else []),
    ]
    for place, block in enumerate(blocks_of(message, context)):
        mark = "· " if place or not head else f"· {' '.join(head)}  "
        yield Block(Beside(mark, block.drawn, once=True), block.depth, gap=False)


def blocks_of(message: Message, context: ViewContext) -> Iterator[Block]:
    """Yield the parts of a message and of all sub-agents. Not recursive: they may be nested to any depth."""
    stack = [_parts(message, context, 0)]
    while stack:
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
        elif isinstance(item, Block):
            yield item
        elif context.full:
            stack.append(_children(item, context))
        else:
            yield Block(Rows([summarize_sub_agent(item.messages)]), item.depth, gap=False)


def _children(agent: SubAgentMessages, context: ViewContext) -> Iterator[Block | SubAgentMessages]:
    shown = [message for message in agent.messages if context.internal or not message.internal]
    before: datetime | None = shown[0].created_at if shown else None
    for number, message in enumerate(shown):
        name = agent.name if isinstance(message, AssistantMessage) else ""
        name += f" (level {agent.depth})" if name and agent.depth > DEEPEST else ""
        yield Block(header(message, context, before, name), agent.depth, gap=number > 0)
        yield from _parts(message, context, agent.depth)
        before = message.created_at or before


def _parts(message: Message, context: ViewContext, depth: int) -> Iterator[Block | SubAgentMessages]:
    content = message.content
    if not content.parts and content.content:
        yield Block(_text(message, content.content, context), depth, gap=False)
    steps = 0
    first = True
    found, written = notices(message), prompts(message)
    for place, part in enumerate(content.parts):
        steps += isinstance(part, StepStartPart)
        if place in found:
            drawn = draw_notice(found[place], context, depth)
        elif place in written:
            drawn = draw_prompt(written[place], context, depth)
        else:
            drawn = draw_part(part, context, depth, message, steps)
        for item in drawn:
            yield item._replace(gap=item.gap and not first) if isinstance(item, Block) else item
            first = False
    if isinstance(content, AssistantContent) and content.network_execution is not None:
        yield from _network(content.network_execution, context, depth)


def draw_notice(notice: Notice, context: ViewContext, depth: int) -> Iterator[Block]:
    """Yield the label of a notice, and its text below it."""
    if notice.hidden:
        return
    if notice.label:
        yield Block(Prose(notice.label, context, EVENT_ROWS, "bold"), depth)
    if notice.text:
        yield Block(Prose(notice.text, context, EVENT_ROWS, "dim"), depth, gap=False)


def draw_prompt(prompt: Prompt, context: ViewContext, depth: int) -> Iterator[Block]:
    """Yield what the user wrote, and below it what an editor or an agent added."""
    if prompt.text:
        yield Block(_prompt(prompt.text, context), depth)
    for notice in prompt.added:
        yield from draw_notice(notice, context, depth)


def draw_part(
    part: Part, context: ViewContext, depth: int, message: Message, steps: int
) -> Iterator[Block | SubAgentMessages]:
    """Yield the blocks of a part; `steps` is the number of its step."""
    match part:
        case TextPart():
            if part.text.strip():
                yield Block(_text(message, part.text, context), depth)
            rows = [Row(_citation(citation.source), "blue", "↗ ") for citation in part.citations or ()]
            if rows:
                yield Block(Rows(rows), depth, gap=False)
        case ReasoningPart():
            if part.text.strip() or context.full or _is_only_reasoning(message):
                yield Block(_reasoning(part, context), depth)
        case ToolCallPart():
            yield from draw_call(part, context, depth)
        case ToolResultPart():
            yield from draw_result(part, context, depth)
        case StepStartPart():
            if steps > 1:
                yield Block(Rows([Row(f"step {steps}", "dim", "╌╌ ")]), depth)
        case SteeringMessagePart(parts=inner):
            yield Block(Text("user, during the run", "bold cyan"), depth)
            for one in inner:
                drawn = (
                    _prompt(one.text, context)
                    if isinstance(one, TextPart)
                    else Rows([describe(one, context)])
                )
                yield Block(drawn, depth, gap=False)
        case _:
            yield Block(Rows([describe(part, context)]), depth, gap=isinstance(message, AssistantMessage))


def _text(message: Message, text: str, context: ViewContext) -> RenderableType:
    if message.type == "event":
        return Prose(text, context, EVENT_ROWS, "dim")
    match message:
        case UserMessage():
            return _prompt(text, context)
        case SystemMessage():
            return Prose(text, context, SYSTEM_ROWS, "dim")
        case AssistantMessage() | ToolMessage():
            return draw_markdown(text)
        case _:
            assert_never(message)


def _prompt(text: str, context: ViewContext) -> RenderableType:
    return Beside("▌ ", Prose(text, context, PROMPT_ROWS), "cyan")


def _is_only_reasoning(message: Message) -> bool:
    return all(isinstance(part, ReasoningPart | StepStartPart) for part in message.content.parts)


def _reasoning(part: ReasoningPart, context: ViewContext) -> RenderableType:
    if not part.text.strip():
        tokens = f", {part.token_count:,} tokens" if part.token_count else ""
        return Rows([Row(f"(encrypted reasoning{tokens})", "dim italic")])
    return Beside("∴ ", Prose(part.text, context, REASONING_ROWS, "dim italic"), once=True)


def _citation(source: object) -> str:
    title, url = getattr(source, "title", None), getattr(source, "url", None)
    return "  ".join(one_line(text) for text in (title, url) if isinstance(text, str))


def _network(
    network: NetworkExecution, context: ViewContext, depth: int
) -> Iterator[Block | SubAgentMessages]:
    """Yield what a network's router selected, the reason, the input and the result."""
    turn = f"  (turn {network.iteration})" if network.iteration is not None else ""
    title = Text("⇢ ", "magenta").append(
        f"{network.primitive_type} {one_line(network.primitive_id, 80)}", "bold"
    )
    yield Block(title.append(turn, "dim"), depth)
    if network.selection_reason:
        yield Block(Prose(network.selection_reason, context, 4, "dim italic"), depth + 1, gap=False)
    rows = _value(network.input, context)
    if rows:
        yield Block(Rows(rows), depth + 1, gap=False)
    result = network.final_result
    if result is None:
        return
    if result.messages:
        yield SubAgentMessages(result.messages, depth + 1, one_line(network.primitive_id, 40))
    for call in unlisted_calls(result):
        yield from draw_call(call, context, depth + 1)
    failure = failure_text(result)
    if failure is not None:
        yield Block(Rows([Row(failure, "red", "✗ ")]), depth + 1)
    is_text = result.value is UNSET or isinstance(result.value, str)
    if result.text and is_text:
        yield Block(draw_markdown(result.text), depth + 1)
    rows = [] if result.text and is_text else _value(result.value, context)
    if rows:
        yield Block(Rows(rows), depth + 1, gap=False)


def _value(value: Json, context: ViewContext) -> list[Row]:
    return [] if value is UNSET else tree(value, context)


BRANCHES_SHOWN = 3


def draw_conversation(
    summary: ThreadSummary,
    messages: Sequence[Message],
    others: Mapping[str, Sequence[Message]],
    context: ViewContext,
    *,
    times: tuple[datetime, datetime] | None,
    left_out: int = 0,
) -> Iterator[RenderableType]:
    """Yield the title of a thread, its messages with the branches that start before them, and the totals."""
    yield draw_title(summary, times, context.zone)
    if left_out:
        yield Rows([Row(f"\n… {counted(left_out, 'earlier message')}", "dim")])
    before: datetime | None = None
    was_event = False
    for message in messages:
        is_event = message.type == "event"
        if not (is_event and was_event):
            yield ""
        if message.id in others:
            yield draw_branches(others[message.id])
        yield from draw_message(message, context, before)
        before, was_event = message.created_at or before, is_event
    yield Text("\n─────", "dim")
    yield draw_totals(messages)


def draw_branches(others: Sequence[Message]) -> Rows:
    """Return the other branches that start here, with the option that selects each."""
    count = len(others)
    rows = [Row(f"{counted(count, 'other branch', 'other branches')} here", "magenta", "⑂ ", "magenta")]
    for message in others[:BRANCHES_SHOWN]:
        text = one_line(
            " ".join(part.text for part in message.content.parts if isinstance(part, TextPart)), 60
        )
        rows.append(Row(f"--branch {one_line(message.id)}  {text}".rstrip(), "dim", "  "))
    if count > BRANCHES_SHOWN:
        rows.append(Row(f"… and {count - BRANCHES_SHOWN} more", "dim", "  "))
    return Rows(rows)
