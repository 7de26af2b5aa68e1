"""What `codex exec --json` prints, in both its shapes, and the app server's traffic → chunks.

One message a turn. Usage stands in its metadata: of `exec` it is the thread's running total, so the last one
counts. What is unknown becomes data. Not kept: pieces of outputs, for they come whole later, and what tells
of the server alone.
"""

from collections.abc import Callable
from typing import Final

from partita.types.chunks import Chunk
from partita.types.json import Json, JsonObject, is_object

from .app_server import AppServer
from .exec_messages import ExecMessages
from .fields import inner, text
from .legacy_events import Phase
from .live_turn import LiveTurn

PHASES: Final[dict[str, Phase]] = {
    "item.started": "started",
    "item.updated": "started",
    "item.completed": "completed",
}
SETTINGS: Final = frozenset({"model", "workdir"})
"""What the first line of 2025 holds, which has no type."""


class CodexExecDecoder:
    """Events in, chunks out."""

    def __init__(self) -> None:
        turn = self._turn = LiveTurn()
        self._server = AppServer(turn)
        self._messages = ExecMessages(turn)
        self._handlers: dict[str, Callable[[JsonObject], list[Chunk]]] = {
            "thread.started": lambda event: turn.know({"id": event.get("thread_id")}),
            "session.created": lambda event: turn.know({"id": event.get("session_id")}),
            "turn.started": lambda event: turn.begin(),
            "turn.completed": self._turn_completed,
            "turn.failed": lambda event: turn.fail(inner(event, "error")) + turn.end("error"),
            "item.plan.delta": lambda event: turn.grow(
                text(event, "item_id") or "", text(event, "delta") or ""
            ),
            "error": turn.fail,
        }

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks that one event amounts to."""
        if not is_object(event):
            return self._turn.keep("event", event)
        message, method = event.get("msg"), event.get("method")
        if is_object(message):
            return self._messages.feed(message, event)
        if isinstance(method, str):
            return self._server.notified(event, method)
        if "id" in event and ("result" in event or "error" in event):
            return self._server.answered(event)
        return self._event(event)

    def finish(self) -> list[Chunk]:
        """The chunks that close what is open when the stream ends."""
        return self._turn.finish()

    def _event(self, event: JsonObject) -> list[Chunk]:
        """An event of the second shape: `{type: "item.completed", item: {…}}`."""
        kind = event.get("type")
        if isinstance(kind, str):
            if kind in PHASES and is_object(event.get("item")):
                return self._turn.item(PHASES[kind], event["item"])
            handler = self._handlers.get(kind)
            if handler is not None:
                return handler(event)
        elif event.keys() >= SETTINGS:
            return self._turn.know(event)
        elif event.keys() == {"prompt"}:
            return self._turn.keep("user-message", event)
        return self._turn.keep("event", event)

    def _turn_completed(self, event: JsonObject) -> list[Chunk]:
        self._turn.spend(event.get("usage"))
        return self._turn.end("stop")
