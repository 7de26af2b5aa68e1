"""`partita import`: threads and messages of other systems, from their databases or dumps."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from partita.store.imports.registry import SYSTEMS

from .output import print_json
from .progress import Bar

if TYPE_CHECKING:  # the store is loaded when a command needs it
    from partita.store.imports.report import ImportReport

SHOWN = 10


@click.command(
    "import",
    short_help="Bring in threads and messages of other systems.",
    epilog="""\b
Examples:
  partita import mastra.db --from mastra --dry-run     what would be done; nothing is written
  partita import mastra.db --from mastra               do it; done again, it adds what is new
  partita import postgresql://me@host/app --from mastra --tables my_schema
  partita import ~/agents.db --from cherry --resource ada
  partita import dump/ --from smithers --json          a folder of agents.csv, tool_calls.jsonl …
""",
)
@click.argument("source")
@click.option(
    "--from", "system", type=click.Choice(list(SYSTEMS)), required=True, help="Whose rows they are."
)
@click.option("--store", "url", metavar="URL", help="The store; without it $PARTITA_STORE, or your own file.")
@click.option("--resource", metavar="ID", help="Whose they become; without it, whose they are there.")
@click.option("--tables", metavar="NAME", help="The schema or prefix of the tables, if there are several.")
@click.option(
    "--batch-size", type=click.IntRange(min=1), default=200, show_default=True, help="Messages a transaction."
)
@click.option("--dry-run", is_flag=True, help="Write nothing, and tell what would be done.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
@click.pass_context
def import_rows(
    ctx: click.Context,
    *,
    source: str,
    system: str,
    url: str | None,
    resource: str | None,
    tables: str | None,
    batch_size: int,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Bring in the threads and messages of another system.

    SOURCE is a SQLite file (its program may be running), a postgresql:// URL, or a dump: JSON, JSON lines,
    CSV with a header, or a folder of such files named after their tables. It is never written to.

    Done again it changes nothing, and adds what was added there.

    Exit code: 0 when all went well, 1 when some row could not be brought in.
    """
    from partita.store.imports.runner import import_rows as run
    from partita.store.opening import open_store

    async def work() -> "ImportReport":
        async with open_store(url) as store:
            with Bar("importing") as bar:
                return await run(
                    store,
                    system,
                    source,
                    resource_id=resource,
                    tables=tables,
                    batch_size=batch_size,
                    dry_run=dry_run,
                    progress=bar,
                )

    report = asyncio.run(work())
    if as_json:
        print_json(report.to_json())
    else:
        _print(report)
    ctx.exit(1 if report.failed else 0)


def _print(report: "ImportReport") -> None:
    click.echo(f"{SYSTEMS[report.system].title}: {', '.join(report.tables)}")
    click.echo(f"  threads   {report.threads:>9,}  {report.new_threads:,} new")
    counts = f"{report.new:,} new, {report.changed:,} changed, {report.unchanged:,} unchanged"
    click.echo(f"  messages  {report.messages:>9,}  {counts}")
    _print_list("threads without a row of their own, made from their messages", report.orphans)
    if report.lost:
        click.echo(f"\n{report.lost:,} things could not be carried:")
        _print_items([f"{count:,} × {why}" for why, count in report.reasons.items()])
    _print_list("rows failed", [str(one) for one in report.failures], report.failed)
    if report.dry_run:
        click.echo("\nNothing was written: this was a dry run.")


def _print_list(title: str, items: Sequence[str], count: int | None = None) -> None:
    if items:
        click.echo(f"\n{len(items) if count is None else count:,} {title}:")
        _print_items(items, count)


def _print_items(items: Sequence[str], count: int | None = None) -> None:
    for item in items[:SHOWN]:
        click.echo(f"    {item}")
    more = (len(items) if count is None else count) - SHOWN
    if more > 0:
        click.echo(f"    … and {more:,} more; --json tells all")


COMMAND = import_rows
