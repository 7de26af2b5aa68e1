"""`partita open`: show a thread in the web UI."""

import sys
from urllib.parse import quote

import click

from partita.errors import NotFoundError

from .blocking import opened_store
from .completion import complete_threads
from .options import resource_option, store_option
from .output import echo


@click.command(
    "open",
    short_help="Show a thread in the web UI.",
    epilog="""\b
Examples:
  partita open last
  partita open 0198a3c2 --no-browser    only print the address
""",
)
@click.argument("thread", shell_complete=complete_threads)
@click.option("--browser/--no-browser", default=True, help="Open the browser, if there is a desktop.")
@store_option
@resource_option
@click.pass_context
def open_thread(
    ctx: click.Context, *, thread: str, browser: bool, url: str | None, resource: str | None
) -> None:
    """Open the web UI at THREAD (an id, the beginning of one, or `last`), and print its address.

    A running server of this store is used. If there is none, one is started, as `partita` does; Ctrl-C stops
    it.
    """
    from .lookup import find_thread
    from .serve_setup import find_server, open_browser, with_fragment

    with opened_store(url, resource) as (store, wait):
        found = wait(find_thread(store, thread))
    fragment = f"#/t/{quote(found.id, safe='')}"
    address = find_server(url)
    if address is not None:
        page = with_fragment(address, fragment)
        echo(page)
        if browser:
            open_browser(page)
        return
    if not sys.stdout.isatty():
        raise NotFoundError("no server of this store is running", hint="start one: partita serve")
    from .serve import serve

    arguments = ["--open" if browser else "--no-open", "--fragment", fragment]
    arguments += () if url is None else ("--store", url)
    with serve.make_context("serve", arguments, parent=ctx.parent) as context:
        serve.invoke(context)


COMMAND = open_thread
