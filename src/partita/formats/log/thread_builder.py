"""The sinks that build the messages of a log, with the reducer of streams.

`ThreadBuilder` builds the messages of one thread: of a conversation, or of a sub-agent. Messages are released
whole, in the order in which they started, as soon as nothing more is expected for them. A late chunk, such as
the output of an old call, releases its message a second time. `LogBuilder` builds a whole log, with its
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
from partita.views.prompts import clean_title, is_telling

from .sink import Consumption, Fact, Position, TurnEnd, UnknownRecords

M = TypeVar("M", bound=Message)

REMEMBERED_CALLS = 4096
REMEMBERED_MESSAGES = 64
"""How many messages with open calls, and how many with sub-agents, are remembered after their release."""

REMEMBERED_RESPONSES = 16
"""How many others are remembered: two processes may write to one log, also in the middle of a response."""

EXPECTED_AGENTS: Final = 512
"""How many calls that expect a sub-agent are remembered."""

MAX_DEPTH: Final = 32
"""How deep sub-agents may be nested. Deeper ones are treated as if no call started them."""

CALL_ID: Final = "tool_call_id"
_START: Final = 1
_END: Final = 2
_EFFECTS: Final[Mapping[type[Chunk], int]] = {
    c.ToolInputStart: _START,
    c.ToolInputAvailable: _START,
    c.ToolApprovalRequest: _START,
    c.ToolOutputAvailable: _END,
    c.ToolOutputError: _END,
    c.ToolOutputDenied: _END,
    c.ToolOutputChunk: _END,
    c.ToolInputError: _END,
}
"""How chunks change the list of calls that have no output yet."""


CallTimes: TypeAlias = tuple[datetime | None, datetime | None]
"""When a call started and when it ended, if the log has these times."""

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
        self._expected: dict[str, str] = {}  # the keys of sub-agents, by the calls that start them
        self._records: PendingMessage | None = None  # the current message of records
        self._last_records = (-1, 0)  # the offset of the last one, and how many before it have this offset
        self._open: PendingMessage | None = None

    # Messages in

    def add_message(self, message: Message) -> None:
        """Add a whole message. It replaces one with the same id."""
        if not message.internal:
            self.root.has_content = True
        known = self._pending.get(message.id)
        if known is not None and known.message is not None:
            known.message = self._with_position(replace(message, parent_id=known.message.parent_id))
            self._report_change(message.id)
            return
        self._add(PendingMessage(message.id, self._with_position(message), None, closed=True))

    def open(self, message: AssistantMessage) -> None:
        """Begin an assistant message; the one before it only waits for outputs."""
        self.root.has_content = True
        if self._open is not None:
            self._open.closed = True
        pending = PendingMessage(message.id, None, State(self._with_position(message), SEVEN), closed=False)
        self._add(pending)
        self._open = pending

    def append(self, message_id: str, *chunks: Chunk) -> bool:
        """Append chunks to a message; return whether it is still remembered."""
        pending = self._open
        if pending is None or pending.id != message_id:
            pending = self._find(message_id)
        state = None if pending is None else pending.state
        if pending is None or state is None:
            self.report_unknown("a chunk of a message that is not open", detail=message_id)
            return False
        self.root.has_content = True
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
        """Close a message. After this, only outputs of its calls are appended."""
        pending = self._pending.get(message_id)
        if pending is not None:
            pending.closed = True

    def call_message(self, call_id: str) -> str | None:
        """Return the message with a call."""
        return self._calls.get(call_id)

    @property
    def has_open_calls(self) -> bool:
        """Whether a call has no output yet."""
        return any(pending.calls for pending in self._pending.values())

    def is_pending(self, call_id: str) -> bool:
        """Whether a call has no output yet."""
        message_id = self._calls.get(call_id, "")
        remembered = (self._pending, self._with_calls, self._with_agents)
        message = next((found for one in remembered if (found := one.get(message_id)) is not None), None)
        return message is not None and call_id in message.calls

    def add_record(self, name: str, data: Json, id: str | None = None) -> None:
        """Keep a record that is not part of the conversation, with adjacent ones."""
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
        """Return the id of a new message of records: its offset, and a number if another one has it."""
        offset, count = self._last_records
        count = count + 1 if offset == self.root.offset else 0
        self._last_records = (self.root.offset, count)
        return f"notes-{self.root.offset}-{count + 1}" if count else f"notes-{self.root.offset}"

    def add_consumption(self, consumption: Consumption) -> None:
        """Add the usage of a response."""
        message = self._find(consumption.message_id)
        if message is not None:
            if message.consumptions is None:
                message.consumptions = {}
            message.consumptions[consumption.key] = consumption
        self._report_change(consumption.message_id)
        self.root.add_to_ledger(consumption)

    @contextmanager
    def from_lines(self, *lines: int) -> Generator[None, None, None]:
        """Inside of this context, everything added comes from earlier records: those of these lines."""
        before, self.root.source_lines = self.root.source_lines, lines
        try:
            yield
        finally:
            self.root.source_lines = before

    def report_unknown(self, what: str, *, detail: str = "", position: Position | None = None) -> None:
        """Report something unknown in the current record, or in the one at `position` of the same log."""
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
        """Nest the messages of a sub-agent under a call."""
        self._expected.pop(call_id, None)
        self.root.link(agent, call_id)

    def expect_agent(self, call_id: str, key: str | None) -> None:
        """Note that a call starts a sub-agent with that key; `None`: it has started none."""
        if key is None:
            self._expected.pop(call_id, None)
            return
        self._expected[call_id] = key
        if len(self._expected) > EXPECTED_AGENTS:
            del self._expected[next(iter(self._expected))]

    def expected_agent_key(self, call_id: str) -> str | None:
        """Return the key of the sub-agent that a call expects, until one is linked to the call."""
        return self._expected.get(call_id)

    def find_agent(self, key: str) -> str | None:
        """Return the first sub-agent with that key that is not linked to a call."""
        return self.root.on_find_agent(key) if self.root.on_find_agent is not None else None

    def claim_call(self, key: str) -> str | None:
        """Return the first call that expects a sub-agent with that key. It expects none after this."""
        return self.root.claim_call(key)

    # Messages out

    def take(self) -> list[Message]:
        """Return the messages that became complete or changed since the last call."""
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
        """Return the messages that are not released yet, as they are now."""
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
        """Return the message with the messages of its sub-agents under the calls that started them."""
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
        """Report that the current record changes a message."""
        if self.root.on_change is not None:
            self.root.on_change(self.name, message_id)

    def _with_position(self, message: M) -> M:
        """Return the message with its thread and run, after the last message unless it has a parent."""
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
        if effect == _START:
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
        """Remember a released message for a while, because late chunks may follow."""
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
        """Return a pending message, or a remembered one, which becomes the last pending one."""
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
    """Return the message with these calls interrupted. Their preliminary output becomes the error message."""
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
        self.is_nested = False  # a message was built with it
        self.is_changed = False  # since then
        self.is_detached = False  # it is treated as if no call started it
        self._is_building = False

    def append(self, message_id: str, *chunks: Chunk) -> bool:
        """Append chunks to a message; the message with the call changes too."""
        self.is_changed = True
        return super().append(message_id, *chunks)

    def children(self, interrupted: Interruption | None) -> list[Message]:
        """Return its messages, to be nested under its call; none if the call is in these messages."""
        if self.is_detached or self._is_building or self.root.depth >= MAX_DEPTH:
            return []
        self.is_nested = True
        # Open calls will have another output when the messages are built the next time.
        self.is_changed = interrupted is None and any(one.calls for one in self._pending.values())
        return self.own_messages(interrupted)

    def own_messages(self, interrupted: Interruption | None) -> list[Message]:
        """Return its messages, whether a call started it or not."""
        self._is_building, self.root.depth = True, self.root.depth + 1
        try:
            return self.messages(interrupted)
        finally:
            self._is_building, self.root.depth = False, self.root.depth - 1

    def forget(self) -> None:
        """Forget its messages, because the message with its call was forgotten."""
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
        """The position of the current record."""
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
        """Set the time of the current record."""
        self.root.set_time(time)

    def set_fact(self, fact: Fact, value: Json) -> None:
        """Set a fact, unless the conversation has it."""
        self.root.facts.setdefault(fact, value)

    def start_turn(self) -> None:
        """A sub-agent has only one turn."""

    def end_turn(self, how: TurnEnd, why: str | None = None) -> None:
        """A sub-agent has only one turn."""


class Turn(NamedTuple):
    """The part of a log from one prompt to the next, which becomes a run."""

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
        self.generation = 1  # how many times the log was written from its start
        self.line = 0  # the number of the current record
        self.offset = 0  # of the current record, in bytes
        self.log = ""  # the sub-agent, if the record is in its own log
        self.source_lines: tuple[int, ...] | None = None  # of earlier records that are being added
        self.time: datetime | None = None
        self.has_content = False  # whether messages were added or changed since it was reset
        self.first_time: datetime | None = None
        self.last_time: datetime | None = None
        self.facts: dict[Fact, Json] = {}
        self.unknown_records = UnknownRecords()
        self.turn: Turn | None = None
        self.call_times: dict[str, CallTimes] = {}
        self.agents_with_logs: Collection[str] = ()
        self.claims: Mapping[str, str] = {}  # the agents that name a call as their origin, by the call
        self.on_turn: Callable[[], None] | None = None  # called before a turn starts
        self.on_change: OnChange | None = None  # called for each message that the current record changes
        self.on_link: Callable[[str], None] | None = None  # called with a sub-agent when it is linked
        self.on_find_agent: Callable[[str], str | None] | None = None  # called with a key: see `find_agent`
        self.depth = 0  # how many sub-agents are being built, nested in each other
        self._agents: dict[str, SubAgentBuilder] = {}
        self._links: dict[str, str] = {}  # the agents under calls, by the call
        self._turns: list[Turn] = []
        self._ledger: dict[str, Consumption] = {}

    @property
    def position(self) -> Position:
        """The position of the current record."""
        return Position(self.line, self.offset)

    # Output

    def take_turns(self) -> list[Turn]:
        """Return the turns that ended since the last call."""
        turns, self._turns = self._turns, []
        return turns

    def take_ledger(self) -> list[Consumption]:
        """Return the usage of responses since the last call."""
        ledger, self._ledger = list(self._ledger.values()), {}
        return ledger

    def take_call_times(self) -> dict[str, CallTimes]:
        """Return the times of the tool calls that ended since the last call."""
        ended = {call: times for call, times in self.call_times.items() if times[1] is not None}
        self.call_times = {call: times for call, times in self.call_times.items() if times[1] is None}
        return ended

    def unfinished_messages(self) -> list[Message]:
        """Return the messages that are not complete yet, as they are now."""
        self._reopen_changed()
        return self.messages(None)

    def release_all(self, interrupted: Interruption | None) -> None:
        """Release everything, also messages whose sub-agents have changed."""
        self._reopen_changed()
        super().release_all(interrupted)

    def orphans(self) -> dict[str, list[Message]]:
        """Return the messages of sub-agents that are not under a call, by the name of the agent."""
        found: dict[str, list[Message]] = {}
        unlinked = [(name, agent) for name, agent in self._agents.items() if not agent.is_nested]
        for name, agent in sorted(unlinked, key=lambda item: self._caller_of(item[1]) is not None):
            if not agent.is_nested:  # agents without a call come first, and may have others under them
                agent.is_detached = True
                found[name] = agent.own_messages("lost")
        for name in found:
            self._agents[name].is_detached = False
        return {name: messages for name, messages in found.items() if messages}

    def finish(self) -> list[Message]:
        """End the log and return all remaining messages. Calls without an output are interrupted as lost."""
        self.release_all("lost")
        if self.turn is not None:
            self._turns.append(self.turn)
            self.turn = None
        return self.take()

    # Input

    def set_time(self, time: datetime) -> None:
        """Set the time of the current record."""
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
        """Start a new run at the current record, which is a prompt."""
        if self.on_turn is not None:
            self.on_turn()
        self.release_all("lost")
        if self.turn is not None:
            self._turns.append(self.turn)
        rewritten = f"{self.generation}:" if self.generation > 1 else ""
        self.run_id = f"{self.thread_id or ''}@{rewritten}{self.offset}"
        self.turn = Turn(self.run_id, self.position, self.time)

    def end_turn(self, how: TurnEnd, why: str | None = None) -> None:
        """End the current turn."""
        if self.turn is not None:
            self.turn = self.turn._replace(end=how, error=why, ended_at=self.time)

    def set_fact(self, fact: Fact, value: Json) -> None:
        """Set a fact about the thread: of prompts and commands the first telling one, of others the last."""
        if fact not in ("prompt", "opening", "command"):
            self.facts[fact] = value
        elif not is_telling(str(self.facts.get(fact, ""))):
            title = clean_title(str(value))
            if is_telling(title) or fact not in self.facts:
                self.facts[fact] = title

    def add_to_ledger(self, consumption: Consumption) -> None:
        """Add the usage of any agent to the ledger."""
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

    def claim_call(self, key: str) -> str | None:
        """Return the first call of any thread that expects a sub-agent with that key."""
        for thread in (self, *self._agents.values()):
            for call, expected in thread._expected.items():
                if expected == key:
                    del thread._expected[call]
                    return call
        return None

    def _reopen_changed(self) -> None:
        """Make released messages pending again whose sub-agents have changed."""
        changed = [agent for agent in self._agents.values() if agent.is_changed and agent.call is not None]
        for agent in changed:  # the list grows during the loop
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
