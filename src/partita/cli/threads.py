"""`partita threads`: list the threads of a store, newest first."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from partita.types.codec import encode

from .blocking import Wait, opened_store
from .completion import complete_tags
from .options import (
    agent_option,
    json_option,
    limit_option,
    project_option,
    resource_option,
    since_option,
    store_option,
    until_option,
)
from .output import print_notice

if TYPE_CHECKING:  # imported when the command runs
    from partita.store.store import Store
    from partita.store.values import ThreadFilter
    from partita.types.threads import Thread

PAGE = 500


class ThreadPage(NamedTuple):
    """Some of the threads, the ids of those with errors, and whether there are more threads."""

    threads: "Sequence[Thread]"
    failed: frozenset[str]
    has_more: bool


@click.command(
    short_help="List the threads of a store, newest first.",
    epilog="""\b
Examples:
  partita threads                            the newest threads
  partita threads --project . --since 2d     this folder, the last two days
  partita threads --text "flaky test" --errors
  partita threads --all --json | wc -l
""",
)
@store_option
@agent_option
@project_option
@since_option
@until_option
@click.option("--text", metavar="WORDS", help="Only threads with these words in the title or a message.")
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
@limit_option(30, "threads")
@click.option("--all", "every", is_flag=True, help="List all threads.")
@click.option("--iso", is_flag=True, help="Print exact times, in UTC.")
@resource_option
@json_option
def threads(
    *,
    url: str | None,
    limit: int,
    every: bool,
    errors: bool,
    iso: bool,
    resource: str | None,
    as_json: bool,
    **filters: Any,
) -> None:
    """List threads by the time of their last message, newest first.

    On a terminal, the first column is the shortest id that `partita show` accepts; in a pipe, the whole id. ✗
    marks threads with errors.
    """
    from partita.store.values import ThreadFilter

    selected = ThreadFilter(has_errors=True if errors else None, **filters)
    with opened_store(url, resource) as (store, wait):
        pages = _pages(store, wait, selected, limit=None if every else limit, with_errors=not as_json)
        has_more = _print_json(pages) if as_json else _print_table(store, wait, pages, iso=iso)
    if has_more:
        print_notice("there are more threads; increase --limit, or use --all")


def _pages(
    store: "Store", wait: Wait, selected: "ThreadFilter", *, limit: int | None, with_errors: bool
) -> Iterator[ThreadPage]:
    """Yield a page of `limit` threads, or all pages."""
    cursor: str | None = None
    size = PAGE if limit is None else limit
    while True:
        page = wait(store.threads.list(selected, limit=size, cursor=cursor))
        failed: frozenset[str] = frozenset()
        if with_errors and page.items:
            # The order is the same, so a page of threads with errors contains all of them on this page.
            with_errors_only = replace(selected, has_errors=True)
            listed = wait(store.threads.list(with_errors_only, limit=size, cursor=cursor))
            failed = frozenset(one.id for one in listed)
        yield ThreadPage(wait(store.threads.with_display_titles(page.items)), failed, page.has_more)
        cursor = page.next
        if cursor is None or limit is not None:
            return


def _print_json(pages: Iterator[ThreadPage]) -> bool:
    """Print all threads; return whether there are more."""
    from .output import print_json_bytes

    has_more = False
    for page in pages:
        has_more = page.has_more
        for thread in page.threads:
            print_json_bytes(encode(thread))
    return has_more


def _print_table(store: "Store", wait: Wait, pages: Iterator[ThreadPage], *, iso: bool) -> bool:
    """Print a table of all threads; return whether there are more."""
    from .lookup import short_thread_ids
    from .view.console import console, show
    from .view.listing import UNLIMITED, draw_threads

    listed: list[Thread] = []
    failed: set[str] = set()
    has_more = False
    for page in pages:
        listed += page.threads
        failed |= page.failed
        has_more = page.has_more
    if not listed:
        is_empty = not wait(store.threads.count())
        print_notice("no threads" + (" yet; run `partita import`" if is_empty else ""))
        return False
    terminal = sys.stdout.isatty()
    ids = [one.id for one in listed]
    shown = wait(short_thread_ids(store, ids)) if terminal else dict(zip(ids, ids, strict=True))
    width = console().width if terminal else UNLIMITED
    table = draw_threads(listed, shown, failed=failed, now=datetime.now(UTC), width=width, exact=iso)
    show([table], width=width)
    return has_more


COMMAND = threads
