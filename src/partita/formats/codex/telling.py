"""What the readers of a rollout share: whom they tell, of which moment, turn and model, under which ids."""

from collections.abc import Iterable
from datetime import datetime
from hashlib import blake2b
from itertools import islice
from typing import Final

from partita.formats.transcript import Teller
from partita.types.json import Json, JsonObject, dumps
from partita.types.messages import SystemContent, SystemMessage, SystemPart
from partita.types.parts import DataPart, TextPart

from .fields import AGENT, moment, present, text
from .lineage import Lineage

RECENT: Final = 64
"""How many ids are remembered when reading goes on later: enough for all that share a time."""


class Telling:
    """The record at hand, and how to tell of it."""

    def __init__(self, teller: Teller) -> None:
        self.teller = teller
        self.lineage = Lineage()
        self.time: datetime | None = None
        self.model: str | None = None
        self.provider: str | None = None
        self.turn_id: str | None = None
        self._timestamp: str | None = None
        self._ids: dict[str, int] = {}
        self._items: dict[str, None] = {}

    def state(self) -> JsonObject:
        """What must be known to go on from here."""
        return {
            "lineage": self.lineage.state(),
            "model": self.model,
            "provider": self.provider,
            "turn": self.turn_id,
            "ids": dict(islice(reversed(self._ids.items()), RECENT)),
            "items": list(islice(reversed(self._items), RECENT)),
        }

    def restore(self, state: JsonObject) -> None:
        """Go on from a state."""
        self.lineage.restore(state["lineage"])
        self.model, self.provider, self.turn_id = state["model"], state["provider"], state["turn"]
        self._ids = dict(state["ids"])
        self._items = dict.fromkeys(state["items"])

    def tick(self, timestamp: Json) -> None:
        """The time of the record at hand."""
        self.time, self._timestamp = None, None
        if not isinstance(timestamp, str):
            return
        self.time = moment(timestamp)
        if self.time is None:
            self.teller.puzzle("a time that cannot be read", detail=timestamp)
            return
        self._timestamp = timestamp
        self.teller.tick(self.time)

    def new_id(self, fields: JsonObject, kind: str) -> str:
        """An id for a message that begins with that record. Reading the file again gives the same one.

        It is made of the thread and of what the record itself has: its id, its time, else its words. Thus
        losing or adding other records changes no id but of those that have kind and time in common.
        """
        name = f"{self.lineage.session or AGENT}:{self._mark(fields, kind)}"
        times = self._ids[name] = self._ids.get(name, 0) + 1
        return name if times == 1 else f"{name}#{times}"

    def is_repeated(self, item: JsonObject) -> bool:
        """Whether an item of that id was met before in this thread."""
        own = text(item, "id")
        if not own:
            return False
        known = f"{self.lineage.session or AGENT}:{own}"
        if known in self._items:
            self.teller.puzzle("an item that was told before", detail=own)
            return True
        self._items[known] = None
        return False

    def metadata(self, **fields: Json) -> JsonObject:
        """The metadata of a message of ours."""
        lineage = self.lineage
        return {AGENT: present(turnId=self.turn_id, copied=lineage.copied or None, **fields)}

    def note(self, kind: str, data: Json) -> None:
        """Keep a record that is no talk."""
        self.teller.note(name_of(kind), data)

    def announce(
        self,
        kind: str,
        data: JsonObject,
        words: str | None,
        *,
        parent: str | None = None,
        hidden: bool = False,
    ) -> None:
        """Tell of something that happened to the conversation."""
        parts: list[SystemPart] = [TextPart(words)] if words else []
        parts.append(DataPart(name_of(kind), data))
        self.teller.say(
            SystemMessage(
                id=self.new_id(data, kind),
                type="event",
                internal=hidden,
                created_at=self.time,
                parent_id=parent,
                content=SystemContent(parts=tuple(parts), metadata=self.metadata()),
            )
        )

    def check(self, fields: JsonObject, known: frozenset[str], what: str) -> JsonObject | None:
        """The fields that nobody here knows, each counted; `None` when there are none."""
        if known.issuperset(fields):
            return None
        return self._unknown(fields, known, what)

    def _unknown(self, fields: JsonObject, known: Iterable[str], what: str) -> JsonObject:
        rest = {name: value for name, value in fields.items() if name not in known}
        for name in rest:
            self.teller.puzzle(f"unknown field {name!r} of {what}")
        return rest

    def _mark(self, fields: JsonObject, kind: str) -> str:
        own = text(fields, "id")
        if own:
            return own
        if self._timestamp is not None:
            return f"{self._timestamp}-{kind}"
        return text(fields, "call_id") or blake2b(dumps(fields), digest_size=8).hexdigest()


def name_of(kind: str) -> str:
    """The name of data of that kind."""
    return f"{AGENT}-{kind.replace('_', '-')}"
