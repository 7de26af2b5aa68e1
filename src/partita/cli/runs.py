"""The runs of a thread."""

from partita.store.facade.store import Store
from partita.types.runs import Run

from .opened import Wait

RUNS_AT_ONCE = 1000


def runs_of(store: Store, wait: Wait, thread_id: str) -> list[Run]:
    """The runs of a thread, in the order in which they were made."""
    runs: list[Run] = []
    cursor: str | None = None
    while True:
        page = wait(store.list_runs(thread_id=thread_id, limit=RUNS_AT_ONCE, cursor=cursor))
        runs += page.items
        cursor = page.next
        if cursor is None:
            return runs[::-1]
