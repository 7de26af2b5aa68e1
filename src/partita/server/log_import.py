"""The import of the logs of agents while the server runs: they are followed, or imported on request."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from partita.errors import PartitaError
from partita.importers.logs.importer import import_logs
from partita.importers.logs.locations import configured_scope
from partita.importers.logs.plan import LogImportReport, Progress
from partita.importers.logs.watch import watch_logs
from partita.importers.logs.workers import Workers
from partita.logs.sources.source import LogFile
from partita.runtime.background_task import BackgroundTask
from partita.runtime.log_context import get_logger
from partita.store.store import Store

from .feed import ImportProgress

LOG = get_logger("partita.server")

OnProgress: TypeAlias = Callable[[Progress], None]
OnReport: TypeAlias = Callable[[LogImportReport], None]


class LogImport(BackgroundTask):
    """Use it as an async context manager: at the end, an import on request is cancelled."""

    def __init__(self, store: Store, progress: ImportProgress) -> None:
        self._store = store
        self._progress = progress
        self._restart: asyncio.Event | None = None
        self._problems: dict[str, tuple[PartitaError, ...]] = {}
        self._written: dict[str, int] = {}
        """When the files with problems were last written to."""
        self.followed: tuple[Path, ...] = ()
        """The folders and files that are watched for changes."""

    def _work(self) -> None:
        return None

    @property
    def is_following(self) -> bool:
        """Whether new sessions are imported while the server runs."""
        return self._restart is not None

    @property
    def problems(self) -> Mapping[str, tuple[PartitaError, ...]]:
        """What could not be imported, by file. A file that was deleted or imported since is left out."""
        for path in [one for one in self._problems if not Path(one).exists()]:
            self._forget(path)
        return self._problems

    async def follow(self, *, on_progress: OnProgress, on_import: OnReport) -> None:
        """Import all sessions in the scope of the settings, then every new line within a second."""

        def report(done: LogImportReport) -> None:
            self._report(done)
            on_import(done)

        def show(progress: Progress) -> None:
            self._show(progress)
            on_progress(progress)

        try:
            while True:
                scope = configured_scope()
                self._restart = stop = asyncio.Event()
                self.followed = scope.roots()
                with Workers() as pool:
                    await watch_logs(
                        self._store,
                        lambda scope=scope: scope.search().files,
                        self.followed,
                        workers=pool,
                        on_import=report,
                        on_progress=show,
                        stop=stop,
                    )
        except PartitaError:
            self._progress.update("failed")
            raise
        finally:
            self._restart, self.followed = None, ()

    def restart(self) -> None:
        """Follow the logs in the scope of changed settings, and import them."""
        if self._restart is not None:
            self._restart.set()

    def start(self) -> None:
        """Import all sessions once, in the background, unless that is running."""
        if self._task is None or self._task.done():
            self._progress.update("reading")
            self._task = asyncio.create_task(self._import(), name="import the logs of agents")

    async def _import(self) -> None:
        try:
            files = await asyncio.to_thread(lambda: configured_scope().search().files)
            self._report(await self._import_files(files))
        except PartitaError as error:
            LOG.warning("the logs of agents could not be imported: %s", error)
            self._progress.update("failed")

    async def _import_files(self, files: tuple[LogFile, ...]) -> LogImportReport:
        with Workers() as pool:
            return await import_logs(
                self._store, files, workers=pool, on_progress=self._show, followed=self.is_following
            )

    def _show(self, done: Progress) -> None:
        self._progress.update("reading", files=done.files, all_files=done.all_files, messages=done.messages)

    def _report(self, report: LogImportReport) -> None:
        for path in [one for one, written in self._written.items() if _written_at(one) != written]:
            self._forget(path)
        for path, problems in report.problems.items():
            self._problems[path] = tuple(problems)
            self._written[path] = _written_at(path)
        counts = report.counts
        self._progress.update(
            "done",
            files=report.files,
            all_files=report.files,
            sessions=counts.new_threads,
            messages=counts.new,
        )

    def _forget(self, path: str) -> None:
        del self._problems[path], self._written[path]


def _written_at(path: str) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0
