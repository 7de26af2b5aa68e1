"""What a format of logs is: a decoder, and how its records and sub-agents are found."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from partita.formats.log.sink import LogDecoder
from partita.types.json import Json, JsonObject


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


@runtime_checkable
class AgentHost(Protocol):
    """A decoder that asks for sub-agents by a sign that their own files have: a prompt, or a path."""

    find_agent: Callable[[str], str | None]

    def claim(self, sign: str, /) -> str | None:
        """The call that is likely to have started the sub-agent of that sign."""


def no_sign(_: Sequence[Json]) -> str:
    """Sub-agents are known by their names alone."""
    return ""


@dataclass(frozen=True, slots=True)
class LogFormat:
    """A format of logs. One that is a document tells how its records are found in it."""

    name: str
    agent: str
    decoder: Callable[..., LogDecoder]
    records: Callable[[JsonObject], Iterator[JsonObject]] | None = None
    has_agents: bool = False  # sub-agents have files of their own
    tells_agents: bool = False  # and are told of by the session too
    agent_decoder: Callable[..., LogDecoder] | None = None  # for those files, if it is another
    agent_sign: Callable[[Sequence[Json]], str] = no_sign  # of a sub-agent, by the first values of its file
