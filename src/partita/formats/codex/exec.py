"""The output of `codex exec --json`, in both its versions, and the traffic of the app server → chunks.

There is one message for each turn, with the usage in its metadata. The usage of `exec` is the running total
of the thread, so the last one is used. Unknown events become data. Deltas of outputs are not kept, because
the whole output follows, nor are notifications that only concern the server.
"""

from collections.abc import Callable
from typing import Final

from partita.formats.core.members import present
from partita.types.chunks import Chunk
from partita.types.json import Json, JsonObject, is_object

from .live_turn import LiveTurn, item_id
from .tool_items import Phase, item_event
from .wire import member, nested, snake, text

PHASES: Final[dict[str, Phase]] = {
    "item.started": "started",
    "item.updated": "started",
    "item.completed": "completed",
}
SETTINGS: Final = frozenset({"model", "workdir"})
"""The members of the first line in 2025, which has no type."""


class CodexExecDecoder:
    """Events in, chunks out."""

    def __init__(self) -> None:
        turn = self._turn = LiveTurn()
        self._server = AppServer(turn)
        self._messages = ExecMessages(turn)
        self._handlers: dict[str, Callable[[JsonObject], list[Chunk]]] = {
            "thread.started": lambda event: turn.set_facts({"id": event.get("thread_id")}),
            "session.created": lambda event: turn.set_facts({"id": event.get("session_id")}),
            "turn.started": lambda event: turn.begin(),
            "turn.completed": self._turn_completed,
            "turn.failed": lambda event: turn.add_error(nested(event, "error")) + turn.end("error"),
            "item.plan.delta": lambda event: turn.append(
                text(event, "item_id") or "", text(event, "delta") or ""
            ),
            "error": turn.add_error,
        }

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks of one event."""
        if not is_object(event):
            return self._turn.keep("event", event)
        message, method = event.get("msg"), event.get("method")
        if is_object(message):
            return self._messages.feed(message, event)
        if isinstance(method, str):
            return self._server.read_notification(event, method)
        if "id" in event and ("result" in event or "error" in event):
            return self._server.read_response(event)
        return self._event(event)

    def finish(self) -> list[Chunk]:
        """The chunks that close what is open when the stream ends."""
        return self._turn.finish()

    def _event(self, event: JsonObject) -> list[Chunk]:
        """An event of the second version: `{type: "item.completed", item: {…}}`."""
        kind = event.get("type")
        if isinstance(kind, str):
            if kind in PHASES and is_object(event.get("item")):
                return self._turn.item(PHASES[kind], event["item"])
            handler = self._handlers.get(kind)
            if handler is not None:
                return handler(event)
        elif event.keys() >= SETTINGS:
            return self._turn.set_facts(event)
        elif event.keys() == {"prompt"}:
            return self._turn.keep("user-message", event)
        return self._turn.keep("event", event)

    def _turn_completed(self, event: JsonObject) -> list[Chunk]:
        self._turn.set_usage(event.get("usage"))
        return self._turn.end("stop")


class ExecMessages:
    """The first version of `codex exec --json`, of mid 2025: `{id, msg: {type, …}}`."""

    def __init__(self, turn: LiveTurn) -> None:
        self._turn = turn
        self._count = 0
        self._handlers: dict[str, Callable[[JsonObject], list[Chunk]]] = {
            "agent_message": lambda message: self._text(text(message, "message"), reasoning=False),
            "agent_message_delta": lambda message: self._delta(message, reasoning=False),
            "agent_reasoning": lambda message: self._text(text(message, "text"), reasoning=True),
            "agent_reasoning_delta": lambda message: self._delta(message, reasoning=True),
            "agent_reasoning_raw_content": lambda message: self._text(text(message, "text"), reasoning=True),
            "agent_reasoning_raw_content_delta": lambda message: self._delta(message, reasoning=True),
            "agent_reasoning_section_break": self._break,
            "exec_command_output_delta": self._output,
            "exec_approval_request": lambda message: turn.request_approval(message, "command_execution"),
            "apply_patch_approval_request": lambda message: turn.request_approval(message, "file_change"),
            "token_count": self._tokens,
            "session_configured": lambda message: turn.set_facts(
                {**message, "id": message.get("session_id")}
            ),
            "task_started": lambda message: turn.begin(text(message, "turn_id")),
            "task_complete": lambda message: turn.end("stop"),
            "turn_aborted": lambda message: turn.abort(text(message, "reason")),
            "error": turn.add_error,
            "stream_error": turn.add_error,
        }

    def feed(self, message: JsonObject, event: JsonObject) -> list[Chunk]:
        """The chunks of a message."""
        described = item_event(message)
        if described is not None:
            return self._turn.item(described.phase, described.item)
        kind = message.get("type")
        handler = self._handlers.get(kind) if isinstance(kind, str) else None
        return handler(message) if handler is not None else self._turn.keep("event", event)

    def _text(self, value: str | None, *, reasoning: bool) -> list[Chunk]:
        """End a text with its whole value, after deltas or without any."""
        kind = "reasoning" if reasoning else "agent_message"
        return self._turn.item("completed", {"type": kind, "id": self._block(reasoning), "text": value or ""})

    def _delta(self, message: JsonObject, *, reasoning: bool) -> list[Chunk]:
        return self._turn.append(self._block(reasoning), text(message, "delta") or "", reasoning=reasoning)

    def _break(self, _: JsonObject) -> list[Chunk]:
        block = self._turn.items.last_block(reasoning=True)
        return [] if block is None else self._turn.items.begin_section(block)

    def _output(self, message: JsonObject) -> list[Chunk]:
        return self._turn.items.progress(item_id(message), text(message, "chunk") or "")

    def _tokens(self, message: JsonObject) -> list[Chunk]:
        info = message.get("info")
        if is_object(info):
            return self._turn.count(info)
        counts = {name: value for name, value in message.items() if name.endswith("_tokens")}
        return self._turn.count({"total_token_usage": counts}) if counts else []

    def _block(self, reasoning: bool) -> str:
        """Return the id of the open text or reasoning, which messages do not name, or a new id."""
        known = self._turn.items.last_block(reasoning=reasoning)
        if known is None:
            self._count += 1
        return known or f"item-{self._count}"


SERVER_METHODS: Final = (
    "account/",
    "app/",
    "configWarning",
    "fs/",
    "fuzzyFileSearch/",
    "hook/",
    "mcpServer/",
    "model/",
    "remoteControl/",
    "skills/",
    "thread/status/",
    "windows",
)
"""Prefixes of methods that concern the server, not the conversation."""

APPROVED: Final = ("accept", "approved")


class AppServer:
    """The app server's JSON-RPC: notifications, requests of the server, responses."""

    def __init__(self, turn: LiveTurn) -> None:
        self._turn = turn
        self._methods: dict[str, Callable[[JsonObject], list[Chunk]]] = {
            "thread/started": lambda params: turn.set_facts(nested(params, "thread")),
            "thread/tokenUsage/updated": self._usage,
            "turn/started": lambda params: turn.begin(text(nested(params, "turn"), "id")),
            "turn/completed": lambda params: self._turn_completed(nested(params, "turn")),
            "error": self._error,
            "item/started": lambda params: turn.item("started", nested(params, "item")),
            "item/updated": lambda params: turn.item("started", nested(params, "item")),
            "item/completed": lambda params: turn.item("completed", nested(params, "item")),
            "item/agentMessage/delta": lambda params: self._delta(params, reasoning=False),
            "item/plan/delta": lambda params: self._delta(params, reasoning=False),
            "item/reasoning/textDelta": lambda params: self._delta(params, reasoning=True),
            "item/reasoning/summaryTextDelta": lambda params: self._delta(params, reasoning=True),
            "item/reasoning/summaryPartAdded": lambda params: turn.items.begin_section(item_id(params)),
            "item/commandExecution/outputDelta": self._output,
            "item/fileChange/outputDelta": self._output,
        }

    def read_notification(self, event: JsonObject, method: str) -> list[Chunk]:
        """Read a notification, or a request of the server."""
        params = nested(event, "params")
        if method.endswith("/requestApproval"):
            return self._turn.request_approval(params, snake(method.split("/")[1]), str(event.get("id")))
        handler = self._methods.get(method)
        if handler is not None:
            return handler(params)
        if method.startswith(SERVER_METHODS):
            return self._turn.add_transient("notice", event)
        return self._turn.keep("notification", event)

    def read_response(self, event: JsonObject) -> list[Chunk]:
        """Read a response: of the user to an approval request, or of the server to a client request."""
        result = nested(event, "result")
        decision = result.get("decision")
        name = next(iter(decision), "") if is_object(decision) else decision
        approved = isinstance(name, str) and name.startswith(APPROVED)
        chunks = self._turn.decide(str(event.get("id")), approved)
        if chunks is not None:
            return chunks
        thread = nested(result, "thread")
        facts = {**thread, **present(model=text(result, "model"), cwd=text(result, "cwd"))} if thread else {}
        return self._turn.set_facts(facts) + self._turn.add_transient("notice", event)

    def _turn_completed(self, turn: JsonObject) -> list[Chunk]:
        status, error = text(turn, "status"), nested(turn, "error")
        if status == "interrupted":
            return self._turn.abort(status)
        if status == "failed" or error:
            return self._turn.add_error(error) + self._turn.end("error")
        return self._turn.end("stop")

    def _usage(self, params: JsonObject) -> list[Chunk]:
        usage = nested(params, "token_usage")
        total, last = _snaked(nested(usage, "total")), _snaked(nested(usage, "last"))
        return self._turn.count({"total_token_usage": total, "last_token_usage": last})

    def _error(self, params: JsonObject) -> list[Chunk]:
        if member(params, "will_retry"):
            return self._turn.keep("error", params)
        return self._turn.add_error(nested(params, "error"))

    def _delta(self, params: JsonObject, *, reasoning: bool) -> list[Chunk]:
        return self._turn.append(item_id(params), text(params, "delta") or "", reasoning=reasoning)

    def _output(self, params: JsonObject) -> list[Chunk]:
        return self._turn.items.progress(item_id(params), text(params, "delta") or "")


def _snaked(counts: JsonObject) -> JsonObject:
    return {snake(name): count for name, count in counts.items()}
