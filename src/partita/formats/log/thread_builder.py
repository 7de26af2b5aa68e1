"""What a log contains → messages, through the one reducer.

`ThreadBuilder` builds the messages of one thread: of a conversation, or of a sub-agent. Messages are released
whole, in the order in which they started, as soon as nothing more is expected for them. Something late (the
output of a call long ago) releases its message once more. `LogBuilder` builds a whole log, with its
sub-agents, turns and facts. The memory it needs does not grow with the log.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from typing import Final, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from partita.errors import StreamError
from partita.formats.core.tool_text import as_text
from partita.stream.accumulator import Accumulator, close_message
from partita.stream.reducer import HANDLERS
from partita.stream.state import SEVEN, State
from partita.types import chunks as c
from partita.types.chunks import Chunk
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, Message, SystemContent, SystemMessage, ToolCallPart
from partita.types.parts import DataPart, InterruptedOutput, Interruption, ToolOutput
from partita.types.usage import sum_usages

from .sink import Consumption, Fact, Position, TurnEnd, UnknownRecords

M = TypeVar("M", bound=Message)

REMEMBERED_CALLS = 4096
REMEMBERED_MESSAGES = 64
"""How many messages with open calls, and how many with sub-agents, are remembered after their release."""

REMEMBERED_RESPONSES = 16
"""How many others are: two processes that write to one log alternate, also in the middle of a response."""

EXPECTED_AGENTS: Final = 512
"""How many calls that expect a sub-agent are remembered."""

MAX_DEPTH: Final = 32
"""How deep sub-agents may be nested. Deeper ones are treated as if no call had started them."""

CALL_ID: Final = "tool_call_id"
_STARTS: Final = 1
_ENDS: Final = 2
_EFFECTS: Final[Mapping[type[Chunk], int]] = {
    c.ToolInputStart: _STARTS,
    c.ToolInputAvailable: _STARTS,
    c.ToolApprovalRequest: _STARTS,
    c.ToolOutputAvailable: _ENDS,
    c.ToolOutputError: _ENDS,
    c.ToolOutputDenied: _ENDS,
    c.ToolOutputChunk: _ENDS,
    c.ToolInputError: _ENDS,
}
"""How chunks change the list of calls that have no output yet."""


CallTimes: TypeAlias = tuple[datetime | None, datetime | None]
"""When a call started and when it ended, if the log says so."""

OnChange: TypeAlias = Callable[[str, str], None]
"""Called for each message that the current record changes, with the name of its sub-agent and its id."""


class PendingMessage(Struct, eq=False):
    """A message that is not released yet: whole, or in a state to which chunks are applied."""

    id: str
    message: Message | None
    state: State | None
    closed: bool
    records: list[DataPart] | None = None
    calls: set[str] = set()  # without an output
    progress: set[str] | None = None  # calls with a preliminary output
    agents: "list[SubAgentBuilder] | None" = None  # under its calls
    consumptions: dict[str, Consumption] | None = None


class ThreadBuilder:
    """The sink for one thread. `root` is the builder of the whole log."""

    root: "LogBuilder"
    is_sub_agent = False
    """Whether its messages belong under a call."""

    def __init__(self, tail: str | None, name: str = "") -> None:
        """`name`: that of the sub-agent; empty for the conversation."""
        self.tail = tail
        self.name = name
        self._pending: dict[str, PendingMessage] = {}
        self._ready: dict[str, Message] = {}
        # Released messages that are remembered: with open calls, with sub-agents, others
        self._with_calls: OrderedDict[str, PendingMessage] = OrderedDict()
        self._with_agents: OrderedDict[str, PendingMessage] = OrderedDict()
        self._others: OrderedDict[str, PendingMessage] = OrderedDict()
        self._calls: dict[str, str] = {}
        self._expected: dict[str, str] = {}  # the signs of sub-agents, by the calls that start them
        self._records: PendingMessage | None = None  # the current message of records
        self._last_records = (-1, 0)  # the offset of the last one, and how many before it have this offset
        self._open: PendingMessage | None = None

    # Messages in

    def add_message(self, message: Message) -> None:
        """A whole message; it replaces one with the same id."""
        known = self._pending.get(message.id)
        if known is not None and known.message is not None:
            known.message = self._placed(replace(message, parent_id=known.message.parent_id))
            self._report_change(message.id)
            return
        self._add(PendingMessage(message.id, self._placed(message), None, closed=True))

    def open(self, message: AssistantMessage) -> None:
        """An assistant message starts; the one before it only waits for outputs."""
        if self._open is not None:
            self._open.closed = True
        pending = PendingMessage(message.id, None, State(self._placed(message), SEVEN), closed=False)
        self._add(pending)
        self._open = pending

    def append(self, message_id: str, *chunks: Chunk) -> bool:
        """Chunks of a message; returns whether it is still remembered."""
        pending = self._open
        if pending is None or pending.id != message_id:
            pending = self._find(message_id)
        state = None if pending is None else pending.state
        if pending is None or state is None:
            self.report_unknown("a chunk of a message that is not open", detail=message_id)
            return False
        if self.root.on_change is not None:
            self._report_change(message_id)
        for chunk in chunks:
            kind = type(chunk)
            try:
                HANDLERS[kind](state, chunk)
            except StreamError as error:
                self.report_unknown("a chunk that does not fit", detail=str(error))
                continue
            if kind in _EFFECTS:
                self._track_call(pending, chunk, _EFFECTS[kind])
        return True

    def close(self, message_id: str) -> None:
        """Nothing is appended to a message after this, except outputs."""
        pending = self._pending.get(message_id)
        if pending is not None:
            pending.closed = True

    def call_message(self, call_id: str) -> str | None:
        """The message with a call."""
        return self._calls.get(call_id)

    def is_pending(self, call_id: str) -> bool:
        """Whether a call has no output yet."""
        message_id = self._calls.get(call_id, "")
        remembered = (self._pending, self._with_calls, self._with_agents)
        message = next((found for one in remembered if (found := one.get(message_id)) is not None), None)
        return message is not None and call_id in message.calls

    def add_record(self, name: str, data: Json, id: str | None = None) -> None:
        """A record that is not part of the conversation, kept with adjacent ones."""
        pending = self._records
        if pending is None:
            root = self.root
            message = SystemMessage(
                id=self._records_id(),
                type="event",
                internal=True,
                thread_id=root.thread_id,
                run_id=root.run_id,
                parent_id=self.tail or "",
                created_at=root.time,
                content=SystemContent(parts=()),
            )
            pending = PendingMessage(message.id, message, None, closed=True)
            self._add(pending)
            pending.records = []
            self._records = pending
        else:
            self._report_change(pending.id)
        assert pending.records is not None, "a message of records has some"
        pending.records.append(DataPart(name, data, id))

    def _records_id(self) -> str:
        """The id of a new message of records: its offset, and a number if another one has this offset."""
        offset, count = self._last_records
        count = count + 1 if offset == self.root.offset else 0
        self._last_records = (self.root.offset, count)
        return f"notes-{self.root.offset}-{count + 1}" if count else f"notes-{self.root.offset}"

    def add_consumption(self, consumption: Consumption) -> None:
        """What a response consumed."""
        message = self._find(consumption.message_id)
        if message is not None:
            if message.consumptions is None:
                message.consumptions = {}
            message.consumptions[consumption.key] = consumption
        self._report_change(consumption.message_id)
        self.root.add_to_ledger(consumption)

    @contextmanager
    def from_lines(self, *lines: int) -> Generator[None, None, None]:
        """What is reported inside comes from the records of those lines, which were held back."""
        before, self.root.source_lines = self.root.source_lines, lines
        try:
            yield
        finally:
            self.root.source_lines = before

    def report_unknown(self, what: str, *, detail: str = "", position: Position | None = None) -> None:
        """Something was not understood, in the current record or in the one at `position` of the same log."""
        root = self.root
        if position is None:
            root.unknown_records.add(what, root.position, detail)
        else:
            root.unknown_records.add(what, position, f"{root.log}: {detail}" if root.log else detail)

    # Sub-agents

    def agent(self, name: str) -> "SubAgentBuilder":
        """The sink for a sub-agent."""
        return self.root.agent(name)

    def has_own_log(self, agent: str) -> bool:
        """Whether a sub-agent has a log of its own that is read too."""
        return agent in self.root.agents_with_logs

    def link_agent(self, agent: str, call_id: str) -> None:
        """A sub-agent was started by a call."""
        self._expected.pop(call_id, None)
        self.root.link(agent, call_id)

    def expect_agent(self, call_id: str, sign: str | None) -> None:
        """A call starts a sub-agent that is only known by a sign; `None`: it has started none."""
        if sign is None:
            self._expected.pop(call_id, None)
            return
        self._expected[call_id] = sign
        if len(self._expected) > EXPECTED_AGENTS:
            del self._expected[next(iter(self._expected))]

    def expected_sign(self, call_id: str) -> str | None:
        """The sign of the sub-agent that a call expects, until one is linked to the call."""
        return self._expected.get(call_id)

    def find_agent(self, sign: str) -> str | None:
        """The first sub-agent with that sign that no call is known to have started."""
        return self.root.on_find_agent(sign) if self.root.on_find_agent is not None else None

    def claim_call(self, sign: str) -> str | None:
        """The first call that expects a sub-agent with that sign. It expects none after this."""
        return self.root.claim_call(sign)

    # Messages out

    def take(self) -> list[Message]:
        """The messages that became complete since the last call; one that was returned before has changed."""
        done: list[PendingMessage] = []
        for pending in self._pending.values():
            if not pending.closed or pending.calls or pending is self._records:
                break
            done.append(pending)
        for pending in done:
            del self._pending[pending.id]
            self._release(pending, None)
        ready, self._ready = list(self._ready.values()), {}
        return ready

    def messages(self, interrupted: Interruption | None) -> list[Message]:
        """Everything that is not released yet, as it is now."""
        return [self._message(pending, interrupted) for pending in self._pending.values()]

    def release_all(self, interrupted: Interruption | None) -> None:
        """Release everything. Messages with open calls are remembered for late outputs."""
        for pending in self._pending.values():
            self._release(pending, interrupted)
        self._pending.clear()
        self._records = self._open = None

    def _release(self, pending: PendingMessage, interrupted: Interruption | None) -> None:
        self._ready[pending.id] = self._message(pending, interrupted)
        self._remember(pending)

    def _message(self, pending: PendingMessage, interrupted: Interruption | None) -> Message:
        state = pending.state
        if state is None:
            message = pending.message
            assert message is not None, "a message without a state is whole"
            if pending.records is not None and isinstance(message, SystemMessage):
                return replace(message, content=replace(message.content, parts=tuple(pending.records)))
            return message
        if pending.consumptions:
            state.usage = sum_usages([one.usage for one in pending.consumptions.values()])
        built = state.snapshot()
        if pending.calls or state.texts or state.reasonings:
            built = close_message(built, interrupted)
            if interrupted is not None and pending.progress is not None:
                built = _interrupted(built, pending.progress & pending.calls, interrupted)
        return self._nested(pending, built, interrupted) if self.root.has_agents else built

    def _nested(
        self, pending: PendingMessage, message: AssistantMessage, interrupted: Interruption | None
    ) -> AssistantMessage:
        """The message with the messages of its sub-agents under the calls that started them."""
        agents = {
            part.id: agent
            for part in message.content.parts
            if isinstance(part, ToolCallPart) and (agent := self.root.linked(part.id)) is not None
        }
        if not agents:
            return message
        pending.agents = list(agents.values())
        accumulator = Accumulator(message, lenient=True)
        for call_id, agent in agents.items():
            for child in agent.children(interrupted):
                accumulator.feed(c.ChildMessage((call_id,), child))
        return accumulator.snapshot()

    # Pending and remembered messages

    def _add(self, pending: PendingMessage) -> None:
        if pending.id in self._pending:
            self.report_unknown("an id that two messages have", detail=pending.id)
            self._ready[pending.id] = self._message(self._pending.pop(pending.id), "lost")
        self._pending[pending.id] = pending
        self._records = None
        self.tail = pending.id
        self._report_change(pending.id)

    def _report_change(self, message_id: str) -> None:
        """The current record changes a message."""
        if self.root.on_change is not None:
            self.root.on_change(self.name, message_id)

    def _placed(self, message: M) -> M:
        """The message in its thread and run, after the last one unless it has another parent."""
        root = self.root
        changes: JsonObject = {}
        if message.parent_id is None:
            changes["parent_id"] = self.tail or ""
        if message.thread_id is None and root.thread_id is not None:
            changes["thread_id"] = root.thread_id
        if message.run_id is None and root.run_id is not None:
            changes["run_id"] = root.run_id
        return replace(message, **changes) if changes else message

    def _track_call(self, pending: PendingMessage, chunk: Chunk, effect: int) -> None:
        call = str(getattr(chunk, CALL_ID))  # all chunks that have an effect have one
        root = self.root
        if effect == _STARTS:
            pending.calls.add(call)
            self._calls[call] = pending.id
            if root.call_times.get(call, (None, root.time))[1] is not None:  # new, or an id used again
                root.call_times[call] = (root.time, None)
            if len(self._calls) > 2 * REMEMBERED_CALLS:
                self._calls = dict(islice(self._calls.items(), REMEMBERED_CALLS, None))
        elif not getattr(chunk, "preliminary", None):
            pending.calls.discard(call)
            before = root.call_times.get(call)
            root.call_times[call] = (before[0] if before else None, root.time)
        elif type(chunk) is c.ToolOutputAvailable:  # a typed output replaces one that may never come
            pending.progress = (pending.progress or set()) | {call}

    def _remember(self, released: PendingMessage) -> None:
        """Remember a released message for a while, because something may come late."""
        if released.state is None:
            return
        remembered, limit = self._others, REMEMBERED_RESPONSES
        if released.agents is not None:
            remembered, limit = self._with_agents, REMEMBERED_MESSAGES
        elif released.calls:
            remembered, limit = self._with_calls, REMEMBERED_MESSAGES
        remembered[released.id] = released
        if len(remembered) > limit:
            _, oldest = remembered.popitem(last=False)
            for agent in oldest.agents or ():
                agent.forget()

    def _find(self, message_id: str) -> PendingMessage | None:
        """A pending message, or a remembered one, which becomes pending again after the current ones."""
        pending = self._pending.get(message_id)
        if pending is not None:
            return pending
        for remembered in (self._with_calls, self._others, self._with_agents):
            pending = remembered.pop(message_id, None)
            if pending is not None:
                self._pending[message_id] = pending
                return pending
        return None


def _interrupted(message: AssistantMessage, calls: set[str], how: Interruption) -> AssistantMessage:
    """The message with calls interrupted that have a preliminary output, which becomes their message."""
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

    is_sub_agent = True

    def __init__(self, root: "LogBuilder", name: str) -> None:
        super().__init__(None, name)
        self.root = root
        self.call: str | None = None  # that started it
        self.is_nested = False  # whether a message was built with it
        self.is_changed = False  # since then
        self.is_detached = False  # whether it is treated as if no call had started it
        self._is_building = False

    def append(self, message_id: str, *chunks: Chunk) -> bool:
        """Chunks of a message; the message with the call changes too."""
        self.is_changed = True
        return super().append(message_id, *chunks)

    def children(self, interrupted: Interruption | None) -> list[Message]:
        """Its messages, to be nested under its call; none if the call is, directly or not, its own."""
        if self.is_detached or self._is_building or self.root.depth >= MAX_DEPTH:
            return []
        self.is_nested = True
        # What is open now will be lost, or will have ended, when the messages are built again.
        self.is_changed = interrupted is None and any(one.calls for one in self._pending.values())
        return self.own_messages(interrupted)

    def own_messages(self, interrupted: Interruption | None) -> list[Message]:
        """Its messages, whether a call started it or not."""
        self._is_building, self.root.depth = True, self.root.depth + 1
        try:
            return self.messages(interrupted)
        finally:
            self._is_building, self.root.depth = False, self.root.depth - 1

    def forget(self) -> None:
        """The message with its call was forgotten: later messages have no place under it."""
        for pending in self._pending.values():
            for agent in pending.agents or ():
                agent.forget()
        self._pending.clear()
        self._records = self._open = self.call = None
        self.is_nested = self.is_changed = False

    def _add(self, pending: PendingMessage) -> None:
        self.is_changed = True
        super()._add(pending)

    @property
    def thread_id(self) -> str | None:
        """The thread that messages belong to."""
        return self.root.thread_id

    @property
    def run_id(self) -> str | None:
        """The current run."""
        return self.root.run_id

    @property
    def position(self) -> Position:
        """Where the current record is."""
        return self.root.position

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

    def start_turn(self) -> None:
        """A sub-agent has only one turn."""

    def end_turn(self, how: TurnEnd, why: str | None = None) -> None:
        """A sub-agent has only one turn."""


class Turn(NamedTuple):
    """From one prompt to the next: what a run consists of."""

    id: str
    position: Position
    started_at: datetime | None
    end: TurnEnd | None = None
    error: str | None = None
    ended_at: datetime | None = None


class LogBuilder(ThreadBuilder):
    """The sink for a whole log: the conversation, its sub-agents, its turns, and facts about the thread."""

    def __init__(self, thread_id: str | None = None, *, tail: str | None = None) -> None:
        """`tail`: the message that the first one follows, if reading starts in the middle of a log."""
        super().__init__(tail)
        self.root = self
        self.thread_id = thread_id
        self.run_id: str | None = None
        self.generation = 1  # how often the log was written from the start
        self.line = 0  # the number of the current record
        self.offset = 0  # and how many bytes are before it
        self.log = ""  # the sub-agent whose own log it is in
        self.source_lines: tuple[int, ...] | None = None  # of what is reported, if not the current one
        self.time: datetime | None = None
        self.first_time: datetime | None = None
        self.last_time: datetime | None = None
        self.facts: dict[Fact, Json] = {}
        self.unknown_records = UnknownRecords()
        self.turn: Turn | None = None
        self.call_times: dict[str, CallTimes] = {}
        self.agents_with_logs: Collection[str] = ()
        self.claims: Mapping[str, str] = {}  # calls, and the agents that name them as their origin
        self.on_turn: Callable[[], None] | None = None  # called before a turn starts
        self.on_change: OnChange | None = None  # called for each message that the current record changes
        self.on_link: Callable[[str], None] | None = None  # called with a sub-agent when it is linked
        self.on_find_agent: Callable[[str], str | None] | None = None  # called for a sign: see `find_agent`
        self.depth = 0  # how many sub-agents are above the one whose messages are being built
        self._agents: dict[str, SubAgentBuilder] = {}
        self._links: dict[str, str] = {}  # calls, and the agents under them
        self._turns: list[Turn] = []
        self._ledger: dict[str, Consumption] = {}

    @property
    def position(self) -> Position:
        """Where the current record is."""
        return Position(self.line, self.offset)

    # What comes out

    def take_turns(self) -> list[Turn]:
        """The turns that ended since the last call."""
        turns, self._turns = self._turns, []
        return turns

    def take_ledger(self) -> list[Consumption]:
        """What responses consumed, since the last call."""
        ledger, self._ledger = list(self._ledger.values()), {}
        return ledger

    def take_call_times(self) -> dict[str, CallTimes]:
        """The times of calls that ended since the last call."""
        ended = {call: times for call, times in self.call_times.items() if times[1] is not None}
        self.call_times = {call: times for call, times in self.call_times.items() if times[1] is None}
        return ended

    def unfinished_messages(self) -> list[Message]:
        """The messages that are not complete yet, as they are now."""
        self._reopen_changed()
        return self.messages(None)

    def release_all(self, interrupted: Interruption | None) -> None:
        """Release everything, also messages whose sub-agents have changed."""
        self._reopen_changed()
        super().release_all(interrupted)

    def orphans(self) -> dict[str, list[Message]]:
        """The messages of sub-agents that are under no call, by the agent's name."""
        found: dict[str, list[Message]] = {}
        loose = [(name, agent) for name, agent in self._agents.items() if not agent.is_nested]
        for name, agent in sorted(loose, key=lambda it: self._caller_of(it[1]) is not None):
            if not agent.is_nested:  # agents without a call come first, and may have others under them
                agent.is_detached = True
                found[name] = agent.own_messages("lost")
        for name in found:
            self._agents[name].is_detached = False
        return {name: messages for name, messages in found.items() if messages}

    def finish(self) -> list[Message]:
        """The log has ended: all remaining messages. Calls without an output are lost."""
        self.release_all("lost")
        if self.turn is not None:
            self._turns.append(self.turn)
            self.turn = None
        return self.take()

    # What comes in

    def set_time(self, time: datetime) -> None:
        """The current record was made at `time`."""
        self.time = time
        if self.turn is not None and self.turn.started_at is None:
            self.turn = self.turn._replace(started_at=time)
        last = self.last_time
        if last is None:
            self.first_time = self.last_time = time
        elif time > last:
            self.last_time = time
        elif self.first_time is None or time < self.first_time:
            self.first_time = time

    def start_turn(self) -> None:
        """A prompt starts a new run."""
        if self.on_turn is not None:
            self.on_turn()
        self.release_all("lost")
        if self.turn is not None:
            self._turns.append(self.turn)
        rewritten = f"{self.generation}:" if self.generation > 1 else ""
        self.run_id = f"{self.thread_id or ''}@{rewritten}{self.offset}"
        self.turn = Turn(self.run_id, self.position, self.time)

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

    def add_to_ledger(self, consumption: Consumption) -> None:
        """Add a consumption of any agent to the ledger."""
        if consumption.run_id is None:
            consumption = replace(consumption, run_id=self.run_id)
        self._ledger[consumption.key] = consumption

    # Sub-agents

    def agent(self, name: str) -> SubAgentBuilder:
        """The sink for a sub-agent."""
        agent = self._agents.get(name)
        if agent is None:
            agent = self._agents[name] = SubAgentBuilder(self, name)
        return agent

    def link(self, agent: str, call_id: str) -> None:
        """Nest a sub-agent under a call, unless it is under another one."""
        if self._links.get(call_id) == agent:
            return
        builder = self.agent(agent)
        if builder.call is not None or builder.call_message(call_id) is not None:
            return  # an agent that was resumed stays under the call that started it, and never under itself
        self._links[call_id] = agent
        builder.call, builder.is_changed = call_id, True
        if self.on_link is not None:
            self.on_link(agent)

    def linked(self, call_id: str) -> SubAgentBuilder | None:
        """The sub-agent under a call."""
        if call_id in self.claims:
            self.link(self.claims[call_id], call_id)
        name = self._links.get(call_id)
        return None if name is None else self._agents.get(name)

    def claim_call(self, sign: str) -> str | None:
        """The first call of any thread that expects a sub-agent with that sign."""
        for thread in (self, *self._agents.values()):
            for call, expected in thread._expected.items():
                if expected == sign:
                    del thread._expected[call]
                    return call
        return None

    def _reopen_changed(self) -> None:
        """Make released messages pending again whose sub-agents have changed."""
        changed = [agent for agent in self._agents.values() if agent.is_changed and agent.call is not None]
        for agent in changed:  # it grows meanwhile
            agent.is_changed = False
            caller = self._caller_of(agent)
            if isinstance(caller, SubAgentBuilder):
                changed += [] if caller in changed else [caller]
            elif caller is not None:
                self._find(self._calls[agent.call or ""])

    def _caller_of(self, agent: SubAgentBuilder) -> ThreadBuilder | None:
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
