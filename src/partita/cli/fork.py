"""`partita fork`: copy a thread up to a message, to continue it from there."""

from typing import TYPE_CHECKING

import click

from partita.errors import NotFoundError
from partita.types.codec import encode
from partita.views.text import counted

from .blocking import opened_store
from .completion import complete_threads
from .options import resource_option, store_option
from .output import print_notice

if TYPE_CHECKING:
    from partita.store.store import Store
    from partita.types.threads import Thread


@click.command(
    short_help="Copy a thread up to a message.",
    epilog="""\b
Examples:
  partita fork last 3                         up to message #3
  partita fork 0198a3c2 last --title "Retry"  the whole thread, renamed
""",
)
@click.argument("thread", shell_complete=complete_threads)
@click.argument("message")
@click.option("--title", metavar="TITLE", help="The title of the new thread. Default: the same title.")
@store_option
@resource_option
@click.option("--json", "as_json", is_flag=True, help="Print the new thread as JSON.")
def fork(
    *, thread: str, message: str, title: str | None, url: str | None, resource: str | None, as_json: bool
) -> None:
    """Copy THREAD (an id, the beginning of one, or `last`) up to MESSAGE into a new thread.

    MESSAGE is a message number as `partita show` prints it, an id, or `last`. THREAD does not change. Prints
    the id of the new thread.
    """
    from .lookup import find_thread

    with opened_store(url, resource) as (store, wait):
        found = wait(find_thread(store, thread))
        forked = wait(store.threads.fork(found.id, wait(_find_message(store, found, message)), title=title))
        number = len(wait(store.messages.numbers(forked.id)))
    if as_json:
        from .output import print_json_bytes

        print_json_bytes(encode(forked))
    else:
        click.echo(forked.id)
    print_notice(f"{counted(number, 'message')}; partita show {forked.id}")


async def _find_message(store: "Store", thread: "Thread", given: str) -> str:
    """Return the id of the message with this number on the active branch or this id, or of the last one."""
    active = await store.messages.list(thread.id, limit=None, blobs="reference")
    if given == "last" and active.items:
        return active.items[-1].id
    numbers = await store.messages.numbers(thread.id)
    number = given.removeprefix("#")
    found = next((one.id for one in active if str(numbers.get(one.id)) == number), None)
    if found is None and await store.messages.get(thread.id, given, blobs="reference") is not None:
        found = given
    if found is None:
        raise NotFoundError(
            f"no message {given!r} in thread {thread.id!r}",
            hint=f"partita show {thread.id} shows their numbers",
        )
    return found


COMMAND = fork
