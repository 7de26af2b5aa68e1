"""Sessions, written: threads, messages, runs with their raw lines, what was consumed, how far was read.

What is stored and equal is not touched. Nothing is taken away that was read once: a log that was rewritten
brings runs under new ids.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import select, update

from partita.store import blobs, consumptions, saving, sources, threads
from partita.store.imports.report import Counts
from partita.store.imports.writing import is_same, known_rows, merged
from partita.store.log.sealing import HOLDS
from partita.store.owners import owner_of
from partita.store.runs import own_fields
from partita.store.tables import run_log, runs
from partita.store.tables import threads as thread_table
from partita.store.transaction import Transaction, insert_arrays_text, insert_text
from partita.types.threads import Thread

from .driven import adopt
from .fresh import write_blobs, write_new
from .rows import RunRows, SessionRows

AGAIN = (
    " ON CONFLICT (owner, id) DO UPDATE SET status = excluded.status, message_id = excluded.message_id,"
    " model = excluded.model, usage = excluded.usage, cost = excluded.cost, error = excluded.error,"
    " metadata = excluded.metadata, last_seq = excluded.last_seq, started_at = excluded.started_at,"
    " finished_at = excluded.finished_at,"
    " agent_result = coalesce(excluded.agent_result, runs.agent_result)"
)


def write_sessions(tx: Transaction, sessions: Sequence[SessionRows], resource_id: str | None) -> Counts:
    """Write sessions, all or none."""
    mine = Transaction(tx.connection, owner_of(tx, resource_id), tx.now)
    sessions = adopt(mine, sessions)
    known = _known_threads(mine, [session.thread.id for session in sessions])
    fresh: dict[str, SessionRows] = {}
    others: list[SessionRows] = []
    for session in sessions:
        new = session.thread.id not in known and session.thread.id not in fresh
        if not new:
            others.append(session)
        elif session.messages or session.runs:
            fresh[session.thread.id] = session
    counts = Counts(len(fresh), write_new(mine, list(fresh.values())) if fresh else 0)
    write_runs(mine, [run for session in fresh.values() for run in session.runs], new=True)
    for session in others:
        counts = counts.plus(_write(mine, session))
    consumed = [record for session in sessions for record in session.consumptions]
    if consumed:
        consumptions.record(mine, consumed)
    sources.save_many(mine, [source for session in sessions for source in session.sources], mine.owner or "")
    return counts


def _write(tx: Transaction, session: SessionRows) -> Counts:
    thread = session.thread
    stored = threads.from_row(threads.find(tx, thread.id))
    wanted = merged(stored, thread)
    if wanted != stored:
        threads.save(tx, wanted)
    known = known_rows(tx, thread.id, [one.message.id for one in session.messages])
    new = [one for one in session.messages if one.message.id not in known]
    others = [one for one in session.messages if one.message.id in known]
    changed = [one for one in others if not is_same(tx, known[one.message.id], one)]
    write_blobs(tx, [*changed, *new])
    if new or changed:
        saving.save(tx, [*changed, *new])
        _settle_thread(tx, wanted)
    write_runs(tx, session.runs, new=False)
    return Counts(0, len(new), len(changed), len(others) - len(changed))


def _known_threads(tx: Transaction, ids: Sequence[str]) -> set[str]:
    query = select(thread_table.c.id).where(tx.mine(thread_table), tx.among(thread_table.c.id, ids))
    return {row.id for row in tx.rows(query)}


def _settle_thread(tx: Transaction, thread: Thread) -> None:
    """That we read a thread today does not make it one of today."""
    if thread.updated_at is not None:
        own = (thread_table.c.owner == tx.owner, thread_table.c.id == thread.id)
        tx.run(update(thread_table).where(*own).values(updated_at=thread.updated_at))


def write_runs(tx: Transaction, packed: Sequence[RunRows], *, new: bool) -> None:
    """Runs with the lines that are not stored yet; `new`: none of them is."""
    if not packed:
        return
    stored = {} if new else _last_lines(tx, [one.run.id for one in packed])
    rows = [_row(tx, one, max(one.last_seq, stored.get(one.run.id, 0))) for one in packed]
    if tx.lite:
        tx.many(insert_text(runs) + AGAIN, rows)
    else:
        tx.sql(insert_arrays_text(runs) + AGAIN, tuple(map(list, zip(*rows, strict=True))))
    lines = [row for one in packed for row in _log_rows(tx, one, stored.get(one.run.id, 0))]
    tx.insert(run_log, lines)
    _write_pictures(tx, packed)


def _last_lines(tx: Transaction, ids: Sequence[str]) -> dict[str, int]:
    query = select(runs.c.id, runs.c.last_seq).where(tx.mine(runs), tx.among(runs.c.id, ids))
    return {row.id: row.last_seq for row in tx.rows(query)}


def _row(tx: Transaction, one: RunRows, last_seq: int) -> tuple[Any, ...]:
    run = one.run
    own = own_fields(run)
    fields: dict[str, Any] = {
        **dict.fromkeys(column.name for column in runs.columns),
        **own,
        "owner": tx.owner,
        "id": run.id,
        "thread_id": run.thread_id,
        "status": run.status,
        "last_seq": last_seq,
        "sealed": True,
        "created_at": tx.instant(run.created_at or tx.now),
        "started_at": tx.instant(run.started_at or run.created_at),
        "finished_at": tx.instant(run.finished_at),
    }
    return tuple(fields[column.name] for column in runs.columns)


def _log_rows(tx: Transaction, one: RunRows, stored: int) -> Iterator[tuple[Any, ...]]:
    """The lines that are not there yet. Lines told from the first on take the place of fewer."""
    first = one.first_seq
    if one.last_seq <= stored or 1 < first <= stored:
        return
    if first <= stored:
        tx.sql("DELETE FROM run_log WHERE owner = ? AND run_id = ?", (tx.owner, one.run.id))
    for block in one.blocks:
        yield tx.owner, one.run.id, first, first + block.entries - 1, block.encoding, block.data
        first += block.entries


def _write_pictures(tx: Transaction, packed: Sequence[RunRows]) -> None:
    """The pictures that were taken out of lines, and which runs hold them."""
    owner = tx.owner or ""
    pictures = {digest: data for one in packed for digest, data in one.pictures.items()}
    if pictures:
        blobs.write(tx, owner, [(digest, data, None) for digest, data in pictures.items()])
        tx.many(HOLDS, [(owner, one.run.id, digest) for one in packed for digest in sorted(one.pictures)])
