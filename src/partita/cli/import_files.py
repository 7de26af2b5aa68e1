"""`partita import --demo`: a few conversations to look at, and nobody's."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from partita.cli.output import print_json
from partita.importers.databases.system import get_system

from .blocking import run_async
from .output import Bar, echo

# `partita import --from FORMAT`: messages of any format, from a file.

if TYPE_CHECKING:  # the store is loaded when a command needs it
    from partita.formats.format import Loaded
    from partita.importers.messages import ThreadMessages
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
    as_json: bool,
) -> int:
    """Bring in the messages of a file; gives the exit code."""
    from partita.importers.messages import by_thread, import_messages
    from partita.store.connection import open_store

    loaded = _load(path, format)
    threads = by_thread(loaded.messages, thread_id=thread, key=thread_by, owner=resource)

    async def work() -> "Counts":
        async with open_store(url) as store:
            return await import_messages(store, threads, dry_run=dry_run)

    counts = run_async(work())
    if as_json:
        lost = [one._asdict() for one in loaded.losses]
        print_json({"format": format, **counts._asdict(), "losses": lost, "dryRun": dry_run})
    else:
        _print_messages(format, loaded, threads, counts, dry_run=dry_run)
    return 0


def _load(path: str, format: str) -> "Loaded":
    from partita.cli.source import open_source
    from partita.errors import FormatError, PartitaError
    from partita.formats.registry import get_format

    try:
        reading = get_format(format).load
    except FormatError as error:
        raise click.UsageError(f"--from knows no system and {error.what}; {error.hint}") from None
    if reading is None:
        raise FormatError(f"{format} is a stream, not messages", hint="partita fold makes a message of it")
    try:
        with Path(path).open("rb") as file:
            return reading(open_source(file).payload())
    except OSError as error:
        raise FormatError(f"{error.strerror or error}", where=path, hint="name a file of messages") from None
    except PartitaError as error:
        error.where = f"{path}, {error.where}" if error.where else path
        raise


def _print_messages(
    format: str, loaded: "Loaded", threads: "Sequence[ThreadMessages]", counts: "Counts", *, dry_run: bool
) -> None:
    echo(f"messages in {format}")
    echo(f"  threads   {len(threads):>9,}  {counts.new_threads:,} new")
    counted = f"{counts.new:,} new, {counts.changed:,} changed, {counts.unchanged:,} unchanged"
    echo(f"  messages  {sum(len(one.messages) for one in threads):>9,}  {counted}")
    if loaded.losses:
        echo(f"\n{len(loaded.losses):,} things could not be carried:")
        reasons = Counter(loss.why for loss in loaded.losses)
        for why, count in reasons.most_common(SHOWN):
            echo(f"    {count:,} × {why}")
    if dry_run:
        echo("\nNothing was written: this was a dry run.")


# `partita import --from`: threads and messages of other systems, from their databases or dumps.

if TYPE_CHECKING:  # the store is loaded when a command needs it
    from partita.importers.databases.report import ImportReport


def import_rows_source(
    source: str,
    system: str,
    *,
    url: str | None,
    resource: str | None,
    tables: str | None,
    batch_size: int,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Bring in the rows of a source; gives the exit code."""
    from partita.importers.databases.importer import import_rows
    from partita.store.connection import open_store

    async def work() -> "ImportReport":
        async with open_store(url) as store:
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
        _print_rows(report)
    return 1 if report.failed else 0


def _print_rows(report: "ImportReport") -> None:
    echo(f"{get_system(report.system).title}: {', '.join(report.tables)}")
    echo(f"  threads   {report.threads:>9,}  {report.new_threads:,} new")
    counts = f"{report.new:,} new, {report.changed:,} changed, {report.unchanged:,} unchanged"
    echo(f"  messages  {report.messages:>9,}  {counts}")
    _print_list("threads without a row of their own, made from their messages", report.orphans)
    if report.lost:
        echo(f"\n{report.lost:,} things could not be carried:")
        _print_items([f"{count:,} × {why}" for why, count in report.reasons.items()])
    _print_list("rows failed", [str(one) for one in report.failures], report.failed)
    if report.dry_run:
        echo("\nNothing was written: this was a dry run.")


def _print_list(title: str, items: Sequence[str], count: int | None = None) -> None:
    if items:
        echo(f"\n{len(items) if count is None else count:,} {title}:")
        _print_items(items, count)


def _print_items(items: Sequence[str], count: int | None = None) -> None:
    for item in items[:SHOWN]:
        echo(f"    {item}")
    more = (len(items) if count is None else count) - SHOWN
    if more > 0:
        echo(f"    … and {more:,} more; --json tells all")


def import_demo(*, url: str | None, as_json: bool) -> int:
    """Bring in the examples; gives the exit code."""
    from partita.demo.archive import load_archive
    from partita.store.connection import open_store

    async def work() -> int:
        async with open_store(url) as store:
            return await load_archive(store)

    count = run_async(work())
    if as_json:
        print_json({"threads": count})
    else:
        echo(f"threads   {count:>9,}  examples; `partita threads` lists them")
    return 0
