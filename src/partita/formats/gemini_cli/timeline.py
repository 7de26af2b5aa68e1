"""Which messages of a chat count now, what each follows, and whether a record says anything new.

A chat is replayed: a record may replace a message, drop all from one on, or name the whole list anew. What
was dropped stays where it was, as a branch.
"""

from hashlib import blake2b
from typing import NamedTuple

from partita.errors import DecodeError
from partita.types.json import JsonObject, dumps


class Spot(NamedTuple):
    """Where a message stands for good: what it follows, and the run it belongs to."""

    parent_id: str
    run_id: str | None


class Timeline:
    """The list that records change, and the tree that comes of it."""

    def __init__(self, root: str = "") -> None:
        self.root = root
        self.tail = root
        """The message that the next one follows."""
        self._order: dict[str, None] = {}
        self._spots: dict[str, Spot] = {}
        self._digests: dict[str, bytes] = {}

    def __contains__(self, id: str) -> bool:
        """Whether a message was ever told, even if it does not count any more."""
        return id in self._spots

    def place(self, id: str, run_id: str | None) -> Spot:
        """Where a message stands. A new one, or one that counts again, is the last now."""
        spot = self._spots.setdefault(id, Spot(self.tail, run_id))
        if id not in self._order:
            self._order[id] = None
            self.tail = id
        return spot

    def put(self, id: str, run_id: str | None) -> Spot:
        """Where a notice of ours stands: in the tree, not in the list."""
        if id not in self._spots:
            self._spots[id] = Spot(self.tail, run_id)
            self.tail = id
        return self._spots[id]

    def renew(self, id: str, digest: bytes) -> bool:
        """Remember what a message says; whether it counted already and says the same as before."""
        same = id in self._order and self._digests.get(id) == digest
        self._digests[id] = digest
        return same

    def drop(self, id: str) -> list[str]:
        """Drop a message and all after it; all there are, if it does not count. The ids that were dropped."""
        ids = list(self._order)
        dropped = ids[ids.index(id) :] if id in self._order else ids
        for one in dropped:
            del self._order[one]
        return dropped

    def missing(self, ids: list[str]) -> list[str]:
        """The messages that count now and are not among `ids`."""
        others = set(ids)
        return [one for one in self._order if one not in others]

    def forget(self, ids: list[str]) -> None:
        """Let messages count no more."""
        for one in ids:
            self._order.pop(one, None)

    def before(self, id: str) -> str:
        """What a message follows."""
        return self._spots[id].parent_id

    @property
    def last(self) -> str | None:
        """The last message that counts."""
        return next(reversed(self._order), None)


def digest_of(record: JsonObject) -> bytes | None:
    """What tells records apart; nothing for one that is nested too deeply."""
    try:
        return blake2b(dumps(record), digest_size=16).digest()
    except DecodeError:
        return None
