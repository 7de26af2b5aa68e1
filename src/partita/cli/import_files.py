"""`partita import --from` and `--demo`: import messages of a format, rows of a system, or demo data."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from partita.cli.output import print_json
from partita.importers.databases.system import get_system
from partita.views.text import counted

from .blocking import run_async
from .import_logs import DRY_RUN, import_store
from .output import Bar, echo, print_losses, print_notice

if TYPE_CHECKING:  # imported when the command runs
    from partita.formats.format import Loaded
    from partita.importers.databases.report import ImportReport
    from partita.store.bulk.writer import Counts

SHOWN = 10


def import_messages_file(
    path: str,
    format: str,
    *,
    url: str | None,
    resource: str | None,
    thread: str | None,
    thread_by: str | None,
    dry_run: bool,
    every_loss: bool,
    as_json: bool,
) -> int:
    """Import the messages of a file and return the exit code."""
    from partita.errors import ConversionError
    from partita.importers.messages import by_thread, import_messages

    loaded = _load(path, format)
    try:
        threads = by_thread(loaded.messages, thread_id=thread, key=thread_by, owner=resource)
    except ConversionError as error:
        error.where = ", ".join(filter(None, (path, error.where)))
        raise

    async def work() -> "Counts":
        async with import_store(url, dry_run=dry_run) as store:
            return await import_messages(store, threads, dry_run=dry_run)

    counts = run_async(work())
    if as_json:
        lost = [one._asdict() for one in loaded.losses]
        print_json({"format": format, **counts._asdict(), "losses": lost, "dryRun": dry_run})
    else:
        echo(f"messages in {format}")
        _print_counts(len(threads), sum(len(one.messages) for one in threads), counts)
        print_losses(loaded.losses, every=every_loss)
        if dry_run:
            echo(DRY_RUN, err=True)
    return 0


def _load(path: str, format: str) -> "Loaded":
    from difflib import get_close_matches

    from partita.cli.source import open_source
    from partita.errors import FormatError, PartitaError
    from partita.formats.conversion import read
    from partita.formats.registry import format_names, get_format
    from partita.importers.databases.system import SYSTEMS

    try:
        reading = get_format(format, "read")
    except FormatError as error:
        known = f"systems: {', '.join(SYSTEMS)}; `partita formats` lists the formats"
        near = get_close_matches(format, [*SYSTEMS, *format_names("read")], 1)
        hint = f"did you mean {near[0]}?" if near else known
        raise click.BadParameter(f"{error.what}; {hint}", param_hint="--from") from error
    try:
        with Path(path).open("rb") as file:
            return read(open_source(file).payload(), reading)
    except OSError as error:
        what = (error.strerror or str(error)).lower()
        raise FormatError(what, where=path, hint="name a file of messages") from None
    except PartitaError as error:
        error.where = f"{path}, {error.where}" if error.where else path
        raise


def _print_counts(threads: int, messages: int, counts: "Counts | ImportReport") -> None:
    echo(f"  threads   {threads:>9,}  {counts.new_threads:,} new")
    changes = f"{counts.new:,} new, {counts.changed:,} changed, {counts.unchanged:,} unchanged"
    echo(f"  messages  {messages:>9,}  {changes}")


def import_rows_source(
    source: str,
    system: str,
    *,
    url: str | None,
    resource: str | None,
    tables: str | None,
    batch_size: int,
    dry_run: bool,
    every_loss: bool,
    as_json: bool,
) -> int:
    """Import the rows of a source and return the exit code."""
    from partita.importers.databases.importer import import_rows

    async def work() -> "ImportReport":
        async with import_store(url, dry_run=dry_run) as store:
            with Bar("importing") as bar:
                return await import_rows(
                    store,
                    system,
                    source,
                    resource_id=resource,
                    tables=tables,
                    batch_size=batch_size,
                    dry_run=dry_run,
                    progress=bar,
                )

    report = run_async(work())
    if as_json:
        print_json(report.to_json())
    else:
        _print_rows(report, every_loss=every_loss)
    return 1 if report.failed else 0


def _print_rows(report: "ImportReport", *, every_loss: bool) -> None:
    echo(f"{get_system(report.system).title}: {', '.join(report.tables)}")
    _print_counts(report.threads, report.messages, report)
    _print_list("threads without a thread row, created from their messages", report.orphans)
    _print_list("rows failed", [str(one) for one in report.failures], report.failed)
    print_losses(report.losses, every=every_loss)
    if report.lost > len(report.losses):
        print_notice(f"these are the first of {counted(report.lost, 'loss', 'losses')}")
    if report.dry_run:
        echo(DRY_RUN, err=True)


def _print_list(title: str, items: Sequence[str], count: int | None = None) -> None:
    total = len(items) if count is None else count
    if items:
        echo(f"\n{total:,} {title}:")
    for item in items[:SHOWN]:
        echo(f"    {item}")
    more = total - SHOWN
    if more > 0:
        echo(f"    … and {more:,} more; --json lists all")


def import_demo(*, url: str | None, as_json: bool) -> int:
    """Import the demo data and return the exit code."""
    from partita.demo.archive import load_archive
    from partita.store.connection import open_store

    async def work() -> int:
        async with open_store(url) as store:
            return await load_archive(store)

    count = run_async(work())
    if as_json:
        print_json({"threads": count})
    else:
        echo(f"threads   {count:>9,}  demo threads; `partita threads` lists them")
    return 0
