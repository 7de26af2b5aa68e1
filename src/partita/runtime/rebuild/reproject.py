"""`reproject`: rebuild stored messages from the raw bytes of their runs, with the decoders of today.

Ids, numbers, parents and times of messages do not change, and neither do decisions on approvals, which are in
no log. A message that would lose content is left alone and reported.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final

from partita.errors import NotFoundError, PartitaError, UnavailableError
from partita.runtime.replay.message_chunks import is_imported
from partita.runtime.replay.recorded_run import get_run, lineage, runs_of
from partita.store.store import Store
from partita.store.values import Source
from partita.types.threads import Run

from .changes import RebuiltThread, Skipped, write_changes
from .imported_session import rebuild_session
from .live_runs import check_ended, rebuild_runs
from .report import Outcome, ReprojectedRun, ReprojectReport
from .stored_session import sources_of_threads

PAGE_SIZE: Final = 200


async def reproject(
    store: Store,
    run_ids: Sequence[str] | None = None,
    *,
    dry_run: bool = False,
    force: bool = False,
    on_progress: Callable[[int], None] | None = None,
) -> ReprojectReport:
    """Rebuild the messages of runs, of all runs by default, and write those that have changed.

    Runs that continued each other's messages are rebuilt together, and so are those of an imported session.
    With `dry_run`, nothing is written. With `force`, messages that would lose content are written, too.
    `on_progress` is called with the number of runs that are done.
    """
    report = ReprojectReport()
    done: set[str] = set()
    sources = await sources_of_threads(store)
    async for run in _runs(store, run_ids):
        if run.id not in done:
            found = await _reproject(store, run, sources.get(run.thread_id, ()), dry_run=dry_run, force=force)
            report.runs += [one for one in found if one.run_id not in done]
            done |= {one.run_id for one in found}
            if on_progress is not None:
                on_progress(len(done))
    return report


async def _runs(store: Store, run_ids: Sequence[str] | None) -> AsyncIterator[Run]:
    for run_id in run_ids or ():
        yield await get_run(store, run_id)
    cursor: str | None = None
    while run_ids is None:
        page = await store.runs.list(limit=PAGE_SIZE, cursor=cursor)
        for run in page:
            yield run
        cursor = page.next
        if cursor is None:
            return


async def _reproject(
    store: Store, run: Run, sources: Sequence[Source], *, dry_run: bool, force: bool
) -> list[ReprojectedRun]:
    """Rebuild a run, together with those that it cannot be rebuilt without."""
    imported = is_imported(run)
    runs = [run]
    try:
        if imported:
            runs = [one for one in await runs_of(store, run.thread_id) if is_imported(one)]
            threads = await rebuild_session(store, run.thread_id, sources)
            groups = [[one] for one in runs]
        else:
            check_ended(run)
            runs = await lineage(store, run)
            threads = [await rebuild_runs(store, runs)]
            groups = [runs]  # they wrote the same messages
        found = [one for group in groups for one in _results(group, threads, dry_run=dry_run, force=force)]
        written = {one.run_id for one in found if one.written}
        if written:
            await store.write(write_changes, [thread.of_runs(written) for thread in threads])
    except UnavailableError:
        raise
    except NotFoundError as error:
        return _skipped(runs, error.what, imported=imported)
    except (Skipped, PartitaError) as error:
        return _skipped(runs, str(error), imported=imported)
    return found


def _skipped(runs: Sequence[Run], why: str, *, imported: bool) -> list[ReprojectedRun]:
    return [ReprojectedRun(run.id, run.thread_id, "skipped", why, imported=imported) for run in runs]


def _results(
    runs: Sequence[Run], threads: Sequence[RebuiltThread], *, dry_run: bool, force: bool
) -> list[ReprojectedRun]:
    """The results for runs whose changes are written together or not at all."""
    ids = {run.id for run in runs}
    changes = [change for thread in threads for change in thread.changes if change.run_id in ids]
    outcome: Outcome = "changed" if changes else "unchanged"
    if any(change.report.lost for change in changes):
        outcome = "would-lose"
    is_written = not dry_run and (outcome == "changed" or (outcome == "would-lose" and force))
    results: list[ReprojectedRun] = []
    for run in runs:
        reports = tuple(change.report for change in changes if change.run_id == run.id)
        imported = threads[0].is_imported
        results.append(ReprojectedRun(run.id, run.thread_id, outcome, None, reports, is_written, imported))
    return results
