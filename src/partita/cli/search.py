"""`partita search`: find messages and titles that contain all words of a query."""

import sys
from collections.abc import Iterator, Mapping, Sequence
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
    project_option,
    resource_option,
    since_option,
    store_option,
    thread_option,
    until_option,
)
from .output import print_notice

if TYPE_CHECKING:  # imported when the command runs
    from rich.console import RenderableType

    from partita.store.store import Store
    from partita.store.values import SearchHit

ROLES = ("system", "user", "assistant", "tool")


@click.command(
    short_help="Search messages and titles.",
    epilog="""\b
Examples:
  partita search flaky clock   both words, anywhere in a message
  partita search '"connection refused"' --field tool-output --since 1w
  partita search 'migrate -dry*' --agent claude-code --tool Bash
  partita search -- --dry-run  after --, words may begin with a dash
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
@limit_option(20, "hits")
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
    limit: int,
    as_json: bool,
    **filters: Any,
) -> None:
    """Find messages and titles that contain all words of QUERY, best matches first.

    Syntax: "a phrase", -excluded, prefix*. Matches are highlighted: in colour, or with **asterisks** without
    colours.

    Exit code: 0 if something was found, 1 if not.
    """
    with opened_store(url, resource) as (store, wait):
        if thread is not None:
            from .lookup import find_thread

            filters["thread_id"] = wait(find_thread(store, thread)).id
        page = wait(store.search(" ".join(query), SearchFilter(**filters), limit=limit))
        if not page.items:
            print_notice("nothing found" + ("; try fewer words, or prefix*" if len(query) > 1 else ""))
            ctx.exit(1)
        if as_json:
            _print_json(page.items)
        else:
            _print(store, wait, page.items)
        if page.has_more:
            print_notice("there are more hits; increase --limit")


def _print_json(hits: Sequence["SearchHit"]) -> None:
    from .output import print_json_bytes

    for hit in hits:
        print_json_bytes(encode(hit))


def _print(store: "Store", wait: Wait, hits: Sequence["SearchHit"]) -> None:
    from .lookup import short_thread_ids
    from .view.console import console, show

    ids = list(dict.fromkeys(hit.thread_id for hit in hits))
    shown = wait(short_thread_ids(store, ids)) if sys.stdout.isatty() else dict(zip(ids, ids, strict=True))
    coloured = console().color_system is not None and not console().no_color
    show(_drawings(hits, shown, coloured=coloured))


def _drawings(
    hits: Sequence["SearchHit"], ids: Mapping[str, str], *, coloured: bool
) -> "Iterator[RenderableType]":
    from .view.listing import draw_hit

    before: str | None = None
    for hit in hits:
        same = hit.thread_id == before
        if before is not None and not same:
            yield ""
        yield draw_hit(hit, ids[hit.thread_id], now=datetime.now(UTC), coloured=coloured, same_thread=same)
        before = hit.thread_id


COMMAND = search
