"""Commands that take a while, their initial data, and their results, which interruptions must not change."""

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
from tests.importers.log_files import ClaudeLog
from tests.runtime.replay.example_runs import SCRIPT, launch, launched, run_turn, weather
from tests.store.old_rows import second, with_rows

STORE = "store.db"
SESSIONS = 8
TURNS = 8
ROWS = 80


def create_sessions(folder: Path) -> None:
    """Create logs of an agent."""
    for number in range(SESSIONS):
        talk = ClaudeLog(f"{number:08x}-2f8e-4b52-9d3b-1a52ad1fb6a1")
        for turn in range(TURNS):
            talk.prompt(f"Bed {turn}?").answer(
                "I look.", call={"id": f"c{turn}", "name": "Bash", "input": {"command": f"beds {turn}"}}
            )
            talk.result(f"c{turn}", f"dry {turn}\n" * 20).answer("It is dry.")
        talk.write(folder / "logs")


def create_rows(folder: Path) -> None:
    """Create a database of another system."""
    tables = {name: list(found) for name, found in MASTRA.items()}
    tables["mastra_messages"] += [
        mastra_message(f"more-{number}", 30 + number, f"Row {number}") for number in range(ROWS)
    ]
    make_sqlite(folder / "mastra.db", tables)


def create_older_store(folder: Path) -> None:
    """Create a store with messages of an older shape."""
    reasoning = {"type": "reasoning", "reasoning": "Look it up, then tell."}
    found = {
        f"m{number}": ("user", f"Is bed {number} dry?") if number % 2 else ("assistant", second(reasoning))
        for number in range(ROWS)
    }
    _fill(folder, lambda store: with_rows(store, found))


def create_store(folder: Path) -> None:
    """Create a store with threads and runs."""
    _fill(folder, _archive)


async def _archive(store: Store) -> None:
    await load_archive(store)
    agent = Agent(ScriptedService(SCRIPT), tools=[weather, launch], store=store)
    await launched(agent, "moon")
    await run_turn(agent, "sky", "weather?")
    await agent.session.close()


def create_outdated_store(folder: Path) -> None:
    """Create a store with messages that differ from their logs."""
    create_store(folder)
    with closing(sqlite3.connect(folder / STORE)) as connection, connection:
        connection.execute("UPDATE messages SET content = replace(content, 'sunny in', 'rainy in')")


def create_backup_only(folder: Path) -> None:
    """Create a backup without its store."""
    create_store(folder)

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


def read_threads(folder: Path) -> object:
    """Return all threads of the store with all their messages."""

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


def read_contents(folder: Path) -> object:
    """Return the contents of messages in the database."""
    with closing(sqlite3.connect(folder / STORE)) as connection, connection:
        return connection.execute("SELECT thread_id, id, content FROM messages ORDER BY 1, 2").fetchall()


def read_titles(folder: Path) -> object:
    """Return the set of titles of all threads."""

    async def work() -> set[str]:
        async with open_store(str(folder / STORE)) as store:
            return {
                f"{thread.title} {thread.message_count}" for thread in await store.threads.list(limit=500)
            }

    return asyncio.run(work())


def read_backups(folder: Path) -> object:
    """Return the names of backups and the threads of the store."""
    return sorted(path.name for path in folder.glob("*.backup")), read_threads(folder)


def read_files(folder: Path) -> object:
    """Return the hashes of all written files by name."""
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in (folder / "out").glob("*")}


@dataclass(frozen=True)
class Command:
    """A command, the function that creates its data, and the function that reads its result."""

    words: str
    prepare: Callable[[Path], None]
    result: Callable[[Path], object]
    repeat: str = ""
    """The command that completes it after an interruption, if it is another."""

    starts_unhealthy: bool = False
    """Whether the store has problems until the command is done."""

    once: bool = False
    """Whether it cannot be repeated once it is done."""


COMMANDS: dict[str, Command] = {
    "import of logs": Command("import logs --workers 1", create_sessions, read_threads),
    "import of logs by processes": Command("import logs --workers 2", create_sessions, read_threads),
    "import of rows": Command("import mastra.db --from mastra --batch-size 5", create_rows, read_threads),
    "import of examples": Command("import --demo", lambda _: None, read_threads),
    "migrate": Command("migrate --batch-size 5", create_older_store, read_contents, starts_unhealthy=True),
    "reproject": Command(
        "reproject --all --force", create_outdated_store, read_threads, starts_unhealthy=True
    ),
    "backup": Command("backup out.backup", create_store, read_backups, "backup out.backup --force"),
    "restore": Command("backup --restore kept.backup", create_backup_only, read_threads, once=True),
    "export": Command(
        "export --all --to html -o out",
        create_store,
        read_files,
        "export --all --to html -o out --force",
    ),
    "fork": Command("fork moon last --title again", create_store, read_titles),
}
