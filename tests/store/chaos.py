"""Workers that do one kind of work as fast as possible until they are killed, and report what was done.

`python -m tests.store.chaos` reads a line of JSON for every round: which workers to start, each as work, URL
and seed. It forks them, and reports their process ids and when they have ended. Every report is a line of
JSON on standard output: each attempt before it is made, each acknowledgement after it was received.
"""

import asyncio
import itertools
import os
import sys
import traceback
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import TypeAlias

from partita.errors import ConflictError
from partita.store.connection import open_store
from partita.store.data_migrations.runner import MIGRATIONS, migrate
from partita.store.logs.run_log import LogEntry
from partita.store.messages import writer as saving
from partita.store.messages.prepared import prepare
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.store.values import RunFilter
from partita.types.json import Json, JsonObject, dumps, loads
from partita.types.messages import Message
from partita.types.parts import TextOutput
from tests.store.examples import (
    assistant_message,
    failed_call_message,
    tool_call_message,
    tool_output_message,
    user_message,
)
from tests.store.old_rows import CALL, REASONING, network, second

THREADS = ("t0", "t1", "t2")
WRITERS = 3
"""The number of tasks of a worker that write at the same time."""

MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)

TODAY = "It is open."
OLD: dict[str, tuple[str, str]] = {
    "plain": ("user", "Is the library open?"),
    "parts": ("assistant", second(CALL, REASONING, {"type": "text", "text": "Until six."})),
    "network": ("assistant", second({"type": "text", "text": network()})),
    "today": ("assistant", second({"type": "text", "text": TODAY})),
}
"""Rows to be migrated: role and content column, by kind."""


Emit: TypeAlias = Callable[[JsonObject], None]
"""Receives the reports of a worker."""


def report(line: JsonObject) -> None:
    """Write a report in one piece: a kill never cuts a line this short."""
    os.write(1, dumps({"pid": os.getpid(), **line}) + b"\n")


def message_of(batch: str, place: int, version: int) -> Message:
    """The message at an index of a batch, always the same: short, with calls, with an error, or large."""
    name, text = f"{batch}/{place}", f"{batch} {place} version {version}"
    match Random(name).randrange(6):
        case 0:
            return tool_call_message(name, output=text, call=f"{name}-call")
        case 1:
            return failed_call_message(name, error=text)
        case 2:
            return tool_output_message(name, TextOutput(text * 1000))  # a blob
        case 3:
            return assistant_message(name, text)
        case _:
            return user_message(name, text)


def raw_of(writer: str, number: int, place: int, size: int) -> bytes:
    """The bytes at an index of an append, always the same; their beginning identifies them."""
    name = f"{writer} {number} {place} {size} "
    random = Random(name)
    return name.encode() + random.randbytes(random.randrange(300))


async def save_batches(store: Store, seed: str, emit: Emit) -> None:
    """Save batches of messages, and some of them once more."""
    await _with_threads(store, THREADS)
    emit({"ready": True})
    await asyncio.gather(*(_save_forever(store, f"{seed}.{writer}", emit) for writer in range(WRITERS)))


async def _with_threads(store: Store, ids: Sequence[str]) -> None:
    for name in ids:
        with suppress(ConflictError):  # created by an earlier round or by the other worker
            await store.threads.create(name, title=f"Thread {name}")


async def _save_forever(store: Store, writer: str, emit: Emit) -> None:
    random = Random(writer)
    for number in itertools.count():
        thread, batch, size = random.choice(THREADS), f"{writer}.{number}", random.randint(1, 5)
        for version in range(random.choice((1, 1, 2))):
            fields: list[Json] = [thread, batch, size, version]
            emit({"trying": fields})
            made = [message_of(batch, place, version) for place in range(size)]
            saved = await store.messages.save(made, thread_id=thread)
            emit({"saved": [*fields, [message.seq for message in saved]]})


async def append_to_runs(store: Store, seed: str, emit: Emit) -> None:
    """Append to new runs, and to runs that earlier workers left active, from several tasks at once."""
    await _with_threads(store, ("log",))
    known = await store.runs.list(RunFilter(thread_id="log", status=("running",)), limit=2)
    runs = [run.id for run in known]
    for _ in range(2):
        run = await store.runs.open("log")
        emit({"opened": run.id})
        runs.append(run.id)
    emit({"ready": True})
    await asyncio.gather(
        *(_append_forever(store, f"{seed}.{writer}", runs, emit) for writer in range(WRITERS))
    )


async def _append_forever(store: Store, writer: str, runs: Sequence[str], emit: Emit) -> None:
    random = Random(writer)
    for number in itertools.count():
        await _append(store, random.choice(runs), writer, number, random.randint(1, 5), emit=emit)


async def _append(store: Store, run_id: str, writer: str, number: int, size: int, *, emit: Emit) -> None:
    fields: list[Json] = [run_id, writer, number, size]
    emit({"trying": fields})
    entries = [LogEntry(MOMENT, raw=raw_of(writer, number, place, size)) for place in range(size)]
    last = await store.logs.append(run_id, entries)
    emit({"appended": [*fields, last]})


async def seal_runs(store: Store, seed: str, emit: Emit) -> None:
    """Open a run, fill its log, end it and seal it; first, seal the runs that earlier workers left."""
    await _with_threads(store, ("log",))
    for report in await store.logs.seal_ended():
        emit({"sealed": report.run_id})
    emit({"ready": True})
    await asyncio.gather(*(_seal_forever(store, f"{seed}.{writer}", emit) for writer in range(WRITERS)))


async def _seal_forever(store: Store, writer: str, emit: Emit) -> None:
    numbers = itertools.count()
    while True:
        run = await store.runs.open("log")
        emit({"opened": run.id})
        for _ in range(5):
            await _append(store, run.id, writer, next(numbers), 8, emit=emit)
        await store.runs.finish(run.id)
        emit({"finished": run.id})
        await store.logs.seal(run.id)
        emit({"sealed": run.id})


async def migrate_rows(store: Store, seed: str, emit: Emit) -> None:
    """Migrate rows that other programs wrote, and add more of them."""
    await _with_threads(store, ("old",))
    for number in itertools.count():
        await write_old_rows(store, f"{seed}.{number}", 12)
        if number == 0:
            emit({"ready": True})
        for name in MIGRATIONS:
            emit({"starting": name})
            await migrate(store, [name], batch_size=5, progress=partial(_emit_progress, emit, name))
            emit({"migrated": [name, f"{seed}.{number}"]})


def _emit_progress(emit: Emit, name: str, seen: int, _total: int) -> None:
    emit({"seen": [name, seen]})


async def write_old_rows(store: Store, prefix: str, each: int) -> None:
    """Write messages of every old kind in one transaction."""
    made: list[Message] = []
    contents: list[tuple[str, str]] = []
    for kind, (role, content) in OLD.items():
        for number in range(each):
            name = f"{prefix}/{number}/{kind}"
            made.append(user_message(name, "?") if role == "user" else assistant_message(name, TODAY))
            contents.append((content, name))

    def write(tx: Transaction) -> None:
        saving.save(tx, [prepare(message, "old") for message in made])
        tx.many("UPDATE messages SET content = ? WHERE id = ?", contents)

    await store.write(write)


Work: TypeAlias = Callable[[Store, str, Emit], Awaitable[None]]

WORKS: dict[str, Work] = {
    "save": save_batches,
    "append": append_to_runs,
    "seal": seal_runs,
    "migrate": migrate_rows,
}


async def work(name: str, url: str, seed: str) -> None:
    """Do one kind of work without end. `open` opens a new store once."""
    if name == "open":
        report({"ready": True})
        await open_store(url)
        report({"opened": url})
        await asyncio.sleep(3600)
    store = await open_store(url)
    await WORKS[name](store, seed, report)


def fork(name: str, url: str, seed: str) -> int:
    """The process id of a new worker."""
    pid = os.fork()
    if pid:
        return pid
    try:
        asyncio.run(work(name, url, seed))
    except BaseException:
        report({"failed": traceback.format_exc()[-2000:]})
    os._exit(1)


def main() -> None:
    """Start workers on request, round after round."""
    for line in sys.stdin:
        pids = [fork(*arguments) for arguments in loads(line)]
        for pid in pids:
            os.waitpid(pid, 0)
        report({"gone": pids})


if __name__ == "__main__":
    main()
