"""What of the archive may be seen: one project, one agent, or all."""

from pathlib import Path
from typing import NamedTuple

from partita.errors import NotFoundError
from partita.types.threads import Thread


class Scope(NamedTuple):
    """What a server was started for. What is not given does not narrow."""

    agent: str | None = None
    project: str | None = None

    def agent_for(self, asked: str | None) -> str | None:
        """The agent to look for when this one is asked for."""
        return _narrowed("agent", self.agent, asked)

    def project_for(self, asked: str | None) -> str | None:
        """The project to look for when this one is asked for; `.` is the folder the server is in."""
        return _narrowed("project", self.project, None if asked is None else project_of(asked))

    def holds(self, thread: Thread) -> bool:
        """Whether a thread may be seen."""
        return self.agent in (None, thread.agent) and self.project in (None, thread.project)


def _narrowed(name: str, fixed: str | None, asked: str | None) -> str | None:
    if fixed is not None and asked not in (None, fixed):
        raise NotFoundError(
            f"only the {name} {fixed!r} can be seen here", where=name, hint=f"leave {name!r} out"
        )
    return asked if fixed is None else fixed


def project_of(text: str) -> str:
    """A project as threads name it."""
    if text.startswith(("~", ".")):
        return str(Path(text).expanduser().resolve())
    return text.rstrip("/") or text
