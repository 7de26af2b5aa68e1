"""`partita runs`: list the runs of agents, newest first."""

import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

import click

from partita.store.values import RunFilter, ThreadFilter
from partita.types.codec import encode
from partita.types.threads import RunStatus

from .blocking import Wait, opened_store
from .completion import complete_log_agents
from .options import (
    iso_option,
    json_option,
    limit_option,
    pager_option,
    project_option,
    resource_option,
    since_option,
    store_option,
    thread_option,
    until_option,
)
from .output import print_notice

if TYPE_CHECKING:
    from partita.store.store import Store
    from partita.types.threads import Run

PAGE = 500


@click.command(
    "runs",
    short_help="List the runs of agents, newest first.",
    epilog="""\b
Examples:
  partita runs                     the newest runs
  partita runs --thread last       the runs of the newest thread
  partita runs --status failed     failed runs
  partita runs --project . --since 2d
""",
)
@store_option
@thread_option("runs")
@click.option("--agent", metavar="NAME", shell_complete=complete_log_agents, help="Only runs of this agent.")
@project_option
@since_option
@until_option
@click.option(
    "--status", type=click.Choice(get_args(RunStatus)), multiple=True, help="Only runs with this status."
)
@limit_option(30, "runs")
@click.option("--all", "every", is_flag=True, help="List all runs.")
@iso_option
@pager_option
@resource_option
@json_option
def runs(
    *,
    url: str | None,
    thread: str | None,
    limit: int,
    every: bool,
    iso: bool,
    pager: bool,
    resource: str | None,
    as_json: bool,
    **filters: Any,
) -> None:
    """List runs, newest first: agent, status, duration, tokens and cost.

    On a terminal, the first column is the shortest id that `partita replay` accepts; in a pipe, the whole id.
    ⑂ marks runs in forks. A narrow terminal shows fewer columns.
    """
    from .lookup import check_agent, find_thread, short_run_ids

    with opened_store(url, resource) as (store, wait):
        wait(check_agent(store, filters["agent"]))
        thread_id = None if thread is None else wait(find_thread(store, thread)).id
        selected = RunFilter(thread_id=thread_id, **filters)
        listed: list[Run] = []
        cursor: str | None = None
        while True:
            page = wait(store.runs.list(selected, limit=PAGE if every else limit, cursor=cursor))
            listed += page
            cursor = page.next
            if cursor is None or not every:
                break
        ids = [run.id for run in listed]
        terminal = sys.stdout.isatty()
        shown = wait(short_run_ids(store, ids)) if terminal else dict(zip(ids, ids, strict=True))
        forks = set() if as_json else _forks(store, wait, listed)
    if as_json:
        from .output import print_json_bytes

        for run in listed:
            print_json_bytes(encode(run))
    elif listed:
        _print(listed, shown, forks, terminal=terminal, iso=iso, pager=pager)
    else:
        print_notice("no runs")
    if page.has_more:
        print_notice("there are more runs; increase --limit, or use --all")


def _forks(store: "Store", wait: Wait, runs: "Sequence[Run]") -> set[str]:
    """Return the ids of those threads of runs that are copies of other threads."""
    from partita.store.threads.copies import origin_of

    ids = sorted({run.thread_id for run in runs})
    threads = wait(store.threads.list(ThreadFilter(ids=ids), limit=len(ids) or 1))
    return {one.id for one in threads if origin_of(one) is not None}


def _print(
    runs: "Sequence[Run]",
    ids: Mapping[str, str],
    forks: set[str],
    *,
    terminal: bool,
    iso: bool,
    pager: bool,
) -> None:
    from .view.console import console, show
    from .view.listing import UNLIMITED, draw_runs

    width = console().width if terminal else UNLIMITED
    table = draw_runs(runs, ids, forks=forks, now=datetime.now(UTC), width=width, exact=iso)
    show([table], pager=pager, width=width)


COMMAND = runs
