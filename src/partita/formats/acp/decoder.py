"""Messages of the Agent Client Protocol, of the agent and of the client → chunks of one message.

https://agentclientprotocol.com/protocol/schema. The updates while a session is loaded are not part of the
response: they become transient data. Requests between the programs (files, terminals, the handshake) have no
chunks; unknown messages become data.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from partita.formats.core.members import without
from partita.formats.format import Format
from partita.formats.losses import UNREAD, Loss
from partita.types.chunks import (
    Chunk,
    DataChunk,
    ErrorChunk,
    MessageAbort,
    MessageFinish,
    MessageMetadata,
    MessageStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
)
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import Interruption
from partita.types.usage import UsageNames

from .tool_calls import ACP, Calls, block_chunk, text_of

Reader: TypeAlias = Callable[[JsonObject], list[Chunk]]


class Request(NamedTuple):
    """The method and the id of a request. Agent and client count their ids separately."""

    method: str
    id: str | int


FINISH_REASONS: Final[Mapping[str, str]] = {
    "end_turn": "stop",
    "max_tokens": "length",
    "max_turn_requests": "length",
    "refusal": "content-filter",
    "cancelled": "other",
}

TRANSIENT: Final[Mapping[str, str]] = {
    "available_commands_update": "commands",
    "current_mode_update": "mode",
    "config_option_update": "config",
    "session_info_update": "session-info",
    "usage_update": "usage",
    "user_message_chunk": "user-message",
}
"""Updates of the session, not of the response, and the names of their data."""

INTERNAL: Final = ("authenticate", "fs/", "initialize", "logout", "session/", "terminal/", "$/")
"""Prefixes of methods that only concern the programs."""

CONTENT: Final = ("session/prompt", "fs/write_text_file")
"""Internal methods whose requests have content of the conversation."""

USAGE: Final = UsageNames(
    input=["inputTokens"],
    output=["outputTokens"],
    total=["totalTokens"],
    reasoning=["thoughtTokens"],
    cached=["cachedReadTokens"],
    cache_write=["cachedWriteTokens"],
)

NO_RESULT: Final = "the stream ended without a result"


class AcpDecoder:
    """Decodes the messages of JSON-RPC of one turn."""

    def __init__(self) -> None:
        self.losses: list[Loss] = []
        """Messages that only concern the programs."""
        self._count = 0
        self._calls = Calls()
        self._requests: dict[Request, str] = {}  # open requests, with their terminals
        self._block: tuple[str, str] | None = None  # kind and id of the current text
        self._message: Json = None  # its id in the protocol
        self._blocks = 0
        self._is_begun = self._is_open = self._is_in_step = self._had_results = False
        self._facts: JsonObject = {}
        self._updates: Mapping[str, Reader] = {
            "agent_message_chunk": lambda update: self._text("text", update),
            "agent_thought_chunk": lambda update: self._text("reasoning", update),
            "tool_call": self._call,
            "tool_call_update": self._call,
            "plan": self._plan,
        }
        self._results: Mapping[str, Reader] = {
            "initialize": lambda result: self._set_facts({"agentInfo": result.get("agentInfo")}),
            "session/new": lambda result: self._set_facts(
                {"sessionId": result.get("sessionId"), "model": _model(result)}
            ),
            "session/load": lambda result: self._set_facts({"model": _model(result)}),
            "session/prompt": self._finished,
        }

    def feed(self, event: Json) -> list[Chunk]:
        """Return the chunks of one message."""
        self._count += 1
        if not is_object(event):
            return self._keep("unknown", event)
        method, params = event.get("method"), event.get("params")
        number = event.get("id")
        if isinstance(method, str):
            given = params if is_object(params) else {}
            if isinstance(number, str | int):
                return self._read_request(Request(method, number), given, event)
            return self._read_notification(method, given, event)
        if isinstance(number, str | int) and ("result" in event or "error" in event):
            return self._read_response(number, event)
        return self._keep("unknown", event)

    def finish(self) -> list[Chunk]:
        """Return the chunks that end everything that is open when the stream ends."""
        if not self._is_open:
            return []
        chunks = self._close("lost")
        self._is_open = False
        return [*chunks, MessageAbort(NO_RESULT)]

    # Messages

    def _read_notification(self, method: str, params: JsonObject, event: JsonObject) -> list[Chunk]:
        update = params.get("update")
        kind = update.get("sessionUpdate") if is_object(update) else None
        if method != "session/update" or not is_object(update) or not isinstance(kind, str):
            is_internal = method == "session/cancel" or method.startswith("$/")
            return self._drop(event) if is_internal else self._keep("unknown", event)
        if any(request.method == "session/load" for request in self._requests):
            return [DataChunk(f"data-{ACP}-replay", update, transient=True)]
        if kind in TRANSIENT:
            return self._session_update(TRANSIENT[kind], update)
        reader = self._updates.get(kind)
        return self._keep("unknown", update) if reader is None else reader(update)

    def _read_request(self, request: Request, params: JsonObject, event: JsonObject) -> list[Chunk]:
        if request.method == "session/request_permission":
            opening = self._step()
            chunks = self._calls.request_approval(str(request.id), params)
            return [
                *opening,
                *(self._keep("permission", params) if chunks is None else [*self._end(), *chunks]),
            ]
        terminal = params.get("terminalId")
        self._requests[request] = terminal if isinstance(terminal, str) else ""
        if request.method == "session/load":
            self._drop(event)
            return self._set_facts({"sessionId": params.get("sessionId")})
        if not request.method.startswith(INTERNAL):
            return self._keep("unknown", event)
        return [] if request.method in CONTENT else self._drop(event)

    def _read_response(self, number: str | int, event: JsonObject) -> list[Chunk]:
        result, error = event.get("result"), event.get("error")
        given = result if is_object(result) else {}
        decided = self._calls.decide(str(number), given) if "outcome" in given else None
        if decided is not None:
            return decided
        request = self._request_of_response(number, given)
        if request is None:
            return self._keep("unknown", event)
        terminal = self._requests.pop(request)
        if request.method.startswith("terminal/"):
            self._calls.terminals.setdefault(terminal, {}).update(_terminal_result(given))
        elif is_object(error) and not request.method.startswith("fs/"):
            return self._failed(request.method, error)
        reader = self._results.get(request.method)
        return [] if reader is None else reader(given)

    def _request_of_response(self, number: str | int, result: JsonObject) -> Request | None:
        """Return the request of a response: of those with its id, the one that fits."""
        open_ = [request for request in self._requests if request.id == number]
        fitting = [one for one in open_ if (one.method == "session/prompt") == ("stopReason" in result)]
        return next(iter(fitting or open_), None)

    # The response

    def _text(self, kind: str, update: JsonObject) -> list[Chunk]:
        text, message = text_of(update.get("content")), update.get("messageId")
        opening = self._step()
        if text is None:
            return [*opening, *self._end(), block_chunk(update.get("content"))]
        chunks: list[Chunk] = []
        if self._block is None or self._block[0] != kind or self._message != message:
            chunks += self._end()
            self._blocks += 1
            self._block, self._message = (kind, str(self._blocks)), message
            chunks.append(TextStart(self._block[1]) if kind == "text" else ReasoningStart(self._block[1]))
        name = self._block[1]
        delta = TextDelta(name, text) if kind == "text" else ReasoningDelta(name, text)
        return [*opening, *chunks, delta]

    def _call(self, update: JsonObject) -> list[Chunk]:
        opening = self._begin() if self._calls.has(update.get("toolCallId")) else self._step()
        chunks = self._calls.update(without(update, "sessionUpdate"))
        if chunks is None:
            return [*opening, *self._keep("unknown", update)]
        self._had_results |= not self._calls.has_open
        return [*opening, *self._end(), *chunks]

    def _plan(self, update: JsonObject) -> list[Chunk]:
        plan = without(update, "sessionUpdate")
        return [*self._step(), DataChunk(f"data-{ACP}-plan", plan, id="plan")]

    def _finished(self, result: JsonObject) -> list[Chunk]:
        reason = result.get("stopReason")
        is_cancelled = reason == "cancelled"
        chunks = [*self._begin(), *self._close("aborted" if is_cancelled else "lost")]
        self._is_open = False
        metadata: JsonObject = {ACP: {**self._facts, **result}}
        if is_object(usage := result.get("usage")):
            metadata["usage"] = {**to_json(USAGE.read(usage)), "raw": usage}
        ended = FINISH_REASONS.get(reason, "other") if isinstance(reason, str) else "other"
        aborted: list[Chunk] = [MessageAbort("cancelled")] if is_cancelled else []
        return [*chunks, *aborted, MessageFinish(ended, metadata)]

    def _failed(self, method: str, error: JsonObject) -> list[Chunk]:
        text = error.get("message")
        opening = self._begin()
        chunk = ErrorChunk(text if isinstance(text, str) and text else "unknown error")
        if method != "session/prompt":
            return [*opening, chunk]
        chunks = self._close("lost")
        self._is_open = False
        return [*opening, *chunks, chunk, MessageFinish("error", {ACP: {**self._facts, "error": error}})]

    # Start and end

    def _begin(self) -> list[Chunk]:
        if self._is_open:
            return []
        self._is_open, is_first = True, not self._is_begun
        self._is_begun = True
        return [MessageStart(None, {ACP: dict(self._facts)})] if is_first else [MessageStart()]

    def _step(self) -> list[Chunk]:
        """Begin a step, unless calls of the current one have no results yet."""
        chunks = self._begin()
        if self._is_in_step and self._had_results and not self._calls.has_open:
            chunks += [*self._end(), StepFinish()]
            self._is_in_step = False
        if not self._is_in_step:
            self._is_in_step, self._had_results = True, False
            chunks.append(StepStart())
        return chunks

    def _end(self) -> list[Chunk]:
        """End the current text."""
        if self._block is None:
            return []
        (kind, name), self._block = self._block, None
        return [TextEnd(name) if kind == "text" else ReasoningEnd(name)]

    def _close(self, why: Interruption) -> list[Chunk]:
        chunks = [*self._end(), *self._calls.close(why)]
        if self._is_in_step:
            chunks.append(StepFinish())
        self._is_in_step = self._had_results = False
        return chunks

    def _set_facts(self, facts: JsonObject) -> list[Chunk]:
        """Set facts of the session, which are in the metadata of the message."""
        self._facts |= {name: value for name, value in facts.items() if value is not None}
        return [MessageMetadata({ACP: dict(self._facts)})] if self._is_open else []

    def _session_update(self, name: str, update: JsonObject) -> list[Chunk]:
        if name == "usage":
            self._facts["context"] = without(update, "sessionUpdate")
        if name == "session-info" and isinstance(title := update.get("title"), str):
            self._facts["title"] = title
        return [DataChunk(f"data-{ACP}-{name}", update, transient=True)]

    def _drop(self, event: JsonObject) -> list[Chunk]:
        """Report a message that only concerns the programs."""
        self.losses.append(Loss.of(f"$[{self._count - 1}]", event, UNREAD, "minor"))
        return []

    def _keep(self, name: str, data: Json) -> list[Chunk]:
        """Keep a message as data."""
        return [*self._begin(), DataChunk(f"data-{ACP}-{name}", data)]


def _model(result: JsonObject) -> Json:
    """Return the model of a session, if the agent names it."""
    models = result.get("models")
    current = models.get("currentModelId") if is_object(models) else None
    return current if isinstance(current, str) and current else None


def _terminal_result(result: JsonObject) -> JsonObject:
    """Return the output and the exit status of a terminal in a response."""
    exited = {"exitStatus": result} if "exitCode" in result or "signal" in result else {}
    return exited | {name: result[name] for name in ("output", "truncated", "exitStatus") if name in result}


FORMAT = Format("acp", "Agent Client Protocol, both sides", decoder=AcpDecoder)
