"""Input and output of the decoders of Mastra's streams: `Event`, and `Output`, which emits chunks.

An event of Mastra is `{type, runId, from, payload}`. Members without a place in a chunk are collected in the
metadata of the message, under `mastra` and the type of the event: `step-finish`, `step-finish-2` …
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias

from msgspec import UNSET

from partita.formats.core.metadata import notes
from partita.formats.losses import NO_PLACE, Loss
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
from partita.types.json import Json, JsonObject, is_object, same_json

NAMESPACE: Final = "mastra"
"""The namespace of Mastra in provider metadata and metadata."""


COMMON_MEMBERS: Final = ("runId", "from")
"""Members that are the same in all events of a message."""

Kind: TypeAlias = Literal["text", "reasoning"]
BLOCKS: Final[Mapping[Kind, tuple[type[Any], type[Any], type[Any]]]] = {
    "text": (TextStart, TextDelta, TextEnd),
    "reasoning": (ReasoningStart, ReasoningDelta, ReasoningEnd),
}


class Event:
    """An event. Handlers remove the members that they express; the others are kept."""

    def __init__(self, raw: JsonObject, where: str) -> None:
        self.type: str = raw["type"]
        self.where = where
        self.payload: Json = raw.get("payload")
        self.rest: JsonObject = dict(self.payload) if is_object(self.payload) else {}
        read = ("type", "payload") if is_object(self.payload) else ("type",)
        self.envelope: JsonObject = {key: item for key, item in raw.items() if key not in read}
        self.subject: JsonObject = {}
        """The members of the payload that identify what the others are about."""

    def get(self, name: str) -> Json:
        """Return a member of the payload, or `None` if it is absent."""
        return self.rest.get(name)

    def take(self, name: str, kind: type[Any]) -> Any:
        """Remove and return a member of the payload if it has that type; otherwise it remains."""
        value = self.rest.get(name)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            return None
        return self.rest.pop(name)

    def take_metadata(self) -> JsonObject | None:
        """Remove and return the provider metadata of the payload, and that of Mastra's server next to it."""
        own: JsonObject | None = self.take("providerMetadata", dict)
        metadata: Json = self.envelope.get("metadata")
        if not is_object(metadata) or not is_object(metadata.get(NAMESPACE)):
            return own
        self.envelope = {key: item for key, item in self.envelope.items() if key != "metadata"}
        if len(metadata) > 1:
            self.envelope["metadata"] = {key: item for key, item in metadata.items() if key != NAMESPACE}
        return {**(own or {}), NAMESPACE: {**notes(own, NAMESPACE), **metadata[NAMESPACE]}}

    def drop(self, known: Mapping[str, Json]) -> None:
        """Remove the members of the payload that have a known value."""
        self.rest = _without(self.rest, known)

    def left(self, known: Mapping[str, Json]) -> JsonObject:
        """Return the members that were not removed and are not known, with those that name their subject."""
        self.drop(known)
        envelope = _without(self.envelope, known)
        left = {**self.rest, **({"event": envelope} if envelope else {})}
        return {**self.subject, **left} if left else {}


def _without(members: JsonObject, known: Mapping[str, Json]) -> JsonObject:
    return {key: item for key, item in members.items() if key not in known or not same_json(item, known[key])}


class Output:
    """Emits the chunks of a sequence of messages: of the conversation, or of the sub-agent of a call."""

    def __init__(self, sink: list[Chunk], losses: list[Loss], path: tuple[str, ...] = ()) -> None:
        """`path`: the ids of the calls that lead to the sub-agent."""
        self.sink, self.losses, self.path = sink, losses, path
        self.message_id: str | None = None
        self.count = 0
        """The number of messages that have begun."""
        self.is_open = False
        """Whether the last message has not ended."""
        self.next_envelope: JsonObject = {}
        """The run and the sender for a message that begins implicitly."""
        self._envelope: JsonObject = {}  # of the current message
        self._ids: set[str] = set()
        self._kept: JsonObject = {}
        self._names: dict[str, int] = {}
        self._blocks: dict[tuple[Kind, str], JsonObject | None] = {}  # the metadata of open blocks
        self._finish: JsonObject = {}

    # Messages

    def begin(self, message_id: str | None = None) -> None:
        """Begin a message after ending the previous one."""
        self.close()
        self.count += 1
        self.message_id = self._unique(message_id)
        self.is_open = True
        self._names = {}
        self._envelope = dict(self.next_envelope)
        metadata = {NAMESPACE: dict(self._envelope)} if self._envelope else UNSET
        self._send(MessageStart(self.message_id, metadata))

    def _unique(self, message_id: str | None) -> str | None:
        """Return the id of a message that is not used yet. Only the first may have none."""
        id_ = message_id
        if id_ is None and self.count > 1:
            id_ = f"{self.path[-1]}/{self.count}" if self.path else f"message-{self.count}"
        while id_ is not None and id_ in self._ids:
            id_ = f"{id_}:{self.count}"
        if id_ is not None:
            self._ids.add(id_)
        return id_

    def ensure(self) -> None:
        """Begin a message, unless one is open."""
        if not self.count:
            self.begin()

    def emit(self, chunk: Chunk) -> None:
        """Add a chunk to the message."""
        self.ensure()
        self._send(chunk)

    def finish(self, reason: str | None, **metadata: Json) -> None:
        """Set the finish reason of the message and more metadata, which are sent at its end."""
        if reason is not None:
            self._finish["finishReason"] = reason
        self._finish |= metadata

    def close(self) -> None:
        """End everything that is open, and the message."""
        self.end_blocks()
        metadata = {**self._finish, **({NAMESPACE: self._kept} if self._kept else {})}
        if self.is_open:
            reason = self._finish.get("finishReason")
            self._send(MessageFinish(reason, metadata) if metadata else MessageFinish(reason))
        elif metadata:
            self._send(MessageMetadata(metadata))
        self.is_open = False
        self._finish, self._kept = {}, {}

    def _send(self, chunk: Chunk) -> None:
        self.sink.append(ChildChunk(self.path, chunk) if self.path else chunk)

    def keep_rest(self, event: Event) -> None:
        """Keep the remaining members of an event for the metadata of the message, by event type."""
        self.ensure()
        left = event.left(self._envelope)
        if left:
            count = self._names[event.type] = self._names.get(event.type, 0) + 1
            self._kept[event.type if count == 1 else f"{event.type}-{count}"] = left
        if not event.envelope.keys() <= self._envelope.keys():
            self._envelope = {**event.envelope, **self._envelope}  # so that it is kept only once

    # Text and reasoning

    def start(self, kind: Kind, id_: str, metadata: JsonObject | None, where: str | None = None) -> None:
        """Start a text or a reasoning, after ending an open one with that id. `where`: the path of the id."""
        self.ensure()
        if where is not None and kind == "text" and id_ not in _values(metadata):
            self.losses.append(Loss.of(f"{where}.payload.id", id_, NO_PLACE, "minor"))
        self.end(kind, id_)
        self._blocks[kind, id_] = metadata
        self.emit(BLOCKS[kind][0](id_, metadata))

    def append(
        self, kind: Kind, id_: str, delta: str, metadata: JsonObject | None = None, where: str | None = None
    ) -> None:
        """Append to a text or a reasoning, after starting it if necessary."""
        if (kind, id_) not in self._blocks:
            self.start(kind, id_, None, where)
        self.emit(BLOCKS[kind][1](id_, delta, self._merged(kind, id_, metadata)))

    def end(self, kind: Kind, id_: str, metadata: JsonObject | None = None) -> bool:
        """End a text or a reasoning, if it is open. Returns whether it was."""
        if (kind, id_) not in self._blocks:
            return False
        merged = self._merged(kind, id_, metadata)
        del self._blocks[kind, id_]
        self.emit(BLOCKS[kind][2](id_, merged))
        return True

    def end_blocks(self) -> None:
        """End all texts and reasonings that are open."""
        for kind, id_ in list(self._blocks):
            self.end(kind, id_)

    def _merged(self, kind: Kind, id_: str, metadata: JsonObject | None) -> JsonObject | None:
        """Return the earlier metadata of a block with further metadata."""
        if metadata is not None:
            metadata = self._blocks[kind, id_] = {**(self._blocks[kind, id_] or {}), **metadata}
        return metadata

    def data(self, name: str, value: Json, id_: str | None = None, transient: bool | None = None) -> None:
        """Emit data by name."""
        self.emit(DataChunk(f"data-{name}", value, id_, transient))


def _values(metadata: JsonObject | None) -> Iterator[Json]:
    """Yield the values in the metadata of all providers."""
    for own in (metadata or {}).values():
        if is_object(own):
            yield from own.values()
