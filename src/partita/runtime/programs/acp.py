"""Any agent that speaks the Agent Client Protocol over its pipes.

Protocol: https://agentclientprotocol.com/protocol/overview
"""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from partita.errors import AgentError
from partita.formats.call_decoder import CallDecoder
from partita.runtime.service import ApprovalRequest, InvokeOptions
from partita.types.data_url import OCTETS, media_kind, parse_data_url
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import FilePart, ImagePart
from partita.version import __version__

from .dialogue import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    Action,
    Cancel,
    JsonRpcDialogue,
    Outcome,
    RpcError,
    Send,
    Start,
    request_approval,
)
from .process import ChildProcess, Launch, ProcessEvent, Timeouts, environment_with
from .prompts import UserInput, file_mention
from .turn import ProgramService, ProgramTurn

VERSION: Final = 1
"""The supported version of the protocol."""

LOGIN_REQUIRED: Final = -32000

APPROVING: Final = ("allow_once", "allow_always")
DENYING: Final = ("reject_once", "reject_always")
"""Kinds of permission options, the preferred first."""

Method: TypeAlias = Callable[[JsonObject], Awaitable[JsonObject]]
"""A method of the client that the agent may call."""


class Permissions(NamedTuple):
    """What the agent may do through its client, within the folder of the session."""

    read_files: bool = False
    write_files: bool = False
    terminals: bool = False


class AcpDialogue(JsonRpcDialogue):
    """One turn."""

    def __init__(
        self,
        input: UserInput,
        cwd: Path,
        session_id: str | None,
        options: InvokeOptions,
        permissions: Permissions,
        timeouts: Timeouts,
    ) -> None:
        super().__init__(session_id, {"jsonrpc": "2.0"}, is_recorded=True)
        self._input = input
        self._cwd = cwd
        self._options = options
        self._permissions = permissions
        self._resumed_id = session_id
        self._capabilities: JsonObject = {}
        self._login_methods: list[str] = []
        self._permission_ids: dict[str, Json] = {}  # of permission requests without a response
        self._terminals = Terminals(cwd, timeouts)
        self._methods: Mapping[str, Method] = self._client_methods()

    def open(self) -> Sequence[Action]:
        """Send `initialize`."""
        allowed = self._permissions
        files = {"readTextFile": allowed.read_files, "writeTextFile": allowed.write_files}
        params: JsonObject = {
            "protocolVersion": VERSION,
            "clientCapabilities": {"fs": files, "terminal": allowed.terminals},
            "clientInfo": {"name": "partita", "title": "Partita", "version": __version__},
        }
        return [self._request("initialize", params, self._initialized)]

    def interrupt(self) -> Sequence[Send]:
        """Cancel the prompt, and with it the pending permission requests."""
        if self.session_id is None:
            return []
        cancelled = {"outcome": {"outcome": "cancelled"}}
        responses = [self._result(id_, cancelled) for id_ in self._permission_ids.values()]
        return [self._notification("session/cancel", {"sessionId": self.session_id}), *responses]

    async def close(self) -> None:
        """End the commands that run for the agent."""
        await self._terminals.close()

    # Requests of ours

    def _initialized(self, result: JsonObject) -> Sequence[Action]:
        version, capabilities = result.get("protocolVersion"), result.get("agentCapabilities")
        if version != VERSION:
            return self._fail(f"the agent speaks version {version!r} of the protocol, not {VERSION}")
        self._capabilities = capabilities if is_object(capabilities) else {}
        methods = result.get("authMethods")
        self._login_methods = [str(one.get("name")) for one in _objects(methods)]
        servers = self._options.settings.get("mcpServers", [])
        params: JsonObject = {"cwd": str(self._cwd), "mcpServers": servers}
        if self._resumed_id is None:
            return [self._request("session/new", params, self._session_opened)]
        if self._capabilities.get("loadSession") is not True:
            return self._fail("the agent cannot resume a session")
        params = {"sessionId": self._resumed_id, **params}
        return [self._request("session/load", params, self._session_opened)]

    def _session_opened(self, result: JsonObject) -> Sequence[Action]:
        session = result.get("sessionId", self._resumed_id)
        if not isinstance(session, str):
            return self._fail("the agent did not name its session")
        self.session_id = session
        params: JsonObject = {"sessionId": session, "prompt": self._prompt()}
        return [*self._configure(result), self._request("session/prompt", params, self._prompted)]

    def _configure(self, session: JsonObject) -> Sequence[Send]:
        """Set the requested mode and model, as far as the agent supports that."""
        mode, model = self._options.settings.get("mode"), self._options.model
        changes: list[tuple[str, JsonObject]] = []
        if isinstance(mode, str):
            changes.append(("session/set_mode", {"modeId": mode}))
        options = _objects(session.get("configOptions"))
        config_id = next((one.get("id") for one in options if one.get("category") == "model"), None)
        if model is not None and is_object(session.get("models")):
            changes.append(("session/set_model", {"modelId": model}))
        elif model is not None and config_id is not None:
            changes.append(("session/set_config_option", {"configId": config_id, "value": model}))
        session_id = {"sessionId": self.session_id}
        return [self._request(method, session_id | params, lambda _: []) for method, params in changes]

    def _prompt(self) -> list[JsonObject]:
        supported = self._capabilities.get("promptCapabilities")
        kinds = supported if is_object(supported) else {}
        blocks: list[JsonObject] = [{"type": "text", "text": self._input.text}]
        instructions = self._options.instructions
        if instructions is not None and self._resumed_id is None:
            blocks.insert(0, {"type": "text", "text": instructions})
        return [*blocks, *(_block(file, kinds) for file in self._input.files)]

    def _prompted(self, result: JsonObject) -> Sequence[Action]:
        self.outcome = Outcome(result)
        return []

    def _on_error(self, error: RpcError) -> None:
        text = f"{error.method}: {error.message}"
        if error.code == LOGIN_REQUIRED and self._login_methods:
            text += f"; log in first: {', '.join(self._login_methods)}"
        self._fail(text)

    def _fail(self, error: str) -> Sequence[Action]:
        self.outcome = Outcome({}, error, "AcpError")
        return []

    # Requests and notifications of the agent

    def _client_methods(self) -> dict[str, Method]:
        allowed, terminals = self._permissions, self._terminals
        methods: dict[str, Method] = {}
        if allowed.read_files:
            methods["fs/read_text_file"] = lambda params: asyncio.to_thread(read_file, self._cwd, params)
        if allowed.write_files:
            methods["fs/write_text_file"] = lambda params: asyncio.to_thread(write_file, self._cwd, params)
        if allowed.terminals:
            methods |= {
                "terminal/create": terminals.create,
                "terminal/output": terminals.output,
                "terminal/wait_for_exit": terminals.wait_for_exit,
                "terminal/kill": terminals.kill,
                "terminal/release": terminals.release,
            }
        return methods

    def _on_notification(self, method: str, params: JsonObject) -> Sequence[Action]:
        return [Cancel(str(params.get("requestId")))] if method == "$/cancel_request" else []

    def _on_request(self, id: Json, method: str, params: JsonObject) -> Action:
        if method == "session/request_permission":
            self._permission_ids[str(id)] = id
            return Start(str(id), self._decide(id, params))
        implementation = self._methods.get(method)
        if implementation is None:
            return self._error(id, METHOD_NOT_FOUND, f"{method} is not supported")
        return Start(str(id), self._call(id, implementation, params))

    async def _decide(self, id: Json, params: JsonObject) -> Sequence[Action]:
        given = params.get("toolCall")
        call = given if is_object(given) else {}
        names = (call.get("name"), call.get("kind"), "other")
        title = call.get("title")
        approval = ApprovalRequest(
            str(id),
            str(call.get("toolCallId", id)),
            next(str(name) for name in names if name),
            call.get("rawInput", {}),
            title if isinstance(title, str) else None,
        )
        decision = await request_approval(self._options.approvals, approval)
        del self._permission_ids[str(id)]
        options = _objects(params.get("options"))
        kinds = APPROVING if decision.approved else DENYING
        chosen = (one.get("optionId") for kind in kinds for one in options if one.get("kind") == kind)
        option = next(chosen, None)
        outcome = {"outcome": "cancelled"} if option is None else {"outcome": "selected", "optionId": option}
        return [self._result(id, {"outcome": outcome})]

    async def _call(self, id: Json, implementation: Method, params: JsonObject) -> Sequence[Action]:
        try:
            return [self._result(id, await implementation(params))]
        except (AgentError, OSError) as error:
            return [self._error(id, INVALID_PARAMS, str(error))]


def _objects(value: Json) -> list[JsonObject]:
    return [one for one in value if is_object(one)] if is_array(value) else []


def _block(file: ImagePart | FilePart, supported: JsonObject) -> JsonObject:
    """A file in the form that the agent supports: as data, as a link, or as a text that mentions it."""
    inline = parse_data_url(file.url)
    if inline is not None:
        media_type = inline.media_type or OCTETS
        kind = media_kind(media_type)
        if kind in ("image", "audio") and supported.get(kind) is True:
            return {"type": kind, "mimeType": media_type, "data": inline.in_base64()}
        return {"type": "text", "text": file_mention(file)}
    name = file.name if isinstance(file, ImagePart) else file.filename
    return {"type": "resource_link", "uri": file.url, "name": name or file.url}


# Files and terminals that an agent uses through its client. They are confined to the folder of the session.


def confined(root: Path, path: Json) -> Path:
    """A path within `root`, links resolved; an `AgentError` for any other."""
    if not isinstance(path, str) or not path or "\0" in path:
        raise AgentError("no path is given", hint="name a file by its absolute path")
    base = root.resolve()
    found = (base / path).resolve()
    if found != base and base not in found.parents:
        raise AgentError(f"{path} is outside of {base}", hint="name a file inside of the folder")
    return found


def read_file(root: Path, params: JsonObject) -> JsonObject:
    """The text of a file, or some of its lines; `line` counts from one."""
    text = confined(root, params.get("path")).read_text(encoding="utf-8", errors="replace")
    line, limit = params.get("line"), params.get("limit")
    if line is None and limit is None:
        return {"content": text}
    first = max(line - 1, 0) if isinstance(line, int) else 0
    last = first + max(limit, 0) if isinstance(limit, int) else None
    return {"content": "".join(text.splitlines(keepends=True)[first:last])}


def write_file(root: Path, params: JsonObject) -> JsonObject:
    """Write a file, and create the folders it needs."""
    path, content = confined(root, params.get("path")), params.get("content")
    if not isinstance(content, str):
        raise AgentError("no content is given", hint="give the text of the file")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(content)
    return {}


OUTPUT_LIMIT: Final = 1024 * 1024
"""How many bytes of a terminal's output are kept, unless the agent names another limit."""


class Terminal:
    """A command, and the end of its output."""

    def __init__(self, limit: int, timeouts: Timeouts) -> None:
        self._limit = limit
        self._timeouts = timeouts
        self._output = bytearray()
        self._is_truncated = False
        self._process: ChildProcess | None = None

    async def start(self, launch: Launch) -> None:
        """Start the command."""
        self._process = await ChildProcess.start(launch, self._on_event, self._timeouts)

    def output(self) -> JsonObject:
        """The output so far, and the exit status if the command has ended."""
        text = bytes(self._output).decode(errors="ignore" if self._is_truncated else "replace")
        output: JsonObject = {"output": text, "truncated": self._is_truncated}
        status = self._status()
        return output if status is None else {**output, "exitStatus": status}

    async def wait(self) -> JsonObject:
        """The exit status, once the command has ended and all its output was read."""
        if self._process is not None:
            await self._process.wait(None)
            await self._process.wait_for_pipes(self._timeouts.exit)
        return self._status() or {}

    async def stop(self) -> None:
        """End the command and all that it started."""
        if self._process is not None:
            await self._process.stop()

    def _status(self) -> JsonObject | None:
        """The exit status, if the command has ended. Without an exit code of its own, it was killed."""
        if self._process is None or not self._process.has_exited:
            return None
        code = self._process.exit_code
        if code is None or code < 0:
            return {"exitCode": None, "signal": str(-code if code else "killed")}
        return {"exitCode": code, "signal": None}

    def _on_event(self, event: ProcessEvent) -> None:
        self._output += event.data
        if len(self._output) > self._limit:
            del self._output[: len(self._output) - self._limit]
            self._is_truncated = True
        if self._process is not None:
            self._process.acknowledge(event)


class Terminals:
    """The terminals of a turn. Each method is one of the protocol."""

    def __init__(self, root: Path, timeouts: Timeouts) -> None:
        self._root = root
        self._timeouts = timeouts
        self._terminals: dict[str, Terminal] = {}
        self._count = 0

    async def create(self, params: JsonObject) -> JsonObject:
        """Run a command."""
        program, args, given = params.get("command"), params.get("args"), params.get("env")
        if not isinstance(program, str) or not program:
            raise AgentError("no command is given", hint="name a program")
        command = [program, *(str(arg) for arg in args)] if is_array(args) else [program]
        folder = confined(self._root, params.get("cwd") or str(self._root))
        limit = params.get("outputByteLimit")
        has_limit = isinstance(limit, int) and limit >= 0
        terminal = Terminal(limit if has_limit else OUTPUT_LIMIT, self._timeouts)
        variables = {str(item.get("name")): str(item.get("value")) for item in _objects(given)}
        await terminal.start(Launch(command, folder, environment_with(variables), b""))
        self._count += 1
        id_ = f"terminal-{self._count}"
        self._terminals[id_] = terminal
        return {"terminalId": id_}

    async def output(self, params: JsonObject) -> JsonObject:
        """The output so far."""
        return self._find(params).output()

    async def wait_for_exit(self, params: JsonObject) -> JsonObject:
        """The exit status, once the command has ended."""
        return await self._find(params).wait()

    async def kill(self, params: JsonObject) -> JsonObject:
        """End the command; its output stays."""
        await self._find(params).stop()
        return {}

    async def release(self, params: JsonObject) -> JsonObject:
        """End the command and forget it."""
        await self._find(params).stop()
        del self._terminals[str(params.get("terminalId"))]
        return {}

    async def close(self) -> None:
        """End all commands."""
        await asyncio.gather(*(terminal.stop() for terminal in self._terminals.values()))

    def _find(self, params: JsonObject) -> Terminal:
        terminal = self._terminals.get(str(params.get("terminalId")))
        if terminal is None:
            raise AgentError("unknown terminal", hint="create it first")
        return terminal


# The service


class AcpService(ProgramService):
    """An agent by its command."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        read_files: bool = False,
        write_files: bool = False,
        terminals: bool = False,
        timeouts: Timeouts | None = None,
        name: str = "acp",
    ) -> None:
        """The flags allow the agent to use files and terminals within the folder that it works in."""
        if not command:
            raise AgentError("no command is given", hint="name the program that speaks the protocol")
        super().__init__(name, command, timeouts)
        self._permissions = Permissions(read_files, write_files, terminals)

    def _turn(
        self, input: UserInput, cwd: Path | None, session_id: str | None, options: InvokeOptions
    ) -> ProgramTurn:
        folder = (cwd or Path()).absolute()
        return ProgramTurn(
            self.name,
            Launch(self._command, cwd, environment_with(options.environment)),
            AcpDialogue(input, folder, session_id, options, self._permissions, self._timeouts),
            CallDecoder("acp", "lines"),
            self._timeouts,
        )


def make(name: str, argument: str) -> AcpService:
    """The agent of a name `acp:COMMAND WITH ARGUMENTS` (see `partita.runtime.registry`)."""
    hint = "write acp:COMMAND, as in a shell"
    try:
        command = shlex.split(argument)
    except ValueError as error:
        raise AgentError(f"the command {argument!r} cannot be parsed: {error}", hint=hint) from None
    if not command:
        raise AgentError(f"{name!r} names no command", hint=hint)
    return AcpService(command)
