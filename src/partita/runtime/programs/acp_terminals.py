"""Commands that an agent runs through its client. All of them end with the turn."""

import asyncio
from pathlib import Path
from typing import Final

from partita.errors import AgentError
from partita.types.json import Json, JsonObject, is_array, is_object

from .acp_files import confined
from .process import Launch, Patience, Piece, Program, environment_with

LIMIT: Final = 1024 * 1024
"""How many bytes of output are kept if nobody says."""


class Terminal:
    """A command, and the last of what it said."""

    def __init__(self, limit: int, patience: Patience) -> None:
        self._limit = limit
        self._patience = patience
        self._output = bytearray()
        self._is_cut = False
        self._program: Program | None = None

    async def start(self, launch: Launch) -> None:
        """Start the command."""
        self._program = await Program.start(launch, self._take, self._patience)

    def output(self) -> JsonObject:
        """What it said so far, and how it ended, if it has."""
        said: JsonObject = {
            "output": bytes(self._output).decode(errors="ignore" if self._is_cut else "replace"),
            "truncated": self._is_cut,
        }
        status = self._status()
        return said if status is None else {**said, "exitStatus": status}

    async def wait(self) -> JsonObject:
        """How it ended, once it has, and all that it said is here."""
        if self._program is not None:
            await self._program.wait(None)
            await self._program.wait_for_pipes(self._patience.leave)
        return self._status() or {}

    async def stop(self) -> None:
        """End the command and all that it started."""
        if self._program is not None:
            await self._program.stop()

    def _status(self) -> JsonObject | None:
        """How it ended, if it has. Without a code of its own, it was killed."""
        if self._program is None or not self._program.has_exited:
            return None
        code = self._program.exit_code
        if code is None or code < 0:
            return {"exitCode": None, "signal": str(-code if code else "killed")}
        return {"exitCode": code, "signal": None}

    def _take(self, piece: Piece) -> None:
        self._output += piece.data
        if len(self._output) > self._limit:
            del self._output[: len(self._output) - self._limit]
            self._is_cut = True
        if self._program is not None:
            self._program.took(piece)


class Terminals:
    """The terminals of a turn. Each method is one of the protocol's."""

    def __init__(self, root: Path, patience: Patience) -> None:
        self._root = root
        self._patience = patience
        self._terminals: dict[str, Terminal] = {}
        self._count = 0

    async def create(self, params: JsonObject) -> JsonObject:
        """Run a command."""
        command, args, given = params.get("command"), params.get("args"), params.get("env")
        if not isinstance(command, str) or not command:
            raise AgentError("no command is given", hint="name a program")
        words = [command, *(str(word) for word in args)] if is_array(args) else [command]
        folder = confined(self._root, params.get("cwd") or str(self._root))
        limit = params.get("outputByteLimit")
        terminal = Terminal(limit if isinstance(limit, int) and limit >= 0 else LIMIT, self._patience)
        await terminal.start(Launch(words, folder, environment_with(_variables(given)), b""))
        self._count += 1
        name = f"terminal-{self._count}"
        self._terminals[name] = terminal
        return {"terminalId": name}

    async def output(self, params: JsonObject) -> JsonObject:
        """What it said so far."""
        return self._find(params).output()

    async def wait_for_exit(self, params: JsonObject) -> JsonObject:
        """How it ended, once it has."""
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
            raise AgentError("there is no such terminal", hint="create it first")
        return terminal


def _variables(given: Json) -> dict[str, str]:
    items = given if is_array(given) else []
    return {str(item.get("name")): str(item.get("value")) for item in items if is_object(item)}
