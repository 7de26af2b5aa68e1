"""The state of a turn while its events arrive: the agents, their responses and calls, and denials."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from msgspec import UNSET, UnsetType

from partita.formats.core.members import is_equal
from partita.types import chunks as c
from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import ExecutionDeniedOutput, InterruptedOutput, ToolOutput

from .blocks import CallFacts, server_of
from .stream_parts import (
    REPEATED,
    RETRACTED,
    UNKNOWN_TOOL,
    CallStream,
    ChunkEmitter,
    ResponseStream,
    TextKind,
    TextStream,
)
from .tool_results import output_chunk
from .wire import CLAUDE_CODE, SYNTHETIC

CONTINUES: Final = ("async_launched", "teammate_spawned")
"""`status` of a structured result after which the sub-agent continues."""

OVER: Final = ("done", "lost")
"""States of calls for which nothing more is expected."""


class Denial(NamedTuple):
    """That a call was denied: by what, and why, if that is known."""

    kind: str
    reason: str | None = None


class AgentStream:
    """The main agent or a sub-agent. What it emits is under the calls of its path."""

    def __init__(self, emitter: ChunkEmitter, path: tuple[str, ...] = ()) -> None:
        self.path = path
        self.emitter = emitter
        self.response: ResponseStream | None = None
        self.earlier: ResponseStream | None = None
        self.calls: list[CallStream] = []  # of the current step
        self.events: list[tuple[str, JsonObject]] = []  # of the current response, if losses are asked for
        self.step = 0
        self.has_spoken = False
        self.has_model = False  # whether the metadata of the message has the model
        self.last_text = ""
        self._in_step = False
        self._next_id = 0

    def begin_response(
        self, id: str | None, *, streamed: bool, model: Json = None, about: JsonObject | None = None
    ) -> ResponseStream:
        """A response begins, and a step with it, unless the one before it in the step was retracted."""
        if not self.has_spoken:
            self._begin_message(model, about)
        if self.response is not None or not self._in_step:
            self.end_step()
            self.emitter.emit(c.StepStart(), self.path)
            self._in_step = True
            self.step += 1
            self.calls = []
        self.events = []
        self.response = ResponseStream(id, self.emitter, streamed=streamed)
        return self.response

    def keep(self, event: JsonObject) -> None:
        """Remember an event of the current response, because the response may be retracted."""
        if self.emitter.losses is not None:
            self.events.append((self.emitter.path, event))

    @property
    def has_results(self) -> bool:
        """Whether a call of the current step has its result: what comes next is another response."""
        return any(call.state == "done" for call in self.calls)

    @property
    def is_stuck(self) -> bool:
        """Whether the current response broke off before anything of it was final: it may be retried."""
        response = self.response
        if response is None or not response.streamed or response.stopped or response.blocks:
            return False
        return all(call.is_open and call.approval is None for call in self.calls)

    def open(self, kind: TextKind, fields: JsonObject | None = None) -> TextStream:
        """A text or a reasoning begins."""
        text = TextStream(str(self._next_id), kind)
        self._next_id += 1
        text.fields.update(fields or {})
        self.emitter.emit(text.start(), self.path)
        if self.response is not None:
            self.response.texts.append(text)
        return text

    def append(self, text: TextStream, new: str) -> TextStream:
        """Add to a text, or to a new one of its kind if it has ended; returns the one that was added to."""
        if not new:
            return text
        if text.state == "ended":
            text = self.open(text.kind)
        self.emitter.emit(text.append(new), self.path)
        return text

    def end(self, text: TextStream, *, aborted: bool = False) -> None:
        """A text is complete."""
        if text.kind == "text" and text.state != "ended":
            self.last_text = text.text
        chunk = text.end(aborted=aborted)
        if chunk is not None:
            self.emitter.emit(chunk, self.path)

    def stop(self, text: TextStream) -> None:
        """The model has written all of a text."""
        if text.waits and text.state == "open":
            text.state = "due"
        elif text.state == "open":
            self.end(text)

    def end_texts(self) -> None:
        """End what is open in the response."""
        for text in self.response.texts if self.response else ():
            self.end(text)

    def end_step(self) -> None:
        """End the response, emit what is known about it, and end its step."""
        self.end_texts()
        for call in self.calls:
            chunk = call.finish()
            if chunk is not None:
                self.emitter.emit(chunk, call.path)
        if self.response is not None and self.response.facts:
            key = self.response.id or f"step-{self.step}"
            metadata = {CLAUDE_CODE: {"responses": {key: self.response.facts}}}
            self.emitter.emit(c.MessageMetadata(metadata), self.path)
        if self._in_step:
            self.emitter.emit(c.StepFinish(), self.path)
        self._in_step = False
        self.earlier, self.response = self.response or self.earlier, None

    def retract(self) -> list[CallStream]:
        """Forget the current response; another comes in its step. Returns its calls."""
        calls, self.calls, self.response = self.calls, [], None
        self.emitter.emit(c.StepReset(), self.path)
        self.lose_events()
        return calls

    def lose_events(self) -> None:
        """Report the events of the current response, which is retracted."""
        for path, event in self.events:
            self.emitter.lose_at(path, event, RETRACTED)
        self.events = []

    def _begin_message(self, model: Json, about: JsonObject | None) -> None:
        """Begin the message of a sub-agent, and add the model if it is not known."""
        metadata: JsonObject = {CLAUDE_CODE: about} if about else {}
        if isinstance(model, str) and model != SYNTHETIC and not self.has_model:
            metadata["model"] = model
        if self.path:
            self.emitter.emit(c.MessageStart(None, metadata or UNSET), self.path)
        elif metadata:
            self.emitter.begin(metadata)
        self.has_spoken = True


class Turn:
    """The state that the readers of events share."""

    def __init__(self, emitter: ChunkEmitter) -> None:
        self.emitter = emitter
        self.main = AgentStream(emitter)
        self.calls: dict[str, CallStream] = {}
        self.approvals: dict[str, CallStream] = {}  # by the id of the request
        self.denials: dict[str, Denial] = {}  # by call
        self.unnamed = 0  # user messages without a uuid
        self.is_interrupted = False
        self.has_result = False
        self.session_id: Json = None  # that the metadata of the message has
        self._agents: dict[str, AgentStream] = {}
        self._seen: set[str] = set()  # uuids of whole messages
        self._used: dict[str, int] = {}  # how often ids of calls were used, if more than once

    def is_new(self, event: JsonObject) -> bool:
        """Whether a message was not received before. One without a uuid always is."""
        uuid = event.get("uuid")
        if not isinstance(uuid, str):
            return True
        known = len(self._seen)
        self._seen.add(uuid)
        if len(self._seen) > known:
            return True
        self.emitter.lose("", event, REPEATED)
        return False

    def agent(self, parent: Json) -> AgentStream | None:
        """The agent under that call; `None` if the call was retracted, and its sub-agent with it."""
        if not isinstance(parent, str) or not parent:
            return self.main
        call = self.calls.get(parent) or self.guess(parent)
        if call.state == "retracted":
            return None
        call_id = call.facts.call_id
        agent = self._agents.get(call_id)
        if agent is None:
            self.finish_input(call)
            agent = self._agents[call_id] = AgentStream(self.emitter, (*call.path, call_id))
        return agent

    @property
    def is_working(self) -> bool:
        """Whether the main agent has spoken, and no result has ended that."""
        return self.main.has_spoken and (self.main.response is not None or not self.has_result)

    @property
    def agents(self) -> Iterable[AgentStream]:
        """All agents, the deepest first, the main agent last."""
        return [*sorted(self._agents.values(), key=lambda one: -len(one.path)), self.main]

    def retract(self, uuids: set[str]) -> None:
        """Retract the messages with these uuids: a current response, if they are all there is of it."""
        for agent in self.agents if uuids else ():
            if agent.response is not None and agent.response.uuids and agent.response.uuids <= uuids:
                self._forget(agent)

    def make_room(self, agent: AgentStream) -> None:
        """Another response comes: one that broke off before anything of it was final is retried."""
        if agent.is_stuck:
            self._forget(agent)

    def emit(self, call: CallStream, chunk: c.Chunk | None) -> None:
        """Emit a chunk of a call where the call is."""
        if chunk is not None:
            self.emitter.emit(chunk, call.path)

    def begin(self, facts: CallFacts, agent: AgentStream) -> CallStream:
        """A call that is new, or has the id of one that was retracted or is over.

        In a message every call has an id of its own, so an id that is used again gets a number.
        """
        name, known = facts.call_id, self.calls.get(facts.call_id)
        if known is not None and known.state != "retracted":
            self._used[name] = self._used.get(name, 1) + 1
            facts = facts._replace(call_id=f"{name}_{self._used[name]}")
            self.denials.pop(name, None)
        call = self.calls[name] = CallStream(facts, agent.path, agent.step, name)
        agent.calls.append(call)
        return call

    def is_begun(self, call: CallStream | None, agent: AgentStream) -> bool:
        """Whether a call that an agent makes is a known one: some models use an id again later."""
        if call is None or call.state == "retracted":
            return False
        return call.state not in OVER or call.path != agent.path or call.step == agent.step

    def guess(self, call_id: str, name: str = "", input: Json | UnsetType = UNSET) -> CallStream:
        """A call that is not known, although there is a result, a question or a sub-agent."""
        facts = CallFacts(call_id, name or UNKNOWN_TOOL, None, None, server_of(name))
        call = self.begin(facts, self.main)
        self.emit(call, call.available(input))
        return call

    def finish_input(self, call: CallStream) -> None:
        """Emit the input of a call, if it was not."""
        self.emit(call, call.finish())

    def add_call(
        self, block: JsonObject, facts: CallFacts, agent: AgentStream, where: str, *, is_late: bool = False
    ) -> None:
        """A whole call. It replaces what was written of it, as long as the call has no output.

        `is_late`: it belongs to an earlier response than the current one.
        """
        call, whole = self.calls.get(facts.call_id), block.get("input", {})
        if call is None or not (is_late or self.is_begun(call, agent)):
            call = self.begin(facts, agent)
        elif call.path != agent.path:
            self.emitter.emit_unknown(block)
            return
        elif not call.is_open:
            self.emitter.lose(where, block, REPEATED)
            return
        elif call.state == "available":
            changed = call.facts.name != facts.name or not is_equal(call.input, whole)
            if not changed or call.step != agent.step or call.approval is not None:
                self.emitter.lose(where, block, REPEATED)
                return
        call.facts = facts._replace(call_id=call.facts.call_id) if facts.name else call.facts
        call.name(UNKNOWN_TOOL)
        self.emit(call, call.available(whole))

    def end_call(self, block: JsonObject, structured: Json | UnsetType, denial: Denial | None) -> None:
        """A `tool_result` block: the output of a call, unless it has one."""
        call = self._answered(block)
        if call is None:
            return
        is_error = block.get("is_error") is True
        denial = (denial or self.denials.get(call.wire_id)) if is_error else None
        chunk = output_chunk(
            block,
            structured,
            denied=denial.kind if denial else None,
            reason=denial.reason if denial else None,
            provider_executed=call.facts.provider_executed,
        )
        status = structured.get("status") if is_object(structured) else None
        if status not in CONTINUES and call.facts.call_id in self._agents:
            self._close_under(call)
        call.failure = (block, structured) if is_error and denial is None else None
        self.emit(call, call.output(chunk))

    def end_server_call(self, block: JsonObject, chunks: Iterable[c.Chunk]) -> None:
        """A result of one of the API's own tools, and what came with it."""
        call = self._answered(block, name=str(block["type"]).removesuffix("_tool_result"))
        if call is None:
            return
        for chunk in chunks:
            self.emit(call, call.output(chunk) if isinstance(chunk, c.ToolOutputChunk) else chunk)

    def deny(self, call_id: str, kind: str) -> None:
        """The result of the turn says that a call was denied."""
        call = self.calls.get(call_id)
        denial = self.denials.setdefault(call_id, Denial(kind))
        if call is not None and call.failure is not None and call.state == "done":
            block, structured = call.failure
            chunk = output_chunk(block, structured, denied=denial.kind, reason=denial.reason)
            self.emit(call, call.output(chunk))
            call.failure = None

    def give_up(self, spared: str | None = None) -> None:
        """End everything: nothing more is expected. Calls without an output were denied or interrupted."""
        unanswered: dict[tuple[str, ...], list[CallStream]] = {}
        for call in self.calls.values():
            if call.is_open:
                unanswered.setdefault(call.path, []).append(call)
        for agent in self.agents:
            for call in unanswered.get(agent.path, ()):
                self.finish_input(call)
                if call.is_open and call.wire_id != spared:
                    self.emit(call, call.give_up(self._ending(call)))
            agent.end_step()

    def _answered(self, block: JsonObject, name: str = "") -> CallStream | None:
        """The call that a result is for; `None` if it has no use for it, which is emitted as data."""
        call_id = block.get("tool_use_id")
        if not isinstance(call_id, str):
            self.emitter.emit_unknown(block)
            return None
        call = self.calls.get(call_id) or self.guess(call_id, name)
        if call.state == "retracted":
            self.emitter.emit_data("retracted", block)
            return None
        if call.state == "done":
            self.emitter.emit_data("repeated-result", block)
            return None
        self.finish_input(call)
        return call

    def _forget(self, agent: AgentStream) -> None:
        """Retract the response of an agent, its calls, and all that is under them."""
        for call in agent.retract():
            call.state = "retracted"
            path = (*call.path, call.facts.call_id)
            for other in self.calls.values():
                if other.path[: len(path)] == path:
                    other.state = "retracted"
            for id_, one in list(self._agents.items()):
                if one.path[: len(path)] == path:
                    one.lose_events()
                    del self._agents[id_]

    def _close_under(self, call: CallStream) -> None:
        path = (*call.path, call.facts.call_id)
        for agent in self.agents:
            if agent.path[: len(path)] == path:
                agent.end_step()

    def _ending(self, call: CallStream) -> ToolOutput:
        denial = self.denials.get(call.wire_id)
        if denial is not None:
            return ExecutionDeniedOutput(denial.reason)
        return InterruptedOutput("aborted" if self.is_interrupted else "lost")
