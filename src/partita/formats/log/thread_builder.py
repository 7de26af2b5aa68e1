"""What a log contains → messages, through the one reducer.

`ThreadBuilder` builds the messages of one thread: a conversation, or what a sub-agent and its caller said.
Messages are released whole, in the order in which they began, as soon as nothing more is expected for them.
Something late (the output of a call long ago) releases its message once more. `LogBuilder` is the builder for
a whole log, with its sub-agents, turns and facts. The memory it needs does not grow with the log.
"""

from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from typing import Final, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from partita.errors import StreamError
from partita.formats.core.tool_text import as_text
from partita.formats.usages import sum_of
from partita.stream.accumulator import Accumulator, close_message
from partita.stream.reducer import HANDLERS
from partita.stream.rules import SEVEN
from partita.stream.state import State
from partita.types import chunks as c
from partita.types.chunks import Chunk
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, Message, SystemContent, SystemMessage, ToolCallPart
from partita.types.parts import DataPart
from partita.types.tools import InterruptedOutput, Interruption, ToolOutput

from .diagnostics import Diagnostics, Place
from .sink import Consumption, Fact, TurnEnd

M = TypeVar("M", bound=Message)

REMEMBERED_CALLS = 4096
REMEMBERED_MESSAGES = 64
"""How many messages with open calls, and how many with sub-agents, are remembered after their release."""

REMEMBERED_ANSWERS = 16
"""How many others are: two processes that write to one log alternate, also in the middle of a response."""

DEEPEST: Final = 32
"""How deep sub-agents may be nested. Deeper ones are treated as if no call had started them."""

CALL_ID: Final = "tool_call_id"
_BEGINS: Final = 1
_ENDS: Final = 2
_EFFECTS: Final[Mapping[type[Chunk], int]] = {
    c.ToolInputStart: _BEGINS,
    c.ToolInputAvailable: _BEGINS,
    c.ToolApprovalRequest: _BEGINS,
    c.ToolOutputAvailable: _ENDS,
    c.ToolOutputError: _ENDS,
    c.ToolOutputDenied: _ENDS,
    c.ToolOutputChunk: _ENDS,
    c.ToolInputError: _ENDS,
}
"""What chunks do to the list of calls that wait for their outputs."""


CallTimes: TypeAlias = tuple[datetime | None, datetime | None]
"""When a call began and when it ended, if the log says so."""

Touch: TypeAlias = Callable[[str, str], None]
"""Called for each message that the current record changes, with its sub-agent's name and its id."""


class Entry(Struct, eq=False):
    """A message that is not released yet: whole, or growing in a state."""

    id: str
    message: Message | None
    state: State | None
    closed: bool
    notes: list[DataPart] | None = None
    calls: set[str] = set()  # without an output
    progress: set[str] | None = None  # calls with a preliminary output
    agents: "list[SubAgentBuilder] | None" = None  # under its calls
    usages: dict[str, Consumption] | None = None


class ThreadBuilder:
    """The sink for one thread. `root` is the builder of the whole log."""

    root: "LogBuilder"

    def __init__(self, tail: str | None, name: str = "") -> None:
        """`name`: that of the sub-agent; empty for the conversation."""
        self.tail = tail
        self.name = name
        self._entries: dict[str, Entry] = {}
        self._ready: dict[str, Message] = {}
        self._past: OrderedDict[str, Entry] = OrderedDict()  # released, with open calls
        self._hosts: OrderedDict[str, Entry] = OrderedDict()  # released, with sub-agents
        self._recent: OrderedDict[str, Entry] = OrderedDict()  # released, with neither
        self._calls: dict[str, str] = {}
        self._notes: Entry | None = None
        self._noted = (-1, 0)  # the offset of the last message of notes, and how many were there before it
        self._open: Entry | None = None

    # Messages in

    def add_message(self, message: Message) -> None:
        """A whole message; it replaces one with the same id."""
        there = self._entries.get(message.id)
        if there is not None and there.message is not None:
            there.message = self._placed(replace(message, parent_id=there.message.parent_id))
            self._touch(message.id)
            return
        self._add(Entry(message.id, self._placed(message), None, closed=True))

    def open(self, message: AssistantMessage) -> None:
        """An assistant message begins; the one before it only waits for outputs."""
        if self._open is not None:
            self._open.closed = True
        entry = Entry(message.id, None, State(self._placed(message), SEVEN), closed=False)
        self._add(entry)
        self._open = entry

    def append(self, message_id: str, *chunks: Chunk) -> bool:
        """Chunks of a message; whether it is still remembered."""
        entry = self._open
        if entry is None or entry.id != message_id:
            entry = self._entries.get(message_id) or self._reopened(message_id)
        state = None if entry is None else entry.state
        if entry is None or state is None:
            self.report_unknown("a chunk of a message that is not open", detail=message_id)
            return False
        if self.root.on_touch is not None:
            self._touch(message_id)
        for chunk in chunks:
            kind = type(chunk)
            try:
                HANDLERS[kind](state, chunk)
            except StreamError as error:
                self.report_unknown("a chunk that does not fit", detail=str(error))
                continue
            if kind in _EFFECTS:
                self._note_call(entry, chunk, _EFFECTS[kind])
        return True

    def close(self, message_id: str) -> None:
        """Nothing more comes for a message, except outputs."""
        entry = self._entries.get(message_id)
        if entry is not None:
            entry.closed = True

    def call_message(self, call_id: str) -> str | None:
        """The message with a call."""
        return self._calls.get(call_id)

    def is_waiting(self, call_id: str) -> bool:
        """Whether a call has no output yet."""
        message_id = self._calls.get(call_id, "")
        places = (self._entries, self._past, self._hosts)
        entry = next((found for place in places if (found := place.get(message_id)) is not None), None)
        return entry is not None and call_id in entry.calls

    def note(self, name: str, data: Json, id: str | None = None) -> None:
        """A record that is not part of the conversation, kept with adjacent ones."""
        entry = self._notes
        if entry is None:
            root = self.root
            message = SystemMessage(
                id=self._notes_id(),
                type="event",
                internal=True,
                thread_id=root.thread_id,
                run_id=root.run_id,
                parent_id=self.tail or "",
                created_at=root.time,
                content=SystemContent(parts=()),
            )
            entry = Entry(message.id, message, None, closed=True)
            self._add(entry)
            entry.notes = []
            self._notes = entry
        else:
            self._touch(entry.id)
        assert entry.notes is not None, "an entry of notes has some"
        entry.notes.append(DataPart(name, data, id))

    def _notes_id(self) -> str:
        """The id of a new message of notes: its offset, and a number if there is one at this offset."""
        offset, count = self._noted
        count = count + 1 if offset == self.root.offset else 0
        self._noted = (self.root.offset, count)
        return f"notes-{self.root.offset}-{count + 1}" if count else f"notes-{self.root.offset}"

    def consume(self, consumption: Consumption) -> None:
        """What a response consumed."""
        entry = self._entries.get(consumption.message_id) or self._reopened(consumption.message_id)
        if entry is not None:
            if entry.usages is None:
                entry.usages = {}
            entry.usages[consumption.key] = consumption
        self._touch(consumption.message_id)
        self.root.count(consumption)

    @contextmanager
    def as_of(self, *lines: int) -> Generator[None, None, None]:
        """What is reported meanwhile is from the records of those lines, which were held back."""
        before, self.root.source_lines = self.root.source_lines, lines
        try:
            yield
        finally:
            self.root.source_lines = before

    def agent(self, name: str) -> "SubAgentBuilder":
        """The sink for a sub-agent."""
        return self.root.agent(name)

    def link(self, agent: str, call_id: str) -> None:
        """A sub-agent was started by a call."""
        self.root.link(agent, call_id)

    def report_unknown(self, what: str, *, detail: str = "") -> None:
        """Something was not understood."""
        self.root.diagnostics.add(what, self.root.place, detail)

    def report(self, what: str, place: Place, detail: str = "") -> None:
        """Something is wrong with the record at `place` of the current log."""
        root = self.root
        root.diagnostics.add(what, place, f"{root.log}: {detail}" if root.log else detail)

    # Messages out

    def take(self) -> list[Message]:
        """The messages that became whole since the last call; one that was returned before has changed."""
        done: list[Entry] = []
        for entry in self._entries.values():
            if not entry.closed or entry.calls or entry is self._notes:
                break
            done.append(entry)
        for entry in done:
            del self._entries[entry.id]
            self._ready[entry.id] = self._message(entry, None)
            self._shelve(entry)
        ready, self._ready = list(self._ready.values()), {}
        return ready

    def messages(self, interrupted: Interruption | None) -> list[Message]:
        """Everything that is not released yet, as it is now."""
        return [self._message(entry, interrupted) for entry in self._entries.values()]

    def settle_all(self, interrupted: Interruption | None) -> None:
        """Release everything. Messages with open calls are remembered for late outputs."""
        for entry in self._entries.values():
            self._ready[entry.id] = self._message(entry, interrupted)
            self._shelve(entry)
        self._entries.clear()
        self._notes = self._open = None

    def _message(self, entry: Entry, interrupted: Interruption | None) -> Message:
        state = entry.state
        if state is None:
            message = entry.message
            assert message is not None, "an entry without a state has a message"
            if entry.notes is not None and isinstance(message, SystemMessage):
                return replace(message, content=replace(message.content, parts=tuple(entry.notes)))
            return message
        if entry.usages:
            state.usage = sum_of(entry.usages)
        grown = state.snapshot()
        if entry.calls or state.texts or state.reasonings:
            grown = close_message(grown, interrupted)
            if interrupted is not None and entry.progress is not None:
                grown = _cut_off(grown, entry.progress & entry.calls, interrupted)
        return self._with_agents(entry, grown, interrupted) if self.root.has_agents else grown

    def _with_agents(
        self, entry: Entry, message: AssistantMessage, interrupted: Interruption | None
    ) -> AssistantMessage:
        """The message with those of its sub-agents under the calls that started them."""
        agents = {
            part.id: agent
            for part in message.content.parts
            if isinstance(part, ToolCallPart) and (agent := self.root.linked(part.id)) is not None
        }
        if not agents:
            return message
        entry.agents = list(agents.values())
        accumulator = Accumulator(message, lenient=True)
        for call_id, agent in agents.items():
            for child in agent.children(interrupted):
                accumulator.feed(c.ChildMessage((call_id,), child))
        return accumulator.snapshot()

    # Entries

    def _add(self, entry: Entry) -> None:
        if entry.id in self._entries:
            self.report_unknown("an id that two messages have", detail=entry.id)
            self._ready[entry.id] = self._message(self._entries.pop(entry.id), "lost")
        self._entries[entry.id] = entry
        self._notes = None
        self.tail = entry.id
        self._touch(entry.id)

    def _touch(self, message_id: str) -> None:
        """The current record changes a message."""
        if self.root.on_touch is not None:
            self.root.on_touch(self.name, message_id)

    def _placed(self, message: M) -> M:
        """The message in its thread and run, after the one before it unless it has another parent."""
        root = self.root
        changes: JsonObject = {}
        if message.parent_id is None:
            changes["parent_id"] = self.tail or ""
        if message.thread_id is None and root.thread_id is not None:
            changes["thread_id"] = root.thread_id
        if message.run_id is None and root.run_id is not None:
            changes["run_id"] = root.run_id
        return replace(message, **changes) if changes else message

    def _note_call(self, entry: Entry, chunk: Chunk, effect: int) -> None:
        call = str(getattr(chunk, CALL_ID))  # all chunks that have an effect have one
        root = self.root
        if effect == _BEGINS:
            entry.calls.add(call)
            self._calls[call] = entry.id
            if root.times.get(call, (None, root.time))[1] is not None:  # new, or an id that is used again
                root.times[call] = (root.time, None)
            if len(self._calls) > 2 * REMEMBERED_CALLS:
                self._calls = dict(islice(self._calls.items(), REMEMBERED_CALLS, None))
        elif not getattr(chunk, "preliminary", None):
            entry.calls.discard(call)
            before = root.times.get(call)
            root.times[call] = (before[0] if before else None, root.time)
        elif type(chunk) is c.ToolOutputAvailable:  # a typed output stands for one that may never come
            entry.progress = (entry.progress or set()) | {call}

    def _shelve(self, entry: Entry) -> None:
        """Remember a released message for a while, because something may come late."""
        if entry.state is None:
            return
        shelf, room = self._recent, REMEMBERED_ANSWERS
        if entry.agents is not None:
            shelf, room = self._hosts, REMEMBERED_MESSAGES
        elif entry.calls:
            shelf, room = self._past, REMEMBERED_MESSAGES
        shelf[entry.id] = entry
        if len(shelf) > room:
            _, oldest = shelf.popitem(last=False)
            for agent in oldest.agents or ():
                agent.forget()

    def _reopened(self, message_id: str) -> Entry | None:
        """A released message, to be released again after the current ones."""
        for shelf in (self._past, self._recent, self._hosts):
            entry = shelf.pop(message_id, None)
            if entry is not None:
                self._entries[message_id] = entry
                return entry
        return None


def _cut_off(message: AssistantMessage, calls: set[str], how: Interruption) -> AssistantMessage:
    """The message with calls interrupted that have a preliminary output; it becomes their message."""
    parts = tuple(
        replace(
            part, state="output-error", preliminary=None, output=InterruptedOutput(how, _text(part.output))
        )
        if isinstance(part, ToolCallPart) and part.preliminary and part.id in calls
        else part
        for part in message.content.parts
    )
    return replace(message, content=replace(message.content, parts=parts))


def _text(output: ToolOutput | None) -> str | None:
    value: Json = getattr(output, "value", None)
    return None if value is None else as_text(value)


class SubAgentBuilder(ThreadBuilder):
    """The sink for a sub-agent. It keeps its messages until the message with its call is forgotten."""

    def __init__(self, root: "LogBuilder", name: str) -> None:
        super().__init__(None, name)
        self.root = root
        self.call: str | None = None  # that started it
        self.placed = False  # whether a message was built with it
        self.stirred = False  # whether it has changed since then
        self.apart = False  # whether it is treated as if no call had started it
        self._is_building = False

    def append(self, message_id: str, *chunks: Chunk) -> bool:
        """Chunks of a message; the message above changes with it."""
        self.stirred = True
        return super().append(message_id, *chunks)

    def children(self, interrupted: Interruption | None) -> list[Message]:
        """Its messages, to be under its call; none if the call is, directly or not, its own."""
        if self.apart or self._is_building or self.root.depth >= DEEPEST:
            return []
        self.placed = True
        # What is open now will be lost, or will have ended, when the messages are built again.
        self.stirred = interrupted is None and any(entry.calls for entry in self._entries.values())
        return self.alone(interrupted)

    def alone(self, interrupted: Interruption | None) -> list[Message]:
        """Its messages, whether a call started it or not."""
        self._is_building, self.root.depth = True, self.root.depth + 1
        try:
            return self.messages(interrupted)
        finally:
            self._is_building, self.root.depth = False, self.root.depth - 1

    def forget(self) -> None:
        """The message above was forgotten: what comes now has no place under it."""
        for entry in self._entries.values():
            for agent in entry.agents or ():
                agent.forget()
        self._entries.clear()
        self._notes = self._open = self.call = None
        self.placed = self.stirred = False

    def _add(self, entry: Entry) -> None:
        self.stirred = True
        super()._add(entry)

    @property
    def thread_id(self) -> str | None:
        """The thread that messages belong to."""
        return self.root.thread_id

    @property
    def run_id(self) -> str | None:
        """The current run."""
        return self.root.run_id

    @property
    def place(self) -> Place:
        """Where the current record is."""
        return self.root.place

    @property
    def line(self) -> int:
        """The number of the current record."""
        return self.root.line

    @property
    def time(self) -> datetime | None:
        """The time of the current record."""
        return self.root.time

    def set_time(self, time: datetime) -> None:
        """The current record was made at `time`."""
        self.root.set_time(time)

    def set_fact(self, fact: Fact, value: Json) -> None:
        """Facts in a sub-agent's records are used only if the conversation does not have them."""
        self.root.facts.setdefault(fact, value)

    def begin_turn(self) -> None:
        """A sub-agent has only one turn."""

    def end_turn(self, how: TurnEnd, why: str | None = None) -> None:
        """A sub-agent has only one turn."""


class Turn(NamedTuple):
    """From one prompt to the next: what a run is made of."""

    id: str
    place: Place
    began_at: datetime | None
    end: TurnEnd | None = None
    error: str | None = None
    ended_at: datetime | None = None


class LogBuilder(ThreadBuilder):
    """The sink for a whole log: the conversation, its sub-agents, its turns, and facts about the thread."""

    def __init__(self, thread_id: str | None = None, *, tail: str | None = None) -> None:
        """`tail`: the message that the first one follows, if the log is read from its middle."""
        super().__init__(tail)
        self.root = self
        self.thread_id = thread_id
        self.run_id: str | None = None
        self.generation = 1  # how often the log was written from the start
        self.line = 0  # the number of the current record
        self.offset = 0  # and how many bytes are before it
        self.log = ""  # the sub-agent whose own log it is in
        self.source_lines: tuple[int, ...] | None = (
            None  # the lines of what is reported, if not the current one
        )
        self.time: datetime | None = None
        self.first_time: datetime | None = None
        self.last_time: datetime | None = None
        self.facts: dict[Fact, Json] = {}
        self.diagnostics = Diagnostics()
        self.turn: Turn | None = None
        self.times: dict[str, CallTimes] = {}
        self.claims: Mapping[str, str] = {}  # calls, and the agents that name them as their origin
        self.on_turn: Callable[[], None] | None = None  # called before a turn begins
        self.on_touch: Touch | None = None  # called for each message that the current record changes
        self.on_link: Callable[[str], None] | None = None  # called with a sub-agent when it is linked
        self.depth = 0  # how many sub-agents are above the one whose messages are being built
        self._agents: dict[str, SubAgentBuilder] = {}
        self._links: dict[str, str] = {}  # calls, and the agents under them
        self._turns: list[Turn] = []
        self._ledger: dict[str, Consumption] = {}

    @property
    def place(self) -> Place:
        """Where the current record is."""
        return Place(self.line, self.offset)

    # What comes out

    def take_turns(self) -> list[Turn]:
        """The turns that ended since the last call."""
        turns, self._turns = self._turns, []
        return turns

    def take_ledger(self) -> list[Consumption]:
        """What responses consumed, since the last call."""
        ledger, self._ledger = list(self._ledger.values()), {}
        return ledger

    def take_times(self) -> dict[str, CallTimes]:
        """The times of calls that ended since the last call."""
        ended = {call: times for call, times in self.times.items() if times[1] is not None}
        self.times = {call: times for call, times in self.times.items() if times[1] is None}
        return ended

    def pending(self) -> list[Message]:
        """The messages that are not whole yet, as they are now."""
        self._bring_back()
        return self.messages(None)

    def settle_all(self, interrupted: Interruption | None) -> None:
        """Release everything, also messages whose sub-agents have changed."""
        self._bring_back()
        super().settle_all(interrupted)

    def orphans(self) -> dict[str, list[Message]]:
        """The messages of sub-agents that are under no call, by the agent's name."""
        found: dict[str, list[Message]] = {}
        loose = [(name, agent) for name, agent in self._agents.items() if not agent.placed]
        for name, agent in sorted(loose, key=lambda it: self._holder(it[1]) is not None):
            if not agent.placed:  # agents without a call come first, and may have others under them
                agent.apart = True
                found[name] = agent.alone("lost")
        for name in found:
            self._agents[name].apart = False
        return {name: messages for name, messages in found.items() if messages}

    def finish(self) -> list[Message]:
        """The log has ended: everything that is left. Calls that wait for their outputs are lost."""
        self.settle_all("lost")
        if self.turn is not None:
            self._turns.append(self.turn)
            self.turn = None
        return self.take()

    # What comes in

    def set_time(self, time: datetime) -> None:
        """The current record was made at `time`."""
        self.time = time
        if self.turn is not None and self.turn.began_at is None:
            self.turn = self.turn._replace(began_at=time)
        last = self.last_time
        if last is None:
            self.first_time = self.last_time = time
        elif time > last:
            self.last_time = time
        elif self.first_time is None or time < self.first_time:
            self.first_time = time

    def begin_turn(self) -> None:
        """A prompt begins a new run."""
        if self.on_turn is not None:
            self.on_turn()
        self.settle_all("lost")
        if self.turn is not None:
            self._turns.append(self.turn)
        again = f"{self.generation}:" if self.generation > 1 else ""
        self.run_id = f"{self.thread_id or ''}@{again}{self.offset}"
        self.turn = Turn(self.run_id, self.place, self.time)

    def end_turn(self, how: TurnEnd, why: str | None = None) -> None:
        """How the current turn ended."""
        if self.turn is not None:
            self.turn = self.turn._replace(end=how, error=why, ended_at=self.time)

    def set_fact(self, fact: Fact, value: Json) -> None:
        """Something about the thread. The first prompt counts, and the last value of all other facts."""
        if fact == "prompt":
            self.facts.setdefault(fact, value)
        else:
            self.facts[fact] = value

    def count(self, consumption: Consumption) -> None:
        """Add a consumption of any agent to the ledger."""
        if consumption.run_id is None:
            consumption = replace(consumption, run_id=self.run_id)
        self._ledger[consumption.key] = consumption

    def agent(self, name: str) -> SubAgentBuilder:
        """The sink for a sub-agent."""
        agent = self._agents.get(name)
        if agent is None:
            agent = self._agents[name] = SubAgentBuilder(self, name)
        return agent

    def link(self, agent: str, call_id: str) -> None:
        """A sub-agent was started by a call."""
        if self._links.get(call_id) == agent:
            return
        builder = self.agent(agent)
        if builder.call is not None or builder.call_message(call_id) is not None:
            return  # an agent that was resumed stays under the call that started it, and never under itself
        self._links[call_id] = agent
        builder.call, builder.stirred = call_id, True
        if self.on_link is not None:
            self.on_link(agent)

    def linked(self, call_id: str) -> SubAgentBuilder | None:
        """The sub-agent under a call."""
        if call_id in self.claims:
            self.link(self.claims[call_id], call_id)
        name = self._links.get(call_id)
        return None if name is None else self._agents.get(name)

    def _bring_back(self) -> None:
        """Reopen released messages whose sub-agents have changed."""
        stirred = [agent for agent in self._agents.values() if agent.stirred and agent.call is not None]
        for agent in stirred:  # it grows meanwhile
            agent.stirred = False
            holder = self._holder(agent)
            if isinstance(holder, SubAgentBuilder):
                stirred += [] if holder in stirred else [holder]
            elif holder is not None and (message_id := self._calls[agent.call or ""]) not in self._entries:
                self._reopened(message_id)

    def _holder(self, agent: SubAgentBuilder) -> ThreadBuilder | None:
        """The thread with the call that started a sub-agent."""
        if agent.call is None:
            return None
        threads = (self, *self._agents.values())
        return next((one for one in threads if one.call_message(agent.call) is not None), None)

    @property
    def linked_agents(self) -> frozenset[str]:
        """The sub-agents that are under calls."""
        return frozenset(self._links.values())

    @property
    def has_agents(self) -> bool:
        """Whether there are sub-agents at all."""
        return bool(self._agents or self.claims)
