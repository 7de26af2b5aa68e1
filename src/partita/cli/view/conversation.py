"""A thread from its title to its totals."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from rich.console import RenderableType
from rich.text import Text

from partita.types.messages import Message
from partita.types.parts import TextPart
from partita.types.threads import Thread

from .look import Look
from .message import draw_message
from .rows import Row, Rows
from .text import counted, one_line
from .totals import draw_title, draw_totals

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
