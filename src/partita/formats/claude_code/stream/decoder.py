"""Claude Code's `stream-json`, and the messages of the Agent SDK → chunks.

One turn is one assistant message; every answer of the model is a step in it. Whole messages and the partial
events of the same answer may both come: nothing is told twice. What a sub-agent does hangs under the call
that started it. What is not understood is told as `data-claude-unknown`; nothing makes the decoder fail.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from partita.types.chunks import Chunk, MessageAbort, MessageFinish
from partita.types.json import Json, JsonObject, is_object

from .ending import take_result
from .events import take_event
from .notices import NOTICES, take_notice, take_system
from .permissions import take_cancel, take_request, take_response
from .snapshots import take_snapshot
from .turn import Turn
from .users import take_user

Take: TypeAlias = Callable[[Turn, JsonObject], None]

NO_RESULT: Final = "the stream ended without a result"


class ClaudeStreamDecoder:
    """Events in, chunks out. One decoder reads one turn, and what comes after its result."""

    def __init__(self, message_id: str | None = None) -> None:
        """Begin a message with that id, or with none: then whoever folds the chunks chooses one."""
        self._turn = Turn(message_id)

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks that one event amounts to."""
        kind = event.get("type") if is_object(event) else None
        take = TAKERS.get(kind) if isinstance(kind, str) else None
        if take is None or not is_object(event):
            self._turn.outlet.puzzle(event)
        else:
            take(self._turn, event)
        return self._turn.outlet.take()

    def finish(self) -> list[Chunk]:
        """The chunks that close what is open when the stream ends."""
        turn = self._turn
        if turn.outlet.is_open:
            worked_on = turn.main.response is not None or not turn.has_result
            turn.give_up()
            turn.outlet.end(MessageAbort(NO_RESULT) if worked_on else MessageFinish())
        return turn.outlet.take()


def _keep_alive(turn: Turn, event: JsonObject) -> None:
    """Nothing: it only says that the other side is there."""


TAKERS: Final[Mapping[str, Take]] = {
    "stream_event": take_event,
    "assistant": take_snapshot,
    "user": take_user,
    "system": take_system,
    "result": take_result,
    "control_request": take_request,
    "control_response": take_response,
    "control_cancel_request": take_cancel,
    "keep_alive": _keep_alive,
    **dict.fromkeys(NOTICES, take_notice),
}
