"""`import_logs`: whatever is new in the logs of agents, into the store.

Done again it reads what came since. Cut off in the middle and done again it comes to the same end.
"""

import asyncio
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from partita.errors import PartitaError
from partita.logs.places.log_file import LogFile
from partita.store.facade.store import Store
from partita.store.sessions.driven import SESSION
from partita.store.sessions.rows import SessionRows
from partita.store.sessions.writing import write_sessions
from partita.store.transaction import Transaction
from partita.store.values import Source

from .checkpoints import Plan, plan_for
from .replaced import drop_replaced, was_alone
from .report import LogImportReport, Progress, Tell
from .task import Outcome, Task
from .units import LATE, Unit, units_of
from .workers import Workers

WEIGHT: Final = 4 * 1024 * 1024
"""About how many bytes are written in one transaction."""

LEAST: Final = 512 * 1024
"""And how many when nobody waits to write."""

UPLOADED: Final = "upload:"
"""How the paths of sources begin that are no files of this machine."""

SESSIONS: Final = 200
"""And how many sessions at most."""


class _Batch(NamedTuple):
    """What is written together, and the files that are done with it."""

    rows: list[SessionRows]
    outcomes: list[Outcome]


async def import_logs(
    store: Store,
    files: Iterable[LogFile],
    *,
    resource_id: str | None = None,
    workers: Workers | None = None,
    tell: Tell | None = None,
    finished: bool = False,
    followed: bool = False,
) -> LogImportReport:
    """Read what is new in the logs, and store it: threads, messages, runs with their raw lines, costs.

    The last run of a log that was written to in the last minutes is `running`, unless its agent has
    `finished`. A log that is `followed` is read again when it grows: its cut last line is not a finding.
    """
    units = units_of(files)
    known = {source.path: source for source in await store.list_sources()}
    report = LogImportReport(files=sum(len(unit.files) for unit in units))
    report.gone = _gone(known, units)
    tasks, moved = _tasks(units, known, lite=await store.read(_is_lite), finished=finished, followed=followed)
    report.read = len(tasks)
    await _Import(store, resource_id, report, tasks, tell).run(workers)
    units_read = [task.unit for task in tasks]
    for path, problem in await drop_replaced(store, units_read, known, resource_id):
        report.problem(path, problem)
    for source, path in moved:
        await store.forget_source(source.path)
        if await store.get_source(path) is None:
            await store.save_source(replace(source, path=path), resource_id=resource_id)
    return report


def _is_lite(tx: Transaction) -> bool:
    return tx.lite


def _tasks(
    units: Sequence[Unit], known: dict[str, Source], *, lite: bool, finished: bool, followed: bool
) -> tuple[list[Task], list[tuple[Source, str]]]:
    """What there is to read, and the files that were moved: as what they are known, and where they are."""
    paths = {str(file.path) for unit in units for file in unit.files}
    elsewhere = {
        source.identity: source for source in known.values() if source.identity and source.path not in paths
    }
    tasks: list[Task] = []
    moved: list[tuple[Source, str]] = []
    for unit in units:
        plans: list[Plan] = []
        for file in unit.files:
            source = known.get(str(file.path))
            if source is None and file.identity in elsewhere:
                source = elsewhere[file.identity]
                moved.append((source, str(file.path)))
            plans.append(plan_for(file, source, finished=finished))
        plan = _plan_of(plans, late=unit.session.agent in LATE)
        if plan is not None:
            tasks.append(Task(unit, plan, lite, finished, followed))
    return tasks, moved


def _plan_of(plans: Sequence[Plan], *, late: bool) -> Plan | None:
    """What to do about a session: news of a sub-agent is news of the session it works for.

    `late`: the file of a sub-agent may come after the place up to which its session was read.
    """
    session, agents = plans[0], plans[1:]
    alone = any(was_alone(plan.source) for plan in agents)
    if not alone and all(plan.what == "nothing" for plan in plans):
        return None
    if session.what in ("new", "rewritten"):
        return session
    news = {plan.what for plan in agents} - {"nothing"}
    if alone or news - {"new"} or session.what == "nothing" or (news and late):
        return Plan("again", session.source)
    return session


def _gone(known: dict[str, Source], units: Sequence[Unit]) -> int:
    """How many files were read once and are no more."""
    here = {str(file.path) for unit in units for file in unit.files}
    files = [path for path in known if not path.startswith((UPLOADED, SESSION))]
    return sum(path not in here and not os.path.exists(path) for path in files)  # noqa: PTH110 # it is fast


class _Import:
    """An import while it goes on."""

    def __init__(
        self,
        store: Store,
        resource_id: str | None,
        report: LogImportReport,
        tasks: Sequence[Task],
        tell: Tell | None,
    ) -> None:
        self._store = store
        self._resource_id = resource_id
        self._report = report
        self._tasks = tasks
        self._tell = tell
        self._files = 0
        self._all_bytes = sum(task.unit.size for task in tasks)

    async def run(self, workers: Workers | None) -> None:
        """Read and write, the next while the last is written."""
        if not self._tasks:
            return
        own = Workers() if workers is None else None
        items = (workers or own or Workers(1)).read(self._tasks)
        writing: asyncio.Task[None] | None = None
        try:
            while True:
                batch = await asyncio.to_thread(_collect, items, writing)
                if writing is not None:
                    await writing
                if not batch.rows and not batch.outcomes:
                    return
                writing = asyncio.create_task(self._write(batch))
        finally:
            if writing is not None:
                await asyncio.wait([writing])  # what was read before an error is stored
            if own is not None:
                own.close()

    async def _write(self, batch: _Batch) -> None:
        try:
            counts = await self._store.write(write_sessions, batch.rows, self._resource_id)
            self._report.counts = self._report.counts.plus(counts)
        except PartitaError:
            await self._write_one_by_one(batch.rows)
        for row in batch.rows:
            for failure in row.failures:
                self._report.problem(row.thread.id, failure)
        for outcome in batch.outcomes:
            self._files += 1
            self._report.add(outcome)
        if self._tell is not None:
            counts = self._report.counts
            messages = counts.new + counts.changed + counts.unchanged
            self._tell(Progress(self._files, len(self._tasks), self._report.bytes, self._all_bytes, messages))

    async def _write_one_by_one(self, rows: Sequence[SessionRows]) -> None:
        """Together they cannot be written: find the one that cannot."""
        for row in rows:
            try:
                counts = await self._store.write(write_sessions, [row], self._resource_id)
                self._report.counts = self._report.counts.plus(counts)
            except PartitaError as error:
                self._report.problem(row.sources[0].path if row.sources else row.thread.id, str(error))


def _collect(items: Iterator[SessionRows | Outcome], writing: "asyncio.Task[None] | None") -> _Batch:
    """As much as is worth a transaction; less if nothing else is being written."""
    batch = _Batch([], [])
    weight = 0
    for item in items:
        if isinstance(item, Outcome):
            batch.outcomes.append(item)
        else:
            batch.rows.append(item)
            weight += item.weight
        is_idle = writing is None or writing.done()
        if weight >= (LEAST if is_idle else WEIGHT) or len(batch.rows) >= SESSIONS:
            break
    return batch
