"""One line of talk → messages: a conversation, or what a sub-agent and its caller said.

Messages come out whole, in the order in which they began, as soon as nothing more is expected for them. A
late word (the output of a call long past) brings its message out again.
"""

from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from typing import Final, Protocol, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from partita.errors import StreamError
from partita.stream.accumulator import Accumulator, close_message
from partita.stream.reducer import HANDLERS
from partita.stream.rules import SEVEN
from partita.stream.state import State
from partita.types import chunks as c
from partita.types.chunks import Chunk
from partita.types.json import Json, JsonObject, dumps
from partita.types.messages import AssistantMessage, Message, SystemContent, SystemMessage, ToolCallPart
from partita.types.parts import DataPart
from partita.types.tools import InterruptedOutput, Interruption, ToolOutput

from .diagnostics import Place
from .transcript import Consumption, Teller
from .usages import sum_of

M = TypeVar("M", bound=Message)

REMEMBERED_CALLS = 4096
REMEMBERED_MESSAGES = 64
"""How many messages with open calls, and how many with sub-agents, stay at hand after they are out."""

REMEMBERED_ANSWERS = 16
"""How many others do: two processes that write to one log take turns, in the middle of an answer too."""

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
"""When a call began and when it ended, as far as the log says so."""


Touch: TypeAlias = Callable[[str, str], None]
"""Who is told of each message that the record at hand says something of: by its agent's name and its id."""


class Root(Protocol):
    """What a line of talk asks of the whole log."""

    run_id: str | None
    line: int
    offset: int
    time: datetime | None
    times: dict[str, CallTimes]
    told_by: tuple[int, ...] | None
    on_touch: "Touch | None"

    @property
    def thread_id(self) -> str | None:
        """The thread that messages belong to."""
        ...

    @property
    def has_agents(self) -> bool:
        """Whether there are sub-agents at all."""
        ...

    def puzzle(self, what: str, *, detail: str = "") -> None:
        """Something was not understood."""
        ...

    def report(self, what: str, place: Place, detail: str = "") -> None:
        """Something is wrong with the record at `place`."""
        ...

    def count(self, consumption: Consumption) -> None:
        """Write a consumption down."""
        ...

    def agent(self, name: str) -> Teller:
        """The teller for a sub-agent."""
        ...

    def link(self, agent: str, call_id: str) -> None:
        """A sub-agent hangs under a call."""
        ...

    def linked(self, call_id: str) -> "Hanging | None":
        """The sub-agent under a call."""
        ...


class Hanging(Protocol):
    """A sub-agent under a call."""

    def children(self, interrupted: Interruption | None) -> list[Message]:
        """Its messages, to stand under its call."""
        ...

    def forget(self) -> None:
        """Nobody can be told of it any more."""
        ...


class Entry(Struct, eq=False):
    """A message that is not out yet: said whole, or growing in a state."""

    id: str
    message: Message | None
    state: State | None
    closed: bool
    notes: list[DataPart] | None = None
    calls: set[str] = set()  # that have no output yet
    progress: set[str] | None = None  # calls that have said how far they are
    agents: "list[Hanging] | None" = None  # that it was told with
    usages: dict[str, Consumption] | None = None


class Chain:
    """The teller for one line of talk."""

    root: Root

    def __init__(self, tail: str | None, name: str = "") -> None:
        """`name`: the sub-agent's, if it is one's."""
        self.tail = tail
        self.name = name
        self._entries: dict[str, Entry] = {}
        self._ready: dict[str, Message] = {}
        self._past: OrderedDict[str, Entry] = OrderedDict()  # with open calls
        self._hosts: OrderedDict[str, Entry] = OrderedDict()  # with sub-agents
        self._recent: OrderedDict[str, Entry] = OrderedDict()  # with neither
        self._calls: dict[str, str] = {}
        self._notes: Entry | None = None
        self._noted = (-1, 0)  # where the last notice was made, and how many were before it there
        self._open: Entry | None = None

    # What is told

    def say(self, message: Message) -> None:
        """A whole message; one that is known is replaced."""
        there = self._entries.get(message.id)
        if there is not None and there.message is not None:
            there.message = self._placed(replace(message, parent_id=there.message.parent_id))
            self._touch(message.id)
            return
        self._add(Entry(message.id, self._placed(message), None, closed=True))

    def open(self, message: AssistantMessage) -> None:
        """An assistant message begins; the one before it waits for outputs alone."""
        if self._open is not None:
            self._open.closed = True
        entry = Entry(message.id, None, State(self._placed(message), SEVEN), closed=False)
        self._add(entry)
        self._open = entry

    def grow(self, message_id: str, *chunks: Chunk) -> bool:
        """Chunks of a message; whether it is still at hand."""
        entry = self._open
        if entry is None or entry.id != message_id:
            entry = self._entries.get(message_id) or self._reopened(message_id)
        state = None if entry is None else entry.state
        if entry is None or state is None:
            self.root.puzzle("a word about a message that does not grow", detail=message_id)
            return False
        if self.root.on_touch is not None:
            self._touch(message_id)
        for chunk in chunks:
            kind = type(chunk)
            try:
                HANDLERS[kind](state, chunk)
            except StreamError as error:
                self.root.puzzle("a chunk that does not fit", detail=str(error))
                continue
            if kind in _EFFECTS:
                self._note_call(entry, chunk, _EFFECTS[kind])
        return True

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
        message_id = self._calls.get(call_id, "")
        places = (self._entries, self._past, self._hosts)
        entry = next((found for place in places if (found := place.get(message_id)) is not None), None)
        return entry is not None and call_id in entry.calls

    def note(self, name: str, data: Json, id: str | None = None) -> None:
        """A record that is no talk, kept with those beside it."""
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
        """The name of a new notice: by its place, and a number if there was one at this place before."""
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
        """What is told meanwhile was said by the records of those lines, some of which were held back."""
        before, self.root.told_by = self.root.told_by, lines
        try:
            yield
        finally:
            self.root.told_by = before

    def agent(self, name: str) -> Teller:
        """The teller for a sub-agent of this one."""
        return self.root.agent(name)

    def link(self, agent: str, call_id: str) -> None:
        """A sub-agent hangs under a call."""
        self.root.link(agent, call_id)

    def puzzle(self, what: str, *, detail: str = "") -> None:
        """Something was not understood."""
        self.root.puzzle(what, detail=detail)

    def report(self, what: str, place: Place, detail: str = "") -> None:
        """Something is wrong with the record at `place`."""
        self.root.report(what, place, detail)

    # What comes out

    def take(self) -> list[Message]:
        """The messages that have become whole since the last time; one that came before has changed."""
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
        """Everything that is not out yet, as it is now."""
        return [self._message(entry, interrupted) for entry in self._entries.values()]

    def settle_all(self, interrupted: Interruption | None) -> None:
        """Bring everything out. What still had open calls stays at hand, for late outputs."""
        for entry in self._entries.values():
            self._ready[entry.id] = self._message(entry, interrupted)
            self._shelve(entry)
        self._entries.clear()
        self._notes = self._open = None

    def _message(self, entry: Entry, interrupted: Interruption | None) -> Message:
        state = entry.state
        if state is None:
            message = entry.message
            assert message is not None, "what does not grow is there"
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
        """The message with its sub-agents' under the calls that started them."""
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
            self.root.puzzle("an id that two messages have", detail=entry.id)
            self._ready[entry.id] = self._message(self._entries.pop(entry.id), "lost")
        self._entries[entry.id] = entry
        self._notes = None
        self.tail = entry.id
        self._touch(entry.id)

    def _touch(self, message_id: str) -> None:
        """The record at hand says something of a message."""
        if self.root.on_touch is not None:
            self.root.on_touch(self.name, message_id)

    def _placed(self, message: M) -> M:
        """The message in its thread and run, after the one before it unless it says otherwise."""
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
        """Keep a message that is out at hand for a while, for late words."""
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
        """A message that is out, to come out again at the end of what is at hand."""
        for shelf in (self._past, self._recent, self._hosts):
            entry = shelf.pop(message_id, None)
            if entry is not None:
                self._entries[message_id] = entry
                return entry
        return None


def _cut_off(message: AssistantMessage, calls: set[str], how: Interruption) -> AssistantMessage:
    """The message with calls interrupted that never got further than progress; that is told with them."""
    parts = tuple(
        replace(
            part, state="output-error", preliminary=None, output=InterruptedOutput(how, _told(part.output))
        )
        if isinstance(part, ToolCallPart) and part.preliminary and part.id in calls
        else part
        for part in message.content.parts
    )
    return replace(message, content=replace(message.content, parts=parts))


def _told(output: ToolOutput | None) -> str | None:
    value: Json = getattr(output, "value", None)
    return value if value is None or isinstance(value, str) else dumps(value).decode()
