"""`partita doctor`: what is wrong with a store, and putting it right."""

from typing import TYPE_CHECKING

import click

from partita.cli.blocking import run_async

from .options import store_option
from .output import Bar, echo, print_json

if TYPE_CHECKING:  # the store is loaded when a command needs it
    from partita.store.doctor.report import AuditEntry, CheckResult, Finding, Health

SHOWN = 10


@click.command(
    short_help="Look for damage in a store, and repair it.",
    epilog="""\b
Examples:
  partita doctor                 look; nothing is written
  partita doctor --full          every message and byte, not a sample
  partita doctor --repair        put right what needs no guessing
  partita doctor --audit         JSON in strings, and what parses it
""",
)
@store_option
@click.option("--repair", is_flag=True, help="Put right what can be put right without guessing.")
@click.option("--full", is_flag=True, help="Look into every message, blob and log, however long it takes.")
@click.option("--audit", is_flag=True, help="Count structures that are stored as JSON in a string.")
@click.option("--json", "as_json", is_flag=True, help="The findings as JSON.")
@click.pass_context
def doctor(
    ctx: click.Context, *, url: str | None, repair: bool, full: bool, audit: bool, as_json: bool
) -> None:
    """Look for damage in a store: rows without a home, content that cannot be read, logs with gaps.

    A line a check: ✓ all is well, ! something is wrong, · something to know that may be as it should be.

    --audit searches every message for JSON in strings: network results, parts, tool inputs and outputs, data,
    metadata. For each kind it prints how many there are, samples, and the migration that parses them.

    Exit code: 0 when the store is healthy, 1 when something is wrong that was not repaired.
    """
    from partita.store.connection import open_store
    from partita.store.doctor.doctor import check_store

    async def work() -> "Health":
        async with open_store(url) as store:
            with Bar("examining") as bar:
                return await check_store(store, repair=repair, full=full, audit=audit, progress=bar)

    health = run_async(work())
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
    told = [
        f"{count:,} {name if count != 1 else name.removesuffix('s')}"
        for count, name in ((check.problems, "problems"), (check.notices, "notices"))
        if count
    ]
    if check.repaired:
        told.append(f"{check.repaired:,} repaired")
    mark, colour = ("!", "red") if check.problems else ("·", "yellow") if check.notices else ("✓", "green")
    said = f": {', '.join(told)}" if told else ""
    echo(f" {check.title}{said}", mark=mark, colour=colour)
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
        sample = "" if full else "; --full looks at more than a sample"
        echo(f"\nThe store is healthy{repaired}{sample}.")


COMMAND = doctor
