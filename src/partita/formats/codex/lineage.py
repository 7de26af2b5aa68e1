"""Whose history a record belongs to: this thread's own, or copied from the thread it came from.

A fork, and an agent that another one started, begins with the parent's whole history, its times rewritten to
the moment of the fork. What is copied was counted in the parent's file already.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final, Literal, TypeAlias

from partita.types.json import Json, JsonObject

from .fields import inner, moment, text, whole

Header: TypeAlias = Literal["own", "again", "copied", "another"]

PAUSE: Final = 1.0
"""Seconds: the copy is written in one go, so a pause longer than this ends it."""


class Lineage:
    """Where the records of a file come from."""

    def __init__(self) -> None:
        self.session: str | None = None
        self.origin: str | None = None
        """The session that the records at hand were first written for."""
        self.copied = False
        self.guessed = False
        """Whether the end of the copy had to be guessed."""
        self.on_own: Callable[[], None] | None = None
        """Told when the copy is over, before its first own record is taken."""
        self._inherits = False
        self._ancestors: set[str] = set()
        self._born: float | None = None  # milliseconds
        self._first_own: int | None = None  # an ordinal
        self._sure = False
        self._last: datetime | None = None

    def state(self) -> JsonObject:
        """What must be known to go on from here."""
        return {
            "session": self.session,
            "origin": self.origin,
            "copied": self.copied,
            "inherits": self._inherits,
            "ancestors": sorted(self._ancestors),
            "born": self._born,
            "firstOwn": self._first_own,
            "sure": self._sure,
        }

    def restore(self, state: JsonObject) -> None:
        """Go on from a state."""
        self.session, self.origin, self.copied = state["session"], state["origin"], state["copied"]
        self._inherits, self._ancestors = state["inherits"], set(state["ancestors"])
        self._born, self._first_own, self._sure = state["born"], state["firstOwn"], state["sure"]

    def header(self, meta: JsonObject) -> Header:
        """A `session_meta`: the thread's own one, the same again, a copied one, or another thread's."""
        thread = text(meta, "id") or text(meta, "session_id")
        if self.session is None:
            self._begin(thread, meta)
            return "own"
        if thread is None or thread == self.session:
            return "again"
        if thread in self._ancestors or (self._inherits and not self._sure):
            self.copied, self.origin = True, thread
            self._ancestors |= parents_of(meta)
            return "copied"
        self._begin(thread, meta)
        return "another"

    def record(self, ordinal: Json, time: datetime | None) -> None:
        """Any record: what is certain of it by its ordinal, or likely by its time."""
        if self._first_own is not None and isinstance(ordinal, int):
            self._set(ordinal < self._first_own)
        elif self.copied and not self._sure and self._is_after_pause(time):
            self._set(False)
            self.guessed = True
        if time is not None:
            self._last = time

    def turn(self, turn: JsonObject) -> None:
        """A record that names its turn: one that is older than the thread was copied into it."""
        if not self._inherits or self._first_own is not None:
            return
        older = self._is_older(turn)
        if older is not None:
            self._set(older)

    def _begin(self, thread: str | None, meta: JsonObject) -> None:
        self.session = self.origin = thread
        self.copied = self._sure = False
        self._ancestors = parents_of(meta) - {thread or ""}
        self._inherits = bool(self._ancestors) or "subagent" in inner(meta, "source")
        self._first_own = whole(meta, "subagent_history_start_ordinal")
        created = text(meta, "timestamp")
        time = moment(created) if created is not None else None
        self._born = millis_of(thread) or (time.timestamp() * 1000 if time is not None else None)

    def _set(self, copied: bool) -> None:
        if self.copied and not copied and self.on_own is not None:
            self.on_own()
        self.copied, self._sure = copied, True
        if not copied:
            self.origin = self.session

    def _is_after_pause(self, time: datetime | None) -> bool:
        if time is None or self._last is None:
            return False
        return (time - self._last).total_seconds() > PAUSE

    def _is_older(self, turn: JsonObject) -> bool | None:
        """Whether a turn began before the thread did, as far as its id or its time can tell."""
        if self._born is None:
            return None
        began = millis_of(text(turn, "turn_id"))
        if began is not None:
            return began < self._born
        started = whole(turn, "started_at")  # in whole seconds
        return None if started is None else started * 1000 + 999 < self._born


def parents_of(meta: JsonObject) -> set[str]:
    """The threads that a thread came from."""
    spawn = spawn_of(meta)
    named = (
        text(meta, "forked_from_id"),
        text(meta, "parent_thread_id"),
        text(spawn, "parent_thread_id"),
        text(inner(meta, "history_base"), "thread_id"),
    )
    return {thread for thread in named if thread}


def spawn_of(meta: JsonObject) -> JsonObject:
    """What a header says about the call that started its thread; empty when no call did."""
    return inner(inner(inner(meta, "source"), "subagent"), "thread_spawn")


def millis_of(id: str | None) -> float | None:
    """When an id was made, if it is a UUID of version 7."""
    if id is None or len(id) != 36 or id[14] != "7":
        return None
    try:
        return float(int(id[:8] + id[9:13], 16))
    except ValueError:
        return None
