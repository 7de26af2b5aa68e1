"""The places of messages in a log whose records name them by id, and may repeat or change them."""

from datetime import datetime
from hashlib import blake2b
from typing import NamedTuple

from partita.errors import DecodeError
from partita.types.json import JsonObject, dumps
from partita.types.messages import Envelope

from .sink import LogSink


class Place(NamedTuple):
    """Where a message is, even if it changes: what it follows, and its run."""

    parent_id: str
    run_id: str | None


class MessageTree:
    """The messages of a log. A new one follows `tail`; a known one stays where it is."""

    def __init__(self, sink: LogSink) -> None:
        self.tail = sink.tail or ""
        """The message that the next one follows."""
        self._sink = sink
        self._places: dict[str, Place] = {}
        self._digests: dict[str, bytes] = {}

    def __contains__(self, id: str) -> bool:
        return id in self._places

    def place(self, id: str) -> Place:
        """The place of a message."""
        place = self._places.get(id)
        if place is None:
            place = self._places[id] = Place(self.tail, self._sink.run_id)
            self.tail = id
        return place

    def parent(self, id: str) -> str:
        """The message that a known one follows."""
        return self._places[id].parent_id

    def envelope(
        self, id: str, time: datetime | None, *, internal: bool = False, place: Place | None = None
    ) -> Envelope:
        """The members of a message besides its content, at `place` or its own."""
        place = place or self.place(id)
        return {
            "id": id,
            "thread_id": self._sink.thread_id,
            "parent_id": place.parent_id,
            "run_id": place.run_id,
            "created_at": time,
            "internal": internal,
        }

    def is_changed(self, id: str, record: JsonObject) -> bool | None:
        """Whether the record of a message differs from the last one; `None` if it is nested too deeply."""
        try:
            digest = blake2b(dumps(record), digest_size=16).digest()
        except DecodeError:
            return None
        before, self._digests[id] = self._digests.get(id), digest
        return digest != before
