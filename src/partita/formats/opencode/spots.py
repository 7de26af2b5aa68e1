"""Where messages of a session stand, and whether a message says anything new when it is met again."""

from datetime import datetime
from hashlib import blake2b
from typing import NamedTuple

from partita.errors import DecodeError
from partita.formats.transcript import Teller
from partita.types.json import JsonObject, dumps
from partita.types.messages import Envelope


class Spot(NamedTuple):
    """Where a message stands for good: what it follows, and the run it belongs to."""

    parent_id: str
    run_id: str | None


class Spots:
    """The tree of a session's messages: one line, but for what was reverted."""

    def __init__(self, teller: Teller) -> None:
        self.tail = teller.tail or ""
        """The message that the next one follows."""
        self._teller = teller
        self._spots: dict[str, Spot] = {}
        self._digests: dict[str, bytes] = {}

    def __contains__(self, id: str) -> bool:
        return id in self._spots

    def place(self, id: str) -> Spot:
        """Where a message stands: a new one after all others, a known one where it was."""
        spot = self._spots.get(id)
        if spot is None:
            spot = self._spots[id] = Spot(self.tail, self._teller.run_id)
            self.tail = id
        return spot

    def envelope(self, id: str, time: datetime | None, *, internal: bool = False) -> Envelope:
        """What stands around the content of a message in its place."""
        spot = self.place(id)
        return {
            "id": id,
            "thread_id": self._teller.thread_id,
            "parent_id": spot.parent_id,
            "run_id": spot.run_id,
            "created_at": time,
            "internal": internal,
        }

    def renew(self, id: str, digest: bytes) -> bool:
        """Remember what a message says; whether it says the same as before."""
        same = self._digests.get(id) == digest
        self._digests[id] = digest
        return same


def digest_of(record: JsonObject) -> bytes | None:
    """What tells records apart; nothing for one that is nested too deeply."""
    try:
        return blake2b(dumps(record), digest_size=16).digest()
    except DecodeError:
        return None
