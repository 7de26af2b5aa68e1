"""`partita migrate`: convert stored messages of older shapes to the current one."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from partita.views.text import counted

from .blocking import opened_store
from .options import store_option
from .output import Bar, echo, print_json
from .parameter_types import Number, WholeNumber

if TYPE_CHECKING:  # imported when the command runs
    from partita.store.data_migrations.report import MessageNote, MigrationReport

KINDS = 5
"""How many kinds of changes, losses and errors are printed."""

PLACES = 3
"""How many messages are named for each list of notes. `--json` lists more, and all in a dry run."""

WIDTH = 100


@click.command(
    short_help="Convert stored messages to the current shape.",
    epilog="""\b
Examples:
  partita migrate --dry-run               show what would change
  partita migrate                         migrate; can be stopped at any time
  partita migrate --only network-strings  only one migration
  partita migrate --rate 500              at most 500 messages per second
  partita migrate --list                  list migrations and their progress
""",
)
@store_option
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@click.option("--only", metavar="NAME", multiple=True, help="Only this migration. Repeatable.")
@click.option("--again", is_flag=True, help="Also check messages that were checked before.")
@click.option(
    "--batch-size",
    metavar="N",
    type=WholeNumber(min=1),
    default=200,
    show_default=True,
    help="Messages per transaction.",
)
@click.option(
    "--rate",
    metavar="N",
    type=Number(positive=True),
    help="The maximum number of messages per second.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--list", "only_list", is_flag=True, help="List the migrations and their progress.")
@click.pass_context
def migrate(
    ctx: click.Context,
    *,
    url: str | None,
    dry_run: bool,
    only: Sequence[str],
    again: bool,
    batch_size: int,
    rate: float | None,
    as_json: bool,
    only_list: bool,
) -> None:
    """Convert stored messages of older shapes to the current one.

    This converts plain text instead of parts, AI SDK 4 parts, network results in strings, and other JSON in
    strings: parts, tool inputs and outputs, data, metadata. Each batch is one transaction and is verified
    afterwards. A message that cannot be converted is not changed.

    Exit code: 0 on success, 1 if a message could not be converted.
    """
    from partita.store.data_migrations.runner import list_migrations
    from partita.store.data_migrations.runner import migrate as run

    with opened_store(url) as (store, wait):
        if only_list:
            reports = wait(list_migrations(store))
        else:
            with Bar("checking messages") as bar:
                reports = wait(
                    run(
                        store,
                        only or None,
                        dry_run=dry_run,
                        batch_size=batch_size,
                        per_second=rate,
                        again=again,
                        progress=bar,
                    )
                )
    if as_json:
        import msgspec

        print_json(msgspec.to_builtins(reports))
    else:
        _print_table(reports, with_titles=only_list)
        for report in reports if not only_list else ():
            _print_details(report)
    ctx.exit(0 if only_list or all(report.ok for report in reports) else 1)


def _print_table(reports: "Sequence[MigrationReport]", *, with_titles: bool) -> None:
    is_dry = any(report.dry_run for report in reports)
    head = (
        f"{'migration':20}{'state':9}{'seen':>10}{'would change' if is_dry else 'changed':>14}{'failed':>9}"
    )
    echo(head if is_dry else f"{head}{'verified':>10}")
    for report in reports:
        numbers = f"{report.seen:>10,}{report.changed:>14,}{report.failed:>9,}"
        verified = "" if is_dry else f"{report.verified:>10,}"
        title = f"  {report.title}" if with_titles else ""
        echo(f"{report.name:20}{report.state:9}{numbers}{verified}{title}", indent=74)


def _print_details(report: "MigrationReport") -> None:
    if not (report.changed or report.failed or report.lost or report.wrong):
        return
    echo(f"\n{report.name}: {report.title}")
    if report.changed:
        threads = counted(len(report.threads), "thread") + (" and more" if report.elsewhere else "")
        verb = "would change" if report.dry_run else "changed"
        echo(f"  {counted(report.changed, 'message')} in {threads} {verb}:")
        _print_kinds(Counter(report.done))
    for example in report.examples if report.dry_run else ():
        echo(f"  example: {example.thread_id} / {example.message_id}")
        echo(f"    before  {_short(example.before)}", indent=8)
        echo(f"    after   {_short(example.after)}", indent=8)
    _print_notes("losses", report.lost, report.losses)
    _print_notes("could not be converted and were not changed", report.failed, report.failures)
    _print_notes("failed verification", report.wrong, report.faults)


def _print_kinds(kinds: "Counter[str]") -> None:
    """Print the most frequent kinds."""
    for what, count in kinds.most_common(KINDS):
        echo(f"  {count:>8,}  {_short(what)}", indent=10)
    rest = kinds.most_common()[KINDS:]
    if rest:
        echo(f"  {sum(count for _, count in rest):>8,}  of {counted(len(rest), 'more kind')}")


def _print_notes(title: str, count: int, notes: "Sequence[MessageNote]") -> None:
    """Print the kinds of notes, and the messages of the first ones."""
    if not count:
        return
    echo(f"  {count:,} {title}{'' if count == len(notes) else f'; of the first {len(notes):,}'}:")
    _print_kinds(Counter(note.what for note in notes))
    first = [f"{note.thread_id} / {note.message_id}" for note in notes[:PLACES]]
    more = ", …" if count > PLACES else ""
    echo(f"            in {', '.join(first)}{more}", indent=12)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"


COMMAND = migrate
