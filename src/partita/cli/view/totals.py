"""The title of a thread, and its totals: messages, tool calls, sub-agents, tokens and times."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from rich.text import Text

from partita.types.messages import AssistantMessage, Message, Part, ToolCallPart, unlisted_calls
from partita.types.threads import Thread
from partita.types.usage import Usage
from partita.views.text import counted

from .console import Row, Rows
from .context import short_path
from .text import ago, clock, format_duration, one_line
from .tool_calls import state_of

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
        if message.type != "event":
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


def draw_title(thread: Thread, now: datetime, zone: tzinfo | None = None) -> Text:
    """Return the title of a thread, and a line with its id, agent, project and time."""
    details = [
        one_line(thread.id),
        one_line(thread.agent or ""),
        short_path(thread.project or ""),
        ago(thread.updated_at, now, zone),
    ]
    title = Text(one_line(thread.title or "(no title)"), "bold")
    return title.append("\n" + " · ".join(detail for detail in details if detail), "not bold dim")


def draw_totals(messages: Sequence[Message], zone: tzinfo | None = None) -> Rows:
    """Return the totals of the shown messages."""
    totals = Totals(messages)
    counts = [counted(totals.messages, "message"), *([totals.describe_calls()] if totals.calls else [])]
    lines = [
        ("", " · ".join(counts)),
        ("tokens  ", _tokens(totals.tokens)),
        ("sub-agents  ", _agents(totals)),
        ("", _times(messages, zone)),
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


def _times(messages: Sequence[Message], zone: tzinfo | None) -> str:
    # Events without a time in the log have the time when they were stored.
    times = [
        message.created_at
        for message in messages
        if message.type != "event" and message.created_at is not None
    ]
    if not times:
        return ""
    first, last = min(times), max(times)
    if first == last:
        return clock(first, None, zone)
    return f"{clock(first, None, zone)} → {clock(last, first, zone)} ({format_duration(last - first)})"
