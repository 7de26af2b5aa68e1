"""What stands above and below a conversation: what it is, and what it came to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from rich.text import Text

from partita.types.messages import AssistantMessage, Message, Part, ToolCallPart, unlisted_calls
from partita.types.threads import Thread
from partita.types.usage import Usage
from partita.views.text import counted

from .console import Row, Rows
from .look import short_path
from .text import ago, clock, one_line, took
from .tool_calls import state_of

# What a conversation amounts to: messages, calls and how they went, sub-agents, tokens.

WORDS = {"✗": "failed", "⊘": "denied", "■": "interrupted", "…": "without a result", "?": "waiting"}


@dataclass(slots=True)
class Tokens:
    """Sums of usages."""

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0

    def add(self, usage: Usage) -> None:
        """Count a usage."""
        self.input += usage.input_tokens or 0
        self.output += usage.output_tokens or 0
        self.cached += usage.cached_input_tokens or 0
        self.reasoning += usage.reasoning_tokens or 0

    def __bool__(self) -> bool:
        return bool(self.input or self.output)


class Tally:
    """Counts over messages; those of sub-agents are counted apart."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self.messages = 0
        self.calls = 0
        self.agents = 0
        self.agent_messages = 0
        self.states: dict[str, int] = {}
        self.tokens = Tokens()
        self.agent_tokens = Tokens()
        waiting = [(message, False) for message in messages]
        while waiting:  # no recursion: sub-agents may nest as deep as they like
            message, inner = waiting.pop()
            waiting.extend((child, True) for child in self._count(message, inner))

    def _count(self, message: Message, inner: bool) -> list[Message]:
        """Count a message; gives those that hang under it."""
        if message.type != "event":
            self.messages += not inner
            self.agent_messages += inner
        if not isinstance(message, AssistantMessage):
            return []
        if message.content.usage is not None:
            (self.agent_tokens if inner else self.tokens).add(message.content.usage)
        parts: list[Part] = list(message.content.parts)
        below: list[Message] = []
        network = message.content.network_execution
        if network is not None and network.final_result is not None:
            parts += unlisted_calls(network.final_result)
            below += network.final_result.messages
        for part in parts:
            if isinstance(part, ToolCallPart):
                self._count_call(part)
                below += part.children
        return below

    def _count_call(self, call: ToolCallPart) -> None:
        self.calls += 1
        self.agents += bool(call.children)
        mark = state_of(call).mark
        self.states[mark] = self.states.get(mark, 0) + 1

    def troubles(self) -> str:
        """`2 failed, 1 denied`, or nothing."""
        return ", ".join(
            f"{self.states[mark]:,} {word}" for mark, word in WORDS.items() if mark in self.states
        )


def summary(messages: tuple[Message, ...]) -> Row:
    """The work of a sub-agent in one line."""
    tally = Tally(messages)
    words = [
        counted(tally.messages, "message"),
        counted(tally.calls, "call") + (f" ({troubles})" if (troubles := tally.troubles()) else ""),
        *([counted(tally.agents, "sub-agent") + " of its own"] if tally.agents else []),
    ]
    return Row(f"{', '.join(words)}; --full shows them", "dim", "⤷ ")


def draw_title(thread: Thread, now: datetime, zone: tzinfo | None = None) -> Text:
    """The title of a thread, and a line on where it is from."""
    about = [
        one_line(thread.id),
        one_line(thread.agent or ""),
        short_path(thread.project or ""),
        ago(thread.updated_at, now, zone) if thread.updated_at else "",
    ]
    title = Text(one_line(thread.title or "(no title)"), "bold")
    return title.append("\n" + " · ".join(word for word in about if word), "not bold dim")


def draw_totals(messages: Sequence[Message], zone: tzinfo | None = None) -> Rows:
    """Messages, calls, errors, tokens and times of what was shown."""
    tally = Tally(messages)
    lines = [
        ("", _work(tally)),
        ("tokens  ", _tokens(tally.tokens)),
        ("sub-agents  ", _agents(tally)),
        ("", _times(messages, zone)),
    ]
    return Rows([Row(f"{name}{words}", "dim") for name, words in lines if words])


def _work(tally: Tally) -> str:
    troubles = tally.troubles()
    calls = counted(tally.calls, "call") + (f" ({troubles})" if troubles else "")
    return " · ".join([counted(tally.messages, "message"), *([calls] if tally.calls else [])])


def _tokens(tokens: Tokens) -> str:
    if not tokens:
        return ""
    cached = f" ({tokens.cached:,} cached)" if tokens.cached else ""
    reasoning = f" ({tokens.reasoning:,} reasoning)" if tokens.reasoning else ""
    return f"{tokens.input:,} in{cached} · {tokens.output:,} out{reasoning}"


def _agents(tally: Tally) -> str:
    if not tally.agents and not tally.agent_messages:
        return ""
    used = _tokens(tally.agent_tokens)
    return f"{tally.agents:,} with {counted(tally.agent_messages, 'message')}" + (
        f" · {used}" if used else ""
    )


def _times(messages: Sequence[Message], zone: tzinfo | None) -> str:
    # A notice may be without a time of its own, and then has that of its storing.
    spoken = [message.created_at for message in messages if message.type != "event"]
    moments = [moment for moment in spoken if moment is not None]
    if not moments:
        return ""
    first, last = min(moments), max(moments)
    if first == last:
        return clock(first, None, zone)
    return f"{clock(first, None, zone)} → {clock(last, first, zone)} ({took(last - first)})"
