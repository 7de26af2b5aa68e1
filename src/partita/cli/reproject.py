"""`partita reproject`: rebuild stored messages from the raw logs of their runs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from .blocking import opened_store
from .completion import complete_runs
from .options import resource_option, store_option
from .output import echo, print_notice

if TYPE_CHECKING:
    from partita.runtime.rebuild.report import ChangedMessage, Outcome, ReprojectedRun, ReprojectReport

SHOWN = 8
"""How many differences of a message are shown."""

MARKS: "Mapping[Outcome, tuple[str, str]]" = {
    "unchanged": ("=", "green"),
    "changed": ("~", "cyan"),
    "would-lose": ("!", "red"),
    "skipped": ("·", "yellow"),
}


@click.command(
    short_help="Rebuild messages from raw logs.",
    epilog="""\b
Examples:
  partita reproject --all --dry-run     show what would change
  partita reproject --all               write the changes
  partita reproject 0198a3c2            one run, with those that continue it
""",
)
@click.argument("runs", nargs=-1, metavar="[RUN]…", shell_complete=complete_runs)
@store_option
@click.option("--all", "every", is_flag=True, help="All runs of the store.")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@click.option("--force", is_flag=True, help="Also write messages that would lose content.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one run per line.")
@resource_option
@click.pass_context
def reproject(
    ctx: click.Context,
    *,
    runs: tuple[str, ...],
    url: str | None,
    every: bool,
    dry_run: bool,
    force: bool,
    as_json: bool,
    resource: str | None,
) -> None:
    """Rebuild messages from the raw logs of their runs with the current decoders.

    All runs of an imported session are rebuilt together, from the lines in the store. Its files are not
    needed.

    Each RUN is an id, the beginning of one, or `last`. Ids, numbers and times of messages and responses to
    approvals do not change. A message that would lose content is reported and not written, unless --force is
    given.

    Exit code: 0, or 1 if a message was not written because it would lose content.
    """
    if every == bool(runs):
        raise click.UsageError("name the runs, or use --all")
    from partita.runtime.rebuild.reproject import reproject as rebuild

    from .lookup import find_run
    from .output import Bar

    with opened_store(url, resource) as (store, wait), Bar("reading runs") as bar:
        ids = None if every else [wait(find_run(store, run)).id for run in runs]
        report = wait(
            rebuild(
                store, ids, dry_run=dry_run, force=force, on_progress=lambda done: bar(done, len(ids or ()))
            )
        )
    if as_json:
        from .output import print_json_line

        for one in report.runs:
            print_json_line(one.to_json())
    else:
        _print(report, ids, dry_run=dry_run)
    has_refused = any(one.outcome == "would-lose" and not one.written for one in report.runs)
    ctx.exit(1 if has_refused and not dry_run else 0)


def _print(report: "ReprojectReport", named: "Sequence[str] | None", *, dry_run: bool) -> None:
    """Print the runs that change, the unchanged runs that were named, and the totals."""
    for one in report.runs:
        if one.messages or (named is not None and _is_listed(one, named, report.runs)):
            _print_run(one, dry_run=dry_run)
    counts = report.counts
    labels: dict[str, str] = {
        "changed": "would change" if dry_run else "changed",
        "would-lose": "would lose content",
    }
    outcomes = [f"{counts[name]:,} {labels.get(name, name)}" for name in MARKS if counts[name]]
    if outcomes:
        echo(f"{_count_runs(report)}: {', '.join(outcomes)}")
    else:
        print_notice("the store has no runs")
    if named is None:
        _print_reasons(report.runs)


def _count_runs(report: "ReprojectReport") -> str:
    """Return the number of runs, and of imported ones if there are any."""
    total, imported = len(report.runs), report.imported
    runs = f"{total:,} {'run' if total == 1 else 'runs'}"
    return f"{runs} ({total - imported:,} recorded, {imported:,} imported)" if imported else runs


def _is_listed(one: "ReprojectedRun", named: "Sequence[str]", runs: "Sequence[ReprojectedRun]") -> bool:
    """Whether a run without changes is printed. An imported session has many; only named ones are printed."""
    if one.imported:
        return one.run_id in named
    # The changes are listed with a later run, which continues the same message.
    has_changed = one.outcome in ("changed", "would-lose") and not one.messages
    return not (has_changed and any(other.messages for other in runs if other.thread_id == one.thread_id))


def _print_run(one: "ReprojectedRun", *, dry_run: bool) -> None:
    from .view.text import one_line

    mark, colour = MARKS[one.outcome]
    outcome: str = one.outcome
    if one.outcome == "changed" and dry_run:
        outcome = "would change"
    if one.outcome == "would-lose":
        outcome = "written with losses" if one.written else "not written: it would lose content"
    why = f": {one_line(one.why)}" if one.why else ""
    echo(f" run {one_line(one.run_id)}  {outcome}{why}", mark=mark, colour=colour)
    for changed in one.messages:
        _print_message(changed)


def _print_message(changed: "ChangedMessage") -> None:
    from .view.text import one_line

    echo(f"    message {one_line(changed.message_id)}")
    for what in changed.lost:
        echo(one_line(what), mark="      - ", colour="red", indent=2)
    for difference in changed.differences[:SHOWN]:
        echo(f"      {one_line(str(difference))}")
    more = len(changed.differences) - SHOWN
    if more > 0:
        echo(f"      … and {more:,} more; --json lists all")


def _print_reasons(runs: "Sequence[ReprojectedRun]") -> None:
    from .view.text import one_line

    reasons = Counter(one.why or "" for one in runs if one.outcome == "skipped")
    for reason, count in reasons.most_common(SHOWN):
        echo(f"  {count:>6,} skipped: {one_line(reason, 160)}")


COMMAND = reproject
