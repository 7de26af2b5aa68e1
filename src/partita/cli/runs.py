"""`partita runs`: list the runs of agents, newest first."""

import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, get_args

import click

from partita.store.values import RunFilter
from partita.types.codec import encode
from partita.types.threads import RunStatus

from .blocking import opened_store
from .options import json_option, limit_option, resource_option, store_option, thread_option
from .output import print_notice

if TYPE_CHECKING:
    from partita.types.threads import Run


@click.command(
    "runs",
    short_help="List the runs of agents, newest first.",
    epilog="""\b
Examples:
  partita runs                     the newest runs
  partita runs --thread last       the runs of the newest thread
  partita runs --status failed     failed runs
""",
)
@store_option
@thread_option("runs")
@click.option("--agent", metavar="NAME", help="Only runs of this agent.")
@click.option(
    "--status", type=click.Choice(get_args(RunStatus)), multiple=True, help="Only runs with this status."
)
@limit_option(30, "runs")
@resource_option
@json_option
def runs(
    *,
    url: str | None,
    thread: str | None,
    agent: str | None,
    status: tuple[RunStatus, ...],
    limit: int,
    resource: str | None,
    as_json: bool,
) -> None:
    """List runs, newest first: agent, status, duration, tokens and cost.

    On a terminal, the first column is the shortest id that `partita replay` accepts; in a pipe, the whole id.
    """
    from .lookup import find_thread, short_run_ids

    with opened_store(url, resource) as (store, wait):
        thread_id = None if thread is None else wait(find_thread(store, thread)).id
        page = wait(store.runs.list(RunFilter(thread_id=thread_id, agent=agent, status=status), limit=limit))
        ids = [run.id for run in page]
        terminal = sys.stdout.isatty()
        shown = wait(short_run_ids(store, ids)) if terminal else dict(zip(ids, ids, strict=True))
    if as_json:
        from .output import print_json_bytes

        for run in page:
            print_json_bytes(encode(run))
    elif page.items:
        _print(page.items, shown, terminal=terminal)
    else:
        print_notice("no runs")
    if page.has_more:
        print_notice("there are more runs; increase --limit")


def _print(runs: "Sequence[Run]", ids: Mapping[str, str], *, terminal: bool) -> None:
    from .view.console import console, show
    from .view.listing import UNLIMITED, draw_runs

    width = console().width if terminal else UNLIMITED
    show([draw_runs(runs, ids, now=datetime.now(UTC), width=width)], width=width)


COMMAND = runs
