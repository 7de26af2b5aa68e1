"""`partita fork`: a new thread with everything up to a message, to go on from there."""

from typing import TYPE_CHECKING

import click

from partita.errors import NotFoundError
from partita.store.values import MessageFilter
from partita.types.codec import encode

from .blocking import opened_store
from .completion import complete_threads
from .options import resource_option, store_option
from .output import print_notice

if TYPE_CHECKING:
    from partita.store.store import Store
    from partita.types.messages import Message
    from partita.types.threads import Thread


@click.command(
    short_help="Copy a thread up to a message.",
    epilog="""\b
Examples:
  partita fork last 3                         up to its message #3
  partita fork 0198a3c2 last --title "again"  all of it, under another title
""",
)
@click.argument("thread", shell_complete=complete_threads)
@click.argument("message")
@click.option("--title", metavar="TITLE", help="The title of the new thread; without it, the same.")
@store_option
@resource_option
@click.option("--json", "as_json", is_flag=True, help="The new thread as JSON.")
def fork(
    *, thread: str, message: str, title: str | None, url: str | None, resource: str | None, as_json: bool
) -> None:
    """Make a new thread of THREAD (an id, the beginning of one, or `last`) up to MESSAGE.

    MESSAGE is the number that `partita show` shows, an id, or `last`. The thread stays as it is. The id of
    the new one is printed.
    """
    from .lookup import find_thread

    with opened_store(url, resource) as (store, wait):
        found = wait(find_thread(store, thread))
        named = wait(_find_message(store, found, message))
        forked = wait(store.threads.fork(found.id, named.id, title=title))
    if as_json:
        from .output import print_json_bytes

        print_json_bytes(encode(forked))
    else:
        click.echo(forked.id)
    count = forked.message_count or 0
    print_notice(
        f"{count} {'message' if count == 1 else 'messages'}, up to #{named.seq}; partita show {forked.id}"
    )


async def _find_message(store: "Store", thread: "Thread", given: str) -> "Message":
    """The message that is meant: by its number, its id, or as the last one."""
    page = await store.messages.list(
        thread.id, MessageFilter(branch="all", internal=None), limit=None, blobs="reference"
    )
    active = await store.messages.list(thread.id, limit=None, blobs="reference")
    if given == "last" and active.items:
        return active.items[-1]
    number = given.removeprefix("#")
    for message in page:
        if given == message.id or number == str(message.seq):
            return message
    raise NotFoundError(
        f"no message {given!r} in thread {thread.id!r}",
        hint=f"partita show {thread.id} shows their numbers",
    )


COMMAND = fork
