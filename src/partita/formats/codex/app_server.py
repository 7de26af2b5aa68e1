"""The app server's traffic: JSON-RPC notifications, requests of the server, answers to them → chunks."""

from collections.abc import Callable
from typing import Final

from partita.types.chunks import Chunk
from partita.types.json import JsonObject, is_object

from .fields import found, inner, present, snake, text
from .live_turn import LiveTurn, item_id

NOISE: Final = (
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
"""How methods begin that tell of the server, not of the talk."""

YES: Final = ("accept", "approved")


class AppServer:
    """Messages of JSON-RPC in; chunks out."""

    def __init__(self, turn: LiveTurn) -> None:
        self._turn = turn
        self._methods: dict[str, Callable[[JsonObject], list[Chunk]]] = {
            "thread/started": lambda params: turn.know(inner(params, "thread")),
            "thread/tokenUsage/updated": self._usage,
            "turn/started": lambda params: turn.begin(text(inner(params, "turn"), "id")),
            "turn/completed": lambda params: self._turn_completed(inner(params, "turn")),
            "error": self._error,
            "item/started": lambda params: turn.item("started", inner(params, "item")),
            "item/updated": lambda params: turn.item("started", inner(params, "item")),
            "item/completed": lambda params: turn.item("completed", inner(params, "item")),
            "item/agentMessage/delta": lambda params: self._delta(params, reasoning=False),
            "item/plan/delta": lambda params: self._delta(params, reasoning=False),
            "item/reasoning/textDelta": lambda params: self._delta(params, reasoning=True),
            "item/reasoning/summaryTextDelta": lambda params: self._delta(params, reasoning=True),
            "item/reasoning/summaryPartAdded": lambda params: turn.items.break_section(item_id(params)),
            "item/commandExecution/outputDelta": self._output,
            "item/fileChange/outputDelta": self._output,
        }

    def notified(self, event: JsonObject, method: str) -> list[Chunk]:
        """A notification, or a request of the server."""
        params = inner(event, "params")
        if method.endswith("/requestApproval"):
            return self._turn.ask(params, snake(method.split("/")[1]), str(event.get("id")))
        handler = self._methods.get(method)
        if handler is not None:
            return handler(params)
        if method.startswith(NOISE):
            return self._turn.show("notice", event)
        return self._turn.keep("notification", event)

    def answered(self, event: JsonObject) -> list[Chunk]:
        """An answer: of a person to a question of the server, or of the server to a wish."""
        result = inner(event, "result")
        decision = result.get("decision")
        word = next(iter(decision), "") if is_object(decision) else decision
        decided = self._turn.decide(str(event.get("id")), isinstance(word, str) and word.startswith(YES))
        if decided is not None:
            return decided
        thread = inner(result, "thread")
        facts = {**thread, **present(model=text(result, "model"), cwd=text(result, "cwd"))} if thread else {}
        return self._turn.know(facts) + self._turn.show("notice", event)

    def _turn_completed(self, turn: JsonObject) -> list[Chunk]:
        status, error = text(turn, "status"), inner(turn, "error")
        if status == "interrupted":
            return self._turn.abort(status)
        if status == "failed" or error:
            return self._turn.fail(error) + self._turn.end("error")
        return self._turn.end("stop")

    def _usage(self, params: JsonObject) -> list[Chunk]:
        usage = inner(params, "token_usage")
        total, last = _snaked(inner(usage, "total")), _snaked(inner(usage, "last"))
        return self._turn.count({"total_token_usage": total, "last_token_usage": last})

    def _error(self, params: JsonObject) -> list[Chunk]:
        if found(params, "will_retry"):
            return self._turn.keep("error", params)
        return self._turn.fail(inner(params, "error"))

    def _delta(self, params: JsonObject, *, reasoning: bool) -> list[Chunk]:
        return self._turn.grow(item_id(params), text(params, "delta") or "", reasoning=reasoning)

    def _output(self, params: JsonObject) -> list[Chunk]:
        return self._turn.items.progress(item_id(params), text(params, "delta") or "")


def _snaked(counts: JsonObject) -> JsonObject:
    return {snake(name): count for name, count in counts.items()}
