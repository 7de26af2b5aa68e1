"""What a log tells → messages, through the one reducer. A log of any length takes little room."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple

from msgspec.structs import replace

from partita.types.json import Json
from partita.types.messages import Message
from partita.types.tools import Interruption

from .chain import CallTimes, Chain, Touch
from .diagnostics import Diagnostics, Place
from .sub_agent import Agent
from .transcript import Consumption, Fact, TurnEnd


class Turn(NamedTuple):
    """From a prompt to the next: what a run is made of."""

    id: str
    place: Place
    began_at: datetime | None
    end: TurnEnd | None = None
    error: str | None = None
    ended_at: datetime | None = None


class Assembly(Chain):
    """The teller for a whole log: the conversation, its sub-agents, its turns, what it says of itself."""

    def __init__(self, thread_id: str | None = None, *, tail: str | None = None) -> None:
        """`tail`: the message that the first one follows, when the log is read from its middle."""
        super().__init__(tail)
        self.root = self
        self.thread_id = thread_id
        self.run_id: str | None = None
        self.generation = 1  # how often the log was written anew
        self.line = 0  # the number of the record at hand
        self.offset = 0  # and how many bytes stand before it
        self.log = ""  # the sub-agent whose own log it is in
        self.told_by: tuple[int, ...] | None = None  # the lines that are told, unless it is the one at hand
        self.time: datetime | None = None
        self.first_time: datetime | None = None
        self.last_time: datetime | None = None
        self.facts: dict[Fact, Json] = {}
        self.diagnostics = Diagnostics()
        self.turn: Turn | None = None
        self.times: dict[str, CallTimes] = {}
        self.claims: Mapping[str, str] = {}  # of calls to the agents that say they belong there
        self.on_turn: Callable[[], None] | None = None  # told before a turn begins
        self.on_touch: Touch | None = None  # told of each message that the record at hand says something of
        self.on_link: Callable[[str], None] | None = None  # told of a sub-agent when a call claims it
        self.depth = 0  # how many sub-agents stand above the one that is being told
        self._agents: dict[str, Agent] = {}
        self._links: dict[str, str] = {}  # of calls to the agents under them
        self._turns: list[Turn] = []
        self._ledger: dict[str, Consumption] = {}

    @property
    def place(self) -> Place:
        """Where the record at hand is."""
        return Place(self.line, self.offset)

    # What comes out

    def take_turns(self) -> list[Turn]:
        """The turns that are over since the last time."""
        turns, self._turns = self._turns, []
        return turns

    def take_ledger(self) -> list[Consumption]:
        """What responses consumed, told since the last time."""
        ledger, self._ledger = list(self._ledger.values()), {}
        return ledger

    def take_times(self) -> dict[str, CallTimes]:
        """The times of calls that have ended since the last time."""
        ended = {call: times for call, times in self.times.items() if times[1] is not None}
        self.times = {call: times for call, times in self.times.items() if times[1] is None}
        return ended

    def pending(self) -> list[Message]:
        """The messages that are not whole yet, as they are now."""
        self._bring_back()
        return self.messages(None)

    def settle_all(self, interrupted: Interruption | None) -> None:
        """Bring everything out, and again what has news of sub-agents."""
        self._bring_back()
        super().settle_all(interrupted)

    def orphans(self) -> dict[str, list[Message]]:
        """The messages of sub-agents that stand under no call, by the agent's name."""
        found: dict[str, list[Message]] = {}
        loose = [(name, agent) for name, agent in self._agents.items() if not agent.placed]
        for name, agent in sorted(loose, key=lambda it: self._holder(it[1]) is not None):
            if not agent.placed:  # nor now: those that no call claims come first, with others under them
                agent.apart = True
                found[name] = agent.alone("lost")
        for name in found:
            self._agents[name].apart = False
        return {name: messages for name, messages in found.items() if messages}

    def finish(self) -> list[Message]:
        """The log is over: everything that is left. Calls that wait for their outputs are lost."""
        self.settle_all("lost")
        if self.turn is not None:
            self._turns.append(self.turn)
            self.turn = None
        return self.take()

    # What is told

    def tick(self, time: datetime) -> None:
        """The record at hand was made at `time`."""
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
        """How the turn at hand ended."""
        if self.turn is not None:
            self.turn = self.turn._replace(end=how, error=why, ended_at=self.time)

    def learn(self, fact: Fact, value: Json) -> None:
        """Something about the thread. Of prompts the first counts, of all else the last word."""
        if fact == "prompt":
            self.facts.setdefault(fact, value)
        else:
            self.facts[fact] = value

    def puzzle(self, what: str, *, detail: str = "") -> None:
        """Something was not understood."""
        self.diagnostics.add(what, self.place, detail)

    def report(self, what: str, place: Place, detail: str = "") -> None:
        """Report something wrong with the record at `place` of this log."""
        self.diagnostics.add(what, place, f"{self.log}: {detail}" if self.log else detail)

    def count(self, consumption: Consumption) -> None:
        """Write a consumption down, whoever it was."""
        if consumption.run_id is None:
            consumption = replace(consumption, run_id=self.run_id)
        self._ledger[consumption.key] = consumption

    def agent(self, name: str) -> Agent:
        """The teller for a sub-agent."""
        chain = self._agents.get(name)
        if chain is None:
            chain = self._agents[name] = Agent(self, name)
        return chain

    def link(self, agent: str, call_id: str) -> None:
        """A sub-agent hangs under a call."""
        if self._links.get(call_id) == agent:
            return
        chain = self.agent(agent)
        if chain.call is not None or chain.call_message(call_id) is not None:
            return  # an agent that worked again hangs under the call that started it, and never under itself
        self._links[call_id] = agent
        chain.call, chain.stirred = call_id, True
        if self.on_link is not None:
            self.on_link(agent)

    def linked(self, call_id: str) -> Agent | None:
        """The sub-agent under a call."""
        if call_id in self.claims:
            self.link(self.claims[call_id], call_id)
        name = self._links.get(call_id)
        return None if name is None else self._agents.get(name)

    def _bring_back(self) -> None:
        """Messages that are out come out again if sub-agents under them have news."""
        stirred = [agent for agent in self._agents.values() if agent.stirred and agent.call is not None]
        for agent in stirred:  # it grows while it is walked through
            agent.stirred = False
            holder = self._holder(agent)
            if isinstance(holder, Agent):
                stirred += [] if holder in stirred else [holder]
            elif holder is not None and (message_id := self._calls[agent.call or ""]) not in self._entries:
                self._reopened(message_id)

    def _holder(self, agent: Agent) -> Chain | None:
        """Who has the call that a sub-agent hangs under."""
        if agent.call is None:
            return None
        chains = (self, *self._agents.values())
        return next((chain for chain in chains if chain.call_message(agent.call) is not None), None)

    @property
    def linked_agents(self) -> frozenset[str]:
        """The sub-agents that hang under calls."""
        return frozenset(self._links.values())

    @property
    def has_agents(self) -> bool:
        """Whether there are sub-agents at all."""
        return bool(self._agents or self.claims)
