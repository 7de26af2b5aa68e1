"""`partita doctor`: check a store for damage and repair it."""

from typing import TYPE_CHECKING

import click

from .blocking import opened_store
from .options import store_option
from .output import Bar, echo, print_json

if TYPE_CHECKING:  # imported when the command runs
    from partita.store.doctor.report import AuditEntry, CheckResult, Finding, Health

SHOWN = 10


@click.command(
    short_help="Check a store for damage and repair it.",
    epilog="""\b
Examples:
  partita doctor                 check only; nothing is written
  partita doctor --full          check every message and byte, not a sample
  partita doctor --repair        repair what can be repaired safely
  partita doctor --audit         find JSON in strings and its migrations
""",
)
@store_option
@click.option("--repair", is_flag=True, help="Repair what can be repaired without guessing.")
@click.option("--full", is_flag=True, help="Check every message, blob and log. This may take long.")
@click.option("--audit", is_flag=True, help="Count structures that are stored as JSON in a string.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_context
def doctor(
    ctx: click.Context, *, url: str | None, repair: bool, full: bool, audit: bool, as_json: bool
) -> None:
    """Check a store for damage: orphaned rows, content that cannot be decoded, logs with gaps.

    Prints one line per check: ✓ no problem, ! a problem, · a notice (may be harmless).

    --audit searches every message for JSON in strings: network results, parts, tool inputs and outputs, data,
    metadata. For each kind it prints how many there are, samples, and the migration that parses them.

    Exit code: 0 if the store is healthy, 1 if there are problems that were not repaired.
    """
    from partita.store.doctor.doctor import check_store

    with opened_store(url) as (store, wait), Bar("checking") as bar:
        health = wait(check_store(store, repair=repair, full=full, audit=audit, progress=bar))
    if as_json:
        print_json(health.to_json())
    else:
        for check in health.checks:
            _print_check(check)
        for entry in health.audit or ():
            _print_entry(entry)
        _print_end(health, full=full)
    ctx.exit(0 if health.healthy else 1)


def _print_check(check: "CheckResult") -> None:
    counts = [
        f"{count:,} {name if count != 1 else name.removesuffix('s')}"
        for count, name in ((check.problems, "problems"), (check.notices, "notices"))
        if count
    ]
    if check.repaired:
        counts.append(f"{check.repaired:,} repaired")
    mark, colour = ("!", "red") if check.problems else ("·", "yellow") if check.notices else ("✓", "green")
    summary = f": {', '.join(counts)}" if counts else ""
    echo(f" {check.title}{summary}", mark=mark, colour=colour)
    for finding in check.findings[:SHOWN]:
        _print_finding(finding)
    count = check.problems + check.notices
    if count > SHOWN:
        echo(f"    … and {count - SHOWN:,} more")


def _print_finding(finding: "Finding") -> None:
    where = f"  ({finding.where})" if finding.where else ""
    echo(f"    {finding.what}{where}")
    if finding.hint:
        echo(f"      → {finding.hint}")


def _print_entry(entry: "AuditEntry") -> None:
    mark, colour = ("!", "red") if entry.is_problem else ("·", "yellow")
    messages = f"{entry.messages:,} {'message' if entry.messages == 1 else 'messages'}"
    where = {"whole": "", "inside": ", inside a value", "cut off": ", cut off"}[entry.condition]
    echo(f" JSON in a string: {entry.kind}{where}: {entry.count:,} in {messages}", mark=mark, colour=colour)
    for sample in entry.samples:
        text = " ".join(sample.text.split())
        echo(f"    {sample.thread_id} / {sample.message_id} {sample.path}: {text}", indent=6)
    echo(f"      → {entry.advice}")


def _print_end(health: "Health", *, full: bool) -> None:
    problems = health.problems
    repaired = f"; {health.repaired:,} repaired" if health.repaired else ""
    if problems:
        echo(f"\n{problems:,} {'problem' if problems == 1 else 'problems'}{repaired}")
    else:
        sample = "" if full else "; --full checks everything, not a sample"
        echo(f"\nThe store is healthy{repaired}{sample}.")


COMMAND = doctor
