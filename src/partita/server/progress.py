"""How far the import of logs is that goes on beside the server, and who wants to know."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Literal, TypeAlias

import msgspec

ImportState: TypeAlias = Literal["idle", "reading", "done", "failed"]


class ImportStatus(msgspec.Struct, frozen=True, rename="camel"):
    """How far an import is."""

    state: ImportState = "idle"
    files: int = 0
    """How many files are done,"""
    all_files: int = 0
    """and how many there are."""
    sessions: int = 0
    """How many are new,"""
    messages: int = 0
    """and how many messages."""


class ImportProgress:
    """Told how far an import is by whoever imports; tells it to those who listen."""

    def __init__(self) -> None:
        self.status = ImportStatus()
        self._listeners: set[Callable[[], None]] = set()

    def tell(
        self,
        state: ImportState,
        *,
        files: int = 0,
        all_files: int = 0,
        sessions: int = 0,
        messages: int = 0,
    ) -> None:
        """Say how far it is. Call it in the thread of the server."""
        self.status = ImportStatus(state, files, all_files, sessions, messages)
        for listener in tuple(self._listeners):
            listener()

    @contextmanager
    def listening(self, listener: Callable[[], None]) -> Generator[None, None, None]:
        """While the block lasts, the listener is called whenever there is news."""
        self._listeners.add(listener)
        try:
            yield
        finally:
            self._listeners.discard(listener)
