"""A thread as data: canonical messages, another format, or the raw logs of its runs."""

import sys
from collections.abc import Iterator

from partita.errors import FormatError
from partita.formats.registry import get_format
from partita.store.facade.store import Store
from partita.types.codec import encode
from partita.types.messages import Message
from partita.types.runs import Run
from partita.types.threads import Thread

from .opened import Wait
from .output import say
from .printing import write_json, write_line
from .runs import runs_of
from .selection import Chosen
from .view.text import counted, escaped

MESSAGES_AT_ONCE = 50
RECORDS_AT_ONCE = 1000
LOSSES_SHOWN = 10


def print_messages(store: Store, wait: Wait, chosen: Chosen) -> None:
    """Canonical messages, whole, one a line."""
    for message in whole_messages(store, wait, chosen):
        write_line(encode(message))


def print_format(store: Store, wait: Wait, chosen: Chosen, name: str) -> None:
    """The messages in another format; what it cannot carry is told on stderr."""
    format_ = get_format(name)
    if format_.dump is None:
        raise FormatError(
            f"{format_.name} can be read but not written", hint="partita formats tells which can"
        )
    dumped = format_.dump(list(whole_messages(store, wait, chosen)))
    write_json(dumped.payload)
    for loss in dumped.losses[:LOSSES_SHOWN]:
        say(escaped(f"lost {loss}"))
    more = len(dumped.losses) - LOSSES_SHOWN
    if more > 0:
        say(f"… and {counted(more, 'more loss', 'more losses')}; partita convert --losses tells all")


def whole_messages(store: Store, wait: Wait, chosen: Chosen) -> Iterator[Message]:
    """The chosen messages with their large values in place, some at a time."""
    wanted = {message.id for message in chosen.messages}
    cursor: str | None = None
    while True:
        page = wait(
            store.list_messages(
                chosen.thread.id, limit=MESSAGES_AT_ONCE, cursor=cursor, branch="all", internal=None
            )
        )
        yield from (message for message in page if message.id in wanted)
        cursor = page.next
        if cursor is None:
            return


def print_raw(store: Store, wait: Wait, thread: Thread) -> None:
    """What the agents wrote in all runs of a thread, in order; each entry ends its line."""
    stdout = sys.stdout.buffer
    terminal = stdout.isatty()
    empty = True
    for run in runs_of(store, wait, thread.id):
        for raw in raw_entries(store, wait, run):
            shown = escaped(raw.decode("utf-8", "backslashreplace")).encode() if terminal else raw
            stdout.write(shown if shown.endswith(b"\n") else shown + b"\n")
            empty = False
    if empty:
        say("no log of this thread is kept")


def raw_entries(store: Store, wait: Wait, run: Run) -> Iterator[bytes]:
    """What an agent wrote in a run, some entries at a time."""
    after = 0
    while records := wait(store.read_log(run.id, after=after, limit=RECORDS_AT_ONCE)):
        yield from (record.raw for record in records if record.raw is not None)
        after = records[-1].seq
