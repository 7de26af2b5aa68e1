"""Where the events of one agent go, and what they could not tell."""

from typing import Protocol

from partita.formats.losses import Severity
from partita.types.json import Json


class Telling(Protocol):
    """Takes events and losses."""

    @property
    def message_id(self) -> str:
        """The message at hand."""
        ...

    def emit(self, type: str, **members: Json) -> None:
        """Add an event."""
        ...

    def lose(self, name: str, value: Json, why: str, severity: Severity = "lost") -> None:
        """Tell that a member of the chunk at hand does not arrive."""
        ...
