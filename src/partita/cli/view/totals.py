"""What stands above and below a conversation: what it is, and what it came to."""

from collections.abc import Sequence
from datetime import datetime, tzinfo

from rich.text import Text

from partita.types.messages import Message
from partita.types.threads import Thread

from .look import short_path
from .rows import Row, Rows
from .tally import Tally, Tokens
from .text import counted, one_line
from .times import ago, clock, took


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
