"""`partita threads`: list the threads of a store, newest first."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

import click

from partita.store.values import ThreadSort
from partita.types.codec import to_json

from .blocking import Wait, opened_store
from .completion import complete_tags
from .options import (
    agent_option,
    iso_option,
    json_option,
    limit_option,
    pager_option,
    project_option,
    resource_option,
    since_option,
    store_option,
    until_option,
)
from .output import print_notice

if TYPE_CHECKING:  # imported when the command runs
    from partita.store.store import Store
    from partita.store.threads.lists import ThreadSummary
    from partita.store.values import Page, ThreadFilter

PAGE = 500


@click.command(
    short_help="List the threads of a store, newest first.",
    epilog="""\b
Examples:
  partita threads                            the newest threads
  partita threads --project . --since 2d     this folder, the last two days
  partita threads --text "flaky test" --errors
  partita threads --sort cost --since 30d    the most expensive of 30 days
  partita threads --all --json | wc -l
""",
)
@store_option
@agent_option
@project_option
@since_option
@until_option
@click.option(
    "--text", metavar="QUERY", help="Only threads whose title or a message matches, as in `partita search`."
)
@click.option("--model", metavar="NAME", help="Only threads with a response of this model.")
@click.option("--tool", metavar="NAME", help="Only threads with a call of this tool.")
@click.option("--branch", metavar="NAME", help="Only sessions on this git branch.")
@click.option("--errors", is_flag=True, help="Only threads with errors.")
@click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_tags,
    help="Only threads with this tag. Repeatable: only threads with all of them.",
)
@click.option("--pinned", is_flag=True, flag_value=True, default=None, help="Only pinned threads.")
@click.option("--empty", is_flag=True, help="Include threads without messages.")
@click.option(
    "--sort",
    type=click.Choice(get_args(ThreadSort)),
    default="time",
    show_default=True,
    help="The largest or latest first; time is that of the last message.",
)
@limit_option(30, "threads")
@click.option("--all", "every", is_flag=True, help="List all threads.")
@iso_option
@pager_option
@resource_option
@json_option
def threads(
    *,
    url: str | None,
    limit: int,
    every: bool,
    branch: str | None,
    errors: bool,
    empty: bool,
    sort: ThreadSort,
    iso: bool,
    pager: bool,
    resource: str | None,
    as_json: bool,
    **filters: Any,
) -> None:
    """List threads by the time of their last message, newest first. Threads without messages are hidden.

    On a terminal, the first column is the shortest id that `partita show` accepts; in a pipe, the whole id. ★
    marks pinned threads, ⑂ forks, and ✗ threads with errors. A narrow terminal shows fewer columns.
    """
    from partita.store.threads.filter import GIT_BRANCH
    from partita.store.values import ThreadFilter

    from .lookup import check_agent

    selected = ThreadFilter(
        has_errors=True if errors else None,
        empty=None if empty else False,
        metadata={} if branch is None else {GIT_BRANCH: branch},
        **filters,
    )
    with opened_store(url, resource) as (store, wait):
        wait(check_agent(store, selected.agent))
        pages = _pages(store, wait, selected, sort, None if every else limit)
        if as_json:
            has_more = _print_json(pages)
        else:
            has_more = _print_table(store, wait, pages, sort, iso=iso, pager=pager)
    if has_more:
        print_notice("there are more threads; increase --limit, or use --all")


def _pages(
    store: "Store", wait: Wait, selected: "ThreadFilter", sort: ThreadSort, limit: int | None
) -> "Iterator[Page[ThreadSummary]]":
    """Yield a page of `limit` threads, or all pages."""
    cursor: str | None = None
    while True:
        page = wait(store.threads.summaries(selected, limit=limit or PAGE, cursor=cursor, sort=sort))
        yield page
        cursor = page.next
        if cursor is None or limit is not None:
            return


def _print_json(pages: "Iterator[Page[ThreadSummary]]") -> bool:
    """Print all threads with what they used; return whether there are more."""
    from msgspec.structs import replace

    from .output import print_json_line

    has_more = False
    for page in pages:
        has_more = page.has_more
        for one in page:
            fields = to_json(one)
            del fields["thread"]
            print_json_line({**to_json(replace(one.thread, title=one.title)), "cost": None, **fields})
    return has_more


def _print_table(
    store: "Store",
    wait: Wait,
    pages: "Iterator[Page[ThreadSummary]]",
    sort: ThreadSort,
    *,
    iso: bool,
    pager: bool,
) -> bool:
    """Print a table of all threads; return whether there are more."""
    from .lookup import short_thread_ids
    from .view.console import console, show
    from .view.listing import UNLIMITED, draw_threads

    listed: list[ThreadSummary] = []
    has_more = False
    for page in pages:
        listed += page
        has_more = page.has_more
    if not listed:
        is_empty = not wait(store.threads.count())
        print_notice("no threads" + (" yet; run `partita import`" if is_empty else ""))
        return False
    terminal = sys.stdout.isatty()
    ids = [one.thread.id for one in listed]
    shown = wait(short_thread_ids(store, ids)) if terminal else dict(zip(ids, ids, strict=True))
    width = console().width if terminal else UNLIMITED
    table = draw_threads(listed, shown, now=datetime.now(UTC), width=width, exact=iso, sort=sort)
    show([table], pager=pager, width=width)
    return has_more


COMMAND = threads
