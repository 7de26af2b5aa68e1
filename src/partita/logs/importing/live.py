"""`watch_logs`: the store follows the logs while agents write them.

Each news is an import of the sessions it is about: what is followed live is what an import would read.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from partita.errors import PartitaError
from partita.logs.agents import agent_files
from partita.logs.codex_agents import root_of
from partita.logs.places.finding import find_logs
from partita.logs.places.log_file import LogFile
from partita.logs.places.ownership import log_of
from partita.logs.watching.watcher import Way
from partita.logs.watching.watching import watch
from partita.store.facade.store import Store

from .report import LogImportReport, Tell
from .runner import import_logs
from .units import HOSTS
from .workers import Workers

SETTLE_EVERY: Final = 60.0
"""Every so many seconds all logs are looked at: agents that went silent are not running any more."""


async def watch_logs(
    store: Store,
    find: Callable[[], Iterable[LogFile]],
    roots: Sequence[Path],
    *,
    resource_id: str | None = None,
    workers: Workers | None = None,
    tell: Callable[[LogImportReport], None] | None = None,
    progress: Tell | None = None,
    on_way: Callable[[Way], None] | None = None,
    force_polling: bool = False,
    stop: asyncio.Event | None = None,
) -> None:
    """Import what `find` finds, then whatever changes at or below the roots, until `stop` is set."""

    one_at_a_time = asyncio.Lock()

    async def bring_in(files: Callable[[], Iterable[LogFile]]) -> None:
        async with one_at_a_time:
            found = await asyncio.to_thread(lambda: list(files()))
            report = await import_logs(
                store, found, resource_id=resource_id, workers=workers, tell=progress, followed=True
            )
        if tell is not None and (report.read or report.problems):
            tell(report)

    async def settle() -> None:
        while True:
            await asyncio.sleep(SETTLE_EVERY)
            await bring_in(find)

    settling = asyncio.create_task(settle())
    try:
        async for changed in watch(roots, on_way=on_way, force_polling=force_polling, stop=stop):
            await bring_in(partial(sessions_of, changed) if changed else find)
    finally:
        settling.cancel()


def sessions_of(changed: Iterable[Path]) -> list[LogFile]:
    """The files of all sessions that changed files belong to, with those of their sub-agents."""
    files: dict[Path, LogFile] = {}
    for path in changed:
        for file in _session_files(path):
            files.setdefault(file.path, file)
    return list(files.values())


def _session_files(path: Path) -> Iterable[LogFile]:
    file = log_of(path) or _by_content(path)
    if file is None:
        return
    session = file
    if file.agent == "codex" or (file.agent in HOSTS and file.kind == "subagent"):
        session = _session_file(file) or file
    yield session
    if session.agent not in HOSTS:
        return
    try:
        for agent in agent_files(session.path):
            found = log_of(agent.path) or _by_content(agent.path)
            if found is not None:
                yield found
    except (OSError, PartitaError):
        return


def _by_content(path: Path) -> LogFile | None:
    """The log at a path that is no agent's own: somebody keeps a copy, or names a file of his."""
    return next(iter(find_logs([path]).files), None) if path.is_file() else None


def _session_file(file: LogFile) -> LogFile | None:
    """The session that a sub-agent's file belongs to, by its path; of Codex, by its header."""
    if file.session is None:
        return None
    if file.agent == "codex":
        return log_of(root_of(file.path))
    if file.agent == "gemini-cli":
        chats = file.path.parent.parent.glob(f"session-*-{file.session[:8]}.json*")
        return next((log_of(path) for path in sorted(chats)), None)
    for folder in file.path.parents:
        candidate = folder / f"{file.session}.jsonl"
        if candidate.is_file():
            return log_of(candidate)
        if folder.name == "projects":
            break
    return None
