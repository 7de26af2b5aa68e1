"""`partita import --from`: threads and messages of other systems, from their databases or dumps."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from partita.cli.ending.interrupting import run as run_async
from partita.cli.output import print_json
from partita.cli.progress import Bar
from partita.cli.telling import tell
from partita.store.imports.registry import SYSTEMS

if TYPE_CHECKING:  # the store is loaded when a command needs it
    from partita.store.imports.report import ImportReport

SHOWN = 10


def run(
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
    from partita.store.imports.runner import import_rows
    from partita.store.opening import open_store

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
        _print(report)
    return 1 if report.failed else 0


def _print(report: "ImportReport") -> None:
    tell(f"{SYSTEMS[report.system].title}: {', '.join(report.tables)}")
    tell(f"  threads   {report.threads:>9,}  {report.new_threads:,} new")
    counts = f"{report.new:,} new, {report.changed:,} changed, {report.unchanged:,} unchanged"
    tell(f"  messages  {report.messages:>9,}  {counts}")
    _print_list("threads without a row of their own, made from their messages", report.orphans)
    if report.lost:
        tell(f"\n{report.lost:,} things could not be carried:")
        _print_items([f"{count:,} × {why}" for why, count in report.reasons.items()])
    _print_list("rows failed", [str(one) for one in report.failures], report.failed)
    if report.dry_run:
        tell("\nNothing was written: this was a dry run.")


def _print_list(title: str, items: Sequence[str], count: int | None = None) -> None:
    if items:
        tell(f"\n{len(items) if count is None else count:,} {title}:")
        _print_items(items, count)


def _print_items(items: Sequence[str], count: int | None = None) -> None:
    for item in items[:SHOWN]:
        tell(f"    {item}")
    more = (len(items) if count is None else count) - SHOWN
    if more > 0:
        tell(f"    … and {more:,} more; --json tells all")
