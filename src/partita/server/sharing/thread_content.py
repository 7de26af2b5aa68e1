"""The content of a shared thread: read from the store, then redacted and reduced to what is shared."""

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
from partita.store.values import ConsumptionRecord, MessageFilter, RunFilter
from partita.types.codec import decode_chunk, encode, to_json
from partita.types.messages import AssistantMessage, Message, ToolCallPart
from partita.types.threads import Run, Thread

from .request import WhichMessages

# Reading: complete messages, with their large values

PAGE: Final = 200
MAX_MESSAGE_BYTES: Final = 256 * 1024 * 1024
"""The largest number of bytes of messages in a file."""

MAX_LOG_BYTES: Final = 64 * 1024 * 1024
"""The largest number of bytes of logs in a fixture. Further entries are left out, with a notice."""

MAX_RUNS: Final = 500


class RunLog(NamedTuple):
    """A run and its log. `is_cut`: entries are missing, because the log is too long or was dropped.

    Unless `has_requests`, only its chunks are shared: requests to models contain messages that are left out.
    """

    run: Run
    entries: Sequence[StoredEntry]
    is_cut: bool = False
    has_requests: bool = True


class ThreadContent(NamedTuple):
    """The thread, its messages and runs, as they are stored."""

    thread: Thread
    messages: Sequence[Message]
    runs: Sequence[RunLog] = ()
    size: int = 0
    """The number of bytes of messages and logs."""
    responses: Sequence[ConsumptionRecord] = ()
    """What the responses consumed."""


async def read_content(
    store: Store, thread: Thread, which: WhichMessages, *, logs: bool, max_bytes: int = MAX_MESSAGE_BYTES
) -> ThreadContent:
    """The selected messages of a thread, and with `logs` the logs of its runs."""
    messages, size = await _messages(store, thread.id, which, max_bytes)
    if not logs:
        responses = await store.usage.responses(thread.id)
        return ThreadContent(thread, messages, size=size, responses=responses)
    runs = await _runs(store, thread.id, messages)
    size += sum(entry.size for log in runs for entry in log.entries)
    if which.only is None:
        return ThreadContent(thread, messages, runs, size)
    selected = {message.run_id for message in messages}
    some = [log._replace(has_requests=False) for log in runs if log.run.id in selected]
    return ThreadContent(thread, messages, some, size)


async def _messages(
    store: Store, thread_id: str, which: WhichMessages, max_bytes: int
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
        if size > max_bytes:
            raise Problem(
                413,
                f"the messages have more than {max_bytes} bytes",
                hint="select some of them: messages.only; this is an eighth of the limit `memory_bytes`",
            )
        if (cursor := page.next) is None:
            return found, size


async def _runs(store: Store, thread_id: str, messages: Sequence[Message]) -> list[RunLog]:
    """The runs of a thread, the oldest first, with their logs up to a total size."""
    runs: list[Run] = []
    cursor = None
    while len(runs) < MAX_RUNS:
        page = await store.runs.list(RunFilter(thread_id=thread_id), limit=100, cursor=cursor)
        runs.extend(page.items)
        if (cursor := page.next) is None:
            break
    remaining = MAX_LOG_BYTES
    logs: list[RunLog] = []
    for run in reversed(runs):
        log = _log_of_import(run, messages) if is_imported(run) else await store.read(_log, run, remaining)
        remaining -= sum(entry.size for entry in log.entries)
        logs.append(log)
    return logs


def _log_of_import(run: Run, messages: Sequence[Message]) -> RunLog:
    """An imported run. Its log has no chunks: they are made from its messages."""
    responses = [one for one in messages if isinstance(one, AssistantMessage) and one.run_id == run.id]
    return RunLog(
        run,
        [
            StoredEntry(0, encode(chunk), None)
            for message in responses
            for chunk in chunks_of_message(message)
        ],
    )


def _log(tx: Transaction, run: Run, remaining: int) -> RunLog:
    entries: list[StoredEntry] = []
    try:
        for _, entry in stored_entries(tx, run.id):
            remaining -= entry.size
            if remaining < 0:
                return RunLog(run, entries, is_cut=True)
            entries.append(entry)
    except NotFoundError:  # it was dropped
        return RunLog(run, (), is_cut=True)
    return RunLog(run, entries)


# Redacting


class RedactedRun(NamedTuple):
    """The exchanges of a run with models. `dropped`: the number of raw records that are left out."""

    exchanges: Sequence[Exchange]
    dropped: int
    is_cut: bool


def redact_run(log: RunLog, messages: Sequence[Message], redactor: Redactor, choice: Choice) -> RedactedRun:
    """A run without secrets. If parts are left out, so are raw records, which cannot be reduced to parts."""
    raw_records = sum(entry.raw is not None for entry in log.entries)
    if choice.messages or choice.parts:
        return RedactedRun((), raw_records, is_cut=True)
    path = f"runs.{log.run.id}"
    prompt_text = prompt_before(messages, log.run)
    if choice or not log.has_requests:
        recorded = [decode_chunk(entry.chunk) for entry in log.entries if entry.chunk is not None]
        chunks = [chunk for chunk in recorded if not is_note(chunk) and not is_left_out(chunk, choice.kinds)]
        shared = [to_json(chunk) for chunk in redacted_chunks(chunks, redactor, path).chunks]
        prompt = None if prompt_text is None else redactor.text(prompt_text, path)
        exchanges = [Exchange(prompt=prompt, chunks=shared)] if shared else ()
        return RedactedRun(exchanges, raw_records, log.is_cut)
    complete = exchanges_of(RecordedRun(log.run, list(map(_record, enumerate(log.entries, 1)))), prompt_text)
    exchanges = [clean_exchange(one, redactor, f"{path}[{place}]") for place, one in enumerate(complete)]
    return RedactedRun(exchanges, 0, log.is_cut)


def _record(numbered: tuple[int, StoredEntry]) -> LogRecord:
    number, entry = numbered
    chunk = None if entry.chunk is None else decode_chunk(entry.chunk)
    return LogRecord(number, from_microseconds(entry.time), chunk, entry.raw)


class RedactedThread(NamedTuple):
    """The content of a file, without secrets and left-out content."""

    thread: Thread
    messages: tuple[Message, ...]
    runs: tuple[RedactedRun, ...]
    findings: Sequence[Finding]
    removed: Mapping[str, int]
    responses: Sequence[ConsumptionRecord] = ()


def redact_thread(content: ThreadContent, rules: Rules, choice: Choice) -> RedactedThread:
    """The content without secrets and left-out content.

    The whole thread is searched first, so that the numbers of secrets do not depend on what is left out.
    """
    redactor = Redactor(rules)
    thread = replace(content.thread, resource_id=None)
    complete = tuple(replace(message, resource_id=None) for message in content.messages)
    remover = Remover(choice)
    messages = remover.messages(complete)
    removed = dict(remover.counts)
    redacted(thread, redactor)
    redacted(complete, redactor)
    for log in content.runs:
        redact_run(log, complete, redactor, choice)
    redactor.start_replacing()
    return RedactedThread(
        redacted(thread, redactor, "thread"),
        redacted(messages, redactor),
        tuple(redact_run(log, complete, redactor, choice) for log in content.runs),
        redactor.findings,
        removed,
        content.responses,
    )


def spent_on(messages: Sequence[Message], responses: Sequence[ConsumptionRecord]) -> list[ConsumptionRecord]:
    """What the responses in messages consumed, including those of sub-agents."""
    ids: set[str | None] = set()
    waiting = list(messages)
    while waiting:  # a loop, because sub-agents may nest to any depth
        message = waiting.pop()
        ids.add(message.id)
        for part in message.content.parts:
            if isinstance(part, ToolCallPart):
                waiting += part.children
    return [one for one in responses if one.message_id in ids]
