"""`partita reproject`: stored messages made again from the raw bytes of their runs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from .blocking import opened_store
from .completion import complete_runs
from .options import resource_option, store_option
from .output import echo

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
    short_help="Read runs anew, with today's decoders.",
    epilog="""\b
Examples:
  partita reproject --all --dry-run     what would come out otherwise
  partita reproject --all               and write it
  partita reproject 0198a3c2            one run, with those that went on
""",
)
@click.argument("runs", nargs=-1, metavar="[RUN]…", shell_complete=complete_runs)
@store_option
@click.option("--all", "every", is_flag=True, help="All runs of the store.")
@click.option("--dry-run", is_flag=True, help="Write nothing, and tell what would be changed.")
@click.option("--force", is_flag=True, help="Write also what loses something.")
@click.option("--json", "as_json", is_flag=True, help="One run a line, as JSON.")
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
    """Make messages again from the raw bytes of their runs, after a decoder has got better.

    An imported session is read from the lines that the store keeps, all its runs at once: its files may be
    gone.

    Each RUN is an id, the beginning of one, or `last`. Ids, numbers and times of messages stay, and so do
    answers to questions. A message that would lose something is left alone, and told; --force writes it.

    Exit code: 0, or 1 when something would be lost and was left alone.
    """
    if every == bool(runs):
        raise click.UsageError("name the runs, or say --all")
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
    left = any(one.outcome == "would-lose" and not one.written for one in report.runs)
    ctx.exit(1 if left and not dry_run else 0)


def _print(report: "ReprojectReport", named: "Sequence[str] | None", *, dry_run: bool) -> None:
    """Each run that comes out otherwise; of all others, those that were named."""
    for one in report.runs:
        if one.messages or (named is not None and _is_meant(one, named, report.runs)):
            _print_run(one, dry_run=dry_run)
    counts = report.counts
    words: dict[str, str] = {
        "changed": "would be changed" if dry_run else "changed",
        "would-lose": "would lose something",
    }
    told = [f"{counts[name]:,} {words.get(name, name)}" for name in MARKS if counts[name]]
    echo(f"{_how_many(report)}: {', '.join(told)}" if told else "no runs")
    if named is None:
        _print_reasons(report.runs)


def _how_many(report: "ReprojectReport") -> str:
    """How many runs there are, and of which kind when not all are of our own."""
    total, imported = len(report.runs), report.imported
    runs = f"{total:,} {'run' if total == 1 else 'runs'}"
    return f"{runs} ({total - imported:,} of our own, {imported:,} imported)" if imported else runs


def _is_meant(one: "ReprojectedRun", named: "Sequence[str]", runs: "Sequence[ReprojectedRun]") -> bool:
    """Whether a run is told although nothing comes out otherwise. A session may have hundreds."""
    return one.run_id in named if one.imported else not _told_with_another(one, runs)


def _told_with_another(one: "ReprojectedRun", runs: "Sequence[ReprojectedRun]") -> bool:
    """Whether what came of a run is told with a later one, which went on with its message."""
    changed = one.outcome in ("changed", "would-lose") and not one.messages
    return changed and any(other.messages for other in runs if other.thread_id == one.thread_id)


def _print_run(one: "ReprojectedRun", *, dry_run: bool) -> None:
    from .view.text import one_line

    mark, colour = MARKS[one.outcome]
    words = one.outcome.replace("-", " ")
    if one.outcome == "changed" and dry_run:
        words = "would be changed"
    if one.outcome == "would-lose":
        words = "written, with losses" if one.written else "would lose something: left as it is"
    why = f": {one_line(one.why)}" if one.why else ""
    echo(f" run {one_line(one.run_id)}  {words}{why}", mark=mark, colour=colour)
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
        echo(f"      … and {more:,} more; --json tells all")


def _print_reasons(runs: "Sequence[ReprojectedRun]") -> None:
    from .view.text import one_line

    why = Counter(one.why or "" for one in runs if one.outcome == "skipped")
    for reason, count in why.most_common(SHOWN):
        echo(f"  {count:>6,} skipped: {one_line(reason, 160)}")


COMMAND = reproject
