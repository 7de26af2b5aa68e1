"""Commands that take a while, and what they have done in the end, however often they were interrupted."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from partita.demo.archive import load_archive
from partita.runtime.agent.agent import Agent
from partita.runtime.scripted import ScriptedService
from partita.store.backup.backup import create_backup
from partita.store.connection import open_store
from partita.store.store import Store
from partita.store.values import MessageFilter
from partita.types.codec import encode
from tests.importers.database_examples import MASTRA, make_sqlite, mastra_message
from tests.importers.log_files import Talk
from tests.runtime.replay.example_runs import SCRIPT, launch, launched, run_turn, weather
from tests.store.older import second, with_rows

STORE = "store.db"
SESSIONS = 8
TURNS = 8
ROWS = 80


def sessions(folder: Path) -> None:
    """Logs of an agent."""
    for number in range(SESSIONS):
        talk = Talk(f"{number:08x}-2f8e-4b52-9d3b-1a52ad1fb6a1")
        for turn in range(TURNS):
            talk.prompt(f"Bed {turn}?").answer(
                "I look.", call={"id": f"c{turn}", "name": "Bash", "input": {"command": f"beds {turn}"}}
            )
            talk.result(f"c{turn}", f"dry {turn}\n" * 20).answer("It is dry.")
        talk.write(folder / "logs")


def rows(folder: Path) -> None:
    """A database of another system."""
    tables = {name: list(found) for name, found in MASTRA.items()}
    tables["mastra_messages"] += [
        mastra_message(f"more-{number}", 30 + number, f"Row {number}") for number in range(ROWS)
    ]
    make_sqlite(folder / "mastra.db", tables)


def older(folder: Path) -> None:
    """A store whose messages have an older form."""
    reasoning = {"type": "reasoning", "reasoning": "Look it up, then tell."}
    found = {
        f"m{number}": ("user", f"Is bed {number} dry?") if number % 2 else ("assistant", second(reasoning))
        for number in range(ROWS)
    }
    _fill(folder, lambda store: with_rows(store, found))


def archive(folder: Path) -> None:
    """A store with threads and runs."""
    _fill(folder, _archive)


async def _archive(store: Store) -> None:
    await load_archive(store)
    agent = Agent(ScriptedService(SCRIPT), tools=[weather, launch], store=store)
    await launched(agent, "moon")
    await run_turn(agent, "sky", "weather?")
    await agent.session.close()


def forgotten(folder: Path) -> None:
    """The same, with messages that are not what their logs say."""
    archive(folder)
    with closing(sqlite3.connect(folder / STORE)) as connection, connection:
        connection.execute("UPDATE messages SET content = replace(content, 'sunny in', 'rainy in')")


def backed_up(folder: Path) -> None:
    """A backup, and no store."""
    archive(folder)

    async def work() -> None:
        async with open_store(str(folder / STORE)) as store:
            await create_backup(store, folder / "kept.backup")

    asyncio.run(work())
    for path in folder.glob(f"{STORE}*"):
        path.unlink()


def _fill(folder: Path, work: Callable[[Store], object]) -> None:
    async def run() -> None:
        async with open_store(str(folder / STORE)) as store:
            await work(store)  # type: ignore[misc] # they are all coroutines

    asyncio.run(run())


def threads(folder: Path) -> object:
    """All threads of the store with all their messages, as they are read."""

    async def work() -> list[tuple[str, list[bytes]]]:
        async with open_store(str(folder / STORE)) as store:
            found: list[tuple[str, list[bytes]]] = []
            for thread in await store.threads.list(limit=500):
                page = await store.messages.list(
                    thread.id, MessageFilter(branch="all", internal=None), limit=None
                )
                found.append((thread.id, [encode(message) for message in page]))
            return sorted(found)

    return asyncio.run(work())


def columns(folder: Path) -> object:
    """The contents of messages as the database has them."""
    with closing(sqlite3.connect(folder / STORE)) as connection, connection:
        return connection.execute("SELECT thread_id, id, content FROM messages ORDER BY 1, 2").fetchall()


def titles(folder: Path) -> object:
    """The titles of all threads; how many have the same does not count."""

    async def work() -> set[str]:
        async with open_store(str(folder / STORE)) as store:
            return {
                f"{thread.title} {thread.message_count}" for thread in await store.threads.list(limit=500)
            }

    return asyncio.run(work())


def backups(folder: Path) -> object:
    """The names of backups, and what they are made of."""
    return sorted(path.name for path in folder.glob("*.backup")), threads(folder)


def files(folder: Path) -> object:
    """Every file that was written, by what it holds."""
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in (folder / "out").glob("*")}


@dataclass(frozen=True)
class Work:
    """A command, what it begins with, and what it comes to."""

    words: str
    prepare: Callable[[Path], None]
    result: Callable[[Path], object]
    again: str = ""
    """What brings it to its end after an interruption, if not the same."""

    sick: bool = False
    """Whether there is something wrong with the store until the command has done its work."""

    once: bool = False
    """Whether it cannot be done again when it was done after all: the interruption came too late."""


WORKS: dict[str, Work] = {
    "import of logs": Work("import logs --workers 1", sessions, threads),
    "import of logs by processes": Work("import logs --workers 2", sessions, threads),
    "import of rows": Work("import mastra.db --from mastra --batch-size 5", rows, threads),
    "import of examples": Work("import --demo", lambda _: None, threads),
    "migrate": Work("migrate --batch-size 5", older, columns, sick=True),
    "reproject": Work("reproject --all --force", forgotten, threads, sick=True),
    "backup": Work("backup out.backup", archive, backups, "backup out.backup --force"),
    "restore": Work("backup --restore kept.backup", backed_up, threads, once=True),
    "export": Work(
        "export --all --format html -o out", archive, files, "export --all --format html -o out --force"
    ),
    "fork": Work("fork moon last --title again", archive, titles),
}
