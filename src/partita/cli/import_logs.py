"""`partita import` without `--from`: finds the logs of agents, imports them, and prints the report."""

import re
import sys
import time
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from partita.cli.output import print_json
from partita.views.text import counted

from .blocking import run_async
from .exit_codes import print_error
from .output import Bar, echo

if TYPE_CHECKING:  # imported when the command runs
    from partita.errors import PartitaError
    from partita.importers.logs.plan import AgentReport, ImportedSession, LogImportReport, Progress
    from partita.logs.sources.source import LogFile
    from partita.store.bulk.writer import Counts
    from partita.store.store import Store

SHOWN = 12
TITLE = 60
"""The number of characters of a title that are shown."""

LARGE = 50_000_000
"""The number of bytes from which on the time of an import is shown."""

NEXT = "next: partita show last · partita search WORDS · partita serve"
DRY_RUN = "Dry run: nothing was written."
HOMES = "CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME or XDG_DATA_HOME"


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

        if not all(paths):
            raise click.UsageError("a path is empty")

        found = find_logs(paths)
        files = tuple(file for file in found.files if not agents or file.agent in agents)
        return files, found.problems
    from partita.importers.logs.locations import configured_scope

    everything = configured_scope(agents).search()
    return everything.files, everything.problems


def check_agents(agents: Sequence[str]) -> None:
    """Raise a usage error for the name of an unknown agent."""
    from partita.logs.sources.registry import AGENTS

    for name in agents:
        if name not in AGENTS:
            raise click.UsageError(f"unknown agent {name!r}; use one of {', '.join(AGENTS)}")


@asynccontextmanager
async def import_store(url: str | None, *, dry_run: bool) -> "AsyncGenerator[Store]":
    """Open the store to import into. A dry run creates none: it compares with an empty one in memory."""
    from partita.errors import NotFoundError
    from partita.store.connection import open_store

    try:
        store = await open_store(url, create=not dry_run)
    except NotFoundError:
        if not dry_run:
            raise
        store = await open_store("memory:")
    async with store:
        yield store


def import_log_files(
    paths: Sequence[str],
    *,
    url: str | None,
    resource: str | None,
    agents: Sequence[str],
    workers: int | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Import logs and return the exit code."""
    began = time.monotonic()
    from partita.importers.logs.workers import Workers

    with Workers(workers) as pool:
        pool.start()  # as early as possible: they import their modules while this process imports its own
        check_agents(agents)
        from partita.importers.logs.importer import import_logs

        async def work() -> "LogImportReport":
            async with import_store(url, dry_run=dry_run) as store:
                files, problems = find(paths, agents)
                with LogBar() as bar:
                    report = await import_logs(
                        store,
                        files,
                        resource_id=resource,
                        workers=pool,
                        on_progress=bar.show,
                        dry_run=dry_run,
                        restore=bool(paths) and not any(Path(path).is_dir() for path in paths),
                    )
                for problem in problems:
                    report.problem(problem.where, problem)
                return report

        report = run_async(work())
    if as_json:
        print_json(report.to_json())
    else:
        print_problems(report.problems)
        if report.files:
            _print(report, time.monotonic() - began)
        elif not report.failed:
            _print_places(paths, agents)
    return 1 if report.failed else 0


def print_problems(problems: "Mapping[str, Sequence[PartitaError]]") -> None:
    """Print the errors of an import by path."""
    errors = [(path, error) for path, each in sorted(problems.items()) for error in each]
    for path, error in errors[:SHOWN]:
        place = error.where.removeprefix(path).removeprefix(", ")
        print_error(error.what, ", ".join(filter(None, (shown_path(path), place))), error.hint)
    if len(errors) > SHOWN:
        echo(f"… and {counted(len(errors) - SHOWN, 'more error')}; --json lists all", err=True)


def shown_path(path: str) -> str:
    """Return a path relative to the current folder if it is inside, else with `~` for the home folder."""
    from .view.context import short_path

    here = f"{Path.cwd()}/"
    return short_path(path.removeprefix(here), None)


def print_agents(report: "LogImportReport") -> None:
    """Print the numbers of sessions and messages, one line per agent."""
    rows = [
        (name, counted(agent.files, "file"), _sessions(agent), _messages(agent.counts))
        for name, agent in report.agents.items()
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        echo("   ".join(cells).rstrip())


def _print(report: "LogImportReport", seconds: float) -> None:
    print_agents(report)
    if report.bytes >= LARGE:
        echo(f"{report.bytes / 1e6:,.0f} MB in {seconds:.0f} s")
    if report.gone:
        files = "file of an earlier import was" if report.gone == 1 else "files of earlier imports were"
        echo(f"{report.gone:,} {files} deleted; the threads stay")
    if report.dry_run:
        _print_list("would be imported:", map(_planned, report.changed_sessions))
    unknown = (
        f"{shown_path(path)}: {one}" for path, each in sorted(report.unknown_records.items()) for one in each
    )
    _print_list("unknown or damaged records:", unknown)
    if report.dry_run:
        echo(DRY_RUN, err=True)
    elif sys.stderr.isatty():
        echo(NEXT, err=True)


def _sessions(agent: "AgentReport") -> str:
    """Return the numbers of sessions: `2 new sessions, 1 changed`."""
    counts = {
        "new": agent.counts.new_threads,
        "changed": agent.changed,
        "unchanged": agent.unchanged,
        "removed": agent.removed,
    }
    return _counts("session", counts) or "no sessions"


def _messages(counts: "Counts") -> str:
    """Return the numbers of messages: `12 new messages, 1 changed`."""
    return _counts("message", {"new": counts.new, "changed": counts.changed})


def _counts(noun: str, counts: Mapping[str, int]) -> str:
    found = [(name, count) for name, count in counts.items() if count]
    (first, count), *others = found or [("", 0)]
    texts = [counted(count, f"{first} {noun}"), *(f"{count:,} {name}" for name, count in others)]
    return ", ".join(texts) if found else ""


def _planned(session: "ImportedSession") -> str:
    return f"{'new' if session.counts.new_threads else 'changed':7}  {session_line(session)}"


def session_line(session: "ImportedSession") -> str:
    """Return the agent, the project and the title of a session, and what is new in it."""
    from .view.text import one_line

    thread = session.thread
    project = re.split(r"[/\\]", (thread.project or "").rstrip("/\\"))[-1]
    texts = [one_line(text, TITLE) for text in (project, thread.title or thread.id) if text]
    new, changed = session.counts.new, session.counts.changed
    counts = [f"+{counted(new, 'message')}"] if new else []
    counts += [f"{changed:,} changed"] if changed else []
    return "  ".join([f"{thread.agent or '':11}", *texts, ", ".join(counts)])


def _print_list(title: str, items: Iterable[str]) -> None:
    lines = list(items)
    if lines:
        echo(f"\n{title}")
    for line in lines[:SHOWN]:
        echo(f"  {line}")
    if len(lines) > SHOWN:
        echo(f"  … and {len(lines) - SHOWN:,} more; --json lists all")


def _print_places(paths: Sequence[str], agents: Sequence[str]) -> None:
    """Print where logs were searched for in vain."""
    from partita.logs.files import homes

    of = f" of {', '.join(agents)}" if agents else ""
    if paths:
        places = ", ".join(map(shown_path, paths))
        echo(
            f"No logs{of} were found in {places}." if of else f"Nothing to import: {places} is empty.",
            err=True,
        )
        return
    echo(f"No logs{of or ' of agents'} were found in:", err=True)
    for agent, folders in homes().items():
        if not agents or agent in agents:
            places = ", ".join(shown_path(str(folder)) for folder in folders)
            echo(f"  {agent:<11}  {places}", err=True)
    echo(f" hint: name files or folders, or set {HOMES}", indent=6, err=True)
