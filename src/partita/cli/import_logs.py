"""`partita import` without `--from`: finds the logs of agents, imports them, and prints the report."""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from partita.cli.output import print_json

from .blocking import run_async
from .output import Bar, echo

if TYPE_CHECKING:  # imported when the command runs
    from partita.errors import PartitaError
    from partita.importers.logs.plan import LogImportReport, Progress
    from partita.logs.sources.source import LogFile

SHOWN = 12


class LogBar(Bar):
    """A progress bar over bytes, with the number of files and messages and the speed."""

    def __init__(self) -> None:
        super().__init__("reading", ("files", "speed", "messages"))

    def show(self, done: "Progress") -> None:
        """Show the progress of the import."""
        self.update(
            done.bytes,
            max(done.all_bytes, done.bytes),
            files=f"{done.files:,}/{done.all_files:,} files",
            speed=f"{done.bytes / max(self.seconds, 0.001) / 1e6:.1f} MB/s",
            messages=f"{done.messages:,} messages",
        )


def find(
    paths: Sequence[str], agents: Sequence[str]
) -> "tuple[tuple[LogFile, ...], tuple[PartitaError, ...]]":
    """Return the logs at paths, or all logs on this machine, and the errors for paths that cannot be read."""
    if paths:
        from partita.logs.files import find_logs

        found = find_logs(paths)
        files, problems = found.files, found.problems
    else:
        from partita.logs.files import discover

        errors: list[PartitaError] = []
        files, problems = discover(report=errors.append), tuple(errors)
    return tuple(file for file in files if not agents or file.agent in agents), tuple(problems)


def check_agents(agents: Sequence[str]) -> None:
    """Raise a usage error for the name of an unknown agent."""
    from partita.logs.sources.registry import AGENTS

    for name in agents:
        if name not in AGENTS:
            raise click.UsageError(f"unknown agent {name!r}; use one of {', '.join(AGENTS)}")


def import_log_files(
    paths: Sequence[str],
    *,
    url: str | None,
    resource: str | None,
    agents: Sequence[str],
    workers: int | None,
    as_json: bool,
) -> int:
    """Import logs and return the exit code."""
    began = time.monotonic()
    from partita.importers.logs.workers import Workers

    with Workers(workers) as pool:
        pool.start()  # as early as possible: they import their modules while this process imports its own
        check_agents(agents)
        from partita.importers.logs.importer import import_logs
        from partita.store.connection import open_store

        async def work() -> "LogImportReport":
            async with open_store(url) as store:
                files, problems = find(paths, agents)
                with LogBar() as bar:
                    report = await import_logs(
                        store, files, resource_id=resource, workers=pool, on_progress=bar.show
                    )
                for problem in problems:
                    report.problem(problem.where, f"{problem.what}; hint: {problem.hint}")
                return report

        report = run_async(work())
    if as_json:
        print_json(report.to_json())
    else:
        _print(report, time.monotonic() - began, named=bool(paths))
    return 1 if report.failed else 0


def _print(report: "LogImportReport", seconds: float, *, named: bool) -> None:
    counts = report.counts
    if not report.files and not report.failed:
        echo("No logs of agents were found.")
        if not named:
            echo("hint: name files or folders, or set CLAUDE_CONFIG_DIR, CODEX_HOME … to their folders")
        return
    speed = f", {report.bytes / seconds / 1e6:.0f} MB/s" if report.bytes and seconds > 0 else ""
    echo(f"files     {report.files:>9,}  {report.read:,} changed, {report.bytes / 1e6:.1f} MB{speed}")
    echo(f"threads   {'':>9}  {counts.new_threads:,} new")
    changes = f"{counts.new:,} new, {counts.changed:,} changed, {counts.unchanged:,} unchanged"
    echo(f"messages  {'':>9}  {changes}")
    if report.gone:
        echo(f"deleted   {report.gone:>9,}  files that were imported earlier; their threads stay")
    _print_by_path("unknown or damaged records:", report.unknown_records)
    _print_by_path("could not be imported:", report.problems)


def _print_by_path(title: str, found: "Mapping[str, Sequence[object]]") -> None:
    lines = [f"{path}: {one}" for path, each in sorted(found.items()) for one in each]
    if not lines:
        return
    echo(f"\n{title}")
    for line in lines[:SHOWN]:
        echo(f"  {line}")
    if len(lines) > SHOWN:
        echo(f"  … and {len(lines) - SHOWN:,} more; --json lists all")
