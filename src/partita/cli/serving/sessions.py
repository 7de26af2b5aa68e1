"""The sessions of agents, brought in and followed beside a server."""

import asyncio
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:  # the server is loaded when the command is run
    from partita.logs.importing.report import LogImportReport, Progress
    from partita.logs.places.log_file import LogFile
    from partita.server.hub import Hub
    from partita.server.runner import Work


def sessions_here() -> "tuple[LogFile, ...]":
    """The logs that agents left on this machine."""
    from partita.cli.importing.logs import find

    return find((), ())[0]


async def following(hub: "Hub") -> None:
    """Bring in what is there, then every new line within a second."""
    from partita.cli.importing.log_bar import LogBar
    from partita.errors import PartitaError
    from partita.logs.importing.live import watch_logs
    from partita.logs.importing.workers import Workers
    from partita.logs.places.places import roots

    telling = _Telling(hub)
    try:
        with Workers() as pool, LogBar() as bar:

            def show(done: "Progress") -> None:
                telling.progress(done)
                if not telling.told:
                    bar(done)

            await watch_logs(
                hub.store, sessions_here, list(roots()), workers=pool, tell=telling.report, progress=show
            )
    except PartitaError as error:  # the server goes on without them
        hub.progress.tell("failed")
        click.echo(f"The sessions of agents could not be brought in: {error}", err=True)


def together(*works: "Work") -> "Work | None":
    """Works side by side, as one."""
    if not works:
        return None

    async def work(hub: "Hub") -> None:
        await asyncio.gather(*(each(hub) for each in works))

    return work


class _Telling:
    """Says on the terminal what the first look brought, and on the page how far each one is."""

    def __init__(self, hub: "Hub") -> None:
        self._hub = hub
        self.told = False

    def progress(self, done: "Progress") -> None:
        """So far."""
        self._hub.progress.tell("reading", files=done.files, all_files=done.all_files, messages=done.messages)

    def report(self, report: "LogImportReport") -> None:
        """It is done."""
        counts = report.counts
        self._hub.progress.tell(
            "done",
            files=report.files,
            all_files=report.files,
            sessions=counts.new_threads,
            messages=counts.new,
        )
        if self.told:
            return
        self.told = True
        brought = f"{counts.new_threads:,} new sessions, {counts.new:,} new messages"
        click.echo(f"{report.files:,} logs of agents were looked at: {brought}.", err=True)
