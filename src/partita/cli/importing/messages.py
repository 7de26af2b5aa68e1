"""`partita import --from FORMAT`: messages of any format, from a file."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from partita.cli.ending.interrupting import run as run_async
from partita.cli.output import print_json
from partita.cli.telling import tell

if TYPE_CHECKING:  # the store is loaded when a command needs it
    from partita.formats.format import Loaded
    from partita.store.imports.messages import ThreadMessages
    from partita.store.imports.report import Counts

SHOWN = 10


def run(
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
    from partita.store.imports.messages import by_thread, import_messages
    from partita.store.opening import open_store

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
        _print(format, loaded, threads, counts, dry_run=dry_run)
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


def _print(
    format: str, loaded: "Loaded", threads: "Sequence[ThreadMessages]", counts: "Counts", *, dry_run: bool
) -> None:
    tell(f"messages in {format}")
    tell(f"  threads   {len(threads):>9,}  {counts.new_threads:,} new")
    counted = f"{counts.new:,} new, {counts.changed:,} changed, {counts.unchanged:,} unchanged"
    tell(f"  messages  {sum(len(one.messages) for one in threads):>9,}  {counted}")
    if loaded.losses:
        tell(f"\n{len(loaded.losses):,} things could not be carried:")
        reasons = Counter(loss.why for loss in loaded.losses)
        for why, count in reasons.most_common(SHOWN):
            tell(f"    {count:,} × {why}")
    if dry_run:
        tell("\nNothing was written: this was a dry run.")
