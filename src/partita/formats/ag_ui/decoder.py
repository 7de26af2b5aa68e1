"""AG-UI events → chunks.

A run is one message. Texts, calls and results note the ids of the messages that they are to AG-UI. Events of
sub-agents are told to the call that started them; one that no call started gets a call of its own. State,
activities, snapshots and whatever is unknown become data. Older `THINKING_*` events are read as reasoning.
"""

from collections.abc import Callable, Mapping
from typing import Final

from partita.errors import PartitaError
from partita.formats.ag_ui.decoding import calls, data, texts, thoughts
from partita.formats.ag_ui.decoding.endings import begin_run, end_run, fail_run
from partita.formats.ag_ui.decoding.members import Handler
from partita.formats.ag_ui.decoding.run import Run
from partita.formats.ag_ui.decoding.subagents import Subagents
from partita.types.chunks import Chunk
from partita.types.json import Json, JsonObject, is_object

from . import names

HANDLERS: Final[Mapping[str, Handler]] = {
    **texts.HANDLERS,
    **thoughts.HANDLERS,
    **calls.HANDLERS,
    **data.HANDLERS,
}
"""What an agent does, by the type of the event that tells it."""


class AgUiDecoder:
    """Events in, chunks out. One decoder reads one run."""

    def __init__(self) -> None:
        self._main = Run()
        self._agents = Subagents(self._main)

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks that one event amounts to."""
        if not is_object(event) or not isinstance(kind := event.get("type"), str):
            self._main.keep(event)
        elif kind in LIFECYCLE:
            LIFECYCLE[kind](self, event)
        else:
            self._hear(kind, event)
        return self._agents.take()

    def finish(self) -> list[Chunk]:
        """The chunks that close what is open when the stream ends."""
        self._agents.finish()
        return self._agents.take()

    def _hear(self, kind: str, event: JsonObject) -> None:
        """Something that an agent does."""
        run = self._agents.run_of(event.get(names.AGENT))
        handler = HANDLERS.get(kind)
        try:
            if handler is None:  # an event that this version does not know
                run.keep(event)
            else:
                handler(run, event)
        except (KeyError, TypeError, PartitaError):  # a member is missing, or of another kind
            run.keep(event)

    # Lifecycle

    def begin(self, event: JsonObject) -> None:
        """A run begins."""
        begin_run(self._main, event)

    def end(self, event: JsonObject) -> None:
        """A run has ended, or waits for somebody."""
        self._agents.close()
        end_run(self._main, self._agents.run_of, event)

    def fail(self, event: JsonObject) -> None:
        """A run has failed."""
        self._agents.close()
        fail_run(self._main, event)

    def subagent(self, event: JsonObject) -> None:
        """A sub-agent begins, ends or fails."""
        self._agents.hear(event)


LIFECYCLE: Final[Mapping[str, Callable[[AgUiDecoder, JsonObject], None]]] = {
    "RUN_STARTED": AgUiDecoder.begin,
    "RUN_FINISHED": AgUiDecoder.end,
    "RUN_ERROR": AgUiDecoder.fail,
    "SUBAGENT_STARTED": AgUiDecoder.subagent,
    "SUBAGENT_FINISHED": AgUiDecoder.subagent,
    "SUBAGENT_ERROR": AgUiDecoder.subagent,
}
