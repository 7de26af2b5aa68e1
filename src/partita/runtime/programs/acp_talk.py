"""A turn with an agent that speaks the Agent Client Protocol, seen from the client's side."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from partita.errors import AgentError
from partita.runtime.service import Options, Question
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.parts import FilePart, ImagePart
from partita.version import __version__

from .acp_files import read_file, write_file
from .acp_terminals import Terminals
from .dialogue import Action, Errand, Line, Outcome, Withdraw, consult
from .process import Patience
from .prompts import Request, inline_of, mention
from .rpc import INVALID_PARAMS, METHOD_NOT_FOUND, Calls, Refusal

VERSION: Final = 1
"""The version of the protocol that is spoken here."""

ALLOW: Final = ("allow_once", "allow_always")
REJECT: Final = ("reject_once", "reject_always")
"""Kinds of options, the preferred first."""

Service: TypeAlias = Callable[[JsonObject], Awaitable[JsonObject]]


class Allowed(NamedTuple):
    """What an agent may ask of its client. All of it is confined to the folder of the session."""

    read_files: bool = False
    write_files: bool = False
    terminals: bool = False


class AcpTalk:
    """One turn."""

    def __init__(
        self,
        request: Request,
        cwd: Path,
        session_id: str | None,
        options: Options,
        allowed: Allowed,
        patience: Patience,
    ) -> None:
        self._request = request
        self._cwd = cwd
        self._options = options
        self._allowed = allowed
        self._loads = session_id
        self._calls = Calls({"jsonrpc": "2.0"}, is_told=True)
        self._capabilities: JsonObject = {}
        self._login: list[str] = []
        self._questions: dict[str, Json] = {}  # ids of the questions that are open
        self._terminals = Terminals(cwd, patience)
        self._services: Mapping[str, Service] = self._offered()
        self.session_id = session_id
        self.outcome: Outcome | None = None

    def open(self) -> Sequence[Action]:
        """Say who we are and what we can do."""
        allowed = self._allowed
        files = {"readTextFile": allowed.read_files, "writeTextFile": allowed.write_files}
        params: JsonObject = {
            "protocolVersion": VERSION,
            "clientCapabilities": {"fs": files, "terminal": allowed.terminals},
            "clientInfo": {"name": "partita", "title": "Partita", "version": __version__},
        }
        return [self._calls.request("initialize", params, self._initialized)]

    def hear(self, message: Json) -> Sequence[Action]:
        """Go on with what was answered, and answer what is asked."""
        if not is_object(message):
            return []
        method, given = message.get("method"), message.get("params")
        params = given if is_object(given) else {}
        if not isinstance(method, str):
            return self._answered(message)
        if "id" in message:
            return [self._asked(message["id"], method, params)]
        return [Withdraw(str(params.get("requestId")))] if method == "$/cancel_request" else []

    def interrupt(self) -> Sequence[Line]:
        """Take back the prompt, and the questions with it."""
        if self.session_id is None:
            return []
        cancelled = {"outcome": {"outcome": "cancelled"}}
        answers = [self._calls.answer(number, cancelled) for number in self._questions.values()]
        return [self._calls.notification("session/cancel", {"sessionId": self.session_id}), *answers]

    async def close(self) -> None:
        """End the commands that were run for it."""
        await self._terminals.close()

    # What we ask

    def _initialized(self, result: JsonObject) -> Sequence[Action]:
        version, capabilities = result.get("protocolVersion"), result.get("agentCapabilities")
        if version != VERSION:
            return self._fail(f"the agent speaks version {version!r} of the protocol, not {VERSION}")
        self._capabilities = capabilities if is_object(capabilities) else {}
        methods = result.get("authMethods")
        self._login = [str(one.get("name")) for one in methods if is_object(one)] if is_array(methods) else []
        servers = self._options.settings.get("mcpServers", [])
        params: JsonObject = {"cwd": str(self._cwd), "mcpServers": servers}
        if self._loads is None:
            return [self._calls.request("session/new", params, self._opened)]
        if self._capabilities.get("loadSession") is not True:
            return self._fail("the agent cannot go on with an earlier session")
        return [self._calls.request("session/load", {"sessionId": self._loads, **params}, self._opened)]

    def _opened(self, result: JsonObject) -> Sequence[Action]:
        session = result.get("sessionId", self._loads)
        if not isinstance(session, str):
            return self._fail("the agent did not name its session")
        self.session_id = session
        lines = [*self._choices(result)]
        params: JsonObject = {"sessionId": session, "prompt": self._prompt()}
        return [*lines, self._calls.request("session/prompt", params, self._prompted)]

    def _choices(self, result: JsonObject) -> Sequence[Line]:
        """The mode and the model that are wished for, as far as the agent lets one choose."""
        mode, model = self._options.settings.get("mode"), self._options.model
        chosen: list[tuple[str, JsonObject]] = []
        if isinstance(mode, str):
            chosen.append(("session/set_mode", {"modeId": mode}))
        options = result.get("configOptions")
        by_option = [one for one in options if is_object(one)] if is_array(options) else []
        config = next((one.get("id") for one in by_option if one.get("category") == "model"), None)
        if model is not None and is_object(result.get("models")):
            chosen.append(("session/set_model", {"modelId": model}))
        elif model is not None and config is not None:
            chosen.append(("session/set_config_option", {"configId": config, "value": model}))
        known = {"sessionId": self.session_id}
        return [self._calls.request(method, known | params, lambda _: []) for method, params in chosen]

    def _prompt(self) -> list[JsonObject]:
        can = self._capabilities.get("promptCapabilities")
        kinds = can if is_object(can) else {}
        blocks: list[JsonObject] = [{"type": "text", "text": self._request.text}]
        instructions = self._options.instructions
        if instructions is not None and self._loads is None:
            blocks.insert(0, {"type": "text", "text": instructions})
        return [*blocks, *(_block(file, kinds) for file in self._request.files)]

    def _prompted(self, result: JsonObject) -> Sequence[Action]:
        self.outcome = Outcome(result)
        return []

    def _answered(self, message: JsonObject) -> Sequence[Action]:
        taken = self._calls.take(message)
        if not isinstance(taken, Refusal):
            return taken or []
        if taken.method.startswith("session/set_"):
            return self._fail(f"{taken.method}: {taken.message}")
        hint = f"; log in first: {', '.join(self._login)}" if taken.code == -32000 and self._login else ""
        return self._fail(f"{taken.method}: {taken.message}{hint}")

    def _fail(self, what: str) -> Sequence[Action]:
        self.outcome = Outcome({}, what, "AcpError")
        return []

    # What it asks

    def _offered(self) -> dict[str, Service]:
        allowed, terminals = self._allowed, self._terminals
        offered: dict[str, Service] = {}
        if allowed.read_files:
            offered["fs/read_text_file"] = lambda params: asyncio.to_thread(read_file, self._cwd, params)
        if allowed.write_files:
            offered["fs/write_text_file"] = lambda params: asyncio.to_thread(write_file, self._cwd, params)
        if allowed.terminals:
            offered |= {
                "terminal/create": terminals.create,
                "terminal/output": terminals.output,
                "terminal/wait_for_exit": terminals.wait_for_exit,
                "terminal/kill": terminals.kill,
                "terminal/release": terminals.release,
            }
        return offered

    def _asked(self, id: Json, method: str, params: JsonObject) -> Action:
        if method == "session/request_permission":
            self._questions[str(id)] = id
            return Errand(str(id), self._decide(id, params))
        service = self._services.get(method)
        if service is None:
            return self._calls.refuse(id, METHOD_NOT_FOUND, f"{method} is not offered here")
        return Errand(str(id), self._serve(id, service, params))

    async def _decide(self, id: Json, params: JsonObject) -> Sequence[Action]:
        told, options = params.get("toolCall"), params.get("options")
        call = told if is_object(told) else {}
        names = (call.get("name"), call.get("kind"), "other")
        tool = next(str(name) for name in names if name)
        title = call.get("title")
        question = Question(
            str(id),
            str(call.get("toolCallId", id)),
            tool,
            call.get("rawInput", {}),
            title if isinstance(title, str) else None,
        )
        decision = await consult(self._options.desk, question)
        del self._questions[str(id)]
        chosen = _chosen(options, ALLOW if decision.approved else REJECT)
        outcome = {"outcome": "cancelled"} if chosen is None else {"outcome": "selected", "optionId": chosen}
        return [self._calls.answer(id, {"outcome": outcome})]

    async def _serve(self, id: Json, service: Service, params: JsonObject) -> Sequence[Action]:
        try:
            return [self._calls.answer(id, await service(params))]
        except (AgentError, OSError) as error:
            return [self._calls.refuse(id, INVALID_PARAMS, str(error))]


def _chosen(options: Json, kinds: Sequence[str]) -> Json:
    """The id of the option that says it; the narrowest of those there are."""
    offered = [option for option in options if is_object(option)] if is_array(options) else []
    found = (one.get("optionId") for kind in kinds for one in offered if one.get("kind") == kind)
    return next(found, None)


def _block(file: ImagePart | FilePart, kinds: JsonObject) -> JsonObject:
    """A file as the agent can take it: inside of the prompt, as an address, or in words."""
    inline = inline_of(file.url)
    if inline is not None:
        kind = inline.media_type.partition("/")[0]
        if kind in ("image", "audio") and kinds.get(kind) is True:
            return {"type": kind, "mimeType": inline.media_type, "data": inline.base64}
        return {"type": "text", "text": mention(file)}
    name = file.name if isinstance(file, ImagePart) else file.filename
    return {"type": "resource_link", "uri": file.url, "name": name or file.url}
