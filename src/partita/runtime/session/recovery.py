"""Recovery of runs whose process has ended: they get the messages of their logs, and end as interrupted."""

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Final, NamedTuple

from msgspec.structs import replace

from partita.errors import ConflictError, StoreError, StreamError, UnavailableError
from partita.runtime.run_fold import RunFold
from partita.store.bulk.agent_sessions import AGENT_SESSION, RESPONSE_IDS, record_session_usage
from partita.store.ids import new_id
from partita.store.logs.run_log import LogRecord, read_log
from partita.store.messages.queries import get_many
from partita.store.runs import rows as runs
from partita.store.runs.rows import RunEnd
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.types.chunks import MessageStart
from partita.types.messages import AssistantMessage, Message
from partita.types.threads import Run, RunStatus

from .turn import without_ending
from .usage_records import records_of, response_id, responses_in

AFTER: Final = "after"
"""The member of the metadata of a run with the message that its response follows, if not the last one."""

LOST: Final = "the process of the run ended"


# Owners of leases

PROC: Final = Path("/proc")
STATE, START_TIME = 0, 19
"""The index of the state and of the start time in `/proc/PID/stat`, after the name of the program."""

ENDED_STATES: Final = ("Z", "X")
"""States of processes that have ended."""


def new_lease_owner() -> str:
    """A new lease owner for a session of this process: `ID@PID.START.MACHINE`, or just an id."""
    stat, machine = _stat(os.getpid()), _machine()
    if stat is None or machine is None:
        return new_id()
    return f"{new_id()}@{os.getpid()}.{stat[START_TIME]}.{machine}"


def is_dead(lease_owner: str | None) -> bool:
    """Whether a lease is held by a process of this machine that has ended. False when that is not known."""
    pid, _, rest = (lease_owner or "").rpartition("@")[2].partition(".")
    started, _, machine = rest.partition(".")
    if not (pid.isascii() and pid.isdigit() and started and machine) or machine != _machine():
        return False
    stat = _stat(int(pid))
    return stat is None or stat[STATE] in ENDED_STATES or stat[START_TIME] != started


@cache
def _machine() -> str | None:
    """A hash of the boot of this machine and of the namespace of its process ids."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
        return sha256(f"{boot} {(PROC / 'self/ns/pid').readlink()}".encode()).hexdigest()[:12]
    except OSError:
        return None


def _stat(pid: int) -> list[str] | None:
    """The fields of `/proc/PID/stat` from the state on; `None` if the process does not exist."""
    try:
        fields = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return fields if len(fields) > START_TIME else None


class ExpiredLeases:
    """Runs whose lease has expired, but perhaps only by the clock.

    When a clock is set forward, all leases expire at once: processes that are alive renew theirs soon.
    """

    def __init__(self, seconds: float) -> None:
        """A run is lost if its lease is not renewed within that time, by the monotonic clock."""
        self._seconds = seconds
        self._since: dict[str, tuple[datetime | None, float]] = {}

    def __bool__(self) -> bool:
        return bool(self._since)

    def confirm(self, run: Run) -> bool:
        """Whether the lease of a run has been the same for long enough."""
        expires, since = self._since.get(run.id, (None, 0.0))
        if expires != run.lease_expires_at:
            self._since[run.id] = (run.lease_expires_at, monotonic())
            return False
        is_confirmed = monotonic() - since >= self._seconds
        if is_confirmed:
            del self._since[run.id]
        return is_confirmed

    def forget(self, before: float) -> None:
        """Forget the runs that were first suspected before a time: they ended, or their lease was renewed."""
        self._since = {id_: one for id_, one in self._since.items() if one[1] >= before}


async def recover_runs(
    store: Store, *, limit: int = 100, owner: str | None = None, suspects: ExpiredLeases | None = None
) -> list[Run]:
    """End the runs whose process has ended. Several processes may do so at once: each run ends once.

    Runs of the calling `owner` are left alone: it is alive, even if it renews its leases late. With
    `suspects`, a run whose lease has expired is ended only if that is not renewed within some time.
    """
    ended: list[Run] = []
    more = True
    while more:
        dead = [one for one in await store.runs.lease_owners() if is_dead(one)]
        found = await store.runs.abandoned(limit=limit, dead=dead)
        before = len(ended)
        for run in found:
            is_held_by_dead = run.lease_owner in dead
            if (owner is not None and run.lease_owner == owner) or not (
                is_held_by_dead or suspects is None or suspects.confirm(run)
            ):
                continue
            with suppress(ConflictError):  # the lease was renewed, or another process was faster
                holder = run.lease_owner if is_held_by_dead else None
                ended.append(await end_from_log(store, run.id, RunEnd("interrupted", LOST), holder=holder))
        more = len(found) == limit and len(ended) > before
    return ended


async def end_from_log(store: Store, run_id: str, ending: RunEnd, *, holder: str | None = None) -> Run:
    """End a run with the messages of its log; without messages if the log cannot be read."""

    def fold(run: Run, seed: AssistantMessage | None, records: Sequence[LogRecord]) -> Sequence[Message]:
        return fold_log(run, seed, records, ending.status, ending.reason)

    try:
        ended = await store.runs.recover(run_id, fold, ending, holder=holder)
        return await _record_usage(store, ended)
    except (ConflictError, UnavailableError):
        raise
    except StoreError:  # `partita doctor` reports the problem of the log
        return await store.runs.end_turn(run_id, (), ending)


async def _record_usage(store: Store, run: Run) -> Run:
    """Record the usage of the responses in the log of a recovered run, as at the end of any other run."""
    session_id = (run.metadata or {}).get(AGENT_SESSION)
    if not isinstance(session_id, str):
        return run
    log = await store.logs.read(run.id)
    started = dict.fromkeys(found for record in log if record.raw and (found := response_id(record.raw)))
    if started:
        metadata = {**(run.metadata or {}), RESPONSE_IDS: list(started)}
        run = await store.runs.save(replace(run, metadata=metadata))
    chunks = [record.chunk for record in log if record.chunk is not None]
    steps = {key: step for chunk in chunks for key, step in responses_in(chunk).items()}
    reported = [{"steps": list(steps.values())}] if steps else []
    records = records_of(run, reported, None, run.finished_at or datetime.now(UTC))
    await store.write(record_session_usage, run.id, session_id, records)
    return run


def fold_log(
    run: Run,
    seed: AssistantMessage | None,
    records: Sequence[LogRecord],
    status: RunStatus = "interrupted",
    reason: str | None = LOST,
) -> Sequence[Message]:
    """The messages of a run that was interrupted, as far as its log goes."""
    if seed is not None and not any(record.chunk for record in records):
        return ()  # the run had not continued the message yet
    first, *rest = folded(run, seed, records).finish(status, reason)
    after = (run.metadata or {}).get(AFTER)
    if seed is None and isinstance(after, str):
        first = replace(first, parent_id=after)
    return (first, *rest)


def folded(run: Run, seed: AssistantMessage | None, records: Sequence[LogRecord]) -> RunFold:
    """The messages of a log, folded as those of a live run."""
    known = None if seed is None else without_ending(seed)
    fold = RunFold(run.message_id or f"{run.id}-message", run_id=run.id, seed=known)
    for record in records:
        if record.chunk is not None:
            with suppress(StreamError):  # our own writer refuses such chunks; others may have written them
                fold.feed(record.chunk)
    return fold


class RunProgress(NamedTuple):
    """The messages of a run so far, and the number of the last entry of its log."""

    messages: Sequence[AssistantMessage]
    last_seq: int


async def run_progress(store: Store, run: Run) -> RunProgress:
    """The messages of a run so far; the stored ones if it has ended."""
    ended, stored, records = await store.read(_read_progress, run)
    kept = [message for message in stored if isinstance(message, AssistantMessage)]
    seed = kept[0] if kept else None
    messages = kept if ended and kept else folded(run, seed, records).snapshot()
    return RunProgress(messages, records[-1].seq if records else 0)


def _read_progress(tx: Transaction, run: Run) -> tuple[bool, Sequence[Message], Sequence[LogRecord]]:
    """Whether a run has ended, its messages and its log, in one transaction.

    The end of a run stores its messages. Read after that, its log would repeat what they contain.
    """
    records = read_log(tx, run.id)
    chunks = [record.chunk for record in records]
    started = [chunk.message_id for chunk in chunks if isinstance(chunk, MessageStart) and chunk.message_id]
    ids = dict.fromkeys([run.message_id or "", *started])
    ended = runs.find(tx, run.id).status != "running"
    return ended, get_many(tx, run.thread_id, list(ids)), records
