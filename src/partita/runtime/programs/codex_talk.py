"""A turn of Codex: what `codex exec --json` prints, or a talk with its app server."""

from collections.abc import Mapping, Sequence
from typing import Final

from partita.runtime.service import Desk, Options, Question
from partita.types.json import Json, JsonObject, is_object
from partita.version import __version__

from .dialogue import Action, Errand, Line, Outcome, Withdraw, consult
from .prompts import Request, mention
from .rpc import METHOD_NOT_FOUND, Calls, Refusal

APPROVALS: Final[Mapping[str, str]] = {
    "item/commandExecution/requestApproval": "command_execution",
    "item/fileChange/requestApproval": "file_change",
}
"""Questions of the app server that a person can answer, and the tool they are about."""

REFUSED: Final[Mapping[str, JsonObject]] = {
    "item/permissions/requestApproval": {"permissions": {}},
    "mcpServer/elicitation/request": {"action": "decline", "content": None},
    "item/tool/requestUserInput": {"answers": {}},
}
"""Questions that are always answered with no, and how that is said."""

IDS: Final = ("threadId", "turnId", "itemId", "approvalId", "startedAtMs", "reason")

THREAD: Final = ("approvalPolicy", "sandbox", "config", "personality", "modelProvider", "baseInstructions")
TURN: Final = ("effort", "summary", "sandboxPolicy", "outputSchema")
"""Settings that are heeded, by the request that carries them."""


class ExecTalk:
    """A turn of `codex exec`: it is only listened to."""

    def __init__(self, session_id: str | None) -> None:
        self.session_id = session_id
        self.outcome: Outcome | None = None

    def open(self) -> Sequence[Action]:
        """Nothing: the prompt is its whole input."""
        return []

    def hear(self, message: Json) -> Sequence[Action]:
        """Note the thread, and see when the turn is over."""
        if not is_object(message):
            return []
        match message.get("type"):
            case "thread.started" if isinstance(message.get("thread_id"), str):
                self.session_id = message["thread_id"]
            case "turn.completed":
                self.outcome = Outcome({})
            case "turn.failed":
                self.outcome = Outcome({}, _message(message.get("error")), "turn.failed")
            case _:
                pass
        return []

    def interrupt(self) -> Sequence[Line]:
        """It does not listen."""
        return []

    async def close(self) -> None:
        """Nothing was done for it."""


class ServerTalk:
    """A turn with `codex app-server`."""

    def __init__(self, request: Request, cwd: str, session_id: str | None, options: Options) -> None:
        self._request = request
        self._cwd = cwd
        self._options = options
        self._desk: Desk | None = options.desk
        self._calls = Calls({}, is_told=False, prefix="partita-")
        self._turn_id: str | None = None
        self._items: dict[str, JsonObject] = {}  # what is at work, for the questions about it
        self.session_id = session_id
        self.outcome: Outcome | None = None

    def open(self) -> Sequence[Action]:
        """Say who we are."""
        client = {"name": "partita", "title": "Partita", "version": __version__}
        return [self._calls.request("initialize", {"clientInfo": client}, self._initialized)]

    def hear(self, message: Json) -> Sequence[Action]:
        """Go on with what was answered, answer questions, see when the turn is over."""
        if not is_object(message):
            return []
        method, params = message.get("method"), message.get("params")
        if not isinstance(method, str):
            return self._answered(message)
        if "id" in message:
            return [self._asked(message["id"], method, params if is_object(params) else {})]
        return self._notified(method, params if is_object(params) else {})

    def interrupt(self) -> Sequence[Line]:
        """Ask it to end the turn, if there is one."""
        if self.session_id is None or self._turn_id is None:
            return []
        params = {"threadId": self.session_id, "turnId": self._turn_id}
        return [self._calls.request("turn/interrupt", params, lambda result: [])]

    async def close(self) -> None:
        """Nothing was done for it."""

    # What we ask

    def _initialized(self, result: JsonObject) -> Sequence[Action]:
        options = self._options
        params: JsonObject = {"cwd": self._cwd, "approvalPolicy": "on-request"}
        if options.model is not None:
            params["model"] = options.model
        if options.instructions is not None:
            params["developerInstructions"] = options.instructions
        params |= {name: options.settings[name] for name in THREAD if name in options.settings}
        if self.session_id is not None:
            params["threadId"] = self.session_id
        method = "thread/start" if self.session_id is None else "thread/resume"
        return [
            self._calls.notification("initialized"),
            self._calls.request(method, params, self._thread_opened),
        ]

    def _thread_opened(self, result: JsonObject) -> Sequence[Action]:
        thread = result.get("thread")
        if is_object(thread) and isinstance(thread.get("id"), str):
            self.session_id = thread["id"]
        settings = self._options.settings
        params: JsonObject = {"threadId": self.session_id, "input": _input(self._request)}
        params |= {name: settings[name] for name in TURN if name in settings}
        return [self._calls.request("turn/start", params, self._turn_started)]

    def _turn_started(self, result: JsonObject) -> Sequence[Action]:
        turn = result.get("turn")
        if is_object(turn) and isinstance(turn.get("id"), str):
            self._turn_id = turn["id"]
        return []

    def _answered(self, message: JsonObject) -> Sequence[Action]:
        taken = self._calls.take(message)
        if isinstance(taken, Refusal):
            if taken.method != "turn/interrupt":
                self.outcome = Outcome({}, f"{taken.method}: {taken.message}", "JsonRpcError")
            return []
        return taken or []

    # What it tells and asks

    def _notified(self, method: str, params: JsonObject) -> Sequence[Action]:
        turn, item = params.get("turn"), params.get("item")
        is_ours = params.get("threadId", self.session_id) == self.session_id
        match method:
            case "item/started" if is_object(item) and isinstance(item.get("id"), str):
                self._items[item["id"]] = item
            case "item/completed" if is_object(item) and isinstance(item.get("id"), str):
                self._items.pop(item["id"], None)
            case "turn/started" if is_ours and is_object(turn):
                return self._turn_started(params)
            case "turn/completed" if is_ours and is_object(turn):
                self.outcome = _outcome(turn)
            case "serverRequest/resolved":
                return [Withdraw(str(params.get("requestId")))]
            case _:
                pass
        return []

    def _asked(self, id: Json, method: str, params: JsonObject) -> Action:
        tool = APPROVALS.get(method)
        if tool is not None:
            return Errand(str(id), self._decide(id, tool, params))
        if method in REFUSED:
            return self._calls.answer(id, REFUSED[method])
        return self._calls.refuse(id, METHOD_NOT_FOUND, f"no one here answers {method}")

    async def _decide(self, id: Json, tool: str, params: JsonObject) -> Sequence[Action]:
        call_id, reason = str(params.get("itemId", id)), params.get("reason")
        item = self._items.get(call_id, {})
        known = {name: item[name] for name in ("command", "cwd", "changes") if name in item}
        asked = {name: value for name, value in params.items() if name not in IDS and value is not None}
        words = reason if isinstance(reason, str) else None
        decision = await consult(self._desk, Question(str(id), call_id, tool, known | asked, words))
        return [self._calls.answer(id, {"decision": "accept" if decision.approved else "decline"})]


def _outcome(turn: JsonObject) -> Outcome:
    status, error = turn.get("status"), turn.get("error")
    result: JsonObject = {"turnId": turn.get("id"), "status": status}
    if status == "failed" or is_object(error):
        return Outcome(result, _message(error), "turn.failed")
    return Outcome(result)


def _message(error: Json) -> str:
    words = error.get("message") if is_object(error) else None
    return words if isinstance(words, str) and words else "the turn failed"


def _input(request: Request) -> list[JsonObject]:
    items: list[JsonObject] = [{"type": "text", "text": request.text}]
    for file in request.files:
        media_type = file.media_type or "image/*"
        if media_type.startswith("image/") and file.url.startswith(("https:", "data:")):
            items.append({"type": "image", "url": file.url})
        else:
            items.append({"type": "text", "text": mention(file)})
    return items
