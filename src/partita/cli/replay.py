"""`partita replay`: play a thread or a run at its original speed, faster, or step by step."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from .blocking import Wait, opened_store
from .completion import complete_threads_and_runs
from .options import full_option, resource_option, store_option
from .parameter_types import Number

if TYPE_CHECKING:  # imported when the command runs
    from partita.store.store import Store
    from partita.types.threads import Run, Thread

    from .view.context import ViewContext

LONGEST_PAUSE = 2.0


@click.command(
    short_help="Replay a thread or a run.",
    epilog="""\b
Examples:
  partita replay last                 the newest thread, at its original speed
  partita replay 0198a3c2 --speed 10  ten times as fast
  partita replay last --step          its last run, chunk by chunk
  partita replay last --json          its chunks, one per line
""",
)
@click.argument("source", metavar="THREAD|RUN", shell_complete=complete_threads_and_runs)
@store_option
@click.option(
    "--speed",
    metavar="N",
    type=Number(),
    help="The speed factor: 2 is twice the original speed, 0 is without pauses.",
)
@click.option("--at-once", is_flag=True, help="Show only the final messages.")
@click.option("--step", is_flag=True, help="Step through the chunks, forward and back, with keys.")
@click.option(
    "--longest-pause",
    metavar="N",
    type=Number(),
    default=LONGEST_PAUSE,
    show_default=True,
    help="The longest pause, in seconds.",
)
@full_option
@click.option("--internal", is_flag=True, help="Include internal messages and notes.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the chunks as JSON, one per line; at --speed if given, else without pauses.",
)
@resource_option
def replay(
    *,
    source: str,
    url: str | None,
    speed: float | None,
    at_once: bool,
    step: bool,
    longest_pause: float,
    full: bool,
    internal: bool,
    as_json: bool,
    resource: str | None,
) -> None:
    """Replay a thread with its questions, or one run: an id, the beginning of one, or `last`.

    Of a thread, the runs of the active branch are played in order. A run that is active is played up to now
    and then followed. In a pipe, the final messages are printed. Imported runs have no recorded chunks, so
    the text of their messages is replayed in pieces.
    """
    if sum((at_once, step, speed is not None)) > 1:
        raise click.UsageError("--step, --at-once and --speed exclude each other")
    if step and as_json:
        raise click.UsageError("--step and --json exclude each other")
    if step and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("--step needs a terminal")
    from partita.types.threads import Thread

    from .lookup import find_thread_or_run
    from .thread_data import runs_of_branch

    with opened_store(url, resource) as (store, wait):
        found = wait(find_thread_or_run(store, source))
        runs = wait(runs_of_branch(store, found.id)) if isinstance(found, Thread) else [found]
        if as_json:
            for run in runs:
                wait(_print_chunks(store, run, speed, longest_pause, internal=internal))
            return
        context = wait(_context(store, found, runs, full=full, internal=internal))
        if step:
            _step(store, wait, runs, context)
            return
        from .view.replay import play_run, play_thread

        is_played = sys.stdout.isatty() and not at_once
        factor = (1.0 if speed is None else speed) if is_played else None
        if isinstance(found, Thread):
            wait(play_thread(store, found, runs, context, factor, longest_pause))
        else:
            wait(play_run(store, found, context, factor, longest_pause))


async def _context(
    store: "Store", found: "Thread | Run", runs: Sequence["Run"], *, full: bool, internal: bool
) -> "ViewContext":
    from partita.types.threads import Run

    from .view.context import ViewContext

    thread = await store.threads.get(found.thread_id) if isinstance(found, Run) else found
    return ViewContext(
        full=full,
        internal=internal,
        agent=found.agent,
        project=None if thread is None else thread.project,
        numbers={} if thread is None else await store.messages.numbers(thread.id),
        models={run.id: run.model for run in runs if run.model},
    )


async def _print_chunks(
    store: "Store", run: "Run", speed: float | None, longest: float, *, internal: bool
) -> None:
    from partita.runtime.replay.playback import play

    from .output import print_json_bytes

    async for seen in play(store, run.id, speed=speed, longest_pause=longest, notes=internal):
        print_json_bytes(seen.json)
        sys.stdout.buffer.flush()


def _step(store: "Store", wait: Wait, runs: Sequence["Run"], context: "ViewContext") -> None:
    from partita.errors import NotFoundError
    from partita.runtime.replay.stepper import Stepper

    from .view.replay import step_through

    if not runs:
        raise NotFoundError("the thread has no runs", hint="`partita show` prints its messages")
    step_through(wait(Stepper.open(store, runs[-1].id)), context)


COMMAND = replay
