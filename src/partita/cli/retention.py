"""`partita retention`: show and apply the retention policy."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from partita.types.times import parse_duration

from .blocking import opened_store
from .options import store_option
from .output import Bar, echo, print_json, print_notice
from .parameter_types import WholeNumber

if TYPE_CHECKING:  # imported when the command runs
    from partita.config.config import Config
    from partita.store.logs.maintenance import Retention
    from partita.store.retention import RemovalReport
    from partita.types.json import Json

SHOWN = 10
MEGABYTE = 1_000_000


class AgeType(click.ParamType[timedelta]):
    """A duration: `90d`, `52 weeks`, `1 year`."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Return the time span."""
        if isinstance(value, timedelta):
            return value
        found = parse_duration(str(value))
        if found is None:
            self.fail(f"{value!r} is not an age; use 90d, 12h or 52w", param, ctx)
        return found


@click.command(
    short_help="Show or apply what is removed by age.",
    epilog="""\b
Examples:
  partita retention                       what the policy would remove
  partita retention --logs 90d            what another policy would remove
  partita retention --threads 365d --apply
\b
In partita.toml, for `serve` and `watch` to apply it once a day:
  [retention]
  threads = "365d"
  logs = "90d"
""",
)
@store_option
@click.option(
    "--threads", metavar="AGE", type=AgeType(), help="Keep threads this long after their last message."
)
@click.option(
    "--logs", metavar="AGE", type=AgeType(), help="Keep raw logs this long after the end of their run."
)
@click.option("--logs-mb", metavar="N", type=WholeNumber(min=0), help="Keep this many megabytes of raw logs.")
@click.option("--apply", "applies", is_flag=True, help="Remove it. Without this, nothing is removed.")
@click.option("--json", "as_json", is_flag=True, help="Print the policy and what it removes as JSON.")
def retention(
    *,
    url: str | None,
    threads: timedelta | None,
    logs: timedelta | None,
    logs_mb: int | None,
    applies: bool,
    as_json: bool,
) -> None:
    """Show the threads and raw logs that the retention policy does not keep, and remove them with --apply.

    Nothing is removed unless you set a policy: in partita.toml, or with the options below. Pinned threads
    and threads with an active run are always kept. Raw logs are what a run received, line by line: messages
    stay without them, but the run can no longer be replayed or rebuilt. The session of a removed thread is
    imported again if its file changes.
    """
    policy = policy_of(threads, logs, logs_mb)
    if policy.keeps_everything:
        print_notice("no policy is set: everything is kept")
        print_notice(
            'set one in partita.toml ([retention] logs = "90d"), or use --threads, --logs or --logs-mb'
        )
        if not as_json:
            return
    with opened_store(url) as (store, wait), Bar("looking for old threads and logs") as bar:
        bar.update(0, 0)
        report = wait(store.apply_retention(policy, dry_run=not applies))
    if as_json:
        print_json(_to_json(policy, report, applied=applies))
    else:
        _print(report, applied=applies)


def policy_of(threads: timedelta | None, logs: timedelta | None, logs_mb: int | None) -> "Retention":
    """Return the policy with these limits."""
    from partita.store.logs.maintenance import Retention

    size = None if logs_mb is None else logs_mb * MEGABYTE
    return Retention(max_age=logs, max_bytes=size, thread_age=threads)


def policy_in(config: "Config") -> "Retention":
    """Return the policy of the settings."""
    from partita.errors import ConfigError

    def age(key: str) -> timedelta | None:
        text = config.get(key)
        found = None if text is None else parse_duration(str(text))
        if text is not None and found is None:
            raise ConfigError(f"{key} must be an age, not {text!r}", hint="such as 90d or 52w")
        return found

    size = config.get("retention.logs_mb")
    return policy_of(age("retention.threads"), age("retention.logs"), size if isinstance(size, int) else None)


def _to_json(policy: "Retention", report: "RemovalReport", *, applied: bool) -> "Json":
    def seconds(age: timedelta | None) -> int | None:
        return None if age is None else int(age.total_seconds())

    return {
        "policy": {
            "threadSeconds": seconds(policy.thread_age),
            "logSeconds": seconds(policy.max_age),
            "logBytes": policy.max_bytes,
        },
        "applied": applied,
        "threads": [
            {
                "id": one.id,
                "resourceId": one.resource_id,
                "title": one.title,
                "messages": one.message_count,
                "updatedAt": one.updated_at.isoformat(),
            }
            for one in report.threads
        ],
        "logs": {"runs": list(report.logs.run_ids), "bytes": report.logs.bytes},
    }


def _print(report: "RemovalReport", *, applied: bool) -> None:
    from partita.views.text import counted, size_of

    from .view.text import one_line

    verb = "removed" if applied else "to remove"
    echo(f"threads {verb}: {len(report.threads):,}")
    for one in report.threads[:SHOWN]:
        title = one_line(one.title or "(no title)", 60)
        messages = counted(one.message_count, "message")
        echo(f"  {one.updated_at:%Y-%m-%d}  {one_line(one.id)}  {title}  ({messages})")
    if len(report.threads) > SHOWN:
        echo(f"  … and {len(report.threads) - SHOWN:,} more; --json lists all")
    runs = counted(len(report.logs.run_ids), "run")
    echo(f"raw logs {verb}: {size_of(report.logs.bytes)} of {runs}")
    if applied:
        print_notice("`partita compact` returns the space to the file system")
    else:
        print_notice("nothing was removed; --apply removes it")


COMMAND = retention
