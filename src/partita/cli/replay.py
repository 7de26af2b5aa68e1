"""`partita replay`: a run as it went, at its own speed, faster, or step by step."""

import sys
from typing import TYPE_CHECKING

import click

from .blocking import Wait, opened_store
from .completion import complete_runs
from .options import resource_option, store_option

if TYPE_CHECKING:  # the store and rich are loaded when a command needs them
    from partita.store.store import Store
    from partita.types.threads import Run

    from .view.look import Look

LONGEST_PAUSE = 2.0


@click.command(
    short_help="Watch a run again.",
    epilog="""\b
Examples:
  partita replay last                 the newest run, with its pauses
  partita replay 0198a3c2 --speed 10  ten times as fast
  partita replay last --step          chunk by chunk, back and forth
  partita replay last --json          its chunks, one a line
""",
)
@click.argument("run", shell_complete=complete_runs)
@store_option
@click.option(
    "--speed", metavar="N", type=click.FloatRange(min=0), help="2 is twice as fast as it was; 0 is at once."
)
@click.option("--at-once", is_flag=True, help="Without pauses: what the run came to.")
@click.option("--step", is_flag=True, help="Chunk by chunk, back and forth, with the keys it shows.")
@click.option(
    "--longest-pause",
    metavar="N",
    type=click.FloatRange(min=0),
    default=LONGEST_PAUSE,
    show_default=True,
    help="No pause is longer, in seconds.",
)
@click.option("--full", is_flag=True, help="Fold nothing: whole outputs, whole reasoning, sub-agents.")
@click.option("--internal", is_flag=True, help="Also messages that are hidden, and our own notes.")
@click.option(
    "--json", "as_json", is_flag=True, help="The chunks as JSON, one a line; at --speed if it is given."
)
@resource_option
def replay(
    *,
    run: str,
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
    """Play RUN again: an id, the beginning of one, or `last`. `partita runs` lists them.

    A run at work is played up to now, then followed. In a pipe it is drawn as it ended. Of runs that were
    imported the messages are told again, in pieces: agents' logs do not say when each word came.
    """
    if sum((at_once, step, speed is not None)) > 1 or (step and as_json):
        raise click.UsageError("--step excludes --json, and --step, --at-once and --speed each other")
    from .lookup import find_run

    with opened_store(url, resource) as (store, wait):
        found = wait(find_run(store, run))
        if as_json:
            wait(_print_chunks(store, found, speed, longest_pause, internal=internal))
            return
        look = wait(_look(store, found, full=full, internal=internal))
        if step:
            _step(store, wait, found, look)
            return
        from .view.replay import play_run

        slow = sys.stdout.isatty() and not at_once
        pace = (1.0 if speed is None else speed) if slow else None
        wait(play_run(store, found, look, pace, longest_pause))


async def _look(store: "Store", run: "Run", *, full: bool, internal: bool) -> "Look":
    from .view.look import Look

    thread = await store.threads.get(run.thread_id)
    return Look(
        full=full,
        internal=internal,
        agent=run.agent,
        project=None if thread is None else thread.project,
        models={run.id: run.model} if run.model else {},
    )


async def _print_chunks(
    store: "Store", run: "Run", speed: float | None, longest: float, *, internal: bool
) -> None:
    from partita.runtime.replay.playback import play

    from .output import print_json_bytes

    async for seen in play(store, run.id, speed=speed, longest_pause=longest, notes=internal):
        print_json_bytes(seen.json)
        sys.stdout.buffer.flush()


def _step(store: "Store", wait: Wait, run: "Run", look: "Look") -> None:
    from partita.runtime.replay.stepper import Stepper

    from .view.replay import step_through

    step_through(wait(Stepper.open(store, run.id)), look)


COMMAND = replay
