"""A message: who spoke and when, then its parts, sub-agents below the calls that started them."""

from collections.abc import Iterator
from datetime import datetime
from typing import assert_never

from msgspec import UNSET
from rich.console import RenderableType
from rich.text import Text

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
    calls_apart,
    failure_of,
)
from partita.types.parts import ReasoningPart, SteeringMessagePart, StepStartPart, TextPart
from partita.types.tools import ToolResultPart

from .agents import summary
from .block import DEEPEST, Block, Descend, laid_out
from .bodies import Prose, tree
from .header import header
from .look import Look
from .markdown import draw_markdown
from .media import describe
from .rows import Beside, Row, Rows
from .text import one_line
from .times import clock
from .tools import draw_call, draw_result

PROMPT_ROWS = 30
SYSTEM_ROWS = 4
REASONING_ROWS = 5
EVENT_ROWS = 3


def draw_message(message: Message, look: Look, before: datetime | None) -> Iterator[RenderableType]:
    """A message, its header first; `before` is the time of the one drawn before it."""
    if message.type == "event":
        yield from laid_out(_event(message, look, before))
        return
    yield header(message, look, before)
    yield from laid_out(blocks_of(message, look))


def _event(message: Message, look: Look, before: datetime | None) -> Iterator[Block]:
    """A notice: dim lines, no header, the time before the first."""
    time = f"{clock(message.created_at, before, look.zone)}  " if message.created_at else ""
    for number, block in enumerate(blocks_of(message, look)):
        mark = "· " if number else f"· {time}"
        yield Block(Beside(mark, block.drawn, once=True), block.depth, gap=False)


def blocks_of(message: Message, look: Look) -> Iterator[Block]:
    """The parts of a message and of all sub-agents below it. A stack, no recursion: they nest at will."""
    stack = [_parts(message, look, 0)]
    while stack:
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
        elif isinstance(item, Block):
            yield item
        elif look.full:
            stack.append(_children(item, look))
        else:
            yield Block(Rows([summary(item.messages)]), item.depth, gap=False)


def _children(below: Descend, look: Look) -> Iterator[Block | Descend]:
    shown = [message for message in below.messages if look.internal or not message.internal]
    before: datetime | None = shown[0].created_at if shown else None
    for number, message in enumerate(shown):
        name = below.name if isinstance(message, AssistantMessage) else ""
        name += f" (level {below.depth})" if name and below.depth > DEEPEST else ""
        yield Block(header(message, look, before, name), below.depth, gap=number > 0)
        yield from _parts(message, look, below.depth)
        before = message.created_at or before


def _parts(message: Message, look: Look, depth: int) -> Iterator[Block | Descend]:
    content = message.content
    if not content.parts and content.content:
        yield Block(_said(message, content.content, look), depth, gap=False)
    steps = 0
    first = True
    for part in content.parts:
        steps += isinstance(part, StepStartPart)
        for item in draw_part(part, look, depth, message, steps):
            yield item._replace(gap=item.gap and not first) if isinstance(item, Block) else item
            first = False
    if isinstance(content, AssistantContent) and content.network_execution is not None:
        yield from _network(content.network_execution, look, depth)


def draw_part(part: Part, look: Look, depth: int, message: Message, steps: int) -> Iterator[Block | Descend]:
    """One part of a message."""
    match part:
        case TextPart():
            if part.text.strip():
                yield Block(_said(message, part.text, look), depth)
            rows = [Row(_cited(citation.source), "blue", "↗ ") for citation in part.citations or ()]
            if rows:
                yield Block(Rows(rows), depth, gap=False)
        case ReasoningPart():
            yield Block(_thought(part, look), depth)
        case ToolCallPart():
            yield from draw_call(part, look, depth)
        case ToolResultPart():
            yield from draw_result(part, look, depth)
        case StepStartPart():
            if steps > 1:
                yield Block(Rows([Row(f"step {steps}", "dim", "╌╌ ")]), depth)
        case SteeringMessagePart(parts=inner):
            yield Block(Text("user, in between", "bold cyan"), depth)
            for said in inner:
                drawn = (
                    _prompt(said.text, look) if isinstance(said, TextPart) else Rows([describe(said, look)])
                )
                yield Block(drawn, depth, gap=False)
        case _:
            yield Block(Rows([describe(part, look)]), depth, gap=isinstance(message, AssistantMessage))


def _said(message: Message, text: str, look: Look) -> RenderableType:
    if message.type == "event":
        return Prose(text, look, EVENT_ROWS, "dim")
    match message:
        case UserMessage():
            return _prompt(text, look)
        case SystemMessage():
            return Prose(text, look, SYSTEM_ROWS, "dim")
        case AssistantMessage() | ToolMessage():
            return draw_markdown(text)
        case _:
            assert_never(message)


def _prompt(text: str, look: Look) -> RenderableType:
    return Beside("▌ ", Prose(text, look, PROMPT_ROWS), "cyan")


def _thought(part: ReasoningPart, look: Look) -> RenderableType:
    if not part.text.strip():
        tokens = f", {part.token_count:,} tokens" if part.token_count else ""
        return Rows([Row(f"(reasoning without words{tokens})", "dim italic")])
    return Beside("∴ ", Prose(part.text, look, REASONING_ROWS, "dim italic"), once=True)


def _cited(source: object) -> str:
    title, address = getattr(source, "title", None), getattr(source, "url", None)
    return "  ".join(one_line(word) for word in (title, address) if isinstance(word, str))


def _network(network: NetworkExecution, look: Look, depth: int) -> Iterator[Block | Descend]:
    """What a router chose, why, and what came of it."""
    turn = f"  (turn {network.iteration})" if network.iteration is not None else ""
    chosen = Text("⇢ ", "magenta").append(
        f"{network.primitive_type} {one_line(network.primitive_id, 80)}", "bold"
    )
    yield Block(chosen.append(turn, "dim"), depth)
    if network.selection_reason:
        yield Block(Prose(network.selection_reason, look, 4, "dim italic"), depth + 1, gap=False)
    rows = _value(network.input, look)
    if rows:
        yield Block(Rows(rows), depth + 1, gap=False)
    result = network.final_result
    if result is None:
        return
    if result.messages:
        yield Descend(result.messages, depth + 1, one_line(network.primitive_id, 40))
    for call in calls_apart(result):
        yield from draw_call(call, look, depth + 1)
    failure = failure_of(result)
    if failure is not None:
        yield Block(Rows([Row(failure, "red", "✗ ")]), depth + 1)
    is_text = result.value is UNSET or isinstance(result.value, str)
    if result.text and is_text:
        yield Block(draw_markdown(result.text), depth + 1)
    rows = [] if result.text and is_text else _value(result.value, look)
    if rows:
        yield Block(Rows(rows), depth + 1, gap=False)


def _value(value: Json, look: Look) -> list[Row]:
    return [] if value is UNSET else tree(value, look)
