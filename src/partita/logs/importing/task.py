"""What is to be read, and what came of it: what goes to the processes that read, and comes back."""

from typing import NamedTuple

from partita.formats.log.diagnostics import Finding

from .checkpoints import Plan
from .units import Unit


class Task(NamedTuple):
    """A session to be read."""

    unit: Unit
    plan: Plan
    lite: bool  # the store is SQLite, which wants its words made here
    finished: bool = False  # the agent has reported that it is done, however recent its files are
    followed: bool = False  # more may come: a cut last line is not a finding while the agent may be running


class Outcome(NamedTuple):
    """What came of a file: how much was read, what was not understood, what went wrong."""

    path: str
    bytes: int = 0
    lines: int = 0
    findings: tuple[Finding, ...] = ()
    problems: tuple[str, ...] = ()
