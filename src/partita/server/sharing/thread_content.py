"""What leaves, without secrets and without what was chosen to stay."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from partita.errors import NotFoundError
from partita.formats.redaction.redactor import Finding, Redactor, Rules
from partita.formats.redaction.removal import Choice, Remover, is_left_out
from partita.formats.redaction.values import redacted, redacted_chunks
from partita.runtime.recordings.recording import Exchange
from partita.runtime.recordings.redaction import clean_exchange
from partita.runtime.recordings.run_recording import exchanges_of, prompt_before
from partita.runtime.replay.message_chunks import chunks_of_message, is_imported
from partita.runtime.replay.recorded_run import RecordedRun
from partita.runtime.session.live_run import is_note
from partita.server.problems import Problem
from partita.store.logs.blocks import StoredEntry
from partita.store.logs.run_log import LogRecord, stored_entries
from partita.store.schema import from_microseconds
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.store.values import MessageFilter, RunFilter
from partita.types.codec import decode_chunk, encode, to_json
from partita.types.messages import AssistantMessage, Message
from partita.types.threads import Run, Thread

from .request import WhichMessages

# What of a thread is to leave, read from the store: messages whole, with their large values in them.

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
    entries: Sequence[StoredEntry]
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
        page = await store.messages.list(
            thread_id, MessageFilter(internal=None if which.internal else False), limit=PAGE, cursor=cursor
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
        page = await store.runs.list(RunFilter(thread_id=thread_id), limit=100, cursor=cursor)
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
    return RunLog(
        run, [StoredEntry(0, encode(chunk), None) for message in own for chunk in chunks_of_message(message)]
    )


def _log(tx: Transaction, run: Run, room: int) -> RunLog:
    entries: list[StoredEntry] = []
    try:
        for _, entry in stored_entries(tx, run.id):
            room -= _size(entry)
            if room < 0:
                return RunLog(run, entries, cut=True)
            entries.append(entry)
    except NotFoundError:  # it was dropped
        return RunLog(run, (), cut=True)
    return RunLog(run, entries)


def _size(entry: StoredEntry) -> int:
    return len(entry.raw or b"") + len(entry.chunk or b"")


# The log of a run, to leave: what was asked of models and what they answered, as far as it may.


class CleanRun(NamedTuple):
    """The answers of a run. `dropped` counts what agents sent and cannot leave."""

    exchanges: Sequence[Exchange]
    dropped: int
    cut: bool


def clean_run(log: RunLog, messages: Sequence[Message], redactor: Redactor, choice: Choice) -> CleanRun:
    """A run without secrets. What agents sent cannot be cut to what was chosen: then it stays."""
    sent = sum(entry.raw is not None for entry in log.entries)
    if choice.messages or choice.parts:
        return CleanRun((), sent, cut=True)
    path = f"runs.{log.run.id}"
    words = prompt_before(messages, log.run)
    if choice or not log.whole:
        recorded = [decode_chunk(entry.chunk) for entry in log.entries if entry.chunk is not None]
        chunks = [chunk for chunk in recorded if not is_note(chunk) and not is_left_out(chunk, choice.kinds)]
        cleaned = [to_json(chunk) for chunk in redacted_chunks(chunks, redactor, path).chunks]
        asked = None if words is None else redactor.text(words, path)
        return CleanRun([Exchange(prompt=asked, chunks=cleaned)] if cleaned else (), sent, log.cut)
    exchanges = exchanges_of(RecordedRun(log.run, list(map(_record, enumerate(log.entries, 1)))), words)
    cleaned_all = [clean_exchange(one, redactor, f"{path}[{place}]") for place, one in enumerate(exchanges)]
    return CleanRun(cleaned_all, 0, log.cut)


def _record(numbered: tuple[int, StoredEntry]) -> LogRecord:
    number, entry = numbered
    chunk = None if entry.chunk is None else decode_chunk(entry.chunk)
    return LogRecord(number, from_microseconds(entry.time), chunk, entry.raw)


class Cleaned(NamedTuple):
    """What may leave."""

    thread: Thread
    messages: tuple[Message, ...]
    runs: tuple[CleanRun, ...]
    findings: Sequence[Finding]
    removed: Mapping[str, int]


def clean(gathered: Gathered, rules: Rules, choice: Choice) -> Cleaned:
    """The same, to leave. All of the thread is searched, so that a secret has its number whatever leaves."""
    redactor = Redactor(rules)
    thread = replace(gathered.thread, resource_id=None)
    whole = tuple(replace(message, resource_id=None) for message in gathered.messages)
    remover = Remover(choice)
    messages = remover.messages(whole)
    removed = dict(remover.counts)
    redacted(thread, redactor)
    redacted(whole, redactor)
    for log in gathered.runs:
        clean_run(log, whole, redactor, choice)
    redactor.learned()
    return Cleaned(
        redacted(thread, redactor, "thread"),
        redacted(messages, redactor),
        tuple(clean_run(log, whole, redactor, choice) for log in gathered.runs),
        redactor.findings,
        removed,
    )
