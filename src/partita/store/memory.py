"""The smallest store that an agent can use: four methods over threads and messages.

`Store` has these methods and many more. Implement the protocol to keep conversations somewhere else.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

from partita.types.messages import Message
from partita.types.threads import Thread

from .values import Order


class MemoryStore(Protocol):
    """Keeps threads and their messages."""

    async def list_messages(
        self, thread_id: str, *, limit: int | None = None, order: Order = "asc"
    ) -> Iterable[Message]:
        """The messages of a thread, oldest first, or newest first with `order="desc"`; at most `limit`.

        A thread that does not exist has none.
        """
        ...

    async def save_messages(self, messages: Sequence[Message]) -> object:
        """Save messages in the threads that their `thread_id` names, all or none.

        A message with the id of one in the thread replaces it where it is; any other is added at the end.
        """
        ...

    async def get_thread_by_id(self, thread_id: str) -> Thread | None:
        """The thread of that id, or `None`."""
        ...

    async def save_thread(self, thread: Thread) -> object:
        """Save a thread; one with the same id is replaced."""
        ...
