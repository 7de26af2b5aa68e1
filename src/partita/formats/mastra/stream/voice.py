"""One line of talk, the conversation's or a sub-agent's: its messages as chunks, one after the other.

What chunks of Mastra say beyond any place of ours is put aside, and stands in the end in the metadata of the
message under `mastra`, by the type of the chunk: `step-finish`, `step-finish-2` …
"""

from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

from partita.formats.losses import Loss
from partita.types.chunks import (
    ChildChunk,
    Chunk,
    DataChunk,
    MessageFinish,
    MessageMetadata,
    MessageStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextStart,
)
from partita.types.json import Json, JsonObject, is_object

from .said import Said, same

NAMESPACE: Final = "mastra"
REPLACED: Final = "a later chunk has replaced it"
TRANSIENT: Final = "transient data leaves no trace"
NAMELESS: Final = "a text in a message has no id"

Kind: TypeAlias = Literal["text", "reasoning"]

STARTS: Final[Mapping[Kind, type[TextStart | ReasoningStart]]] = {
    "text": TextStart,
    "reasoning": ReasoningStart,
}
DELTAS: Final[Mapping[Kind, type[TextDelta | ReasoningDelta]]] = {
    "text": TextDelta,
    "reasoning": ReasoningDelta,
}
ENDS: Final[Mapping[Kind, type[TextEnd | ReasoningEnd]]] = {"text": TextEnd, "reasoning": ReasoningEnd}


class Voice:
    """Gathers the chunks of a line of talk, under the calls that lead to it."""

    def __init__(self, sink: list[Chunk], losses: list[Loss], path: tuple[str, ...] = ()) -> None:
        self.path = path
        self.sink = sink
        self.losses = losses
        self.message_id: str | None = None
        self.is_open = False
        """Whether a message has begun and is not over."""
        self.around: JsonObject = {}
        """The run and the sender of the message, which its chunks repeat."""
        self.next_around: JsonObject = {}
        """The same of a message that begins by itself."""
        self._begun = 0
        self._used: set[str] = set()
        self._aside: JsonObject = {}
        self._counts: dict[str, int] = {}
        self._blocks: dict[tuple[Kind, str], JsonObject | None] = {}  # that are open, with their metadata
        self._data: dict[tuple[str, str], tuple[str, Json]] = {}  # that may be replaced, and where they came
        self._finish: JsonObject = {}

    # Messages

    def begin(self, message_id: str | None = None, around: JsonObject | None = None) -> None:
        """A message begins; one that is open is over."""
        self.close()
        self._begun += 1
        self.message_id = self._named(message_id)
        self.is_open = True
        self._counts = {}
        self.around = {**(around or {})}
        metadata = {NAMESPACE: dict(self.around)} if self.around else None
        self._send(
            MessageStart(self.message_id) if metadata is None else MessageStart(self.message_id, metadata)
        )

    def _named(self, message_id: str | None) -> str | None:
        """The id of a message: the first may go without, no two have the same."""
        name = message_id
        if name is None and self._begun > 1:
            name = f"{self.path[-1]}/{self._begun}" if self.path else f"message-{self._begun}"
        while name is not None and name in self._used:
            name = f"{name}:{self._begun}"
        if name is not None:
            self._used.add(name)
        return name

    def ensure(self) -> None:
        """There is a message."""
        if not self._begun:
            self.begin(None, self.next_around)

    @property
    def is_begun(self) -> bool:
        """Whether there is a message."""
        return self._begun > 0

    @property
    def number(self) -> int:
        """How many messages have begun."""
        return self._begun

    @property
    def is_over(self) -> bool:
        """Whether the last message is over."""
        return self._begun > 0 and not self.is_open

    def emit(self, chunk: Chunk) -> None:
        """Add a chunk to the message; it begins if it has not."""
        self.ensure()
        self._send(chunk)

    def finish(self, reason: str | None, **said: Json) -> None:
        """Why the message ended, and what else is known by then; told when it is closed."""
        if reason is not None:
            self._finish["finishReason"] = reason
        self._finish |= said

    def close(self) -> None:
        """The message is over: all that is open ends, and what was put aside is told."""
        self.end_blocks()
        said = {**self._finish, **({NAMESPACE: self._aside} if self._aside else {})}
        if self.is_open:
            reason = self._finish.get("finishReason")
            self._send(MessageFinish(reason, said) if said else MessageFinish(reason))
        elif said:
            self._send(MessageMetadata(said))
        self.is_open = False
        self._finish, self._aside = {}, {}
        self._data.clear()

    def _send(self, chunk: Chunk) -> None:
        self.sink.append(ChildChunk(self.path, chunk) if self.path else chunk)

    # What has no place

    def aside(self, said: Said) -> None:
        """Put aside what is left of a chunk, if there is anything."""
        self.ensure()
        left = said.left(self.around)
        if left:
            self.keep(said.type, left)
        if not said.around.keys() <= self.around.keys():
            self.around = {**said.around, **self.around}  # what is told once need not be told again

    def keep(self, name: str, value: Json) -> None:
        """Put a value aside under a name, or the next one like it."""
        self.ensure()
        count = self._counts[name] = self._counts.get(name, 0) + 1
        self._aside[name if count == 1 else f"{name}-{count}"] = value

    def lose(self, where: str, value: Json, why: str) -> None:
        """Tell of something that came and went."""
        self.losses.append(Loss.of(where, value, why, "minor"))

    # Texts and reasonings

    def start(self, kind: Kind, id_: str, metadata: JsonObject | None, where: str | None = None) -> None:
        """A text or a reasoning begins; an open one of that id has ended. `where` the id was given."""
        self.ensure()
        if where is not None and kind == "text" and id_ not in _texts(metadata):
            self.lose(f"{where}.payload.id", id_, NAMELESS)
        self.end(kind, id_)
        self._blocks[kind, id_] = metadata
        self.emit(STARTS[kind](id_, metadata))

    def grow(
        self, kind: Kind, id_: str, delta: str, metadata: JsonObject | None, where: str | None = None
    ) -> None:
        """The next piece of a text or a reasoning; it begins with its first one."""
        if (kind, id_) not in self._blocks:
            self.start(kind, id_, None, where)
        self.emit(DELTAS[kind](id_, delta, self._news(kind, id_, metadata)))

    def end(self, kind: Kind, id_: str, metadata: JsonObject | None = None) -> bool:
        """A text or a reasoning is whole; whether one of that id was open."""
        if (kind, id_) not in self._blocks:
            return False
        news = self._news(kind, id_, metadata)
        del self._blocks[kind, id_]
        self.emit(ENDS[kind](id_, news))
        return True

    def end_blocks(self) -> None:
        """End every text and reasoning that is open."""
        for kind, id_ in list(self._blocks):
            self.end(kind, id_)

    def _news(self, kind: Kind, id_: str, metadata: JsonObject | None) -> JsonObject | None:
        """Metadata of a block, with what came before it; what it replaces is put aside."""
        before = self._blocks[kind, id_]
        if metadata is None:
            return None
        if before is not None:
            gone = {
                key: item for key, item in before.items() if key in metadata and not same(metadata[key], item)
            }
            if gone:
                self.keep(f"{kind}-start", {"id": id_, "providerMetadata": gone})
            metadata = {**before, **metadata}
        self._blocks[kind, id_] = metadata
        return metadata

    # Data

    def data(
        self, name: str, value: Json, where: str, id_: str | None = None, transient: bool | None = None
    ) -> None:
        """Data by name. What it replaces, and what leaves no trace, is told."""
        self.ensure()
        if transient:
            self.lose(where, {"type": f"data-{name}", "id": id_, "data": value}, TRANSIENT)
        elif id_ is not None:
            old = self._data.get((name, id_))
            if old is not None and not same(old[1], value):
                self.lose(old[0], old[1], REPLACED)
            self._data[name, id_] = (where, value)
        self.emit(DataChunk(f"data-{name}", value, id_, transient))


def _texts(metadata: JsonObject | None) -> Iterator[Json]:
    """What the providers say of a block, value by value."""
    for own in (metadata or {}).values():
        if is_object(own):
            yield from own.values()
