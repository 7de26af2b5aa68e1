"""Checks after processes with runs were killed: received chunks are stored, and messages are valid."""

import asyncio
from collections import defaultdict
from pathlib import Path

from partita.runtime.run_fold import fold_run
from partita.runtime.session.session import Session
from partita.store.doctor.doctor import check_store
from partita.store.store import Store
from partita.store.values import MessageFilter, RunFilter
from partita.types.codec import encode
from partita.types.json import loads
from partita.types.messages import text_of
from partita.types.threads import Run
from tests.runtime.chaos import LEASE
from tests.store.chaos_checks import settle


async def check_round(store: Store, file: Path) -> int:
    """Check that all received chunks of a round are stored unchanged. Returns their number."""
    await settle(store)
    received: defaultdict[str, dict[int, bytes]] = defaultdict(dict)
    prompts: defaultdict[str, set[str]] = defaultdict(set)
    for line in file.read_bytes().splitlines():
        head, _, json = line.partition(b"] ")
        match loads(head + b"]"):
            case ["received", run_id, seq]:
                assert seq not in received[run_id], f"{run_id} sent {seq} twice"
                received[run_id][seq] = json
            case ["prompt", _, thread_id, text]:
                prompts[thread_id].add(text)
            case other:
                raise AssertionError(other)
    for run_id, chunks in received.items():
        log = await store.logs.read(run_id)
        stored = {record.seq: encode(record.chunk) for record in log if record.chunk is not None}
        assert {seq: stored.get(seq) for seq in chunks} == chunks, f"run {run_id}"
    for thread_id, expected in prompts.items():
        stored_texts = [
            text_of(message)
            for message in await store.messages.list(thread_id, MessageFilter(branch="all"), limit=None)
        ]
        pending = [str(run.metadata) for run in await _active_runs(store, thread_id)]
        for text in expected:
            assert text in stored_texts or any(text in kept for kept in pending), text
        assert len(stored_texts) == len(set(stored_texts)) or _has_no_repeated_prompt(stored_texts, expected)
    return sum(map(len, received.values()))


def _has_no_repeated_prompt(stored_texts: list[str], expected: set[str]) -> bool:
    """Whether no message of the user is stored twice."""
    return all(stored_texts.count(text) <= 1 for text in expected)


async def _active_runs(store: Store, thread_id: str | None = None) -> tuple[Run, ...]:
    page = await store.runs.list(RunFilter(thread_id=thread_id, status=("pending", "running")), limit=10_000)
    return page.items


async def check_end(store: Store) -> dict[str, int]:
    """Check that all runs are ended by recovery, and that their messages match their logs."""
    async with Session(store, lease=LEASE):
        while await _active_runs(store):
            await asyncio.sleep(0.1)  # until the last leases expire
    while await store.logs.seal_ended(limit=1000):
        pass
    statuses: defaultdict[str, int] = defaultdict(int)
    page = await store.runs.list(limit=1_000_000)
    for run in page.items:
        statuses[run.status] += 1
        await _check_run(store, run)
    assert statuses.keys() <= {"completed", "interrupted"}
    health = await check_store(store, full=True)
    found = [finding for check in health.checks for finding in check.findings]
    assert found == [], found[:3]
    return statuses


async def _check_run(store: Store, run: Run) -> None:
    log = await store.logs.read(run.id)
    stored = await store.messages.get(run.thread_id, run.message_id or "")
    if not log and run.started_at is None:
        return  # it never started
    assert stored is not None, run
    chunks = [record.chunk for record in log if record.chunk is not None]
    reason = run.error if isinstance(run.error, str) else None
    (folded,) = fold_run(chunks, stored.id, run_id=run.id, status=run.status, reason=reason)
    assert folded.content == stored.content
    assert stored.run_id == run.id
