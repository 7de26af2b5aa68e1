"""Files that belong together: a session and its sub-agents are read as one."""

from collections.abc import Iterable
from typing import NamedTuple

from partita.errors import PartitaError
from partita.logs.codex_agents import STAMP, parent_in, top_of
from partita.logs.lines.heads import first_values
from partita.logs.places.log_file import LogFile
from partita.types.json import is_object

HOSTS = frozenset({"claude-code", "codex", "gemini-cli"})
"""Agents whose sub-agents have files of their own."""

LATE = frozenset({"codex"})
"""Those of them that say who was started before there is a file of it."""


class Unit(NamedTuple):
    """A session, with the files of its sub-agents."""

    session: LogFile
    agents: tuple[LogFile, ...] = ()

    @property
    def files(self) -> tuple[LogFile, ...]:
        """All its files."""
        return (self.session, *self.agents)

    @property
    def size(self) -> int:
        """How many bytes they hold."""
        return sum(file.size for file in self.files)


def units_of(files: Iterable[LogFile]) -> list[Unit]:
    """The sessions among files. A sub-agent whose session is not there is one of its own."""
    sessions: list[LogFile] = []
    agents: list[LogFile] = []
    for file in files:
        (agents if file.kind == "subagent" and file.agent in HOSTS else sessions).append(file)
    by_name = {(file.agent, _name_of(file)): file for file in sessions}
    beside = {file.path.parent: file for file in sessions if file.agent == "claude-code"}
    belonging = _rollouts(sessions)
    inside = {file for files in belonging.values() for file in files}
    for file in agents:
        named = _named(file)
        owner = by_name.get((file.agent, named)) if named else None
        if owner is None and file.path.parent.name == "subagents":
            owner = beside.get(file.path.parent.parent)
        if owner is None:
            sessions.append(file)
        else:
            belonging.setdefault(owner, []).append(file)
    return [Unit(file, tuple(belonging.get(file, ()))) for file in sessions if file not in inside]


def _rollouts(files: Iterable[LogFile]) -> dict[LogFile, list[LogFile]]:
    """The sub-agents among the rollouts of Codex, whose headers alone tell, by the sessions they work for."""
    rollouts: dict[str, list[LogFile]] = {}
    for file in files:
        if file.agent == "codex" and file.kind == "session" and file.session is not None:
            rollouts.setdefault(file.session, []).append(file)
    parents = {thread: parent_in(found[0].path) for thread, found in rollouts.items()}
    belonging: dict[LogFile, list[LogFile]] = {}
    for thread, found in rollouts.items():
        top = top_of(thread, parents)
        if top != thread:
            belonging.setdefault(_at_work(rollouts[top], found[0]), []).append(found[0])
    return belonging


def _at_work(sessions: list[LogFile], agent: LogFile) -> LogFile:
    """Of the rollouts of one thread, the one that was written to when a sub-agent began, by their names."""
    in_order = sorted(sessions, key=lambda file: file.path.name)
    before = [file for file in in_order if file.path.name[:STAMP] <= agent.path.name[:STAMP]]
    return before[-1] if before else in_order[0]


def _name_of(file: LogFile) -> str:
    """What tells a session from others: of Gemini CLI's, the name has the beginning of the id."""
    stem = file.path.name.partition(".")[0]
    return stem.rpartition("-")[2] if file.agent == "gemini-cli" else stem


def _named(file: LogFile) -> str:
    """The session that a sub-agent works for: by its path, or by its records."""
    if file.session is not None:
        return file.session[:8] if file.agent == "gemini-cli" else file.session
    try:
        values = first_values(file.path)
    except PartitaError:
        return ""
    return next((str(value.get("sessionId")) for value in values if is_object(value)), "")
