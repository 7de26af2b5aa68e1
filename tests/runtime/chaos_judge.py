"""What must be there after the owners of runs were killed: all that anybody was shown, and sound messages."""

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
from tests.store.chaos_judge import settle


async def judge_round(store: Store, file: Path) -> int:
    """Whether all that was shown in a round is stored as it was shown; how much it was."""
    await settle(store)
    shown: defaultdict[str, dict[int, bytes]] = defaultdict(dict)
    begun: defaultdict[str, set[str]] = defaultdict(set)
    for line in file.read_bytes().splitlines():
        head, _, json = line.partition(b"] ")
        match loads(head + b"]"):
            case ["seen", run_id, seq]:
                assert seq not in shown[run_id], f"{run_id} showed {seq} twice"
                shown[run_id][seq] = json
            case ["begun", _, thread_id, words]:
                begun[thread_id].add(words)
            case other:
                raise AssertionError(other)
    for run_id, chunks in shown.items():
        log = await store.logs.read(run_id)
        stored = {record.seq: encode(record.chunk) for record in log if record.chunk is not None}
        assert {seq: stored.get(seq) for seq in chunks} == chunks, f"run {run_id}"
    for thread_id, expected in begun.items():
        said = [
            text_of(message)
            for message in await store.messages.list(thread_id, MessageFilter(branch="all"), limit=None)
        ]
        waiting = [str(run.metadata) for run in await _at_work(store, thread_id)]
        for words in expected:
            assert words in said or any(words in kept for kept in waiting), words
        assert len(said) == len(set(said)) or _answers_only(said, expected)
    return sum(map(len, shown.values()))


def _answers_only(said: list[str], expected: set[str]) -> bool:
    """Whether nothing that the user said stands twice."""
    return all(said.count(words) <= 1 for words in expected)


async def _at_work(store: Store, thread_id: str | None = None) -> tuple[Run, ...]:
    page = await store.runs.list(RunFilter(thread_id=thread_id, status=("pending", "running")), limit=10_000)
    return page.items


async def judge_end(store: Store) -> dict[str, int]:
    """Whether all runs are ended by whoever looks after them, and amount to what their logs say."""
    async with Session(store, lease=LEASE):
        while await _at_work(store):
            await asyncio.sleep(0.1)  # until the last leases are over
    while await store.logs.seal_ended(limit=1000):
        pass
    statuses: defaultdict[str, int] = defaultdict(int)
    page = await store.runs.list(limit=1_000_000)
    for run in page.items:
        statuses[run.status] += 1
        await _judge_run(store, run)
    assert statuses.keys() <= {"completed", "interrupted"}
    health = await check_store(store, full=True)
    found = [finding for check in health.checks for finding in check.findings]
    assert found == [], found[:3]
    return statuses


async def _judge_run(store: Store, run: Run) -> None:
    log = await store.logs.read(run.id)
    stored = await store.messages.get(run.thread_id, run.message_id or "")
    if not log and run.started_at is None:
        return  # it never began
    assert stored is not None, run
    chunks = [record.chunk for record in log if record.chunk is not None]
    reason = run.error if isinstance(run.error, str) else None
    (folded,) = fold_run(chunks, stored.id, run_id=run.id, status=run.status, reason=reason)
    assert folded.content == stored.content
    assert stored.run_id == run.id
