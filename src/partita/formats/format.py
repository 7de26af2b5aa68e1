"""What a format is: a name, and pure functions between its payloads and canonical messages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from partita.types.chunks import Chunk
from partita.types.json import Json
from partita.types.messages import Message

from .losses import Loss


@dataclass(frozen=True, slots=True)
class Loaded:
    """Messages read from a payload, and what could not be carried."""

    messages: tuple[Message, ...]
    losses: tuple[Loss, ...] = ()

    @property
    def lossless(self) -> bool:
        """Whether everything was carried."""
        return not self.losses


@dataclass(frozen=True, slots=True)
class Dumped:
    """A payload made of messages, and what could not be carried."""

    payload: Json
    losses: tuple[Loss, ...] = ()

    @property
    def lossless(self) -> bool:
        """Whether everything was carried."""
        return not self.losses


class Decoder(Protocol):
    """Events of a stream in, chunks out."""

    def feed(self, event: Json) -> list[Chunk]:
        """The chunks that one event amounts to."""
        ...

    def finish(self) -> list[Chunk]:
        """The chunks that close what is open when the stream ends."""
        ...


@dataclass(frozen=True, slots=True)
class Format:
    """One wire format. A stream format has a decoder; a format that is only read has no `dump`."""

    name: str
    title: str
    load: Callable[[Json], Loaded] | None = None
    dump: Callable[[Sequence[Message]], Dumped] | None = None
    decoder: Callable[[], Decoder] | None = None
