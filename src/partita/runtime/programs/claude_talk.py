"""Claude Code's control protocol: a turn over `stream-json`, both ways."""

from collections.abc import Mapping, Sequence
from typing import Final

from partita.runtime.service import Desk, Question
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import FilePart, ImagePart

from .dialogue import Action, Errand, Line, Outcome, Withdraw, consult
from .prompts import Request, inline_of, mention

OPENING: Final = "partita-initialize"
INTERRUPT: Final = "partita-interrupt"
"""Ids of our requests."""

DENIED: Final = "the user did not allow it"

TOLD: Final[Mapping[str, str]] = {
    "subtype": "subtype",
    "result": "result",
    "stop_reason": "stopReason",
    "total_cost_usd": "totalCostUsd",
    "modelUsage": "modelUsage",
    "num_turns": "numTurns",
    "duration_ms": "durationMs",
    "structured_output": "structuredOutput",
}
"""What a result says, and what it is called in ours."""


class ClaudeTalk:
    """One turn."""

    def __init__(self, request: Request, session_id: str | None, desk: Desk | None) -> None:
        self._request = request
        self._desk = desk
        self.session_id = session_id
        self.outcome: Outcome | None = None

    def open(self) -> Sequence[Action]:
        """The handshake, and the prompt. Neither is told: the decoder would take it for the agent's."""
        handshake: JsonObject = {"subtype": "initialize", "hooks": None}
        message: JsonObject = {"role": "user", "content": _content(self._request)}
        prompt: JsonObject = {"type": "user", "message": message, "parent_tool_use_id": None}
        return [
            Line({"type": "control_request", "request_id": OPENING, "request": handshake}, is_told=False),
            Line({**prompt, "session_id": self.session_id or "default"}, is_told=False),
        ]

    def hear(self, message: Json) -> Sequence[Action]:
        """Answer questions, note the session, and see when the turn is over."""
        if not is_object(message):
            return []
        session, request_id = message.get("session_id"), message.get("request_id")
        if isinstance(session, str) and session:
            self.session_id = session
        match message.get("type"):
            case "control_request" if isinstance(request_id, str):
                return [self._asked(request_id, message.get("request"))]
            case "control_cancel_request" if isinstance(request_id, str):
                return [Withdraw(request_id)]
            case "result":
                self.outcome = _outcome(message)
            case _:
                pass
        return []

    def interrupt(self) -> Sequence[Line]:
        """Ask it to end the turn."""
        request = {"subtype": "interrupt"}
        return [Line({"type": "control_request", "request_id": INTERRUPT, "request": request})]

    async def close(self) -> None:
        """Nothing was done for it."""

    def _asked(self, request_id: str, request: Json) -> Action:
        if not is_object(request) or request.get("subtype") != "can_use_tool":
            kind = request.get("subtype") if is_object(request) else None
            return _response(request_id, subtype="error", error=f"no one here answers {kind!r}")
        return Errand(request_id, self._decide(request_id, request))

    async def _decide(self, request_id: str, request: JsonObject) -> Sequence[Action]:
        call_id, reason = request.get("tool_use_id"), request.get("decision_reason")
        question = Question(
            request_id,
            call_id if isinstance(call_id, str) else request_id,
            str(request.get("tool_name", "")),
            request.get("input"),
            reason if isinstance(reason, str) else None,
        )
        decision = await consult(self._desk, question)
        answer: JsonObject = {"behavior": "deny", "message": decision.reason or DENIED}
        if decision.approved:
            answer = {"behavior": "allow", "updatedInput": request.get("input")}
        return [_response(request_id, subtype="success", response=answer)]


def _response(request_id: str, **fields: Json) -> Line:
    return Line({"type": "control_response", "response": {"request_id": request_id, **fields}})


def _outcome(message: JsonObject) -> Outcome:
    result = {name: message[key] for key, name in TOLD.items() if message.get(key) is not None}
    subtype = message.get("subtype")
    name = subtype if isinstance(subtype, str) else "error"
    if message.get("is_error") is not True and not name.startswith("error"):
        return Outcome(result)
    errors = message.get("errors")
    words = [error for error in errors if isinstance(error, str)] if is_array(errors) else []
    said = message.get("result")
    text = "\n".join(words) or (said if isinstance(said, str) and said else name)
    return Outcome(result, text, name)


def _content(request: Request) -> Json:
    if not request.files:
        return request.text
    return [{"type": "text", "text": request.text}, *(_block(file) for file in request.files)]


def _block(file: ImagePart | FilePart) -> JsonObject:
    inline = inline_of(file.url)
    media_type = inline.media_type if inline is not None else file.media_type or "image/*"
    kind = "image" if media_type.startswith("image/") else "document"
    if inline is not None and (kind == "image" or media_type == "application/pdf"):
        source = {"type": "base64", "media_type": media_type, "data": inline.base64}
        return {"type": kind, "source": source}
    if file.url.startswith("https:") and (kind == "image" or media_type == "application/pdf"):
        return {"type": kind, "source": {"type": "url", "url": file.url}}
    return {"type": "text", "text": mention(file)}
