"""Who descends from a process, even those that left its group. Linux tells; elsewhere the group must do."""

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

PROC: Final = Path("/proc")
DEAD: Final = "ZX"
"""States of processes that have ended and wait for someone to take note."""


class Kin(NamedTuple):
    """A process; its start tells it from a later one with the same number."""

    pid: int
    started: str


class Entry(NamedTuple):
    """What the system says of a process."""

    kin: Kin
    state: str
    parent: int
    group: int
    session: int


class Family:
    """A process that leads a session of its own, and all that came of it."""

    def __init__(self, leader: int) -> None:
        self._leader = leader
        self._known: set[Kin] = set()

    def look(self) -> bool:
        """Take note of who belongs to it now, and say whether anyone of them is alive."""
        if not PROC.joinpath("self", "stat").exists():
            return _group_exists(self._leader)
        return bool(self._living())

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to everyone who is alive."""
        with suppress(ProcessLookupError, PermissionError):
            if _group_exists(self._leader):
                os.killpg(self._leader, number)
        for kin in self._living():
            with suppress(ProcessLookupError, PermissionError):
                if os.getpgid(kin.pid) != self._leader:
                    os.kill(kin.pid, number)

    def _living(self) -> set[Kin]:
        """Those of its session and group, their children, and whoever was found before and still lives."""
        entries = _entries()
        by_pid = {entry.kin.pid: entry for entry in entries}
        found = {entry.kin for entry in entries if self._leader in (entry.group, entry.session)}
        found |= self._known & {entry.kin for entry in entries}
        size = -1
        while size != len(found):
            size = len(found)
            pids = {kin.pid for kin in found}
            found |= {entry.kin for entry in entries if entry.parent in pids}
        self._known |= found
        return {kin for kin in found if by_pid[kin.pid].state not in DEAD}


def _entries() -> list[Entry]:
    """Every process of the system."""
    names = [entry.name for entry in os.scandir(PROC) if entry.name.isdigit()] if PROC.is_dir() else []
    return [entry for name in names if (entry := _entry(name)) is not None]


def _entry(name: str) -> Entry | None:
    try:
        text = PROC.joinpath(name, "stat").read_text(errors="replace")
    except OSError:
        return None
    # The command stands in parentheses and may hold any character, so what follows is found from behind.
    fields = text[text.rfind(")") + 2 :].split()
    return Entry(Kin(int(name), fields[19]), fields[0], int(fields[1]), int(fields[2]), int(fields[3]))


def _group_exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
