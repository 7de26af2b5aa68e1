"""What a format of logs is: a decoder, and how its records and sub-agents are found."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from partita.formats.transcript import LogDecoder
from partita.types.json import JsonObject


@runtime_checkable
class Resumable(Protocol):
    """A decoder that can stop between two turns and go on later."""

    def mark(self) -> Any:
        """Remember this place."""

    def state(self, mark: Any) -> JsonObject:
        """What must be known to go on from a mark."""
        ...

    def restore(self, state: JsonObject) -> None:
        """Go on from a state."""


@dataclass(frozen=True, slots=True)
class LogFormat:
    """A format of logs. One that is a document tells how its records are found in it."""

    name: str
    agent: str
    decoder: Callable[..., LogDecoder]
    records: Callable[[JsonObject], Iterator[JsonObject]] | None = None
    has_agents: bool = False  # sub-agents have files of their own
    tells_agents: bool = False  # and are told of by the session too
