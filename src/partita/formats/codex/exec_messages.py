"""The first shape of `codex exec --json`, of mid 2025: `{id, msg: {type, …}}` → chunks."""

from collections.abc import Callable

from partita.types.chunks import Chunk
from partita.types.json import JsonObject, is_object

from .fields import text
from .legacy_events import item_event
from .live_turn import LiveTurn, item_id


class ExecMessages:
    """Messages in; chunks out."""

    def __init__(self, turn: LiveTurn) -> None:
        self._turn = turn
        self._count = 0
        self._handlers: dict[str, Callable[[JsonObject], list[Chunk]]] = {
            "agent_message": lambda message: self._words(text(message, "message"), reasoning=False),
            "agent_message_delta": lambda message: self._delta(message, reasoning=False),
            "agent_reasoning": lambda message: self._words(text(message, "text"), reasoning=True),
            "agent_reasoning_delta": lambda message: self._delta(message, reasoning=True),
            "agent_reasoning_raw_content": lambda message: self._words(text(message, "text"), reasoning=True),
            "agent_reasoning_raw_content_delta": lambda message: self._delta(message, reasoning=True),
            "agent_reasoning_section_break": self._break,
            "exec_command_output_delta": self._output,
            "exec_approval_request": lambda message: turn.ask(message, "command_execution"),
            "apply_patch_approval_request": lambda message: turn.ask(message, "file_change"),
            "token_count": self._tokens,
            "session_configured": lambda message: turn.know({**message, "id": message.get("session_id")}),
            "task_started": lambda message: turn.begin(text(message, "turn_id")),
            "task_complete": lambda message: turn.end("stop"),
            "turn_aborted": lambda message: turn.abort(text(message, "reason")),
            "error": turn.fail,
            "stream_error": turn.fail,
        }

    def feed(self, message: JsonObject, event: JsonObject) -> list[Chunk]:
        """The chunks that a message amounts to."""
        told = item_event(message)
        if told is not None:
            return self._turn.item(told.phase, told.item)
        kind = message.get("type")
        handler = self._handlers.get(kind) if isinstance(kind, str) else None
        return handler(message) if handler is not None else self._turn.keep("event", event)

    def _words(self, words: str | None, *, reasoning: bool) -> list[Chunk]:
        """Whole words: the end of those that came in pieces, or all at once."""
        kind = "reasoning" if reasoning else "agent_message"
        return self._turn.item("completed", {"type": kind, "id": self._block(reasoning), "text": words or ""})

    def _delta(self, message: JsonObject, *, reasoning: bool) -> list[Chunk]:
        return self._turn.grow(self._block(reasoning), text(message, "delta") or "", reasoning=reasoning)

    def _break(self, _: JsonObject) -> list[Chunk]:
        block = self._turn.items.last_block(reasoning=True)
        return [] if block is None else self._turn.items.break_section(block)

    def _output(self, message: JsonObject) -> list[Chunk]:
        return self._turn.items.progress(item_id(message), text(message, "chunk") or "")

    def _tokens(self, message: JsonObject) -> list[Chunk]:
        info = message.get("info")
        if is_object(info):
            return self._turn.count(info)
        counts = {name: value for name, value in message.items() if name.endswith("_tokens")}
        return self._turn.count({"total_token_usage": counts}) if counts else []

    def _block(self, reasoning: bool) -> str:
        """The text or reasoning that is open, for messages do not name theirs; else a new one."""
        known = self._turn.items.last_block(reasoning=reasoning)
        if known is None:
            self._count += 1
        return known or f"item-{self._count}"
