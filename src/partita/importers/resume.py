"""How to continue a session in the agent that recorded it."""

import shlex
from pathlib import Path
from typing import NamedTuple

from partita.errors import PartitaError
from partita.logs.sources.registry import SOURCES
from partita.store.bulk.agent_sessions import AGENT_SESSION
from partita.store.store import Store
from partita.store.values import RunFilter
from partita.types.threads import Thread


class Resumable(NamedTuple):
    """A session that its agent can continue: the command, the project's folder, and the session's file."""

    agent: str
    session: str
    command: tuple[str, ...]
    folder: str | None
    file: Path | None

    @property
    def text(self) -> str:
        """The command as text, for a shell in the folder."""
        return shlex.join(self.command)


async def resumable(store: Store, thread: Thread) -> Resumable:
    """How to resume the session of a thread; raises if it is not one, or if its agent cannot."""
    metadata = thread.metadata or {}
    agent, session = thread.agent or "", metadata.get("sessionId")
    parent = metadata.get("parentThreadId")
    files = [one.path for one in await store.sources.list(thread_id=thread.id)]
    if not isinstance(session, str):
        session = await _session_of_run(store, thread.id) or (thread.id if files else None)
    if session is None or agent not in SOURCES:
        raise PartitaError(
            f"thread {thread.id!r} is not a session of an agent that can resume it",
            hint=f"`partita export {thread.id} --to codex` writes it as a session of another agent",
        )
    template = SOURCES[agent].resume
    if parent or not template:
        raise PartitaError(
            f"{thread.id!r} is a session of a sub-agent" if parent else f"{agent} cannot resume a session",
            hint=f"resume its session: partita resume {parent}" if parent else "",
        )
    command = tuple(word.replace("{session}", session) for word in template)
    return Resumable(agent, session, command, thread.project, Path(files[0]) if files else None)


async def _session_of_run(store: Store, thread_id: str) -> str | None:
    """The session of the newest run of a thread that an agent served by Partita answered."""
    for run in await store.runs.list(RunFilter(thread_id=thread_id)):
        session = (run.metadata or {}).get(AGENT_SESSION)
        if isinstance(session, str):
            return session
    return None
