"""A store with the demo, a thread of two thousand messages and one with secrets; and servers for it."""

import asyncio
import contextlib
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TypeAlias

import pytest

from partita.demo.archive import load_archive
from partita.store.connection import open_store
from partita.store.store import Store
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.parts import ReasoningPart, TextOutput, TextPart

# `stdio_client` keeps the standard error of the time of its import, and pytest closes its own.
with contextlib.redirect_stderr(sys.__stderr__):
    from mcp import StdioServerParameters
    from mcp.client._transport import TransportStreams

    from .forked import forked_mcp

LONG = "long-0001"
SECRET = "secret-0001"
TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
OUTPUT = "".join(f"line {number} of the log\n" for number in range(2000))


def long_thread() -> list[Message]:
    messages: list[Message] = []
    for number in range(1000):
        messages.append(UserMessage(id=f"u{number}", content=f"Question {number} about the harbour"))
        output = TextOutput(OUTPUT if number == 7 else f"boat {number}")
        call = ToolCallPart(f"c{number}", "Bash", "output-available", {"command": "ls"}, output=output)
        messages.append(AssistantMessage(id=f"a{number}", content=[TextPart(f"Answer {number}"), call]))
    return messages


async def fill(store: Store) -> None:
    await load_archive(store)
    await store.threads.create(LONG, title="A long one", agent="codex", project="/srv/long")
    await store.messages.save(long_thread(), thread_id=LONG)
    await store.threads.create(SECRET, title=f"Deploy with {TOKEN}", agent="codex", project="/srv/secret")
    await store.messages.save(
        [
            UserMessage(id="s1", content=f"{'word ' * 15}{TOKEN} deploys the beacon"),
            AssistantMessage(id="s2", content=[ReasoningPart("A thought."), TextPart(f"Used {TOKEN}.")]),
            UserMessage(id="s3", content="The hidden beacon", internal=True),
            UserMessage(id="s4", content="Another way", parent_id="s1"),
        ],
        thread_id=SECRET,
    )
    await store.threads.switch_branch(SECRET, "s2")


@pytest.fixture(scope="session")
def store_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mcp") / "store.db"

    async def make() -> None:
        async with open_store(path) as store:
            await fill(store)

    asyncio.run(make())
    return path


@pytest.fixture
def cold_server(store_path: Path) -> StdioServerParameters:
    """The command that an agent starts, in a new interpreter."""
    arguments = ["-m", "partita", "mcp", "--store", str(store_path)]
    return StdioServerParameters(command=sys.executable, args=arguments)


Server: TypeAlias = Callable[..., AbstractAsyncContextManager[TransportStreams]]


@pytest.fixture
def server(store_path: Path) -> Server:
    """Starts the same server in a forked process, with these options."""

    def started(*options: str) -> AbstractAsyncContextManager[TransportStreams]:
        return forked_mcp("--store", str(store_path), *options)

    return started


@pytest.fixture
def blocked(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Every call of a tool waits until it is cancelled. Returns how many calls wait."""
    waiting: list[object] = []

    async def wait(*_arguments: object) -> None:
        waiting.append(object())
        try:
            await asyncio.Event().wait()
        finally:
            waiting.pop()

    monkeypatch.setattr("partita.server.mcp.server.call_tool", wait)
    return lambda: len(waiting)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.001)
