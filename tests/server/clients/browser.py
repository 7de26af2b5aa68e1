"""A page without a browser: the real `useChat` of one release in a Node process, driven from Python."""

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
    """What the page asked of the server. Without a status there was no answer yet."""

    method: str
    path: str
    body: str | None = None
    status: int | None = None


class Finish(msgspec.Struct, rename="camel"):
    """What `onFinish` was told."""

    is_abort: bool = False
    is_disconnect: bool = False
    is_error: bool = False
    finish_reason: str | None = None


class State(msgspec.Struct):
    """What a component was last given to draw, and what had happened until then."""

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
        """The words of the last message."""
        return "".join(part["text"] for part in self.last["parts"] if part["type"] == "text")

    @property
    def ids(self) -> list[str]:
        """The ids of the messages."""
        return [message["id"] for message in self.messages]


class View(NamedTuple):
    """A component on the page."""

    browser: "Browser"
    name: str

    async def call(self, method: str, *args: Any) -> None:
        """Call what `useChat` gave. What comes of it is waited for with `until`."""
        await self.browser.ask({"op": "call", "view": self.name, "method": method, "args": list(args)})

    async def until(self, **wanted: Any) -> State:
        """The state, once it is as wanted: see `isAs` in `drive.mjs`."""
        given = await self.browser.ask({"op": "until", "view": self.name, "wanted": wanted})
        return msgspec.convert(given, State)

    async def leave(self) -> None:
        """Take the component off the page, as when the page is closed."""
        await self.browser.ask({"op": "leave", "view": self.name})


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
        """Begin a page that comes from a server."""
        await self.ask({"op": "visit", "url": url})

    async def mount(self, options: Mapping[str, Any]) -> View:
        """A component that uses the chat with these options; what `drive.mjs` adds to them is told there."""
        self._mounted += 1
        view = View(self, f"view {self._mounted}")
        await self.ask({"op": "mount", "view": view.name, "options": dict(options)})
        return view

    async def close(self) -> None:
        """Leave the page."""
        await self.ask({"op": "close"})

    async def ask(self, command: JsonObject) -> JsonObject:
        """The answer to a command. Meanwhile this loop goes on: the server may be in it."""
        answer = await asyncio.to_thread(self._ask, dumps(command) + b"\n")
        assert "failure" not in answer, answer["failure"]
        return answer

    def _ask(self, line: bytes) -> JsonObject:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            self._complaints.seek(0)
            complaints = self._complaints.read().decode(errors="replace")
            raise RuntimeError(f"node ended before it answered:\n{complaints[-2000:]}")
        return msgspec.json.decode(answer, type=dict[str, Any])
