"""`partita watch`: import the sessions of agents while they are written."""

import asyncio
import contextlib
import signal
from collections.abc import Generator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from partita.cli.import_logs import SHOWN, check_agents, find, print_agents, print_problems, session_line

from .options import log_agents_option, store_option
from .output import echo, print_json_line
from .parameter_types import ExistingPath

if TYPE_CHECKING:  # imported when the command runs
    from partita.importers.logs.plan import LogImportReport
    from partita.logs.sources.source import LogFile
    from partita.logs.watching.watcher import WatchMethod


@click.command(
    short_help="Import agents' sessions continuously.",
    epilog="""\b
Examples:
  partita watch                     all agents on this machine, until Ctrl-C
  partita watch ~/.claude/projects  one folder
  partita watch --json              one JSON object per import
""",
)
@click.argument("paths", nargs=-1, type=ExistingPath(), metavar="[PATH]…")
@store_option
@click.option("--resource", metavar="ID", help="The owner of the imported threads.")
@log_agents_option
@click.option("--poll", is_flag=True, help="Poll the files instead of waiting for file system events.")
@click.option("--json", "as_json", is_flag=True, help="Print each import as JSON, one object per line.")
def watch(
    *,
    paths: tuple[str, ...],
    url: str | None,
    resource: str | None,
    agents: tuple[str, ...],
    poll: bool,
    as_json: bool,
) -> None:
    """Import all sessions, then every new line within a second, until Ctrl-C.

    Each change is a line with the session: time, agent, project, title, new messages. An incomplete last line
    of a log is imported when it is complete. Files and folders may be created later.
    """
    from partita.config.config import Config
    from partita.importers.logs.locations import configured_scope
    from partita.importers.logs.watch import watch_logs
    from partita.importers.logs.workers import Workers
    from partita.runtime.retention import DailyRetention
    from partita.store.connection import open_store

    from .retention import policy_in

    check_agents(agents)
    policy = policy_in(Config())
    scope = configured_scope(agents)
    watched = [Path(path).absolute() for path in paths] or list(scope.roots())

    def files() -> "tuple[LogFile, ...]":
        return find(paths, agents)[0]

    async def work() -> None:
        async with open_store(url) as store, DailyRetention(store, policy):
            with _until_stopped() as stop:
                await watch_logs(
                    store,
                    files,
                    watched,
                    resource_id=resource,
                    workers=pool,
                    on_import=lambda report: _print_report(report, as_json=as_json),
                    on_method=_print_method,
                    force_polling=poll,
                    stop=stop,
                )

    with Workers() as pool:
        asyncio.run(work())


@contextlib.contextmanager
def _until_stopped() -> Generator[asyncio.Event, None, None]:
    """Yield an event that is set on SIGINT (Ctrl-C) or SIGTERM."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    with contextlib.suppress(NotImplementedError):  # on Windows, where Ctrl-C raises KeyboardInterrupt
        for each in signals:
            loop.add_signal_handler(each, stop.set)
    yield stop
    with contextlib.suppress(NotImplementedError):
        for each in signals:
            loop.remove_signal_handler(each)


def _print_report(report: "LogImportReport", *, as_json: bool) -> None:
    if as_json:
        print_json_line(report.to_json())
        return
    print_problems(report.problems)
    sessions = report.changed_sessions
    if len(sessions) > SHOWN:  # the first import
        print_agents(report)
        return
    time = datetime.now().astimezone().strftime("%H:%M:%S")
    for session in sessions:
        echo(session_line(session), mark=f"{time}  ")


def _print_method(method: "WatchMethod") -> None:
    echo(f"watching by {method.name}{f' ({method.why})' if method.why else ''}", err=True)


COMMAND = watch
