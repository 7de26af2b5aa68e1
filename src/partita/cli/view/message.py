"""A message: who spoke and when, then its parts, sub-agents below the calls that started them."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import assert_never

from msgspec import UNSET
from rich.console import RenderableType
from rich.text import Text

from partita.types.json import Json, is_object
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
from partita.types.threads import Thread
from partita.views.text import counted

from .bodies import Prose, describe, draw_markdown, tree
from .console import DEEPEST, Beside, Block, Descend, Row, Rows, laid_out
from .look import Look
from .text import clock, one_line, tokens_of
from .tool_cards import draw_call, draw_result
from .totals import draw_title, draw_totals, summary

# The line above a message: who spoke, when, with which model, at what cost.

STYLES = {"user": "bold cyan", "assistant": "bold green", "system": "bold", "tool": "bold"}
MODEL_NAMES = ("model", "modelId", "modelID", "model_id")
MODEL_DEPTH = 3
"""How deep in the metadata of a message the name of its model may stand."""


def header(message: Message, look: Look, before: datetime | None, name: str = "") -> Text:
    """`#3 claude-code · 14:02:11 · the-model · 12.5k in, 860 out`."""
    role = str(message.__struct_config__.tag)
    speaker = name or (look.agent if role == "assistant" else None) or role
    text = Text()
    if message.seq is not None:
        text.append(f"#{message.seq} ", "dim")
    text.append(one_line(speaker, 40), STYLES[role])
    about = [
        clock(message.created_at, before, look.zone) if message.created_at else "",
        one_line(model_of(message, look), 60),
        _usage(message),
        "internal" if message.internal else "",
    ]
    return text.append("".join(f" · {word}" for word in about if word), "dim")


def model_of(message: Message, look: Look) -> str:
    """The model that wrote a message, if the message or its run says so."""
    if not isinstance(message, AssistantMessage):
        return ""
    waiting: list[tuple[int, Json]] = [(0, message.content.metadata), (0, message.content.provider_metadata)]
    while waiting:
        depth, value = waiting.pop(0)
        if not is_object(value):
            continue
        found = next((value[name] for name in MODEL_NAMES if isinstance(value.get(name), str)), None)
        if found is not None:
            return str(found)
        if depth < MODEL_DEPTH:
            waiting.extend((depth + 1, inner) for inner in value.values())
    return look.models.get(message.run_id or "", "")


def _usage(message: Message) -> str:
    usage = message.content.usage if isinstance(message.content, AssistantContent) else None
    if usage is None:
        return ""
    words = [(usage.input_tokens, "in"), (usage.output_tokens, "out")]
    return ", ".join(f"{tokens_of(count)} {word}" for count, word in words if count is not None)


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
    for call in unlisted_calls(result):
        yield from draw_call(call, look, depth + 1)
    failure = failure_text(result)
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


# A thread from its title to its totals.

BRANCHES_SHOWN = 3


def draw_conversation(
    thread: Thread,
    messages: Sequence[Message],
    others: Mapping[str, Sequence[Message]],
    look: Look,
    *,
    now: datetime,
    left_out: int = 0,
) -> Iterator[RenderableType]:
    """Title, messages with the branches that leave them, totals: one after another, as they are asked for."""
    yield draw_title(thread, now, look.zone)
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
        yield from draw_message(message, look, before)
        before, was_event = message.created_at or before, is_event
    yield Text("\n─────", "dim")
    yield draw_totals(messages, look.zone)


def draw_branches(others: Sequence[Message]) -> Rows:
    """That others leave here, and how to see them."""
    count = len(others)
    rows = [Row(f"{counted(count, 'other branch', 'other branches')} here", "magenta", "⑂ ", "magenta")]
    for message in others[:BRANCHES_SHOWN]:
        words = one_line(
            " ".join(part.text for part in message.content.parts if isinstance(part, TextPart)), 60
        )
        said = f"  {words}" if words else ""
        rows.append(Row(f"--branch {one_line(message.id)}{said}", "dim", "  "))
    if count > BRANCHES_SHOWN:
        rows.append(Row(f"… and {count - BRANCHES_SHOWN} more", "dim", "  "))
    return Rows(rows)
