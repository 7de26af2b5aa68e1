"""What the writers of single answers share."""

from typing import Protocol

from partita.formats.ag_ui.losses import Losses
from partita.types.json import Json
from partita.types.messages import ToolCallPart


class Book(Protocol):
    """What is told of all messages together."""

    losses: Losses
    ids: set[str]
    """The ids of reasoning so far."""
    results: dict[str, int]
    """The ids of results so far, and how many share each."""

    def below(self, call: ToolCallPart, path: str) -> list[Json]:
        """The messages of the sub-agents under a call."""
        ...
