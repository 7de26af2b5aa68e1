"""The state of a turn while its events arrive: the agents, their responses and calls, and denials."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from msgspec import UNSET, UnsetType

from partita.formats.core.members import is_equal
from partita.types import chunks as c
from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import ExecutionDeniedOutput, InterruptedOutput, ToolOutput

from .blocks import CallFacts, mcp_metadata
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

RUNNING_STATUSES: Final = ("async_launched", "teammate_spawned")
"""`status` of a structured result, if the sub-agent continues after it."""

FINAL_STATES: Final = ("done", "lost")
"""States of calls for which nothing more is expected."""


class Denial(NamedTuple):
    """Why a call was denied: by what, and the reason if it is known."""

    kind: str
    reason: str | None = None


class AgentStream:
    """The main agent or a sub-agent. Its chunks are nested under the calls of its path."""

    def __init__(self, emitter: ChunkEmitter, path: tuple[str, ...] = ()) -> None:
        self.path = path
        self.emitter = emitter
        self.response: ResponseStream | None = None
        self.previous: ResponseStream | None = None
        self.calls: list[CallStream] = []  # of the current step
        self.events: list[tuple[str, JsonObject]] = []  # of the current response, if losses are reported
        self.step = 0
        self.has_message = False
        self.has_model = False  # the metadata of the message has the model
        self.last_text = ""
        self._in_step = False
        self._next_id = 0

    def begin_response(
        self, id: str | None, *, streamed: bool, model: Json = None, agent_facts: JsonObject | None = None
    ) -> ResponseStream:
        """Begin a response, and a step unless the response before it in the step was retracted."""
        if not self.has_message:
            self._begin_message(model, agent_facts)
        if self.response is not None or not self._in_step:
            self.end_step()
            self.emitter.emit(c.StepStart(), self.path)
            self._in_step = True
            self.step += 1
            self.calls = []
        self.events = []
        self.response = ResponseStream(id, self.emitter, streamed=streamed)
        return self.response

    def remember(self, event: JsonObject) -> None:
        """Remember an event of the current response, because the response may be retracted."""
        if self.emitter.losses is not None:
            self.events.append((self.emitter.path, event))

    @property
    def has_results(self) -> bool:
        """Whether a call of the current step has its result, so that another response follows."""
        return any(call.state == "done" for call in self.calls)

    @property
    def is_stuck(self) -> bool:
        """Whether the current response broke off before any of its content was final. It may be retried."""
        response = self.response
        if response is None or not response.streamed or response.stopped or response.blocks:
            return False
        return all(call.is_open and call.approval is None for call in self.calls)

    def open(self, kind: TextKind, fields: JsonObject | None = None) -> TextStream:
        """Begin a text or a reasoning."""
        text = TextStream(str(self._next_id), kind)
        self._next_id += 1
        text.fields.update(fields or {})
        self.emitter.emit(text.start(), self.path)
        if self.response is not None:
            self.response.texts.append(text)
        return text

    def append(self, text: TextStream, new: str) -> TextStream:
        """Append to a text, or to a new one of its kind if it has ended; return that text."""
        if not new:
            return text
        if text.state == "ended":
            text = self.open(text.kind)
        self.emitter.emit(text.append(new), self.path)
        return text

    def end(self, text: TextStream, *, aborted: bool = False) -> None:
        """End a text, which is complete."""
        if text.kind == "text" and text.state != "ended":
            self.last_text = text.text
        chunk = text.end(aborted=aborted)
        if chunk is not None:
            self.emitter.emit(chunk, self.path)

    def stop(self, text: TextStream) -> None:
        """Stop a text: the model wrote all of it, but its whole block may have a signature."""
        if text.expects_signature and text.state == "open":
            text.state = "due"
        elif text.state == "open":
            self.end(text)

    def end_texts(self) -> None:
        """End the open texts of the response."""
        for text in self.response.texts if self.response else ():
            self.end(text)

    def end_step(self) -> None:
        """End the response, emit its facts, and end its step."""
        self.end_texts()
        for call in self.calls:
            chunk = call.finish_input()
            if chunk is not None:
                self.emitter.emit(chunk, call.path)
        if self.response is not None and self.response.facts:
            key = self.response.id or f"step-{self.step}"
            metadata = {CLAUDE_CODE: {"responses": {key: self.response.facts}}}
            self.emitter.emit(c.MessageMetadata(metadata), self.path)
        if self._in_step:
            self.emitter.emit(c.StepFinish(), self.path)
        self._in_step = False
        self.previous, self.response = self.response or self.previous, None

    def retract(self) -> list[CallStream]:
        """Retract the current response, which another one replaces in its step; return its calls."""
        calls, self.calls, self.response = self.calls, [], None
        self.emitter.emit(c.StepReset(), self.path)
        self.report_events()
        return calls

    def report_events(self) -> None:
        """Report the events of the current response, which is retracted."""
        for path, event in self.events:
            self.emitter.report_loss_at(path, event, RETRACTED)
        self.events = []

    def _begin_message(self, model: Json, agent_facts: JsonObject | None) -> None:
        """Begin the message of a sub-agent, and add the model if it is not known."""
        metadata: JsonObject = {CLAUDE_CODE: agent_facts} if agent_facts else {}
        if isinstance(model, str) and model != SYNTHETIC and not self.has_model:
            metadata["model"] = model
        if self.path:
            self.emitter.emit(c.MessageStart(None, metadata or UNSET), self.path)
        elif metadata:
            self.emitter.begin(metadata)
        self.has_message = True


class Turn:
    """The state of a turn, which the readers of events share."""

    def __init__(self, emitter: ChunkEmitter) -> None:
        self.emitter = emitter
        self.main = AgentStream(emitter)
        self.calls: dict[str, CallStream] = {}
        self.approvals: dict[str, CallStream] = {}  # by the id of the request
        self.denials: dict[str, Denial] = {}  # by call
        self.unnamed_messages = 0  # user messages without a uuid
        self.is_interrupted = False
        self.has_result = False
        self.session_id: Json = None  # in the metadata of the message
        self._agents: dict[str, AgentStream] = {}
        self._uuids: set[str] = set()  # uuids of whole messages
        self._id_counts: dict[str, int] = {}  # how many times ids of calls were used, if more than once

    def is_new(self, event: JsonObject) -> bool:
        """Whether a message was not received before. A message without a uuid is always new."""
        uuid = event.get("uuid")
        if not isinstance(uuid, str):
            return True
        known = len(self._uuids)
        self._uuids.add(uuid)
        if len(self._uuids) > known:
            return True
        self.emitter.report_loss("", event, REPEATED)
        return False

    def agent(self, parent: Json) -> AgentStream | None:
        """Return the agent under that call; `None` if the call was retracted with its sub-agent."""
        if not isinstance(parent, str) or not parent:
            return self.main
        call = self.calls.get(parent) or self.add_unknown_call(parent)
        if call.state == "retracted":
            return None
        call_id = call.facts.call_id
        agent = self._agents.get(call_id)
        if agent is None:
            self.finish_input(call)
            agent = self._agents[call_id] = AgentStream(self.emitter, (*call.path, call_id))
        return agent

    @property
    def is_running(self) -> bool:
        """Whether the main agent has a message that no result has ended."""
        return self.main.has_message and (self.main.response is not None or not self.has_result)

    @property
    def agents(self) -> Iterable[AgentStream]:
        """All agents, with the deepest ones first and the main agent last."""
        return [*sorted(self._agents.values(), key=lambda one: -len(one.path)), self.main]

    def retract(self, uuids: set[str]) -> None:
        """Retract the current responses whose messages all have these uuids."""
        for agent in self.agents if uuids else ():
            if agent.response is not None and agent.response.uuids and agent.response.uuids <= uuids:
                self._retract_response(agent)

    def retract_stuck(self, agent: AgentStream) -> None:
        """Retract the current response if it broke off, because the next response is its retry."""
        if agent.is_stuck:
            self._retract_response(agent)

    def emit(self, call: CallStream, chunk: c.Chunk | None) -> None:
        """Emit a chunk of a call, under the path of the call."""
        if chunk is not None:
            self.emitter.emit(chunk, call.path)

    def begin(self, facts: CallFacts, agent: AgentStream) -> CallStream:
        """Begin a call that is new, or has the id of one that was retracted or has ended.

        The ids of the calls of a message are unique, so an id that is reused gets a number.
        """
        name, known = facts.call_id, self.calls.get(facts.call_id)
        if known is not None and known.state != "retracted":
            self._id_counts[name] = self._id_counts.get(name, 1) + 1
            facts = facts._replace(call_id=f"{name}_{self._id_counts[name]}")
            self.denials.pop(name, None)
        call = self.calls[name] = CallStream(facts, agent.path, agent.step, name)
        agent.calls.append(call)
        return call

    def is_known(self, call: CallStream | None, agent: AgentStream) -> bool:
        """Whether a call is a known one. Some models reuse the id of an earlier call."""
        if call is None or call.state == "retracted":
            return False
        return call.state not in FINAL_STATES or call.path != agent.path or call.step == agent.step

    def add_unknown_call(self, call_id: str, name: str = "", input: Json | UnsetType = UNSET) -> CallStream:
        """Add an unknown call that has a result, a request for permission or a sub-agent."""
        facts = CallFacts(call_id, name or UNKNOWN_TOOL, None, None, mcp_metadata(name))
        call = self.begin(facts, self.main)
        self.emit(call, call.available(input))
        return call

    def finish_input(self, call: CallStream) -> None:
        """Emit the input of a call, unless it was emitted."""
        self.emit(call, call.finish_input())

    def add_call(
        self, block: JsonObject, facts: CallFacts, agent: AgentStream, location: str, *, is_late: bool = False
    ) -> None:
        """Add a whole call. It replaces what was streamed of it, unless the call has an output.

        `is_late`: it belongs to an earlier response than the current one.
        """
        call, whole = self.calls.get(facts.call_id), block.get("input", {})
        if call is None or not (is_late or self.is_known(call, agent)):
            call = self.begin(facts, agent)
        elif call.path != agent.path:
            self.emitter.emit_unknown(block)
            return
        elif not call.is_open:
            self.emitter.report_loss(location, block, REPEATED)
            return
        elif call.state == "available":
            changed = call.facts.name != facts.name or not is_equal(call.input, whole)
            if not changed or call.step != agent.step or call.approval is not None:
                self.emitter.report_loss(location, block, REPEATED)
                return
        call.facts = facts._replace(call_id=call.facts.call_id) if facts.name else call.facts
        call.set_name(UNKNOWN_TOOL)
        self.emit(call, call.available(whole))

    def end_call(self, block: JsonObject, structured: Json | UnsetType, denial: Denial | None) -> None:
        """End a call with the output in a `tool_result` block, unless it has an output."""
        call = self._pending_call(block)
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
        if status not in RUNNING_STATUSES and call.facts.call_id in self._agents:
            self._end_sub_agents(call)
        call.failure = (block, structured) if is_error and denial is None else None
        self.emit(call, call.output(chunk))

    def end_server_call(self, block: JsonObject, chunks: Iterable[c.Chunk]) -> None:
        """End a call of a server tool of the API with the chunks of its result."""
        call = self._pending_call(block, name=str(block["type"]).removesuffix("_tool_result"))
        if call is None:
            return
        for chunk in chunks:
            self.emit(call, call.output(chunk) if isinstance(chunk, c.ToolOutputChunk) else chunk)

    def deny(self, call_id: str, kind: str) -> None:
        """Note that a call was denied, as the result of the turn reports."""
        call = self.calls.get(call_id)
        denial = self.denials.setdefault(call_id, Denial(kind))
        if call is not None and call.failure is not None and call.state == "done":
            block, structured = call.failure
            chunk = output_chunk(block, structured, denied=denial.kind, reason=denial.reason)
            self.emit(call, call.output(chunk))
            call.failure = None

    def finish(self, except_call: str | None = None) -> None:
        """End everything. Calls without an output were denied or interrupted."""
        open_calls: dict[tuple[str, ...], list[CallStream]] = {}
        for call in self.calls.values():
            if call.is_open:
                open_calls.setdefault(call.path, []).append(call)
        for agent in self.agents:
            for call in open_calls.get(agent.path, ()):
                self.finish_input(call)
                if call.is_open and call.wire_id != except_call:
                    self.emit(call, call.end_without_output(self._final_output(call)))
            agent.end_step()

    def _pending_call(self, block: JsonObject, name: str = "") -> CallStream | None:
        """Return the call of a result; if it expects no result, emit the block as data and return `None`."""
        call_id = block.get("tool_use_id")
        if not isinstance(call_id, str):
            self.emitter.emit_unknown(block)
            return None
        call = self.calls.get(call_id) or self.add_unknown_call(call_id, name)
        if call.state == "retracted":
            self.emitter.emit_data("retracted", block)
            return None
        if call.state == "done":
            self.emitter.emit_data("repeated-result", block)
            return None
        self.finish_input(call)
        return call

    def _retract_response(self, agent: AgentStream) -> None:
        """Retract the response of an agent, its calls, and everything under them."""
        for call in agent.retract():
            call.state = "retracted"
            path = (*call.path, call.facts.call_id)
            for other in self.calls.values():
                if other.path[: len(path)] == path:
                    other.state = "retracted"
            for id_, one in list(self._agents.items()):
                if one.path[: len(path)] == path:
                    one.report_events()
                    del self._agents[id_]

    def _end_sub_agents(self, call: CallStream) -> None:
        path = (*call.path, call.facts.call_id)
        for agent in self.agents:
            if agent.path[: len(path)] == path:
                agent.end_step()

    def _final_output(self, call: CallStream) -> ToolOutput:
        denial = self.denials.get(call.wire_id)
        if denial is not None:
            return ExecutionDeniedOutput(denial.reason)
        return InterruptedOutput("aborted" if self.is_interrupted else "lost")
