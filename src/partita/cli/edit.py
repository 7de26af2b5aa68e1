"""`partita rename`, `tag` and `pin`: change the title, the tags and the pin of a thread."""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import click

from partita.types.codec import encode

from .blocking import opened_store
from .completion import complete_tags, complete_threads
from .options import resource_option, store_option
from .output import print_notice

if TYPE_CHECKING:  # imported when the command runs
    from partita.store.store import Store
    from partita.types.threads import Thread

    Change = Callable[[Store, str], Coroutine[Any, Any, Thread]]

thread_json_option = click.option("--json", "as_json", is_flag=True, help="Print the thread as JSON.")


def _change(given: str, url: str | None, resource: str | None, change: "Change") -> "Thread":
    """Change the thread that an argument names, and return it."""
    from .lookup import find_thread

    with opened_store(url, resource) as (store, wait):
        found = wait(find_thread(store, given))
        return wait(change(store.scoped(found.resource_id or ""), found.id))


def _print(thread: "Thread", notice: str, *, as_json: bool) -> None:
    if as_json:
        from .output import print_json_bytes

        print_json_bytes(encode(thread))
    else:
        print_notice(notice)


@click.command(
    short_help="Change the title of a thread.",
    epilog="""\b
Examples:
  partita rename last "Flaky test of the parser"
  partita rename 0198a3c2 ""            remove the title
""",
)
@click.argument("thread", shell_complete=complete_threads)
@click.argument("title")
@store_option
@resource_option
@thread_json_option
def rename(*, thread: str, title: str, url: str | None, resource: str | None, as_json: bool) -> None:
    """Set the TITLE of THREAD (an id, the beginning of one, or `last`).

    Later imports of its session keep the title. With an empty TITLE, the next import sets that of the
    session again.
    """
    new = " ".join(title.split()) or None
    changed = _change(thread, url, resource, lambda store, key: store.threads.change(key, title=new))
    _print(changed, f"{changed.id}: {'no title' if new is None else new}", as_json=as_json)


@click.command(
    short_help="Add tags to a thread, or remove them.",
    epilog="""\b
Examples:
  partita tag last bug parser           add two tags
  partita tag last bug --remove         remove one
  partita tag last                      list its tags
  partita threads --tag bug             the threads with a tag
""",
)
@click.argument("thread", shell_complete=complete_threads)
@click.argument("names", nargs=-1, metavar="[NAME]…", shell_complete=complete_tags)
@click.option("--remove", is_flag=True, help="Remove the tags instead of adding them.")
@store_option
@resource_option
@thread_json_option
def tag(
    *,
    thread: str,
    names: tuple[str, ...],
    remove: bool,
    url: str | None,
    resource: str | None,
    as_json: bool,
) -> None:
    """Tag THREAD (an id, the beginning of one, or `last`), and print its tags, one per line.

    Tags are kept when the session is imported again.
    """
    add, gone = ((), names) if remove else (names, ())
    changed = _change(thread, url, resource, lambda store, key: store.threads.tag(key, add=add, remove=gone))
    if as_json:
        _print(changed, "", as_json=True)
        return
    from partita.store.threads.rows import tags_of

    for name in tags_of(changed.metadata):
        click.echo(name)


@click.command(
    short_help="Pin a thread, or unpin it.",
    epilog="""\b
Examples:
  partita pin last
  partita pin last --off                unpin it
  partita threads --pinned              the pinned threads
""",
)
@click.argument("thread", shell_complete=complete_threads)
@click.option("--off", is_flag=True, help="Unpin the thread.")
@store_option
@resource_option
@thread_json_option
def pin(*, thread: str, off: bool, url: str | None, resource: str | None, as_json: bool) -> None:
    """Pin THREAD (an id, the beginning of one, or `last`). The web UI lists pinned threads first."""
    metadata = {"pinned": None if off else True}
    changed = _change(thread, url, resource, lambda store, key: store.threads.change(key, metadata=metadata))
    _print(changed, f"{changed.id} is {'not pinned' if off else 'pinned'}", as_json=as_json)


COMMANDS = {"rename": rename, "tag": tag, "pin": pin}
