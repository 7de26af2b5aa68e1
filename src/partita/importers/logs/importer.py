"""`import_logs`: store what is new in the logs of agents.

Importing again reads only what was added. An import that was interrupted can be repeated.
"""

import asyncio
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from partita.errors import PartitaError
from partita.logs.sources.registry import SOURCES
from partita.logs.sources.source import LogFile
from partita.store.bulk.agent_sessions import compare_sessions, write_sessions
from partita.store.bulk.rows import ThreadRows
from partita.store.bulk.writer import ThreadCounts, known_threads
from partita.store.sources import REMOVED, SESSION, is_marked, is_removed
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.store.threads.lists import first_words, with_display_titles
from partita.store.threads.rows import discard_thread
from partita.store.values import Source
from partita.types.json import is_object

from .plan import (
    AgentReport,
    LogImportReport,
    OnProgress,
    Outcome,
    Plan,
    Progress,
    Task,
    Unit,
    plan_for,
    units_of,
)
from .workers import Workers

BATCH_BYTES: Final = 4 * 1024 * 1024
"""About how many bytes are written in one transaction."""

IDLE_BATCH_BYTES: Final = 512 * 1024
"""How many if no other transaction is being written."""

BATCH_SESSIONS: Final = 200
"""How many sessions are written in one transaction at most."""

UPLOADED: Final = "upload:"
"""The prefix of the paths of sources that are not files of this machine."""


class _Batch(NamedTuple):
    """Rows that are written together, and the outcomes of the files that they complete."""

    rows: list[ThreadRows]
    outcomes: list[Outcome]


async def import_logs(
    store: Store,
    files: Iterable[LogFile],
    *,
    resource_id: str | None = None,
    workers: Workers | None = None,
    on_progress: OnProgress | None = None,
    finished: bool = False,
    followed: bool = False,
    dry_run: bool = False,
    restore: bool = False,
) -> LogImportReport:
    """Store what is new in the logs: threads, messages, runs with their raw lines, costs.

    The last run of a log that was written to in the last minutes is `running`, unless its agent has
    `finished`. A log that is `followed` is read again when it grows: its cut last line is not reported.
    `dry_run`: the logs are read and compared with the store, and nothing is written. Sessions whose threads
    were deleted are left out, unless `restore`.
    """
    units = units_of(files)
    known = {source.path: source for source in await store.sources.list()}
    report = LogImportReport(dry_run=dry_run)
    for unit in units:
        report.agents.setdefault(unit.session.agent, AgentReport()).files += len(unit.files)
    report.gone = _gone(known, units)
    if restore:
        known = {path: source for path, source in known.items() if not _holds_removed(source, known)}
    else:
        units = _without_removed(units, known, report)
        known = {path: source for path, source in known.items() if not is_marked(source)}
    tasks, moved = _tasks(units, known, lite=await store.read(_is_lite), finished=finished, followed=followed)
    await _Import(store, resource_id, report, tasks, on_progress, restore=restore).run(workers)
    await _count_sessions(store, resource_id, report, units, known)
    if dry_run:
        return report
    units_read = [task.unit for task in tasks]
    for path, problem in await _delete_moved(store, units_read, known, resource_id):
        report.problem(path, problem)
    for source, path in moved:
        await store.sources.delete(source.path)
        if await store.sources.get(path) is None:
            await store.sources.save(replace(source, path=path), resource_id=resource_id)
    return report


async def _count_sessions(
    store: Store,
    resource_id: str | None,
    report: LogImportReport,
    units: Iterable[Unit],
    known: Mapping[str, Source],
) -> None:
    """Count the sessions of each agent: those that were read, and the stored ones in unchanged files."""
    stored = {
        session: unit.session.agent for unit in units for session in stored_sessions(unit.session, known)
    }
    for session in report.sessions.values():
        agent = report.agents.setdefault(session.thread.agent or "", AgentReport())
        agent.counts = agent.counts.plus(session.counts)
        agent.changed += session.is_changed and not session.counts.new_threads
        if not session.is_changed:
            stored[session.thread.id] = session.thread.agent or ""
        else:
            stored.pop(session.thread.id, None)
    own = store if resource_id is None else store.scoped(resource_id)
    for session_id in await own.read(known_threads, list(stored)):
        report.agents[stored[session_id]].unchanged += 1


def stored_sessions(file: LogFile, known: Mapping[str, Source]) -> Iterable[str]:
    """The ids of the sessions in a file, as the last import stored them."""
    source = known.get(str(file.path))
    stamps = source.state.get("stamps") if source is not None and is_object(source.state) else None
    if is_object(stamps):
        return stamps
    return [source.thread_id] if source is not None and source.thread_id is not None else []


def _without_removed(
    units: Iterable[Unit], known: Mapping[str, Source], report: LogImportReport
) -> list[Unit]:
    """The sessions without those whose threads were deleted, which are counted."""
    by_identity = {source.identity: source for source in known.values() if source.identity}
    kept: list[Unit] = []
    for unit in units:
        found = [known.get(str(file.path)) or by_identity.get(file.identity) for file in unit.files]
        session, *agents = (
            source is not None and is_removed(source, file.size, file.mtime_ns)
            for file, source in zip(unit.files, found, strict=True)
        )
        if session:
            report.agents[unit.session.agent].removed += 1
            continue
        files = tuple(file for file, is_gone in zip(unit.agents, agents, strict=True) if not is_gone)
        kept.append(unit._replace(agents=files))
    return kept


def _holds_removed(source: Source, known: Mapping[str, Source]) -> bool:
    """Whether a file has a session whose thread was deleted. A database has many: it is read again."""
    stamps = source.state.get("stamps") if is_object(source.state) else None
    return is_marked(source) or (is_object(stamps) and any(f"{REMOVED}{one}" in known for one in stamps))


def _is_lite(tx: Transaction) -> bool:
    return tx.is_sqlite


def _tasks(
    units: Sequence[Unit], known: dict[str, Source], *, lite: bool, finished: bool, followed: bool
) -> tuple[list[Task], list[tuple[Source, str]]]:
    """Return the sessions to read, and the files that were moved: their stored source and their new path."""
    paths = {str(file.path) for unit in units for file in unit.files}
    unseen = {
        source.identity: source for source in known.values() if source.identity and source.path not in paths
    }
    tasks: list[Task] = []
    moved: list[tuple[Source, str]] = []
    for unit in units:
        plans: list[Plan] = []
        for file in unit.files:
            source = known.get(str(file.path))
            if source is None and file.identity in unseen:
                source = unseen[file.identity]
                moved.append((source, str(file.path)))
            plans.append(plan_for(file, source, finished=finished))
        plan = _plan_of(plans, late=_agents_come_late(unit.session.agent))
        if plan is not None:
            tasks.append(Task(unit, plan, lite, finished, followed))
    return tasks, moved


def _plan_of(plans: Sequence[Plan], *, late: bool) -> Plan | None:
    """Return the plan of a session. A change of a sub-agent is a change of its session.

    `late`: the file of a sub-agent may appear after its session was read beyond the call.
    """
    session, agents = plans[0], plans[1:]
    alone = any(_was_alone(plan.source) for plan in agents)
    if not alone and all(plan.kind == "nothing" for plan in plans):
        return None
    if session.kind in ("new", "rewritten"):
        return session
    changes = {plan.kind for plan in agents} - {"nothing"}
    if alone or changes - {"new"} or session.kind == "nothing" or (changes and late):
        return Plan("again", session.source)
    return session


def _agents_come_late(agent: str) -> bool:
    sub_agents = SOURCES[agent].sub_agents if agent in SOURCES else None
    return sub_agents is not None and sub_agents.come_late


def _gone(known: dict[str, Source], units: Sequence[Unit]) -> int:
    """Return how many files were read once and do not exist any more."""
    present = {str(file.path) for unit in units for file in unit.files}
    files = [path for path in known if not path.startswith((UPLOADED, SESSION, REMOVED))]
    return sum(path not in present and not os.path.exists(path) for path in files)  # noqa: PTH110 # it is fast


class _Import:
    """A running import."""

    def __init__(
        self,
        store: Store,
        resource_id: str | None,
        report: LogImportReport,
        tasks: Sequence[Task],
        on_progress: OnProgress | None,
        *,
        restore: bool,
    ) -> None:
        self._restore = restore
        self._store = store
        self._resource_id = resource_id
        self._report = report
        self._tasks = tasks
        self._on_progress = on_progress
        self._files = 0
        self._all_bytes = sum(task.unit.size for task in tasks)

    async def run(self, workers: Workers | None) -> None:
        """Read and write: the next batch is read while the last one is written."""
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
                await asyncio.wait([writing])  # the rows before an error are stored
            if own is not None:
                own.close()

    async def _write(self, batch: _Batch) -> None:
        try:
            await self._write_rows(batch.rows)
        except PartitaError:
            await self._write_one_by_one(batch.rows)
        for row in batch.rows:
            for failure in row.failures:
                self._report.problem(row.thread.id, PartitaError(failure))
        for outcome in batch.outcomes:
            self._files += 1
            self._report.add(outcome)
        # A check that finds nothing new shows nothing: some sessions are opened each time to know that.
        if self._on_progress is not None and self._report.read:
            counts = self._report.counts
            messages = counts.new + counts.changed + counts.unchanged
            self._on_progress(
                Progress(self._files, len(self._tasks), self._report.bytes, self._all_bytes, messages)
            )

    async def _write_rows(self, rows: Sequence[ThreadRows]) -> None:
        """Write rows, or compare them in a dry run, and add the sessions to the report."""
        if self._report.dry_run:
            written = await self._store.read(compare_sessions, rows, self._resource_id, restore=self._restore)
        else:
            written = await self._store.write(write_sessions, rows, self._resource_id, restore=self._restore)
        prompts = {row.thread.id: _first_prompt(row) for row in reversed(rows)}
        with_titles = await self._store.read(_with_titles, written, prompts)
        for one in with_titles:
            self._report.add_session(*one)

    async def _write_one_by_one(self, rows: Sequence[ThreadRows]) -> None:
        """Write rows one by one after they failed together, to find those that fail."""
        for row in rows:
            try:
                await self._write_rows([row])
            except PartitaError as error:
                self._report.problem(row.sources[0].path if row.sources else row.thread.id, error)


def _first_prompt(rows: ThreadRows) -> str | None:
    """The start of the first prompt of a session."""
    prompts = (
        one.derived.preview for one in rows.messages if one.role == "user" and not one.message.internal
    )
    prompt = next(filter(None, prompts), None)
    return None if prompt is None else first_words(prompt)


def _with_titles(
    tx: Transaction, written: Sequence[ThreadCounts], prompts: Mapping[str, str | None]
) -> list[ThreadCounts]:
    """Sessions with titles for display. The prompts are those of new sessions."""
    threads = [
        replace(thread, title=thread.title or prompts.get(thread.id)) if counts.new_threads else thread
        for thread, counts in written
    ]
    titled = with_display_titles(tx, threads)
    return [ThreadCounts(thread, one.counts) for thread, one in zip(titled, written, strict=True)]


def _collect(items: Iterator[ThreadRows | Outcome], writing: "asyncio.Task[None] | None") -> _Batch:
    """Collect the items for a transaction, fewer if no other transaction is being written."""
    batch = _Batch([], [])
    weight = 0
    for item in items:
        if isinstance(item, Outcome):
            batch.outcomes.append(item)
        else:
            batch.rows.append(item)
            weight += item.weight
        is_idle = writing is None or writing.done()
        if weight >= (IDLE_BATCH_BYTES if is_idle else BATCH_BYTES) or len(batch.rows) >= BATCH_SESSIONS:
            break
    return batch


# Sub-agents that were imported as separate sessions before their session was read: they move to its thread


def _was_alone(source: Source | None) -> bool:
    """Whether the file of a sub-agent was imported as a separate session."""
    return source is not None and is_object(source.state) and not source.state.get("part")


async def _delete_moved(
    store: Store, units: Iterable[Unit], known: Mapping[str, Source], resource_id: str | None
) -> list[tuple[str, PartitaError]]:
    """Delete the former threads of such sub-agents; returns the paths of those that failed, and why.

    `known` are the sources as they were before the sessions were read.
    """
    own = store if resource_id is None else store.scoped(resource_id)
    problems: list[tuple[str, PartitaError]] = []
    for file in (file for unit in units for file in unit.agents):
        source = known.get(str(file.path))
        if source is not None and source.thread_id is not None and _was_alone(source):
            try:
                await _delete_thread(own, file, source.thread_id)
            except PartitaError as error:
                problems.append((str(file.path), error))
    return problems


async def _delete_thread(store: Store, file: LogFile, thread_id: str) -> None:
    """Delete a thread if all of it came from a file that was read into another thread now."""
    source = await store.sources.get(str(file.path))
    if source is None or _was_alone(source) or source.thread_id == thread_id:
        return
    if await store.threads.get(thread_id) is None:
        return
    messages = (await store.messages.list(thread_id, limit=None)).items
    if all((message.run_id or "").startswith(f"{thread_id}@") for message in messages):
        await store.write(discard_thread, thread_id)
