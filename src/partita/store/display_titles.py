"""What a thread without a title is listed under: the first words that its user said. Nothing is stored."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace
from sqlalchemy import bindparam, select

from partita.types.threads import Thread

from .statement import Statement
from .tables import messages
from .transaction import Transaction

LONGEST: Final = 60
"""How many characters a title that is made of a message has at most."""

_FIRST = Statement(
    select(messages.c.preview)
    .where(
        messages.c.owner == bindparam("of_owner"),
        messages.c.thread_id == bindparam("of_thread"),
        messages.c.role == "user",
        messages.c.internal.is_(False),
        messages.c.preview != "",
    )
    .order_by(messages.c.seq)
    .limit(1)
)


def with_display_titles(tx: Transaction, listed: Sequence[Thread]) -> list[Thread]:
    """Threads as lists show them: one without a title has the first words of its first question as title."""
    return [thread if thread.title else _with_title(tx, thread) for thread in listed]


def _with_title(tx: Transaction, thread: Thread) -> Thread:
    row = _FIRST.row(tx, of_owner=thread.resource_id or "", of_thread=thread.id)
    return thread if row is None else replace(thread, title=first_words(row.preview))


def first_words(text: str) -> str:
    """The beginning of a text, on one line, cut between words."""
    line = " ".join(text.split())
    if len(line) <= LONGEST:
        return line
    cut = line[: LONGEST - 1]
    whole = cut.rpartition(" ")[0] if " " in cut and line[LONGEST - 1] != " " else cut
    return f"{whole.rstrip(' ,;:.')}…"
