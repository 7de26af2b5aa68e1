"""A store with sample threads, and functions that run a command on it."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from click.testing import CliRunner, Result

from partita.cli.main import cli
from partita.store.connection import open_store
from partita.store.store import Store
from partita.types.messages import AssistantMessage, UserMessage
from partita.types.threads import Thread
from tests.cli.sample_threads import CODING
from tests.processes import Terminal

CLOCK = "0198a3c2-7d10-7e11-8a00-5b1f00c0ffee"
BUILD = "0198a3c2-9999-7e11-8a00-5b1f00c0ffee"
OTHER = "77aa0000-0000-4000-8000-000000000000"


def fill(path: str, work: Callable[[Store], Awaitable[object]]) -> None:
    """Open a store and call a function with it."""

    async def run() -> None:
        async with open_store(path) as store:
            await work(store)

    asyncio.run(run())


def new_store(path: Path) -> str:
    """Create a store without threads; returns its path."""

    async def nothing(_store: Store) -> None:
        pass

    fill(str(path), nothing)
    return str(path)


async def add_threads(store: Store) -> None:
    """Add three threads: a long one with two branches, a short one, and an empty one."""
    await store.threads.create(
        CLOCK, title="Fix the flaky clock test", agent="claude-code", project="/home/ada/clock"
    )
    await store.messages.save(CODING, thread_id=CLOCK)
    await store.messages.save([UserMessage(id="b1", content="Rather wait.", parent_id="m1")], thread_id=CLOCK)
    await store.threads.switch_branch(CLOCK, "m2")
    await store.threads.create(
        BUILD, title="The build is slow", agent="codex", project="/srv/build", metadata={"k": [1]}
    )
    await store.messages.save(
        [UserMessage(id="q", content="Why nine minutes?"), AssistantMessage(id="a", content="The linker.")],
        thread_id=BUILD,
    )
    await store.threads.create(OTHER, agent="codex")
    now = datetime.now(UTC)
    for number, thread_id in enumerate((CLOCK, BUILD, OTHER)):
        thread = await store.threads.get(thread_id)
        assert isinstance(thread, Thread), "created above"
        await store.threads.save(_at(thread, now - timedelta(hours=3 * (number + 1))))


def _at(thread: Thread, moment: datetime) -> Thread:
    return Thread(
        id=thread.id, title=thread.title, agent=thread.agent, project=thread.project,
        metadata=thread.metadata, updated_at=moment,
    )  # fmt: skip


def partita(store: str, *arguments: str, columns: int = 80) -> Result:
    """Run a command with its output in a pipe."""
    environment = {"PARTITA_STORE": store, "COLUMNS": str(columns)}
    return CliRunner().invoke(cli, list(arguments), env=environment)


def on_terminal(store: str, *arguments: str, columns: int = 80) -> str:
    """Return what a command writes to a terminal, through a pager that does not wait."""
    settings = {"PARTITA_STORE": store, "COLUMNS": str(columns), "TERM": "xterm-256color", "PAGER": "cat"}
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | settings
    with Terminal(*arguments, environment=environment, folder=Path.cwd(), columns=columns) as terminal:
        return terminal.end().text
