"""Which threads are written, and what their files are called."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from partita.cli.lookup import find_thread
from partita.cli.opened import Wait
from partita.cli.output import say
from partita.store.facade.store import Store
from partita.types.threads import Thread

if TYPE_CHECKING:
    from .file import Made

PAGE = 500
PLAIN_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
"""An id that can stand in a name as it is: on some disks, A and a are the same letter."""

ODD = re.compile(r"[^a-z0-9_-]+")
SHOWN = 24
DIGITS = 12


@dataclass(frozen=True)
class Filter:
    """What threads must be like."""

    agent: str | None = None
    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    every: bool = False

    def __bool__(self) -> bool:
        return self != Filter()


def threads_named(store: Store, wait: Wait, given: Sequence[str]) -> list[Thread]:
    """The threads that are meant, each once."""
    found = [wait(find_thread(store, one)) for one in given]
    return list({(thread.resource_id, thread.id): thread for thread in found}.values())


def chosen_threads(store: Store, wait: Wait, wanted: Filter) -> list[Thread]:
    """All threads that are like that, newest first."""
    found: list[Thread] = []
    cursor: str | None = None
    while True:
        page = wait(
            store.list_threads(
                agent=wanted.agent,
                project=wanted.project,
                since=wanted.since,
                until=wanted.until,
                limit=PAGE,
                cursor=cursor,
            )
        )
        found += page.items
        if (cursor := page.next) is None:
            break
    if not found:
        say("no threads")
    return found


def file_name(thread: Thread, made: "Made") -> str:
    """Day, title and id: the same each time, and of no other thread."""
    day = f"{thread.created_at:%Y-%m-%d}-" if thread.created_at else ""
    return f"{day}{made.title}-{_id_of(thread)}.{made.ending}"


def _id_of(thread: Thread) -> str:
    if thread.resource_id is None and PLAIN_ID.fullmatch(thread.id):
        return thread.id
    digest = sha256(f"{thread.resource_id or ''}\0{thread.id}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"{ODD.sub('-', thread.id.lower())[:SHOWN].strip('-')}-{digest[:DIGITS]}".strip("-")
