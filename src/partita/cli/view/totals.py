"""The title of a thread, and its totals: messages, tool calls, sub-agents, tokens and times."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.text import Text

from partita.store.threads.lists import ThreadSummary
from partita.types.json import Json
from partita.types.messages import AssistantMessage, Message, Part, ToolCallPart, unlisted_calls
from partita.types.usage import Usage
from partita.views.text import counted

from .console import Row, Rows
from .context import short_path
from .text import format_duration, one_line, tokens_of
from .tool_calls import state_of

LONGEST_NAME = 60

FAILURES = {"✗": "failed", "⊘": "denied", "■": "interrupted", "…": "without a result", "?": "waiting"}
"""By the mark of a state."""


@dataclass(slots=True)
class Tokens:
    """Sums of token usage."""

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0

    def add(self, usage: Usage) -> None:
        """Add the usage of a message."""
        self.input += usage.input_tokens or 0
        self.output += usage.output_tokens or 0
        self.cached += usage.cached_input_tokens or 0
        self.reasoning += usage.reasoning_tokens or 0

    def __bool__(self) -> bool:
        return bool(self.input or self.output)


class Totals:
    """Totals of messages; those of sub-agents are separate."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self.messages = 0
        self.calls = 0
        self.agents = 0
        self.agent_messages = 0
        self.states: dict[str, int] = {}
        self.tokens = Tokens()
        self.agent_tokens = Tokens()
        waiting = [(message, False) for message in messages]
        while waiting:  # not recursive: sub-agents may be nested to any depth
            message, inner = waiting.pop()
            waiting.extend((child, True) for child in self._count(message, inner))

    def _count(self, message: Message, inner: bool) -> list[Message]:
        """Count a message and return the messages of its sub-agents."""
        self.messages += not inner
        self.agent_messages += inner
        if not isinstance(message, AssistantMessage):
            return []
        if message.content.usage is not None:
            (self.agent_tokens if inner else self.tokens).add(message.content.usage)
        parts: list[Part] = list(message.content.parts)
        nested: list[Message] = []
        network = message.content.network_execution
        if network is not None and network.final_result is not None:
            parts += unlisted_calls(network.final_result)
            nested += network.final_result.messages
        for part in parts:
            if isinstance(part, ToolCallPart):
                self._count_call(part)
                nested += part.children
        return nested

    def _count_call(self, call: ToolCallPart) -> None:
        self.calls += 1
        self.agents += bool(call.children)
        mark = state_of(call).mark
        self.states[mark] = self.states.get(mark, 0) + 1

    def describe_calls(self) -> str:
        """Return the number of calls: `5 calls (2 failed, 1 denied)`."""
        failures = ", ".join(
            f"{self.states[mark]:,} {label}" for mark, label in FAILURES.items() if mark in self.states
        )
        return counted(self.calls, "call") + (f" ({failures})" if failures else "")


def summarize_sub_agent(messages: tuple[Message, ...]) -> Row:
    """Return the totals of a sub-agent in one line."""
    totals = Totals(messages)
    details = [
        counted(totals.messages, "message"),
        totals.describe_calls(),
        *([counted(totals.agents, "sub-agent")] if totals.agents else []),
    ]
    return Row(f"{', '.join(details)}; --full shows them", "dim", "⤷ ")


def draw_title(
    summary: ThreadSummary, times: tuple[datetime, datetime] | None, zone: tzinfo | None = None
) -> Group:
    """Return the title of a thread, a line that identifies it, and a line with its models, size and times."""
    thread = summary.thread
    git_branch: Json = (thread.metadata or {}).get("gitBranch")
    tokens = [(summary.input_tokens, "in"), (summary.output_tokens, "out")]
    lines = [
        [
            one_line(thread.id),
            one_line(thread.agent or ""),
            short_path(thread.project or ""),
            f"branch {one_line(git_branch, LONGEST_NAME)}" if isinstance(git_branch, str) else "",
            f"tags: {', '.join(map(one_line, summary.tags))}" if summary.tags else "",
        ],
        [
            ", ".join(one_line(model, LONGEST_NAME) for model in summary.models),
            counted(thread.message_count or 0, "message"),
            ", ".join(f"{tokens_of(count)} {name}" for count, name in tokens if count),
            f"${summary.cost:,.2f}" if summary.cost is not None else "",
            _times(times, zone),
        ],
    ]
    title = Text(one_line(summary.title or "(no title)"), "bold")
    return Group(title, *(Details([detail for detail in line if detail]) for line in lines))


class Details:
    """Facts on a line; it is wrapped between them."""

    def __init__(self, details: Sequence[str]) -> None:
        self._details = details

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines: list[str] = []
        for detail in self._details:
            if lines and cell_len(lines[-1]) + cell_len(detail) + 3 <= options.max_width:
                lines[-1] += f" · {detail}"
            else:
                lines.append(detail)
        yield Rows([Row(line, "dim") for line in lines])


def draw_totals(messages: Sequence[Message]) -> Rows:
    """Return the totals of the shown messages."""
    totals = Totals(messages)
    counts = [counted(totals.messages, "message"), *([totals.describe_calls()] if totals.calls else [])]
    lines = [
        ("", " · ".join(counts)),
        ("tokens  ", _tokens(totals.tokens)),
        ("sub-agents  ", _agents(totals)),
    ]
    return Rows([Row(f"{name}{text}", "dim") for name, text in lines if text])


def _tokens(tokens: Tokens) -> str:
    if not tokens:
        return ""
    cached = f" ({tokens.cached:,} cached)" if tokens.cached else ""
    reasoning = f" ({tokens.reasoning:,} reasoning)" if tokens.reasoning else ""
    return f"{tokens.input:,} in{cached} · {tokens.output:,} out{reasoning}"


def _agents(totals: Totals) -> str:
    if not totals.agents and not totals.agent_messages:
        return ""
    used = _tokens(totals.agent_tokens)
    messages = counted(totals.agent_messages, "message")
    return f"{totals.agents:,} with {messages}" + (f" · {used}" if used else "")


def _times(times: tuple[datetime, datetime] | None, zone: tzinfo | None) -> str:
    if times is None:
        return ""
    first, last = times
    started = f"{first.astimezone(zone):%Y-%m-%d %H:%M}"
    name = last.astimezone(zone).tzname() or ""
    if last - first < timedelta(minutes=1):
        return f"{started} {name}"
    ended = last.astimezone(zone)
    is_same_day = ended.date() == first.astimezone(zone).date()
    shown = f"{ended:%H:%M}" if is_same_day else f"{ended:%Y-%m-%d %H:%M}"
    return f"{started} → {shown} {name} ({format_duration(last - first)})"
