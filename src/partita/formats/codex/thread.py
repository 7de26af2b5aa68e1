"""The thread that a rollout records: what comes from other threads, ids of messages, the agents it started.

A fork, and an agent that another one started, begins with a copy of the whole history of its parent, whose
times are those of the fork. What is copied was counted in the file of the parent.
"""

from collections.abc import Callable
from datetime import datetime
from hashlib import blake2b
from itertools import islice
from typing import Final, Literal, TypeAlias

from partita.errors import DecodeError
from partita.formats.core.members import present
from partita.formats.log.sink import Consumption, Fact, LogSink
from partita.types.chunks import Chunk
from partita.types.json import Json, JsonObject, dumps, is_object, loads
from partita.types.messages import AssistantMessage, Message, SystemContent, SystemMessage, SystemPart
from partita.types.parts import DataPart, TextPart
from partita.types.times import parse_iso

from .wire import AGENT, data_name, inner, millis_of, parents_of, sign_of, snake, text, texts, whole

Header: TypeAlias = Literal["own", "again", "copied", "another"]

PAUSE: Final = 1.0
"""Seconds. The copy is written at once, so a longer pause ends it."""

RECENT: Final = 64
"""How many ids are remembered when reading continues later: enough for all that share a time."""


class Lineage:
    """Whose history a record belongs to: that of this thread, or that of the thread it came from."""

    def __init__(self) -> None:
        self.session: str | None = None
        self.origin: str | None = None
        """The thread that the current record was first written for."""
        self.copied = False
        self.guessed = False
        """Whether the end of the copy had to be guessed."""
        self.on_own: Callable[[], None] | None = None
        """Called when the copy has ended, before the first own record is read."""
        self._inherits = False
        self._ancestors: set[str] = set()
        self._born: float | None = None  # milliseconds
        self._first_own: int | None = None  # an ordinal
        self._sure = False
        self._last: datetime | None = None

    def state(self) -> JsonObject:
        """What is needed to continue from here."""
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
        """Continue from a state."""
        self.session, self.origin, self.copied = state["session"], state["origin"], state["copied"]
        self._inherits, self._ancestors = state["inherits"], set(state["ancestors"])
        self._born, self._first_own, self._sure = state["born"], state["firstOwn"], state["sure"]

    def header(self, meta: JsonObject) -> Header:
        """A `session_meta`: that of the thread, the same again, a copied one, or that of another thread."""
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
        """Any record: its ordinal is certain, its time makes it likely."""
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
        time = parse_iso(created) if created is not None else None
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
        """Whether a turn began before the thread did, if its id or its time says so."""
        if self._born is None:
            return None
        began = millis_of(text(turn, "turn_id"))
        if began is not None:
            return began < self._born
        started = whole(turn, "started_at")  # in whole seconds
        return None if started is None else started * 1000 + 999 < self._born


class Thread:
    """The messages of a thread, and what the readers of its records share: time, turn, model, ids.

    The rollout of a sub-agent is read into the call that started it. There, what was copied is left out,
    since it is in the thread that it comes from, and the header describes the agent, not the session.
    """

    def __init__(self, sink: LogSink) -> None:
        self.sink = sink
        self.lineage = Lineage()
        self.time: datetime | None = None
        self.model: str | None = None
        self.provider: str | None = None
        self.turn_id: str | None = None
        self._hidden: set[str] = set()  # messages that were begun in the copy and are left out
        self._timestamp: str | None = None
        self._ids: dict[str, int] = {}
        self._items: dict[str, None] = {}

    def state(self) -> JsonObject:
        """What is needed to continue from here."""
        return {
            "lineage": self.lineage.state(),
            "model": self.model,
            "provider": self.provider,
            "turn": self.turn_id,
            "ids": dict(islice(reversed(self._ids.items()), RECENT)),
            "items": list(islice(reversed(self._items), RECENT)),
        }

    def restore(self, state: JsonObject) -> None:
        """Continue from a state."""
        self.lineage.restore(state["lineage"])
        self.model, self.provider, self.turn_id = state["model"], state["provider"], state["turn"]
        self._ids = dict(state["ids"])
        self._items = dict.fromkeys(state["items"])

    def set_time(self, timestamp: Json) -> None:
        """Set the time of the current record."""
        self.time, self._timestamp = None, None
        if not isinstance(timestamp, str):
            return
        self.time = parse_iso(timestamp)
        if self.time is None:
            self.report_unknown("a time that cannot be read", detail=timestamp)
            return
        self._timestamp = timestamp
        self.sink.set_time(self.time)

    # Messages

    def add_message(self, message: Message) -> None:
        """Add a whole message."""
        if not (self.sink.is_sub_agent and self.lineage.copied):
            self.sink.add_message(message)

    def open(self, message: AssistantMessage) -> None:
        """Begin an assistant message."""
        if self.sink.is_sub_agent and self.lineage.copied:
            self._hidden.add(message.id)
        else:
            self.sink.open(message)

    def append(self, message_id: str, *chunks: Chunk) -> None:
        """Append chunks to an assistant message."""
        if self._hidden and message_id in self._hidden:
            self.report_unknown("an output of a call that was copied", detail=message_id)
        else:
            self.sink.append(message_id, *chunks)

    def count(self, consumption: Consumption) -> None:
        """Add what a response consumed."""
        if not (self.sink.is_sub_agent and self.lineage.copied):
            self.sink.add_consumption(consumption)

    def note(self, kind: str, data: Json) -> None:
        """Keep a record that is not part of the conversation."""
        if not (self.sink.is_sub_agent and self.lineage.copied):
            self.sink.add_record(data_name(kind), data)

    def notice(
        self,
        kind: str,
        data: JsonObject,
        shown: str | None,
        *,
        parent: str | None = None,
        hidden: bool = False,
    ) -> None:
        """Add a message about something that happened to the conversation."""
        parts: list[SystemPart] = [TextPart(shown)] if shown else []
        parts.append(DataPart(data_name(kind), data))
        message = SystemMessage(
            id=self.new_id(data, kind),
            type="event",
            internal=hidden,
            created_at=self.time,
            parent_id=parent,
            content=SystemContent(parts=tuple(parts), metadata=self.metadata()),
        )
        self.add_message(message)

    def set_fact(self, fact: Fact, value: Json) -> None:
        """Set something that is known of the session."""
        if not self.sink.is_sub_agent:
            self.sink.set_fact(fact, value)

    def link(self, agent: str | None, call_id: str | None) -> None:
        """Nest a sub-agent under the call that started it."""
        if agent and call_id and not self.lineage.copied:
            self.sink.link_agent(agent, call_id)

    def report_unknown(self, what: str, *, detail: str = "") -> None:
        """Report something that was not understood."""
        if not (self.sink.is_sub_agent and self.lineage.copied):
            self.sink.report_unknown(what, detail=detail)

    def unknown_members(self, fields: JsonObject, known: frozenset[str], what: str) -> JsonObject | None:
        """The members that are not known, each of them reported; `None` if there are none."""
        if known.issuperset(fields):
            return None
        rest = {name: value for name, value in fields.items() if name not in known}
        for name in rest:
            self.report_unknown(f"unknown field {name!r} of {what}")
        return rest

    # Ids and metadata

    def metadata(self, **fields: Json) -> JsonObject:
        """The metadata of a message."""
        return {AGENT: present(turnId=self.turn_id, copied=self.lineage.copied or None, **fields)}

    def new_id(self, fields: JsonObject, kind: str) -> str:
        """An id for a message that begins with that record. Reading the file again gives the same one.

        It consists of the thread and of what identifies the record: its id, its time, or else its content.
        So other records that are lost or added change no id but those with the same kind and time.
        """
        name = f"{self.lineage.session or AGENT}:{self._identity(fields, kind)}"
        times = self._ids[name] = self._ids.get(name, 0) + 1
        return name if times == 1 else f"{name}#{times}"

    def is_repeated(self, item: JsonObject) -> bool:
        """Whether an item of that id was read before in this thread."""
        own = text(item, "id")
        if not own:
            return False
        known = f"{self.lineage.session or AGENT}:{own}"
        if known in self._items:
            self.report_unknown("an item that was read before", detail=own)
            return True
        self._items[known] = None
        return False

    def _identity(self, fields: JsonObject, kind: str) -> str:
        own = text(fields, "id")
        if own:
            return own
        if self._timestamp is not None:
            return f"{self._timestamp}-{kind}"
        return text(fields, "call_id") or blake2b(dumps(fields), digest_size=8).hexdigest()


# Calls that start other agents

SPAWN: Final = "spawn_agent"
ROOT: Final = "/root"
"""The path of the agent that no other agent started."""


class Spawns:
    """The calls of a thread that started agents, and the threads of these.

    The output of the call names the thread, or (since 2026) the path of the agent, which is also in the
    header of its file. Events and items say the same; the first one counts: all have the id of the call.
    """

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self.path = ROOT  # of the agent whose thread this is

    def called(self, call_id: str, name: str, arguments: Json) -> None:
        """A call of any tool."""
        if name.endswith(SPAWN) and not self._thread.lineage.copied:
            task = text(arguments, "task_name") if is_object(arguments) else None
            sign = self._sign(f"{self.path}/{task}" if task else None)
            self._thread.sink.expect_agent(call_id, sign)

    def answered(self, call_id: str, output: Json) -> None:
        """The output of a call of any tool."""
        if self._thread.sink.expected_sign(call_id) is None:
            return
        result = _object_in(output)
        agent = text(result, "agent_id")
        path = text(result, "task_name")
        if agent is None and path is not None:
            agent = self._thread.sink.find_agent(self._sign(path))
        self._thread.sink.expect_agent(call_id, None)
        self._thread.link(agent, call_id)

    def event(self, kind: str, event: JsonObject) -> None:
        """An event of any kind."""
        if kind == "collab_agent_spawn_end":
            self._thread.link(text(event, "new_thread_id"), text(event, "call_id"))
        elif kind == "sub_agent_activity" and event.get("kind") == "started":
            self._thread.link(text(event, "agent_thread_id"), text(event, "event_id") or text(event, "id"))

    def item(self, kind: str, item: JsonObject) -> None:
        """An item of any kind."""
        if kind == "sub_agent_activity":
            self.event(kind, item)
        elif kind.startswith("collab_") and snake(text(item, "tool") or "") == SPAWN:
            threads = texts(item, "receiver_thread_ids")
            self._thread.link(threads[0] if threads else None, text(item, "id"))

    def _sign(self, path: str | None) -> str:
        session = self._thread.lineage.session or ""
        return session if path is None else sign_of(session, path)


def _object_in(output: Json) -> JsonObject:
    """The object that the output of a call is as JSON; an empty one if it is something else."""
    value = output if isinstance(output, str) else "".join(texts({"output": output}, "output"))
    if not value.startswith("{"):
        return {}
    try:
        found = loads(value)
    except DecodeError:
        return {}
    return found if is_object(found) else {}
