"""Reading the messages, runs, raw logs and blobs of a thread, and printing them as data."""

import sys
from collections.abc import Iterator

from partita.errors import NotFoundError
from partita.formats.registry import get_dump
from partita.runtime.replay import recorded_run
from partita.store.store import Store
from partita.store.values import MessageFilter
from partita.types.codec import encode
from partita.types.messages import Message
from partita.types.threads import Run, Thread
from partita.views.text import counted

from .blocking import Wait
from .output import print_json, print_json_bytes, print_losses, print_notice, print_text
from .selection import SelectedMessages
from .view.text import escaped

MESSAGE_PAGE = 50
RECORD_PAGE = 1000


def print_messages(store: Store, wait: Wait, selected: SelectedMessages) -> None:
    """Print canonical messages, one per line."""
    for message in read_messages(store, wait, selected):
        print_json_bytes(encode(message))


def print_format(
    store: Store, wait: Wait, selected: SelectedMessages, name: str, *, every_loss: bool
) -> None:
    """Print the messages in another format, and the losses on stderr."""
    dump = get_dump(name, hint="`partita formats` lists those that can")
    messages = list(read_messages(store, wait, selected))
    dumped = dump(messages)
    if name == "markdown":  # with the facts of the thread, as `partita export` writes it
        from partita.server.sharing.shared_file import markdown

        thread = selected.thread
        print_text("".join(markdown(thread, messages, wait(store.usage.responses(thread.id)))))
    elif isinstance(dumped.payload, str):
        print_text(dumped.payload)
    else:
        print_json(dumped.payload)
    print_losses(dumped.losses, every=every_loss)


def read_messages(store: Store, wait: Wait, selected: SelectedMessages) -> Iterator[Message]:
    """Read the selected messages with their large values, page by page."""
    wanted = {message.id for message in selected.messages}
    cursor: str | None = None
    while True:
        page = wait(
            store.messages.list(
                selected.thread.id,
                MessageFilter(branch="all", internal=None),
                limit=MESSAGE_PAGE,
                cursor=cursor,
            )
        )
        yield from (message for message in page if message.id in wanted)
        cursor = page.next
        if cursor is None:
            return


def print_raw(store: Store, wait: Wait, thread: Thread) -> None:
    """Print the raw logs of all runs of a thread, in order."""
    stdout = sys.stdout.buffer
    terminal = stdout.isatty()
    notices: list[str] = []
    for raw in raw_lines(store, wait, thread, notices):
        stdout.write(escaped(raw.decode("utf-8", "backslashreplace")).encode() if terminal else raw)
    for notice in notices:
        print_notice(notice)


def raw_lines(store: Store, wait: Wait, thread: Thread, notices: list[str]) -> Iterator[bytes]:
    """Read the raw log entries of all runs of a thread, each ended by a line break, in order.

    Afterwards, the notices say which logs do not exist.
    """
    dropped = 0
    is_empty = True
    for run in runs_of(store, wait, thread.id):
        try:
            for raw in _raw_entries(store, wait, run):
                yield raw if raw.endswith(b"\n") else raw + b"\n"
                is_empty = False
        except NotFoundError:
            dropped += 1
    if dropped:
        notices.append(f"{counted(dropped, 'raw log was', 'raw logs were')} removed earlier")
    elif is_empty:
        notices.append("the store has no log of this thread")


def _raw_entries(store: Store, wait: Wait, run: Run) -> Iterator[bytes]:
    """Read the raw entries of a run's log, page by page."""
    after = 0
    while records := wait(store.logs.read(run.id, after=after, limit=RECORD_PAGE)):
        yield from (record.raw for record in records if record.raw is not None)
        after = records[-1].seq


def runs_of(store: Store, wait: Wait, thread_id: str) -> list[Run]:
    """Return the runs of a thread, oldest first."""
    return wait(recorded_run.runs_of(store, thread_id))


async def runs_of_branch(store: Store, thread_id: str) -> list[Run]:
    """Return the runs that wrote messages of the active branch, in order."""
    runs = await recorded_run.runs_of(store, thread_id)
    page = await store.messages.list(thread_id, limit=None, blobs="reference")
    messages, writers = {message.id for message in page}, {message.run_id for message in page}
    return [run for run in runs if run.id in writers or run.message_id in messages]


class StoredBlobs:
    """The blobs of a store, which are read on demand."""

    def __init__(self, store: Store, wait: Wait) -> None:
        self._store = store
        self._wait = wait

    def size(self, url: str) -> int | None:
        """Return the number of bytes of a blob; `None` when it was deleted."""
        try:
            return self._wait(self._store.blobs.describe(url)).size
        except NotFoundError:
            return None

    def read(self, url: str) -> bytes | None:
        """Return the bytes of a blob; `None` when it was deleted."""
        try:
            return self._wait(self._store.blobs.get(url))
        except NotFoundError:
            return None
