"""`watch_logs`: import logs while agents write them.

For each change, the sessions that it belongs to are imported: the result is that of one import at the end.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from partita.logs.files import find_logs, log_of, sub_agent_logs
from partita.logs.sources.registry import SOURCES
from partita.logs.sources.source import LogFile
from partita.logs.watching.watcher import WatchMethod, watch
from partita.store.store import Store

from .importer import import_logs
from .plan import LogImportReport, OnProgress
from .workers import Workers

CHECK_EVERY: Final = 60.0
"""After so many seconds all logs are checked: agents that stopped writing are not running any more."""


async def watch_logs(
    store: Store,
    find: Callable[[], Iterable[LogFile]],
    roots: Sequence[Path],
    *,
    resource_id: str | None = None,
    workers: Workers | None = None,
    on_import: Callable[[LogImportReport], None] | None = None,
    on_progress: OnProgress | None = None,
    on_method: Callable[[WatchMethod], None] | None = None,
    force_polling: bool = False,
    stop: asyncio.Event | None = None,
) -> None:
    """Import what `find` finds, then whatever changes at or below the roots, until `stop` is set.

    `on_import` is called with the report of each import that has read something or failed.
    """
    one_at_a_time = asyncio.Lock()

    async def import_files(files: Callable[[], Iterable[LogFile]]) -> None:
        async with one_at_a_time:
            found = await asyncio.to_thread(lambda: list(files()))
            report = await import_logs(
                store, found, resource_id=resource_id, workers=workers, on_progress=on_progress, followed=True
            )
        if on_import is not None and (report.read or report.problems):
            on_import(report)

    async def check() -> None:
        while True:
            await asyncio.sleep(CHECK_EVERY)
            await import_files(find)

    checking = asyncio.create_task(check())
    try:
        async for changed in watch(roots, on_method=on_method, force_polling=force_polling, stop=stop):
            await import_files(partial(sessions_of, changed) if changed else find)
    finally:
        checking.cancel()


def sessions_of(changed: Iterable[Path]) -> list[LogFile]:
    """The files of all sessions that changed files belong to, with those of their sub-agents."""
    files: dict[Path, LogFile] = {}
    for path in changed:
        for file in _session_files(path):
            files.setdefault(file.path, file)
    return list(files.values())


def _session_files(path: Path) -> Iterable[LogFile]:
    file = _log_at(path)
    if file is None:
        return
    source = SOURCES.get(file.agent)
    sub_agents = None if source is None else source.sub_agents
    if sub_agents is None:
        yield file
        return
    above = sub_agents.session(file)
    session = (log_of(above) if above is not None else None) or file
    yield session
    yield from sub_agent_logs(session)


def _log_at(path: Path) -> LogFile | None:
    """The log at a path; where the path does not say it, by its content: a user may keep copies."""
    return log_of(path) or (next(iter(find_logs([path]).files), None) if path.is_file() else None)
