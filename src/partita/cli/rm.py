"""`partita rm`: remove threads, or everything of an owner."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from partita.views.text import counted

from .blocking import Wait, opened_store
from .completion import complete_threads
from .options import resource_option, store_option
from .output import echo, print_json, print_notice

if TYPE_CHECKING:  # imported when the command runs
    from partita.store.owners import OwnerReport
    from partita.store.store import Store
    from partita.types.threads import Thread


@click.command(
    short_help="Remove threads, or everything of an owner.",
    epilog="""\b
Examples:
  partita rm 0198a3c2           asks before it removes the thread
  partita rm 0198a3c2 77aa --yes
  partita rm --owner ada        all threads, files and keys of an owner
  partita compact               afterwards: also remove the bytes from the disk
""",
)
@click.argument("names", metavar="[THREAD]…", nargs=-1, shell_complete=complete_threads)
@click.option("--owner", metavar="ID", help="Remove everything of this owner, including keys.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation. Required without a terminal.")
@store_option
@resource_option
@click.option("--json", "as_json", is_flag=True, help="Print what was removed as JSON.")
def rm(
    *,
    names: Sequence[str],
    owner: str | None,
    yes: bool,
    url: str | None,
    resource: str | None,
    as_json: bool,
) -> None:
    """Remove each THREAD (an id, or the beginning of one) with all that belongs to it.

    Its messages, runs and their logs, its part of the search index and of the statistics, and blobs that
    nothing else refers to are removed. An agent's session file is not touched. `import`, `watch` and `serve`
    do not import it again, unless you name the file: partita import FILE.

    Exit code: 0 if it was removed, 1 if it does not exist or the removal was not confirmed.
    """
    if bool(names) == (owner is not None):
        raise click.UsageError("name threads, or use --owner")
    if yes and "last" in names:
        raise click.UsageError("last requires a confirmation; with --yes, name the thread by its id")
    if not yes and not sys.stdin.isatty():
        raise click.UsageError("a confirmation is required; use --yes without a terminal")
    with opened_store(url, resource) as (store, wait):
        if owner is not None:
            _remove_owner(store, wait, owner, yes=yes, as_json=as_json)
        else:
            _remove_threads(store, wait, names, yes=yes, as_json=as_json)
    print_notice("`partita compact` also removes the bytes from the disk")


def _remove_threads(store: "Store", wait: Wait, names: Sequence[str], *, yes: bool, as_json: bool) -> None:
    from partita.store.sources import SESSION

    from .lookup import find_thread

    found = {one.id: one for one in [wait(find_thread(store, name)) for name in names]}
    threads = wait(store.threads.with_display_titles(list(found.values())))
    if not yes:
        for thread in threads:
            echo(f"  {_line(thread)}", err=True)
        _confirm(f"Remove {counted(len(threads), 'thread')}?")
    removed: list[Thread] = []
    files: set[str] = set()
    for thread in threads:
        sources = wait(store.sources.list(thread_id=thread.id))
        if wait(store.threads.delete(thread.id)):
            removed.append(thread)
            files.update(source.path for source in sources if not source.path.startswith(SESSION))
    if as_json:
        print_json(
            [{"id": one.id, "resourceId": one.resource_id, "messages": one.message_count} for one in removed]
        )
    else:
        for thread in removed:
            echo(f"removed {_line(thread)}")
    if files:
        print_notice(f"still on disk, and not imported again: {', '.join(sorted(files))}")


def _remove_owner(store: "Store", wait: Wait, owner: str, *, yes: bool, as_json: bool) -> None:
    from partita.errors import NotFoundError
    from partita.store.owners import describe_owner

    report = wait(store.read(describe_owner, owner))
    if not any(_counts(report).values()):
        raise NotFoundError(
            f"no owner {owner!r}", hint="`partita keys list` and `partita threads` name owners"
        )
    if not yes:
        _confirm(f"Remove {_described(report)} of {owner!r}?")
    report = wait(store.delete_owner(owner))
    if as_json:
        print_json({"resourceId": report.resource_id, **_counts(report)})
    else:
        echo(f"removed {_described(report)} of {owner!r}")


def _counts(report: "OwnerReport") -> dict[str, int]:
    return {name: count for name, count in asdict(report).items() if isinstance(count, int)}


def _described(report: "OwnerReport") -> str:
    return ", ".join(
        counted(count, name.removesuffix("s")) for name, count in _counts(report).items() if count
    )


def _line(thread: "Thread") -> str:
    from .view.text import one_line

    title = one_line(thread.title or "(no title)", 60)
    return f"{one_line(thread.id)}  {title}  ({counted(thread.message_count or 0, 'message')})"


def _confirm(question: str) -> None:
    if not click.confirm(question, err=True):
        print_notice("nothing was removed")
        raise click.exceptions.Exit(1)


COMMAND = rm
