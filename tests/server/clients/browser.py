"""The real `useChat` of one release in a Node process, controlled from Python."""

import asyncio
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

import msgspec

from partita.types.json import JsonObject, dumps
from tests.node import node

HERE = Path(__file__).parent


class Request(msgspec.Struct):
    """A request of the page. Without a status, it has no response yet."""

    method: str
    path: str
    body: str | None = None
    status: int | None = None


class Finish(msgspec.Struct, rename="camel"):
    """The arguments of `onFinish`."""

    is_abort: bool = False
    is_disconnect: bool = False
    is_error: bool = False
    finish_reason: str | None = None


class State(msgspec.Struct):
    """The last state of a component, and the events so far."""

    messages: list[JsonObject]
    status: str
    error: str | None
    statuses: list[str]
    finished: list[Finish]
    rejected: list[str]
    requests: list[Request]

    @property
    def last(self) -> JsonObject:
        """The last message."""
        return self.messages[-1]

    @property
    def text(self) -> str:
        """The text of the last message."""
        return "".join(part["text"] for part in self.last["parts"] if part["type"] == "text")

    @property
    def ids(self) -> list[str]:
        """The ids of the messages."""
        return [message["id"] for message in self.messages]


class View(NamedTuple):
    """A mounted component."""

    browser: "Browser"
    name: str

    async def call(self, method: str, *args: Any) -> None:
        """Call a function of `useChat`. Wait for its effect with `until`."""
        await self.browser.ask({"op": "call", "view": self.name, "method": method, "args": list(args)})

    async def until(self, **expected: Any) -> State:
        """Wait for a state: see `isAs` in `drive.mjs`."""
        given = await self.browser.ask({"op": "until", "view": self.name, "expected": expected})
        return msgspec.convert(given, State)

    async def leave(self) -> None:
        """Unmount the component, as when the page is closed."""
        await self.browser.ask({"op": "unmount", "view": self.name})


class Browser:
    """One Node process, for one page at a time; use it as a context manager."""

    def __init__(self, version: int) -> None:
        self.version = version
        self._mounted = 0

    def __enter__(self) -> Self:
        self._complaints: IO[bytes] = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [node(), "drive.mjs", str(self.version)],
            cwd=HERE,
            env={**os.environ, "NODE_ENV": "production"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._complaints, self._process:
            self._process.kill()

    async def visit(self, url: str) -> None:
        """Open a page of a server."""
        await self.ask({"op": "visit", "url": url})

    async def mount(self, options: Mapping[str, Any]) -> View:
        """Mount a component that uses the chat with these options. `drive.mjs` adds more."""
        self._mounted += 1
        view = View(self, f"view {self._mounted}")
        await self.ask({"op": "mount", "view": view.name, "options": dict(options)})
        return view

    async def close(self) -> None:
        """Close the page."""
        await self.ask({"op": "close"})

    async def ask(self, command: JsonObject) -> JsonObject:
        """The response to a command. The event loop keeps running, because the server may run in it."""
        response = await asyncio.to_thread(self._ask, dumps(command) + b"\n")
        assert "failure" not in response, response["failure"]
        return response

    def _ask(self, line: bytes) -> JsonObject:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()
        response = self._process.stdout.readline()
        if not response:
            self._complaints.seek(0)
            complaints = self._complaints.read().decode(errors="replace")
            raise RuntimeError(f"node ended before it responded:\n{complaints[-2000:]}")
        return msgspec.json.decode(response, type=dict[str, Any])
