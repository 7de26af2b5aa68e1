"""`partita threads`: the conversations in a store, newest first."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from partita.types.codec import encode

from .blocking import Wait, opened_store
from .options import (
    agent_option,
    json_option,
    project_option,
    resource_option,
    since_option,
    store_option,
    until_option,
)
from .output import print_notice

if TYPE_CHECKING:  # the store is loaded when a command needs it
    from partita.store.store import Store
    from partita.types.threads import Thread

PAGE = 500
"""How many threads are asked for at once when all are wanted."""


class Listed(NamedTuple):
    """A thread, and whether something went wrong in it."""

    thread: "Thread"
    errors: bool


@click.command(
    short_help="List the threads of a store, newest first.",
    epilog="""\b
Examples:
  partita threads                            the newest
  partita threads --project . --since 2d     of this folder, of two days
  partita threads --text "flaky test" --errors
  partita threads --all --json | wc -l
""",
)
@store_option
@agent_option
@project_option
@since_option
@until_option
@click.option("--text", metavar="WORDS", help="Only threads with these words, in the title or in a message.")
@click.option("--errors", is_flag=True, help="Only threads in which something went wrong.")
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    help="How many to list.",
)
@click.option("--all", "every", is_flag=True, help="List all, however many there are.")
@click.option("--iso", is_flag=True, help="Exact times, in UTC.")
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
    **wanted: Any,
) -> None:
    """List threads by what was said last, newest first.

    The first column is as much of the id as `partita show` needs; in a pipe it is the whole id. ✗ marks
    threads in which something went wrong.
    """
    wanted["has_errors"] = True if errors else None
    with opened_store(url, resource) as (store, wait):
        pages = _pages(store, wait, wanted, limit=None if every else limit, with_errors=not as_json)
        more = _print_json(pages) if as_json else _print_table(store, wait, pages, iso=iso)
    if more:
        print_notice("there are more; --limit or --all lists them")


def _pages(
    store: "Store", wait: Wait, wanted: Mapping[str, Any], *, limit: int | None, with_errors: bool
) -> "Iterator[tuple[Sequence[Listed], bool]]":
    """Threads as they are asked for, and whether there are more after them."""
    from partita.store.values import ThreadFilter

    every = ThreadFilter(**wanted)
    cursor: str | None = None
    size = PAGE if limit is None else limit
    while True:
        page = wait(store.threads.list(every, limit=size, cursor=cursor))
        failed: set[str] = set()
        if with_errors and page.items:
            # In the same order: as many of those with errors cover all that are on this page.
            with_errors_only = replace(every, has_errors=True)
            listed = wait(store.threads.list(with_errors_only, limit=size, cursor=cursor))
            failed = {one.id for one in listed}
        shown = wait(store.threads.with_display_titles(page.items))
        yield [Listed(thread, thread.id in failed) for thread in shown], page.has_more
        cursor = page.next
        if cursor is None or limit is not None:
            return


def _print_json(pages: "Iterator[tuple[Sequence[Listed], bool]]") -> bool:
    from .output import print_json_bytes

    more = False
    for listed, more in pages:  # noqa: B007 # the last one counts
        for one in listed:
            print_json_bytes(encode(one.thread))
    return more


def _print_table(
    store: "Store", wait: Wait, pages: "Iterator[tuple[Sequence[Listed], bool]]", *, iso: bool
) -> bool:
    from .lookup import short_thread_ids
    from .view.console import console, show
    from .view.listing import WIDEST, draw_threads

    listed: list[Listed] = []
    more = False
    for some, more in pages:  # noqa: B007 # the last one counts
        listed += some
    if not listed:
        print_notice(
            "no threads" + ("" if wait(store.threads.count()) else " yet; partita import brings some in")
        )
        return False
    terminal = sys.stdout.isatty()
    ids = [one.thread.id for one in listed]
    shown = wait(short_thread_ids(store, ids)) if terminal else dict(zip(ids, ids, strict=True))
    width = console().width if terminal else WIDEST
    show([draw_threads(listed, shown, now=datetime.now(UTC), width=width, exact=iso)], width=width)
    return more


COMMAND = threads
