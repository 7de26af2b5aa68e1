"""What a log tells → messages, through the one reducer.

Messages come out whole, in the order in which they began, as soon as nothing more is expected for them, so a
log of any length takes little room. A late word (the output of a call long past) brings its message out
again.
"""

from collections import OrderedDict
from collections.abc import Iterator
from datetime import datetime
from typing import Final, NamedTuple, TypeVar

from msgspec.structs import replace

from partita.stream.accumulator import Accumulator, close_message
from partita.types import chunks as c
from partita.types.chunks import Chunk
from partita.types.json import Json, JsonObject
from partita.types.messages import (
    AssistantMessage,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
)
from partita.types.parts import DataPart
from partita.types.tools import Interruption
from partita.types.usage import Usage

from .diagnostics import Diagnostics, Place
from .transcript import Consumption, Fact, TurnEnd

M = TypeVar("M", bound=Message)

REMEMBERED_CALLS = 4096
REMEMBERED_MESSAGES = 64
"""How many messages with open calls stay at hand after their turn is over."""

_OPENS: Final = frozenset({c.ToolInputStart, c.ToolInputAvailable, c.ToolApprovalRequest})
_ENDS: Final = frozenset(
    {c.ToolOutputAvailable, c.ToolOutputError, c.ToolOutputDenied, c.ToolOutputChunk, c.ToolInputError}
)


class Turn(NamedTuple):
    """From a prompt to the next: what a run is made of."""

    id: str
    place: Place
    began_at: datetime | None
    end: TurnEnd | None = None
    error: str | None = None
    ended_at: datetime | None = None


class Entry:
    """A message that is not out yet."""

    __slots__ = ("accumulator", "calls", "closed", "id", "message", "notes", "usages")

    def __init__(self, id: str, message: Message | None, accumulator: Accumulator | None = None) -> None:
        self.id = id
        self.message = message
        self.accumulator = accumulator
        self.notes: list[DataPart] | None = None
        self.calls: set[str] = set()  # that have no output yet
        self.closed = accumulator is None
        self.usages: dict[str, Consumption] = {}


class Assembly:
    """The teller for a whole log: the conversation, its sub-agents, its turns, what it says of itself."""

    def __init__(self, thread_id: str | None = None, *, tail: str | None = None) -> None:
        """`tail`: the message that the first one follows, when the log is read from its middle."""
        self.thread_id = thread_id
        self.run_id: str | None = None
        self.place = Place(0, 0)
        self.facts: dict[Fact, Json] = {}
        self.diagnostics = Diagnostics()
        self.first_time: datetime | None = None
        self.last_time: datetime | None = None
        self.time: datetime | None = None
        self.turn: Turn | None = None
        self.main = Chain(self, tail)
        self._agents: dict[str, Chain] = {}
        self._links: dict[str, str] = {}  # of calls to the agents under them
        self._turns: list[Turn] = []
        self._ledger: dict[str, Consumption] = {}

    # What comes out

    def take(self) -> list[Message]:
        """The messages that have become whole since the last time; one that came before has changed."""
        return self.main.take()

    def take_turns(self) -> list[Turn]:
        """The turns that are over since the last time."""
        turns, self._turns = self._turns, []
        return turns

    def take_ledger(self) -> list[Consumption]:
        """What responses consumed, told since the last time."""
        ledger, self._ledger = list(self._ledger.values()), {}
        return ledger

    def pending(self) -> list[Message]:
        """The messages that are not whole yet, as they are now."""
        return self.main.messages(None)

    def finish(self) -> list[Message]:
        """The log is over: everything that is left. Calls that wait for their outputs are lost."""
        self._adopt()
        self.main.settle_all("lost")
        if self.turn is not None:
            self._turns.append(self.turn)
            self.turn = None
        return self.take()

    # What is told

    def tick(self, time: datetime) -> None:
        """The record at hand was made at `time`."""
        self.time = time
        if self.first_time is None:
            self.first_time = self.last_time = time
        elif time < self.first_time:
            self.first_time = time
        elif self.last_time is None or time > self.last_time:
            self.last_time = time

    def begin_turn(self) -> None:
        """A prompt begins a new run."""
        self.main.settle_all("lost")
        if self.turn is not None:
            self._turns.append(self.turn)
        self.run_id = f"{self.thread_id or ''}@{self.place.offset}"
        self.turn = Turn(self.run_id, self.place, self.time)

    def end_turn(self, how: TurnEnd, why: str | None = None) -> None:
        """How the turn at hand ended."""
        if self.turn is not None:
            self.turn = self.turn._replace(end=how, error=why, ended_at=self.time)

    def learn(self, fact: Fact, value: Json) -> None:
        """Something about the thread."""
        self.facts[fact] = value

    def puzzle(self, what: str, *, detail: str = "") -> None:
        """Something was not understood."""
        self.diagnostics.add(what, self.place, detail)

    def consume(self, consumption: Consumption) -> None:
        """What a response of the conversation consumed."""
        self.main.consume(consumption)

    def count(self, consumption: Consumption) -> None:
        """Write a consumption down, whoever it was."""
        self._ledger[consumption.key] = consumption

    def agent(self, name: str) -> "Chain":
        """The teller for a sub-agent."""
        chain = self._agents.get(name)
        if chain is None:
            chain = self._agents[name] = Chain(self, None)
        return chain

    def link(self, agent: str, call_id: str) -> None:
        """A sub-agent hangs under a call."""
        self._links[call_id] = agent

    def linked(self, call_id: str) -> "Chain | None":
        """The sub-agent under a call."""
        name = self._links.get(call_id)
        return None if name is None else self._agents.get(name)

    @property
    def tail(self) -> str | None:
        """The message that the next one follows."""
        return self.main.tail

    @property
    def has_agents(self) -> bool:
        """Whether there are sub-agents at all."""
        return bool(self._links)

    # The conversation itself

    def say(self, message: Message) -> None:
        """A whole message."""
        self.main.say(message)

    def open(self, message: AssistantMessage) -> None:
        """An assistant message begins."""
        self.main.open(message)

    def grow(self, message_id: str, chunk: Chunk) -> None:
        """A chunk of an open message."""
        self.main.grow(message_id, chunk)

    def close(self, message_id: str) -> None:
        """Nothing more comes for a message."""
        self.main.close(message_id)

    def call_message(self, call_id: str) -> str | None:
        """The message that holds a call."""
        return self.main.call_message(call_id)

    def is_waiting(self, call_id: str) -> bool:
        """Whether a call has no output yet."""
        return self.main.is_waiting(call_id)

    def note(self, name: str, data: Json, id: str | None = None) -> None:
        """A record that is no talk."""
        self.main.note(name, data, id)

    def _adopt(self) -> None:
        """Sub-agents that no call claims: their messages are kept in the conversation, hidden."""
        claimed = set(self._links.values())
        for name, chain in self._agents.items():
            if name not in claimed:
                self.puzzle("a sub-agent that no call started", detail=name)
                for message in chain.messages("lost"):
                    self.main.say(replace(message, internal=True))


class Chain:
    """The teller for one line of talk: the conversation, or a sub-agent's."""

    def __init__(self, root: Assembly, tail: str | None) -> None:
        self.root = root
        self.tail = tail
        self._entries: dict[str, Entry] = {}
        self._ready: dict[str, Message] = {}
        self._past: OrderedDict[str, Entry] = OrderedDict()
        self._calls: OrderedDict[str, str] = OrderedDict()
        self._notes: Entry | None = None
        self._open: Entry | None = None

    @property
    def thread_id(self) -> str | None:
        """The thread that messages belong to."""
        return self.root.thread_id

    @property
    def run_id(self) -> str | None:
        """The run at hand."""
        return self.root.run_id

    @property
    def place(self) -> Place:
        """Where the record at hand is."""
        return self.root.place

    @property
    def time(self) -> datetime | None:
        """The time of the record at hand."""
        return self.root.time

    # What is told

    def say(self, message: Message) -> None:
        """A whole message; one that is known is replaced."""
        there = self._entries.get(message.id)
        if there is not None and there.accumulator is None:
            there.message = replace(message, parent_id=there.message.parent_id if there.message else None)
            return
        self._add(Entry(message.id, self._placed(message)))

    def open(self, message: AssistantMessage) -> None:
        """An assistant message begins; the one before it waits for outputs alone."""
        if self._open is not None:
            self._open.closed = True
        entry = Entry(message.id, None, Accumulator(self._placed(message), lenient=True))
        self._add(entry)
        self._open = entry

    def grow(self, message_id: str, chunk: Chunk) -> None:
        """A chunk of a message."""
        entry = self._open
        if entry is None or entry.id != message_id:
            entry = self._entries.get(message_id) or self._reopened(message_id)
            if entry is None:
                self.root.puzzle("a word about a message that is not there", detail=message_id)
                return
        accumulator = entry.accumulator
        if accumulator is None:
            self.root.puzzle("a chunk for a message that does not grow", detail=message_id)
            return
        accumulator.feed(chunk)
        if accumulator.diagnostics:
            for diagnostic in accumulator.diagnostics:
                self.root.puzzle("a chunk that does not fit", detail=diagnostic.what)
            accumulator.diagnostics.clear()
        kind = type(chunk)
        if kind in _OPENS:
            call: str = chunk.tool_call_id  # type: ignore[union-attr] # the types in the set have one
            entry.calls.add(call)
            self._remember(call, message_id)
        elif kind in _ENDS and not getattr(chunk, "preliminary", None):
            entry.calls.discard(chunk.tool_call_id)  # type: ignore[union-attr] # the types in the set have one

    def close(self, message_id: str) -> None:
        """Nothing more comes for a message, but outputs."""
        entry = self._entries.get(message_id)
        if entry is not None:
            entry.closed = True

    def call_message(self, call_id: str) -> str | None:
        """The message that holds a call."""
        return self._calls.get(call_id)

    def is_waiting(self, call_id: str) -> bool:
        """Whether a call has no output yet."""
        entry = self._entries.get(self._calls.get(call_id, ""))
        return entry is not None and call_id in entry.calls

    def note(self, name: str, data: Json, id: str | None = None) -> None:
        """A record that is no talk, kept with those beside it."""
        if self._notes is None:
            message = SystemMessage(
                id=f"notes-{self.root.place.offset}",
                type="event",
                internal=True,
                created_at=self.root.time,
                content=SystemContent(parts=()),
            )
            self._add(entry := Entry(message.id, self._placed(message)))
            entry.notes = []
            self._notes = entry
        notes = self._notes.notes
        assert notes is not None, "an entry of notes has some"
        notes.append(DataPart(name, data, id))

    def consume(self, consumption: Consumption) -> None:
        """What a response consumed."""
        entry = self._entries.get(consumption.message_id) or self._reopened(consumption.message_id)
        if entry is not None:
            entry.usages[consumption.key] = consumption
        self.root.count(consumption)

    def tick(self, time: datetime) -> None:
        """The record at hand was made at `time`."""
        self.root.tick(time)

    def learn(self, fact: Fact, value: Json) -> None:
        """What a sub-agent's records say of the thread counts no more than what the conversation's say."""
        self.root.facts.setdefault(fact, value)

    def begin_turn(self) -> None:
        """A sub-agent has one turn alone."""

    def end_turn(self, how: TurnEnd, why: str | None = None) -> None:
        """A sub-agent has one turn alone."""

    def agent(self, name: str) -> "Chain":
        """The teller for a sub-agent of this one."""
        return self.root.agent(name)

    def link(self, agent: str, call_id: str) -> None:
        """A sub-agent hangs under a call."""
        self.root.link(agent, call_id)

    def puzzle(self, what: str, *, detail: str = "") -> None:
        """Something was not understood."""
        self.root.puzzle(what, detail=detail)

    # What comes out

    def take(self) -> list[Message]:
        """What has become whole since the last time."""
        self._settle_front()
        ready, self._ready = list(self._ready.values()), {}
        return ready

    def messages(self, interrupted: Interruption | None) -> list[Message]:
        """Everything that is not out yet, as it is now."""
        return [self._message(entry, interrupted) for entry in self._entries.values()]

    def settle_all(self, interrupted: Interruption | None) -> None:
        """Bring everything out. What still had open calls stays at hand, for late outputs."""
        for entry in self._entries.values():
            self._ready[entry.id] = self._message(entry, interrupted)
            if entry.calls:
                self._past[entry.id] = entry
                if len(self._past) > REMEMBERED_MESSAGES:
                    self._past.popitem(last=False)
        self._entries.clear()
        self._notes = self._open = None

    def _settle_front(self) -> None:
        done: list[Entry] = []
        for entry in self._entries.values():
            if not entry.closed or entry.calls or entry is self._notes:
                break
            done.append(entry)
        for entry in done:
            self._ready[entry.id] = self._message(entry, None)
            del self._entries[entry.id]

    def _message(self, entry: Entry, interrupted: Interruption | None) -> Message:
        if entry.accumulator is None:
            message = entry.message
            assert message is not None, "what does not grow is there"
            if entry.notes is not None and isinstance(message, SystemMessage):
                message = replace(message, content=replace(message.content, parts=tuple(entry.notes)))
            return message
        grown = close_message(entry.accumulator.snapshot(), interrupted)
        if self.root.has_agents:
            grown = self._with_agents(grown, interrupted)
        if entry.usages:
            grown = replace(grown, content=replace(grown.content, usage=_sum_of(entry.usages)))
        return grown

    def _with_agents(self, message: AssistantMessage, interrupted: Interruption | None) -> AssistantMessage:
        """The message with its sub-agents' under the calls that started them."""
        children = {
            part.id: chain.messages(interrupted)
            for part in message.content.parts
            if isinstance(part, ToolCallPart) and (chain := self.root.linked(part.id)) is not None
        }
        if not children:
            return message
        accumulator = Accumulator(message, lenient=True)
        for call_id, messages in children.items():
            for child in messages:
                accumulator.feed(c.ChildMessage((call_id,), child))
        return accumulator.snapshot()

    # Entries

    def _add(self, entry: Entry) -> None:
        if entry.id in self._entries:
            self.root.puzzle("an id that two messages have", detail=entry.id)
            self._ready[entry.id] = self._message(self._entries.pop(entry.id), "lost")
        self._entries[entry.id] = entry
        self._notes = None
        self.tail = entry.id

    def _placed(self, message: M) -> M:
        """The message in its thread and run, after the one before it unless it says otherwise."""
        changes: JsonObject = {}
        if message.parent_id is None:
            changes["parent_id"] = self.tail or ""
        if message.thread_id is None and self.root.thread_id is not None:
            changes["thread_id"] = self.root.thread_id
        if message.run_id is None and self.root.run_id is not None:
            changes["run_id"] = self.root.run_id
        return replace(message, **changes) if changes else message

    def _remember(self, call_id: str, message_id: str) -> None:
        self._calls[call_id] = message_id
        if len(self._calls) > REMEMBERED_CALLS:
            self._calls.popitem(last=False)

    def _reopened(self, message_id: str) -> Entry | None:
        """A message of a past turn, to come out again at the end of what is at hand."""
        entry = self._past.pop(message_id, None)
        if entry is not None:
            self._entries[message_id] = entry
        return entry


def _sum_of(usages: dict[str, Consumption]) -> Usage:
    """The usage of a message: that of its response, or of all of them."""
    each = [consumption.usage for consumption in usages.values()]
    return each[0] if len(each) == 1 else add_usages(each)


def add_usages(usages: list[Usage]) -> Usage:
    """Usages in one."""
    return Usage(
        input_tokens=_total(usage.input_tokens for usage in usages),
        output_tokens=_total(usage.output_tokens for usage in usages),
        total_tokens=_total(usage.total_tokens for usage in usages),
        reasoning_tokens=_total(usage.reasoning_tokens for usage in usages),
        cached_input_tokens=_total(usage.cached_input_tokens for usage in usages),
        cache_write_tokens=_total(usage.cache_write_tokens for usage in usages),
    )


def _total(numbers: Iterator[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None
