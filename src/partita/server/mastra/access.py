"""Which thread a client of Mastra may work with.

To a caller with a resource of its own, threads of others do not exist. Who may see everything can name a
resource; a thread of another one is then refused, as Mastra does.
"""

from typing import NamedTuple

from partita.errors import ConflictError, NotFoundError
from partita.server.hub import CallerView
from partita.server.problems import Problem
from partita.store.facade.store import Store
from partita.store.texts import storable
from partita.types.threads import Thread


class Opened(NamedTuple):
    """A thread, and the store that has it."""

    store: Store
    thread: Thread


async def open_thread(caller: CallerView, thread_id: str, resource_id: str | None) -> Opened:
    """The thread of that id; with a resource, only if it is of that one, or of none."""
    named = storable(resource_id, "the resource id")
    acting = caller.acting_for(named)
    thread = await acting.store.get_thread_by_id(thread_id)
    if thread is None and named and caller.principal.resource_id is None:
        thread = await _ownerless(caller.store, thread_id)
        acting = caller
    if thread is None:
        raise NotFoundError(f"no thread {thread_id!r}", hint="create it first")
    return Opened(acting.store, thread)


async def _ownerless(store: Store, thread_id: str) -> Thread | None:
    """A thread that nobody owns. One that somebody else owns is refused."""
    try:
        thread = await store.get_thread_by_id(thread_id)
    except ConflictError:  # several have one of that name
        raise _refusal(thread_id) from None
    if thread is not None and thread.resource_id is not None:
        raise _refusal(thread_id)
    return thread


def _refusal(thread_id: str) -> Problem:
    return Problem(403, f"thread {thread_id!r} is of another resource", hint="name its own resource")
