"""The thread that a rollout records: its copied history, the ids of its messages, the agents it started.

A fork, and an agent that another one started, begins with a copy of the whole history of its parent, with the
times of the fork. The responses in it were counted in the file of the parent.
"""

from collections.abc import Callable
from datetime import datetime
from hashlib import blake2b
from itertools import islice
from typing import Final, Literal, TypeAlias

from partita.formats.core.members import parsed, present
from partita.formats.log.sink import Consumption, Fact, LogSink
from partita.types.chunks import Chunk
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.messages import AssistantMessage, Message, SystemContent, SystemMessage, SystemPart
from partita.types.parts import DataPart, TextPart
from partita.types.times import parse_iso

from .wire import AGENT, agent_key, ancestors_of, data_name, integer, nested, snake, text, texts, uuid7_millis

HeaderKind: TypeAlias = Literal["own", "repeated", "copied", "another"]

MAX_PAUSE: Final = 1.0
"""In seconds. The copy is written at once, so a longer pause ends it."""

MAX_RECENT: Final = 64
"""How many ids are remembered when reading continues later: enough for all with the same time."""


class Lineage:
    """Decides whether a record is of this thread, or was copied from a thread that it was forked from."""

    def __init__(self) -> None:
        self.session: str | None = None
        self.origin: str | None = None
        """The thread that the current record was originally written for."""
        self.copied = False
        self.end_is_guessed = False
        """Whether the end of the copy is a guess."""
        self.on_copy_end: Callable[[], None] | None = None
        """Called when the copy has ended, before the next record is read."""
        self._has_copy = False
        self._ancestors: set[str] = set()
        self._started_millis: float | None = None  # milliseconds
        self._first_own_ordinal: int | None = None  # an ordinal
        self._is_certain = False
        self._last: datetime | None = None

    def state(self) -> JsonObject:
        """What is needed to continue from here."""
        return {
            "session": self.session,
            "origin": self.origin,
            "copied": self.copied,
            "inherits": self._has_copy,
            "ancestors": sorted(self._ancestors),
            "born": self._started_millis,
            "firstOwn": self._first_own_ordinal,
            "sure": self._is_certain,
        }

    def restore(self, state: JsonObject) -> None:
        """Continue from a state."""
        self.session, self.origin, self.copied = state["session"], state["origin"], state["copied"]
        self._has_copy, self._ancestors = state["inherits"], set(state["ancestors"])
        self._started_millis, self._first_own_ordinal, self._is_certain = (
            state["born"],
            state["firstOwn"],
            state["sure"],
        )

    def header(self, meta: JsonObject) -> HeaderKind:
        """Read a `session_meta`; return whether it is of this thread, repeated, copied or of another one."""
        thread = text(meta, "id") or text(meta, "session_id")
        if self.session is None:
            self._begin(thread, meta)
            return "own"
        if thread is None or thread == self.session:
            return "repeated"
        if thread in self._ancestors or (self._has_copy and not self._is_certain):
            self.copied, self.origin = True, thread
            self._ancestors |= ancestors_of(meta)
            return "copied"
        self._begin(thread, meta)
        return "another"

    def record(self, ordinal: Json, time: datetime | None) -> None:
        """Read the ordinal of a record, which is certain, and its time, which is not."""
        if self._first_own_ordinal is not None and isinstance(ordinal, int):
            self._set(ordinal < self._first_own_ordinal)
        elif self.copied and not self._is_certain and self._is_after_pause(time):
            self._set(False)
            self.end_is_guessed = True
        if time is not None:
            self._last = time

    def turn(self, turn: JsonObject) -> None:
        """Read a record that names its turn. A turn that is older than the thread was copied."""
        if not self._has_copy or self._first_own_ordinal is not None:
            return
        older = self._is_older(turn)
        if older is not None:
            self._set(older)

    def _begin(self, thread: str | None, meta: JsonObject) -> None:
        self.session = self.origin = thread
        self.copied = self._is_certain = False
        self._ancestors = ancestors_of(meta) - {thread or ""}
        self._has_copy = bool(self._ancestors) or "subagent" in nested(meta, "source")
        self._first_own_ordinal = integer(meta, "subagent_history_start_ordinal")
        created = text(meta, "timestamp")
        time = parse_iso(created) if created is not None else None
        self._started_millis = uuid7_millis(thread) or (time.timestamp() * 1000 if time is not None else None)

    def _set(self, copied: bool) -> None:
        if self.copied and not copied and self.on_copy_end is not None:
            self.on_copy_end()
        self.copied, self._is_certain = copied, True
        if not copied:
            self.origin = self.session

    def _is_after_pause(self, time: datetime | None) -> bool:
        if time is None or self._last is None:
            return False
        return (time - self._last).total_seconds() > MAX_PAUSE

    def _is_older(self, turn: JsonObject) -> bool | None:
        """Whether a turn began before the thread; `None` if neither its id nor its time shows it."""
        if self._started_millis is None:
            return None
        began = uuid7_millis(text(turn, "turn_id"))
        if began is not None:
            return began < self._started_millis
        started = integer(turn, "started_at")  # in whole seconds
        return None if started is None else started * 1000 + 999 < self._started_millis


class Thread:
    """The messages of a thread, and what the readers of its records share: time, turn, model, ids.

    The rollout of a sub-agent is nested under the call that started it. Its copied history is left out,
    because the thread it was copied from has it, and its header describes the agent, not the session.
    """

    def __init__(self, sink: LogSink) -> None:
        self.sink = sink
        self.lineage = Lineage()
        self.time: datetime | None = None
        self.model: str | None = None
        self.provider: str | None = None
        self.turn_id: str | None = None
        self._copied_messages: set[str] = set()  # those that are left out
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
            "ids": dict(islice(reversed(self._ids.items()), MAX_RECENT)),
            "items": list(islice(reversed(self._items), MAX_RECENT)),
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
            self._copied_messages.add(message.id)
        else:
            self.sink.open(message)

    def append(self, message_id: str, *chunks: Chunk) -> None:
        """Append chunks to an assistant message."""
        if self._copied_messages and message_id in self._copied_messages:
            self.report_unknown("an output of a call that was copied", detail=message_id)
        else:
            self.sink.append(message_id, *chunks)

    def count(self, consumption: Consumption) -> None:
        """Add the token usage of a response."""
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
        """Add a message about an event of the conversation."""
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
        """Set a fact about the session."""
        if not self.sink.is_sub_agent:
            self.sink.set_fact(fact, value)

    def link(self, agent: str | None, call_id: str | None) -> None:
        """Nest a sub-agent under the call that started it."""
        if agent and call_id and not self.lineage.copied:
            self.sink.link_agent(agent, call_id)

    def report_unknown(self, what: str, *, detail: str = "") -> None:
        """Report an unknown record, or an unknown part of one."""
        if not (self.sink.is_sub_agent and self.lineage.copied):
            self.sink.report_unknown(what, detail=detail)

    def unknown_members(self, fields: JsonObject, known: frozenset[str], what: str) -> JsonObject | None:
        """Report the members that are not known, and return them; `None` if there are none."""
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
        """Return an id for a message that begins with that record. It is the same for every reading.

        It consists of the thread and of what identifies the record: its id, its time, or else its content.
        So records that are lost or added change only ids with the same kind and time.
        """
        name = f"{self.lineage.session or AGENT}:{self._identity(fields, kind)}"
        times = self._ids[name] = self._ids.get(name, 0) + 1
        return name if times == 1 else f"{name}#{times}"

    def is_repeated(self, item: JsonObject) -> bool:
        """Whether an item with that id was read before in this thread."""
        id_ = text(item, "id")
        if not id_:
            return False
        known = f"{self.lineage.session or AGENT}:{id_}"
        if known in self._items:
            self.report_unknown("an item that was read before", detail=id_)
            return True
        self._items[known] = None
        return False

    def _identity(self, fields: JsonObject, kind: str) -> str:
        id_ = text(fields, "id")
        if id_:
            return id_
        if self._timestamp is not None:
            return f"{self._timestamp}-{kind}"
        return text(fields, "call_id") or blake2b(dumps(fields), digest_size=8).hexdigest()


# Calls that start other agents

SPAWN: Final = "spawn_agent"
ROOT: Final = "/root"
"""The path of the agent that no other agent started."""


class SpawnedAgents:
    """Links the agents that a thread started to their calls.

    The output of the call names the thread of the agent, or (since 2026) its path, which is also in the
    header of its file. Events and items name them too, with the id of the call. The first one is used.
    """

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self.path = ROOT  # of the agent whose thread this is

    def add_call(self, call_id: str, name: str, arguments: Json) -> None:
        """Read a call of any tool."""
        if name.endswith(SPAWN) and not self._thread.lineage.copied:
            task = text(arguments, "task_name") if is_object(arguments) else None
            key = self._key(f"{self.path}/{task}" if task else None)
            self._thread.sink.expect_agent(call_id, key)

    def add_output(self, call_id: str, output: Json) -> None:
        """Read the output of a call of any tool."""
        if self._thread.sink.expected_agent_key(call_id) is None:
            return
        result = _object_in(output)
        agent = text(result, "agent_id")
        path = text(result, "task_name")
        if agent is None and path is not None:
            agent = self._thread.sink.find_agent(self._key(path))
        self._thread.sink.expect_agent(call_id, None)
        self._thread.link(agent, call_id)

    def add_event(self, kind: str, event: JsonObject) -> None:
        """Read an event of any kind."""
        if kind == "collab_agent_spawn_end":
            self._thread.link(text(event, "new_thread_id"), text(event, "call_id"))
        elif kind == "sub_agent_activity" and event.get("kind") == "started":
            self._thread.link(text(event, "agent_thread_id"), text(event, "event_id") or text(event, "id"))

    def add_item(self, kind: str, item: JsonObject) -> None:
        """Read an item of any kind."""
        if kind == "sub_agent_activity":
            self.add_event(kind, item)
        elif kind.startswith("collab_") and snake(text(item, "tool") or "") == SPAWN:
            threads = texts(item, "receiver_thread_ids")
            self._thread.link(threads[0] if threads else None, text(item, "id"))

    def _key(self, path: str | None) -> str:
        session = self._thread.lineage.session or ""
        return session if path is None else agent_key(session, path)


def _object_in(output: Json) -> JsonObject:
    """Parse the output of a call as a JSON object; return an empty one if it is something else."""
    value = output if isinstance(output, str) else "".join(texts({"output": output}, "output"))
    if not value.startswith("{"):
        return {}
    decoded = parsed(value)
    return decoded if is_object(decoded) else {}
