"""The name under which a process holds runs. On the same machine, others can see whether it is still alive.

A lease ends by a clock, and clocks are set: a run whose process was killed must not stay at work for an hour
because of that. Only Linux says what is needed; elsewhere the lease alone decides.
"""

import os
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from partita.store.ids import new_id

PROC: Final = Path("/proc")
STATE, START_TIME = 0, 19
"""Which fields of `/proc/PID/stat` behind the name of the program are the state and the start time."""

ENDED: Final = ("Z", "X")
"""States of processes that run no more."""


def new_lease_owner() -> str:
    """A new name for a session of this process: `ID@PID.START.MACHINE`, or just an id."""
    stat, machine = _stat(os.getpid()), _machine()
    if stat is None or machine is None:
        return new_id()
    return f"{new_id()}@{os.getpid()}.{stat[START_TIME]}.{machine}"


def is_dead(lease_owner: str | None) -> bool:
    """Whether a lease is held by a process of this machine that has ended. False when that is not known."""
    pid, _, rest = (lease_owner or "").rpartition("@")[2].partition(".")
    started, _, machine = rest.partition(".")
    if not (pid.isascii() and pid.isdigit() and started and machine) or machine != _machine():
        return False
    stat = _stat(int(pid))
    return stat is None or stat[STATE] in ENDED or stat[START_TIME] != started


@cache
def _machine() -> str | None:
    """This machine since it was started, and the namespace in which its processes have their numbers."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
        return sha256(f"{boot} {(PROC / 'self/ns/pid').readlink()}".encode()).hexdigest()[:12]
    except OSError:
        return None


def _stat(pid: int) -> list[str] | None:
    """What the system says of a process, from its state on; `None` if there is none of that number."""
    try:
        fields = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return fields if len(fields) > START_TIME else None
