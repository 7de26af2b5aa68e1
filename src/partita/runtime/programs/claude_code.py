"""Claude Code as an agent: the program `claude`, which speaks `stream-json` in both directions."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from partita.formats.call_decoder import CallDecoder
from partita.runtime.service import ApprovalGate, ApprovalRequest, InvokeOptions
from partita.types.data_url import OCTETS, PDF, parse_data_url
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.parts import FilePart, ImagePart

from .dialogue import Action, Cancel, Dialogue, Outcome, Send, Start, check_id, request_approval
from .process import Launch, Timeouts, environment_with
from .prompts import UserInput, file_mention
from .turn import ProgramService, ProgramTurn, check_no_argument

INITIALIZE_ID: Final = "partita-initialize"
INTERRUPT_ID: Final = "partita-interrupt"

DENIED: Final = "the user did not allow it"

RESULT_MEMBERS: Final[Mapping[str, str]] = {
    "subtype": "subtype",
    "result": "result",
    "stop_reason": "stopReason",
    "total_cost_usd": "totalCostUsd",
    "modelUsage": "modelUsage",
    "num_turns": "numTurns",
    "duration_ms": "durationMs",
    "structured_output": "structuredOutput",
}
"""Members of the `result` message, and their names in the result of the run."""


class ClaudeDialogue(Dialogue):
    """One turn."""

    def __init__(self, input: UserInput, session_id: str | None, approvals: ApprovalGate | None) -> None:
        super().__init__(session_id)
        self._input = input
        self._approvals = approvals

    def open(self) -> Sequence[Action]:
        """Send the handshake and the prompt. Neither is recorded: the decoder would take it for output."""
        handshake: JsonObject = {"subtype": "initialize", "hooks": None}
        message: JsonObject = {"role": "user", "content": _content(self._input)}
        prompt: JsonObject = {"type": "user", "message": message, "parent_tool_use_id": None}
        return [
            Send(
                {"type": "control_request", "request_id": INITIALIZE_ID, "request": handshake},
                is_recorded=False,
            ),
            Send({**prompt, "session_id": self.session_id or "default"}, is_recorded=False),
        ]

    def receive(self, message: Json) -> Sequence[Action]:
        """Respond to permission requests, and notice the session id and the end of the turn."""
        if not is_object(message):
            return []
        session, request_id = message.get("session_id"), message.get("request_id")
        if isinstance(session, str) and session:
            self.session_id = session
        match message.get("type"):
            case "control_request" if isinstance(request_id, str):
                return [self._respond(request_id, message.get("request"))]
            case "control_cancel_request" if isinstance(request_id, str):
                return [Cancel(request_id)]
            case "result":
                self.outcome = _outcome(message)
            case _:
                pass
        return []

    def interrupt(self) -> Sequence[Send]:
        """Send an interrupt request."""
        request = {"subtype": "interrupt"}
        return [Send({"type": "control_request", "request_id": INTERRUPT_ID, "request": request})]

    def _respond(self, request_id: str, request: Json) -> Action:
        if not is_object(request) or request.get("subtype") != "can_use_tool":
            kind = request.get("subtype") if is_object(request) else None
            return _response(request_id, subtype="error", error=f"{kind!r} is not supported")
        return Start(request_id, self._decide(request_id, request))

    async def _decide(self, request_id: str, request: JsonObject) -> Sequence[Action]:
        call_id, reason = request.get("tool_use_id"), request.get("decision_reason")
        approval = ApprovalRequest(
            request_id,
            call_id if isinstance(call_id, str) else request_id,
            str(request.get("tool_name", "")),
            request.get("input"),
            reason if isinstance(reason, str) else None,
        )
        decision = await request_approval(self._approvals, approval)
        response: JsonObject = {"behavior": "deny", "message": decision.reason or DENIED}
        if decision.approved:
            response = {"behavior": "allow", "updatedInput": request.get("input")}
        return [_response(request_id, subtype="success", response=response)]


def _response(request_id: str, **fields: Json) -> Send:
    return Send({"type": "control_response", "response": {"request_id": request_id, **fields}})


def _outcome(message: JsonObject) -> Outcome:
    result = {name: message[key] for key, name in RESULT_MEMBERS.items() if message.get(key) is not None}
    subtype = message.get("subtype")
    name = subtype if isinstance(subtype, str) else "error"
    if message.get("is_error") is not True and not name.startswith("error"):
        return Outcome(result)
    errors = message.get("errors")
    texts = [error for error in errors if isinstance(error, str)] if is_array(errors) else []
    text = message.get("result")
    return Outcome(result, "\n".join(texts) or (text if isinstance(text, str) and text else name), name)


def _content(input: UserInput) -> Json:
    if not input.files:
        return input.text
    return [{"type": "text", "text": input.text}, *(_block(file) for file in input.files)]


def _block(file: ImagePart | FilePart) -> JsonObject:
    inline = parse_data_url(file.url)
    media_type = file.media_type or "image/*" if inline is None else inline.media_type or OCTETS
    kind = "image" if media_type.startswith("image/") else "document"
    if kind == "image" or media_type == PDF:
        if inline is not None:
            source = {"type": "base64", "media_type": media_type, "data": inline.in_base64()}
            return {"type": kind, "source": source}
        if file.url.startswith("https:"):
            return {"type": kind, "source": {"type": "url", "url": file.url}}
    return {"type": "text", "text": file_mention(file)}


FLAGS: Final = (
    *("-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose"),
    *("--include-partial-messages", "--permission-prompt-tool", "stdio"),
)

NESTED: Final = ("CLAUDECODE",)
"""Variables that make the program refuse to start inside another Claude Code."""


def _comma_separated(value: Json) -> str:
    return ",".join(str(item) for item in value) if is_array(value) else str(value)


def _as_json(value: Json) -> str:
    return value if isinstance(value, str) else dumps(value).decode()


SETTINGS: Final[Mapping[str, tuple[str, Callable[[Json], str]]]] = {
    "permissionMode": ("--permission-mode", str),
    "allowedTools": ("--allowedTools", _comma_separated),
    "disallowedTools": ("--disallowedTools", _comma_separated),
    "maxTurns": ("--max-turns", str),
    "maxBudgetUsd": ("--max-budget-usd", str),
    "systemPrompt": ("--system-prompt", str),
    "fallbackModel": ("--fallback-model", str),
    "effort": ("--effort", str),
    "addDirs": ("--add-dir", _comma_separated),
    "mcpConfig": ("--mcp-config", _as_json),
    "settings": ("--settings", _as_json),
    "settingSources": ("--setting-sources", _comma_separated),
    "agents": ("--agents", _as_json),
}
"""The supported settings, with the option for each and how its value is written."""


class ClaudeCodeService(ProgramService):
    """Claude Code."""

    def __init__(self, command: Sequence[str] = ("claude",), *, timeouts: Timeouts | None = None) -> None:
        """`command` is the program and its first arguments."""
        super().__init__("claude-code", command, timeouts)

    def _turn(
        self, input: UserInput, cwd: Path | None, session_id: str | None, options: InvokeOptions
    ) -> ProgramTurn:
        command = [*self._command, *FLAGS, *_arguments(session_id, options)]
        return ProgramTurn(
            self.name,
            Launch(command, cwd, environment_with(options.environment, NESTED)),
            ClaudeDialogue(input, session_id, options.approvals),
            CallDecoder("claude-code-stream", "lines"),
            self._timeouts,
        )


def _arguments(session_id: str | None, options: InvokeOptions) -> list[str]:
    """Command line options, each as one `--name=value` argument, so that no value is parsed as an option."""
    arguments: list[str] = []
    if session_id is not None:
        arguments.append(f"--resume={check_id(session_id, 'session id')}")
    if options.model is not None:
        arguments.append(f"--model={options.model}")
    if options.instructions is not None:
        arguments.append(f"--append-system-prompt={options.instructions}")
    for name, (option, write) in SETTINGS.items():
        value = options.settings.get(name)
        if value is not None:
            arguments.append(f"{option}={write(value)}")
    return arguments


def make(name: str, argument: str) -> ClaudeCodeService:
    """The agent of a name (see `partita.runtime.registry`)."""
    check_no_argument(name, argument)
    return ClaudeCodeService()
