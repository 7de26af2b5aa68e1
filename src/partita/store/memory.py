"""The smallest store that an agent can use: four methods over threads and messages.

Implement the protocol to store conversations somewhere else. `store.memory` implements it with a `Store`.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

from partita.errors import NotFoundError
from partita.types.messages import Message
from partita.types.threads import Thread

from .messages.messages import Messages
from .threads.threads import Threads
from .values import Order


class MemoryStore(Protocol):
    """Stores threads and their messages."""

    async def list_messages(
        self, thread_id: str, *, limit: int | None = None, order: Order = "asc"
    ) -> Iterable[Message]:
        """The messages of a thread, oldest first, or newest first with `order="desc"`; at most `limit`.

        A thread that does not exist has none.
        """
        ...

    async def save_messages(self, messages: Sequence[Message]) -> object:
        """Save messages in the threads of their `thread_id`, all or none.

        A message with the id of one in the thread replaces it; any other is added at the end.
        """
        ...

    async def get_thread_by_id(self, thread_id: str) -> Thread | None:
        """The thread with that id, or `None`."""
        ...

    async def save_thread(self, thread: Thread) -> object:
        """Save a thread; one with the same id is replaced."""
        ...


class StoreMemory:
    """A `Store` as a `MemoryStore`."""

    def __init__(self, threads: Threads, messages: Messages) -> None:
        self._threads = threads
        self._messages = messages

    async def list_messages(
        self, thread_id: str, *, limit: int | None = None, order: Order = "asc"
    ) -> Iterable[Message]:
        """The messages of a thread; none if it does not exist."""
        try:
            return await self._messages.list(thread_id, limit=limit, order=order)
        except NotFoundError:
            return ()

    async def save_messages(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Save messages in the threads of their `thread_id`, all or none."""
        return await self._messages.save(messages)

    async def get_thread_by_id(self, thread_id: str) -> Thread | None:
        """The thread with that id, or `None`."""
        return await self._threads.get(thread_id)

    async def save_thread(self, thread: Thread) -> Thread:
        """Create a thread, or update the one with its id."""
        return await self._threads.save(thread)
