"""What of a thread is to leave, read from the store: messages whole, with their large values in them."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from partita.errors import NotFoundError
from partita.runtime.replay.retelling import is_imported, retold
from partita.server.problems import Problem
from partita.store.facade.store import Store
from partita.store.log.blocks import Stored
from partita.store.log.run_log import stored_entries
from partita.store.transaction import Transaction
from partita.types.codec import encode
from partita.types.messages import AssistantMessage, Message
from partita.types.runs import Run
from partita.types.threads import Thread

from .request import WhichMessages

PAGE: Final = 200
LARGEST: Final = 256 * 1024 * 1024
"""How many bytes of messages may leave at once."""

LARGEST_LOGS: Final = 64 * 1024 * 1024
"""How many bytes of logs a fixture holds; the rest is said to be left out."""

MOST_RUNS: Final = 500


class RunLog(NamedTuple):
    """A run and its log. `cut`: the log is longer than what is here, or it was dropped.

    Unless `whole`, only its chunks leave: what a model was asked tells of messages that stay here.
    """

    run: Run
    entries: Sequence[Stored]
    cut: bool = False
    whole: bool = True


class Gathered(NamedTuple):
    """What leaves, as it is stored."""

    thread: Thread
    messages: Sequence[Message]
    runs: Sequence[RunLog] = ()
    size: int = 0
    """How many bytes of messages and logs that is."""


async def gather(
    store: Store, thread: Thread, which: WhichMessages, *, logs: bool, most_bytes: int = LARGEST
) -> Gathered:
    """The messages of a thread that are meant, and with `logs` the logs of its runs."""
    messages, size = await _messages(store, thread.id, which, most_bytes)
    if not logs:
        return Gathered(thread, messages, size=size)
    runs = await _runs(store, thread.id, messages)
    size += sum(_size(entry) for log in runs for entry in log.entries)
    if which.only is None:
        return Gathered(thread, messages, runs, size)
    meant = {message.run_id for message in messages}
    some = [log._replace(whole=False) for log in runs if log.run.id in meant]
    return Gathered(thread, messages, some, size)


async def _messages(
    store: Store, thread_id: str, which: WhichMessages, most_bytes: int
) -> tuple[list[Message], int]:
    only = None if which.only is None else frozenset(which.only)
    found: list[Message] = []
    size, cursor = 0, None
    while True:
        page = await store.list_messages(
            thread_id, limit=PAGE, cursor=cursor, internal=None if which.internal else False
        )
        for message in page.items:
            if only is None or message.id in only:
                size += len(encode(message))
                found.append(message)
        if size > most_bytes:
            raise Problem(
                413,
                f"the messages take more than {most_bytes} bytes",
                hint="choose some of them: messages.only; it is an eighth of the limit `memory_bytes`",
            )
        if (cursor := page.next) is None:
            return found, size


async def _runs(store: Store, thread_id: str, messages: Sequence[Message]) -> list[RunLog]:
    """The runs of a thread, the oldest first, with their logs as far as there is room."""
    runs: list[Run] = []
    cursor = None
    while len(runs) < MOST_RUNS:
        page = await store.list_runs(thread_id=thread_id, limit=100, cursor=cursor)
        runs.extend(page.items)
        if (cursor := page.next) is None:
            break
    room = LARGEST_LOGS
    logs: list[RunLog] = []
    for run in reversed(runs):
        log = _retold(run, messages) if is_imported(run) else await store.read(_log, run, room)
        room -= sum(_size(entry) for entry in log.entries)
        logs.append(log)
    return logs


def _retold(run: Run, messages: Sequence[Message]) -> RunLog:
    """A run whose log holds lines and no chunks: its messages are told once more."""
    own = [one for one in messages if isinstance(one, AssistantMessage) and one.run_id == run.id]
    return RunLog(run, [Stored(0, encode(chunk), None) for message in own for chunk in retold(message)])


def _log(tx: Transaction, run: Run, room: int) -> RunLog:
    entries: list[Stored] = []
    try:
        for _, entry in stored_entries(tx, run.id):
            room -= _size(entry)
            if room < 0:
                return RunLog(run, entries, cut=True)
            entries.append(entry)
    except NotFoundError:  # it was dropped
        return RunLog(run, (), cut=True)
    return RunLog(run, entries)


def _size(entry: Stored) -> int:
    return len(entry.raw or b"") + len(entry.chunk or b"")
