"""`partita import` of logs: what is found, how far it is, what came of it."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from partita.cli.output import print_json

from .blocking import run_async
from .output import Bar, echo

# The progress bar of an import of logs.

if TYPE_CHECKING:
    from partita.importers.logs.plan import Progress


class LogBar(Bar):
    """A bar over bytes, with the number of files and messages and the speed."""

    def __init__(self) -> None:
        super().__init__("reading", ("files", "speed", "messages"))

    def show(self, done: "Progress") -> None:
        """Show how far the import is."""
        self.update(
            done.bytes,
            max(done.all_bytes, done.bytes),
            files=f"{done.files:,}/{done.all_files:,} files",
            speed=f"{done.bytes / max(self.seconds, 0.001) / 1e6:.1f} MB/s",
            messages=f"{done.messages:,} messages",
        )


if TYPE_CHECKING:  # what reads is loaded when a command needs it
    from partita.errors import PartitaError
    from partita.importers.logs.plan import LogImportReport
    from partita.logs.sources.source import LogFile

SHOWN = 12


def find(
    paths: Sequence[str], agents: Sequence[str]
) -> "tuple[tuple[LogFile, ...], tuple[PartitaError, ...]]":
    """The logs at paths, or all there are on this machine; and what could not be looked at."""
    if paths:
        from partita.logs.files import find_logs

        found = find_logs(paths)
        files, problems = found.files, found.problems
    else:
        from partita.logs.files import discover

        noted: list[PartitaError] = []
        files, problems = discover(report=noted.append), tuple(noted)
    return tuple(file for file in files if not agents or file.agent in agents), tuple(problems)


def check_agents(agents: Sequence[str]) -> None:
    """Refuse the names of agents that nobody knows."""
    from partita.logs.sources.registry import AGENTS

    for name in agents:
        if name not in AGENTS:
            raise click.UsageError(f"no agent {name!r}; there are {', '.join(AGENTS)}")


def import_log_files(
    paths: Sequence[str],
    *,
    url: str | None,
    resource: str | None,
    agents: Sequence[str],
    workers: int | None,
    as_json: bool,
) -> int:
    """Bring in logs; gives the exit code."""
    began = time.monotonic()
    from partita.importers.logs.workers import Workers

    with Workers(workers) as pool:
        pool.start()  # first of all: they load what they need while we do
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
            echo("hint: name files or folders, or set CLAUDE_CONFIG_DIR, CODEX_HOME … to the right place")
        return
    speed = f", {report.bytes / seconds / 1e6:.0f} MB/s" if report.bytes and seconds > 0 else ""
    echo(f"files     {report.files:>9,}  {report.read:,} with news, {report.bytes / 1e6:.1f} MB{speed}")
    echo(f"threads   {'':>9}  {counts.new_threads:,} new")
    told = f"{counts.new:,} new, {counts.changed:,} changed, {counts.unchanged:,} unchanged"
    echo(f"messages  {'':>9}  {told}")
    if report.gone:
        echo(f"gone      {report.gone:>9,}  files that were read once are no more; their threads stay")
    _print_findings(report)
    _print_problems(report)


def _print_findings(report: "LogImportReport") -> None:
    lines = [f"{path}: {one}" for path, found in sorted(report.unknown_records.items()) for one in found]
    if lines:
        echo("\nnot understood or damaged:")
        _print_lines(lines)


def _print_problems(report: "LogImportReport") -> None:
    lines = [f"{path}: {what}" for path, each in sorted(report.problems.items()) for what in each]
    if lines:
        echo("\ncould not be brought in:")
        _print_lines(lines)


def _print_lines(lines: Sequence[str]) -> None:
    for line in lines[:SHOWN]:
        echo(f"  {line}")
    if len(lines) > SHOWN:
        echo(f"  … and {len(lines) - SHOWN:,} more; --json tells all")
