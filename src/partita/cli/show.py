"""`partita show`: print a thread as a conversation or as data."""

from datetime import timedelta
from typing import TYPE_CHECKING

import click

from partita.store.values import PartFilter

from .blocking import Wait, opened_store
from .completion import complete_threads, complete_written_formats
from .options import (
    branch_option,
    full_option,
    internal_option,
    losses_option,
    pager_option,
    resource_option,
    store_option,
)
from .parameter_types import WholeNumber

if TYPE_CHECKING:  # imported when the command runs
    from partita.store.store import Store

    from .selection import SelectedMessages


PART_PAGE = 1000


@click.command(
    short_help="Print a thread.",
    epilog="""\b
Examples:
  partita show last                   the newest thread
  partita show 0198a3c2 --full        the beginning of an id; nothing folded
  partita show last --last 5          its last five messages
  partita show 0198a3c2 --to ui > chat.json
  partita show 0198a3c2 --raw | head  the agent's log, byte for byte
""",
)
@click.argument("thread", shell_complete=complete_threads)
@store_option
@full_option
@branch_option
@internal_option
@click.option("--start", metavar="N", type=WholeNumber(min=1), help="Begin with message number N.")
@click.option("--last", metavar="N", type=WholeNumber(min=1), help="Only the last N messages.")
@click.option("--json", "as_json", is_flag=True, help="Print canonical messages as JSON, one per line.")
@click.option(
    "--to",
    "target",
    metavar="FORMAT",
    shell_complete=complete_written_formats,
    help="Print the messages in another format; `partita formats` lists them.",
)
@losses_option
@click.option("--raw", is_flag=True, help="Print the logs of its runs, byte for byte.")
@pager_option
@resource_option
def show(
    *,
    thread: str,
    url: str | None,
    full: bool,
    branch: str | None,
    internal: bool,
    start: int | None,
    last: int | None,
    as_json: bool,
    target: str | None,
    losses: bool,
    raw: bool,
    pager: bool,
    resource: str | None,
) -> None:
    """Print THREAD: an id, the beginning of one, or `last`.

    Long outputs, reasoning and sub-agents are folded; --full shows everything. Escape sequences, control
    characters and characters that change the text direction are never sent to a terminal.
    """
    if sum((as_json, target is not None, raw)) > 1:
        raise click.UsageError("--json, --to and --raw exclude each other")
    if losses and target is None:
        raise click.UsageError("--losses requires --to")
    from .lookup import find_thread
    from .selection import Selection, select_messages

    with opened_store(url, resource) as (store, wait):
        found = wait(find_thread(store, thread))
        if raw:
            from .thread_data import print_raw

            print_raw(store, wait, found)
            return
        selected = select_messages(store, wait, found, Selection(branch, internal, start, last))
        if as_json:
            from .thread_data import print_messages

            print_messages(store, wait, selected)
        elif target is not None:
            from .thread_data import print_format

            print_format(store, wait, selected, target, every_loss=losses)
        else:
            _print(store, wait, selected, full=full, internal=internal, pager=pager)


def _print(
    store: "Store", wait: Wait, selected: "SelectedMessages", *, full: bool, internal: bool, pager: bool
) -> None:
    from .thread_data import StoredBlobs, runs_of
    from .view.console import show as show_drawings
    from .view.context import ViewContext
    from .view.message import draw_conversation

    thread = selected.thread
    context = ViewContext(
        full=full,
        internal=internal,
        agent=thread.agent,
        project=thread.project,
        blobs=StoredBlobs(store, wait),
        numbers=selected.numbers,
        models={run.id: run.model for run in runs_of(store, wait, thread.id) if run.model},
        durations=_durations(store, wait, thread.id),
    )
    drawings = draw_conversation(
        wait(store.threads.summary(thread.id)),
        selected.messages,
        selected.others,
        context,
        times=selected.times,
        left_out=selected.left_out,
    )
    show_drawings(drawings, pager=pager)


def _durations(store: "Store", wait: Wait, thread_id: str) -> dict[str, timedelta]:
    """Return the durations of the tool calls of a thread by call id, as far as they are recorded."""
    found: dict[str, timedelta] = {}
    cursor: str | None = None
    while True:
        page = wait(
            store.messages.find_parts(
                PartFilter(thread_id=thread_id, types=["tool-call"], longer_than=timedelta(seconds=1)),
                limit=PART_PAGE,
                cursor=cursor,
            )
        )
        found |= {part.call_id: part.duration for part in page if part.call_id and part.duration}
        cursor = page.next
        if cursor is None:
            return found


COMMAND = show
