"""`partita search`: find messages and titles that contain all words of a query."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from partita.store.values import SEARCH_FIELDS, SearchFilter
from partita.types.codec import encode

from .blocking import Wait, opened_store
from .options import (
    agent_option,
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
from .parameter_types import WholeNumber

if TYPE_CHECKING:  # imported when the command runs
    from partita.store.store import Store
    from partita.store.values import SearchHit

ROLES = ("system", "user", "assistant", "tool")


@click.command(
    short_help="Search messages and titles.",
    epilog="""\b
Syntax:
  flaky clock        both words; the last one may be incomplete
  lamp OR light      one of them
  "a phrase"         these words, one after the other
  -draft -"no luck"  without this word, without this phrase
  migrat*            words that begin so
  tool:Bash          messages that call this tool
  file:src/app.py    tool calls whose input contains this path
  project:app        threads of this project: its folder, or its path
  agent:codex        threads of this agent
  role:user          messages of this role
  in:title           only in this field, as with --field
  title:clock        threads with this word in the title
  before:2026-03-01  messages before this time, as with --until
  after:2w           messages of the last two weeks, as with --since
  -tool:Read         without: any qualifier can be excluded
  project:"my app"   with spaces: any value can be quoted

Without words, qualifiers list the newest messages.

\b
Examples:
  partita search '"connection refused"' --field tool-output
  partita search 'migrate -dry* tool:Bash OR tool:shell' --since 1w
  partita search file:server.py project:app
  partita search -- --dry-run    after --, words may begin with a dash
""",
)
@click.argument("query", nargs=-1, required=True)
@store_option
@agent_option
@project_option
@click.option("--role", "roles", type=click.Choice(ROLES), multiple=True, help="Only messages of this role.")
@click.option("--tool", metavar="NAME", help="Only messages that call this tool.")
@since_option
@until_option
@thread_option("messages")
@click.option(
    "--field",
    "fields",
    type=click.Choice(SEARCH_FIELDS),
    multiple=True,
    help="Only in this field of a message.",
)
@click.option(
    "--per-thread",
    metavar="N",
    type=WholeNumber(min=1),
    default=3,
    show_default=True,
    help="How many messages of a thread to list. With --thread, all.",
)
@limit_option(20, "hits")
@pager_option
@resource_option
@json_option
@click.pass_context
def search(
    ctx: click.Context,
    /,
    *,
    query: Sequence[str],
    url: str | None,
    thread: str | None,
    resource: str | None,
    per_thread: int,
    pager: bool,
    limit: int,
    as_json: bool,
    **filters: Any,
) -> None:
    """Find messages and titles that contain all words of QUERY.

    Threads are listed by their best match, each with the number of its messages that match and the best of
    them. Matches are highlighted: in colour, or with **asterisks** without colours.

    Exit code: 0 if something was found, 1 if not.
    """
    text = " ".join(query)
    from .lookup import check_agent, find_thread

    with opened_store(url, resource) as (store, wait):
        wait(check_agent(store, filters["agent"]))
        if thread is not None:
            filters["thread_id"] = wait(find_thread(store, thread)).id
        selected = SearchFilter(**filters)
        each = per_thread if thread is None else None
        page = wait(store.search(text, selected, limit=limit, per_thread=each))
        if not page.items:
            print_notice(_suggestion(text, selected, is_empty=not wait(store.threads.count())))
            ctx.exit(1)
        if as_json:
            _print_json(page.items)
        else:
            _print(store, wait, page.items, pager=pager)
        if page.has_more:
            print_notice("there are more hits; increase --limit")


def _suggestion(query: str, selected: SearchFilter, *, is_empty: bool) -> str:
    """Return what to try after a search that found nothing."""
    if is_empty:
        return "the store is empty; run `partita import`"
    ways: list[str] = []
    if len(query.split()) > 1:
        ways.append("words without quotes" if '"' in query else "fewer words, or one OR other")
    if ":" in query or selected != SearchFilter():
        ways.append("fewer conditions")
    return f"nothing found; try {' or '.join(ways) or 'another word, or only its beginning'}"


def _print_json(hits: Sequence["SearchHit"]) -> None:
    from .output import print_json_bytes

    for hit in hits:
        print_json_bytes(encode(hit))


def _print(store: "Store", wait: Wait, hits: Sequence["SearchHit"], *, pager: bool) -> None:
    from .lookup import short_thread_ids
    from .view.console import console, show
    from .view.listing import draw_hits

    ids = list(dict.fromkeys(hit.thread_id for hit in hits))
    shown = wait(short_thread_ids(store, ids)) if sys.stdout.isatty() else dict(zip(ids, ids, strict=True))
    numbers = {thread_id: wait(store.messages.numbers(thread_id)) for thread_id in ids}
    coloured = console().color_system is not None and not console().no_color
    show(draw_hits(hits, shown, numbers, now=datetime.now(UTC), coloured=coloured), pager=pager)


COMMAND = search
