"""Codex as an agent: its app server where approvals can be requested, otherwise `codex exec`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from partita.formats.call_decoder import CallDecoder
from partita.runtime.service import ApprovalRequest, InvokeOptions
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.version import __version__

from .dialogue import (
    METHOD_NOT_FOUND,
    Action,
    Cancel,
    Dialogue,
    JsonRpcDialogue,
    Outcome,
    RpcError,
    Send,
    Start,
    check_id,
    request_approval,
)
from .process import Launch, Timeouts, environment_with
from .prompts import UserInput, file_mention
from .turn import ProgramService, ProgramTurn, check_no_argument

# codex exec --json


class ExecDialogue(Dialogue):
    """A turn of `codex exec`. The prompt is its whole input."""

    def receive(self, message: Json) -> Sequence[Action]:
        """Notice the thread id and the end of the turn."""
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


# codex app-server

APPROVALS: Final[Mapping[str, str]] = {
    "item/commandExecution/requestApproval": "command_execution",
    "item/fileChange/requestApproval": "file_change",
}
"""Requests of the app server for an approval, and the tool that each is about."""

REFUSALS: Final[Mapping[str, JsonObject]] = {
    "item/permissions/requestApproval": {"permissions": {}},
    "mcpServer/elicitation/request": {"action": "decline", "content": None},
    "item/tool/requestUserInput": {"answers": {}},
}
"""Requests that are always refused, and the result that refuses each."""

NOT_INPUT: Final = ("threadId", "turnId", "itemId", "approvalId", "startedAtMs", "reason")
"""Members of an approval request that are not part of the tool's input."""

THREAD_SETTINGS: Final = (
    *("approvalPolicy", "sandbox", "config", "personality", "modelProvider", "baseInstructions"),
)
TURN_SETTINGS: Final = ("effort", "summary", "sandboxPolicy", "outputSchema")
"""The supported settings, by the request that has them."""


class AppServerDialogue(JsonRpcDialogue):
    """A turn with `codex app-server`."""

    def __init__(self, input: UserInput, cwd: str, session_id: str | None, options: InvokeOptions) -> None:
        super().__init__(session_id, {}, is_recorded=False, prefix="partita-")
        self._input = input
        self._cwd = cwd
        self._options = options
        self._turn_id: str | None = None
        self._items: dict[str, JsonObject] = {}  # items in progress, for the approval requests about them

    def open(self) -> Sequence[Action]:
        """Send `initialize`."""
        client = {"name": "partita", "title": "Partita", "version": __version__}
        return [self._request("initialize", {"clientInfo": client}, self._initialized)]

    def interrupt(self) -> Sequence[Send]:
        """Interrupt the turn, if it has started."""
        if self.session_id is None or self._turn_id is None:
            return []
        params = {"threadId": self.session_id, "turnId": self._turn_id}
        return [self._request("turn/interrupt", params, lambda _: [])]

    # Requests of ours

    def _initialized(self, result: JsonObject) -> Sequence[Action]:
        options = self._options
        params: JsonObject = {"cwd": self._cwd, "approvalPolicy": "on-request"}
        if options.model is not None:
            params["model"] = options.model
        if options.instructions is not None:
            params["developerInstructions"] = options.instructions
        params |= {name: options.settings[name] for name in THREAD_SETTINGS if name in options.settings}
        if self.session_id is not None:
            params["threadId"] = self.session_id
        method = "thread/start" if self.session_id is None else "thread/resume"
        return [self._notification("initialized"), self._request(method, params, self._thread_opened)]

    def _thread_opened(self, result: JsonObject) -> Sequence[Action]:
        thread = result.get("thread")
        if is_object(thread) and isinstance(thread.get("id"), str):
            self.session_id = thread["id"]
        settings = self._options.settings
        params: JsonObject = {"threadId": self.session_id, "input": _items(self._input)}
        params |= {name: settings[name] for name in TURN_SETTINGS if name in settings}
        return [self._request("turn/start", params, self._turn_started)]

    def _turn_started(self, result: JsonObject) -> Sequence[Action]:
        turn = result.get("turn")
        if is_object(turn) and isinstance(turn.get("id"), str):
            self._turn_id = turn["id"]
        return []

    def _on_error(self, error: RpcError) -> None:
        if error.method != "turn/interrupt":
            self.outcome = Outcome({}, f"{error.method}: {error.message}", "JsonRpcError")

    # Notifications and requests of the app server

    def _on_notification(self, method: str, params: JsonObject) -> Sequence[Action]:
        turn, item = params.get("turn"), params.get("item")
        is_of_thread = params.get("threadId", self.session_id) == self.session_id
        match method:
            case "item/started" if is_object(item) and isinstance(item.get("id"), str):
                self._items[item["id"]] = item
            case "item/completed" if is_object(item) and isinstance(item.get("id"), str):
                self._items.pop(item["id"], None)
            case "turn/started" if is_of_thread and is_object(turn):
                return self._turn_started(params)
            case "turn/completed" if is_of_thread and is_object(turn):
                self.outcome = _outcome(turn)
            case "serverRequest/resolved":
                return [Cancel(str(params.get("requestId")))]
            case _:
                pass
        return []

    def _on_request(self, id: Json, method: str, params: JsonObject) -> Action:
        tool = APPROVALS.get(method)
        if tool is not None:
            return Start(str(id), self._decide(id, tool, params))
        if method in REFUSALS:
            return self._result(id, REFUSALS[method])
        return self._error(id, METHOD_NOT_FOUND, f"{method} is not supported")

    async def _decide(self, id: Json, tool: str, params: JsonObject) -> Sequence[Action]:
        call_id, reason = str(params.get("itemId", id)), params.get("reason")
        item = self._items.get(call_id, {})
        known = {name: item[name] for name in ("command", "cwd", "changes") if name in item}
        given = {name: value for name, value in params.items() if name not in NOT_INPUT and value is not None}
        text = reason if isinstance(reason, str) else None
        approval = ApprovalRequest(str(id), call_id, tool, known | given, text)
        decision = await request_approval(self._options.approvals, approval)
        return [self._result(id, {"decision": "accept" if decision.approved else "decline"})]


def _outcome(turn: JsonObject) -> Outcome:
    status, error = turn.get("status"), turn.get("error")
    result: JsonObject = {"turnId": turn.get("id"), "status": status}
    if status == "failed" or is_object(error):
        return Outcome(result, _message(error), "turn.failed")
    return Outcome(result)


def _message(error: Json) -> str:
    text = error.get("message") if is_object(error) else None
    return text if isinstance(text, str) and text else "the turn failed"


def _items(input: UserInput) -> list[JsonObject]:
    items: list[JsonObject] = [{"type": "text", "text": input.text}]
    for file in input.files:
        media_type = file.media_type or "image/*"
        if media_type.startswith("image/") and file.url.startswith(("https:", "data:")):
            items.append({"type": "image", "url": file.url})
        else:
            items.append({"type": "text", "text": file_mention(file)})
    return items


# The service

OVERRIDES: Final[Mapping[str, str]] = {
    "approvalPolicy": "approval_policy",
    "effort": "model_reasoning_effort",
    "summary": "model_reasoning_summary",
}
"""Settings that `codex exec` takes as overrides of its configuration."""


class CodexService(ProgramService):
    """Codex."""

    def __init__(self, command: Sequence[str] = ("codex",), *, timeouts: Timeouts | None = None) -> None:
        """`command` is the program and its first arguments."""
        super().__init__("codex", command, timeouts)

    def _turn(
        self, input: UserInput, cwd: Path | None, session_id: str | None, options: InvokeOptions
    ) -> ProgramTurn:
        environment = environment_with(options.environment)
        # `codex exec` requests no approvals, and takes files from disk only.
        if options.approvals is not None or input.files:
            folder = str((cwd or Path()).absolute())
            dialogue: Dialogue = AppServerDialogue(input, folder, session_id, options)
            launch = Launch([*self._command, "app-server"], cwd, environment)
        else:
            dialogue = ExecDialogue(session_id)
            command = [*self._command, "exec", "--json", *_arguments(session_id, options), "-"]
            launch = Launch(command, cwd, environment, input.text.encode(errors="surrogatepass"))
        return ProgramTurn(self.name, launch, dialogue, CallDecoder("codex-exec", "lines"), self._timeouts)


def _arguments(session_id: str | None, options: InvokeOptions) -> list[str]:
    settings = options.settings
    arguments: list[str] = []
    if options.model is not None:
        arguments.append(f"--model={options.model}")
    if isinstance(sandbox := settings.get("sandbox"), str):
        arguments.append(f"--sandbox={sandbox}")
    if settings.get("skipGitRepoCheck") is True:
        arguments.append("--skip-git-repo-check")
    overrides = {key: settings[name] for name, key in OVERRIDES.items() if name in settings}
    if options.instructions is not None:
        overrides["developer_instructions"] = options.instructions
    if is_object(config := settings.get("config")):
        overrides |= config
    for key, value in overrides.items():
        arguments += ["-c", f"{key}={dumps(value).decode()}"]
    return arguments if session_id is None else [*arguments, "resume", check_id(session_id, "thread id")]


def make(name: str, argument: str) -> CodexService:
    """The agent of a name (see `partita.runtime.registry`)."""
    check_no_argument(name, argument)
    return CodexService()
