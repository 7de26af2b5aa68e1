"""A run played in the terminal: drawn while it goes, and in full when it is over."""

import time
from collections.abc import Callable
from datetime import datetime
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live

from partita.runtime.replay.lineage import get_run
from partita.runtime.replay.playing import play
from partita.runtime.replay.stepping import Stepper
from partita.store.facade.store import Store
from partita.types.messages import AssistantMessage, Message
from partita.types.runs import Run

from .printing import console, show
from .run_lookup import short_run_ids
from .view.look import Look
from .view.replaying import Tail, draw_end, draw_messages
from .view.run_rows import draw_run

REDRAWN = 0.08
"""After how many seconds the screen is drawn again."""


async def play_run(store: Store, run: Run, look: Look, speed: float | None, longest_pause: float) -> None:
    """Play a run; without a speed, what it came to."""
    ids = await short_run_ids(store, [run.id])
    show([draw_run(run, ids[run.id]), ""])
    asked = await _question(store, run)
    if asked is not None:
        show([*draw_messages([asked], look), ""])
    stepper = await Stepper.open(store, run.id)
    times: list[datetime] = []
    shown = 0
    with Screen(console(), speed) as screen:
        async for seen in play(store, run.id, speed=speed, longest_pause=longest_pause, notes=True):
            stepper.add(seen)
            stepper.seek(seen.seq)
            times.append(seen.time)
            if not seen.is_note:
                shown += 1
                screen.draw(lambda: Group(*draw_messages(stepper.snapshot(), look)))
    stepper.run = await get_run(store, run.id)
    show([*draw_messages(stepper.ended(), look), ""])
    if times:
        show([draw_end(shown, times[-1] - times[0], stepper.run)])


async def _question(store: Store, run: Run) -> Message | None:
    """What a run answers, if it is said."""
    page = await store.list_messages(
        run.thread_id, limit=None, branch="all", internal=None, blobs="reference"
    )
    known = {message.id: message for message in page}
    first = next((message for message in page if message.run_id == run.id), None)
    return known.get(first.parent_id or "") if isinstance(first, AssistantMessage) else None


class Screen:
    """What is drawn while a run plays, and gone when it has. Without a speed nothing is."""

    def __init__(self, target: Console, speed: float | None) -> None:
        self._live = Live(console=target, auto_refresh=False, transient=True) if speed else None
        self._drawn = 0.0

    def __enter__(self) -> "Screen":
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def draw(self, make: Callable[[], RenderableType]) -> None:
        """Draw, unless that was done a moment ago."""
        now = time.monotonic()
        if self._live is not None and now - self._drawn >= REDRAWN:
            self._drawn = now
            self._live.update(Tail(make()), refresh=True)
