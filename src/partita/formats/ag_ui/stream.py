"""AG-UI events → chunks.

A run is one message. The ids of AG-UI messages are notes on texts, calls and results. Events of a sub-agent
become chunks for the call that started it; if no call did, one is added. State, activities,
snapshots and unknown events become data. The `THINKING_*` events from before version 1.0 are read as
reasoning (they have no ids: https://docs.ag-ui.com/concepts/events#deprecated-events).

An encrypted value follows the text or the call that it belongs to, so the end of a text or a call is emitted
when the next one begins.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from partita.errors import DecodeError, PartitaError
from partita.formats.core.members import without
from partita.formats.core.metadata import RAW_INPUT
from partita.formats.core.tool_text import bad_input_text, parse_input
from partita.types import chunks
from partita.types.chunks import Chunk, DataChunk, MessageFinish, MessageMetadata, MessageStart
from partita.types.codec import read_chunk
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.parts import ContentOutput, TextPart

from . import events
from .events import EVENT_DATA, MEMBER_DATA, event_metadata
from .parts import read_content
from .wire import AGENT, CONTENT, ENCRYPTED, MAX_DEPTH, MESSAGE_ID, NAMESPACE

ASSISTANT: Final = "assistant"
REASONING: Final = "reasoning"
CALL: Final = "call"


class Event:
    """An event, and which of its members were read."""

    def __init__(self, raw: JsonObject) -> None:
        self.raw = raw
        self.type: str = raw["type"]
        self._read = {"type", AGENT}

    def get(self, name: str) -> Json:
        """Return a member, or `None`."""
        self._read.add(name)
        return self.raw.get(name)

    def text(self, name: str, default: str | None = None) -> str:
        """Return a member that is a text; raise an error if it is missing or of another type."""
        value = self.get(name)
        if value is None:
            value = default
        if not isinstance(value, str):
            raise KeyError(name)
        return value

    def required(self, name: str) -> Json:
        """Return a member; raise an error if it is missing."""
        self._read.add(name)
        return self.raw[name]

    def rest(self) -> JsonObject:
        """Return the members that were not read."""
        return without(self.raw, *self._read)

    def take_rest(self) -> JsonObject:
        """Return the members that were not read, and mark them as read."""
        rest = self.rest()
        self._read.update(rest)
        return rest


class Block:
    """A text, reasoning, message of another role, or call that is being streamed."""

    def __init__(self, kind: str, id: str, notes: JsonObject, name: str = "") -> None:
        """`kind`: the role of a message, or `CALL`; `name`: the name of the tool."""
        self.kind, self.id, self.notes, self.name = kind, id, notes, name
        self.key = (kind == CALL, id)
        self.pieces: list[str] = []


class AgentStream:
    """The chunks of one agent in a run: the main agent, or a sub-agent."""

    def __init__(self, sink: list[Chunk], path: tuple[str, ...] = ()) -> None:
        """`path`: the calls that lead to a sub-agent."""
        self._sink, self.path = sink, path
        self.added_call: tuple[AgentStream, str] | None = None
        """The agent and the call that was added for this one, if no call started it."""
        self.is_begun = False
        self.open: dict[tuple[bool, str], Block] = {}
        """Blocks by whether they are calls, and their ids."""
        self.chunked: Block | None = None
        """The block of the last `…_CHUNK` event, which the next one may continue."""
        self._ended: Block | None = None
        self.known_calls: set[str] = set()
        self.unanswered: dict[str, None] = {}
        """Calls with a complete input and without a result, in order."""
        self.step_names: list[str] = []
        self._needs_step = True
        self._spans: dict[str, JsonObject] = {}
        self._empty_span: str | None = None
        self._reasoning_count = 0

    def begin(self, metadata: JsonObject, message_id: str | None = None) -> None:
        """Start the message, unless it has started."""
        is_begun, self.is_begun = self.is_begun, True
        self.emit(MessageMetadata(metadata) if is_begun else MessageStart(message_id, metadata))

    def emit(self, chunk: Chunk) -> None:
        """Add a chunk to a message that has started."""
        if not self.is_begun:
            self.is_begun = True
            self.emit(MessageStart())
        self._sink.append(chunks.ChildChunk(self.path, chunk) if self.path else chunk)

    def emit_event(self, event: Json) -> None:
        """Keep an unknown or unexpected event."""
        self.emit(DataChunk(events.EVENT, event))

    def emit_rest(self, type: str, rest: JsonObject) -> None:
        """Keep the members of an event that were not read."""
        if rest:
            self.emit(DataChunk(events.REST, {"type": type, **rest}, transient=True))

    # Blocks

    def start(self, block: Block, *, is_chunked: bool = False) -> None:
        """Start a block. The first reasoning of a span has its notes."""
        self.end_last()
        if block.kind != CALL:
            span, self._empty_span = self._empty_span, None
            if block.key in self.open:
                raise KeyError(block.id)
            if block.kind == REASONING and span is not None:
                id_ = {} if span == block.id else {"spanId": span}
                block.notes = {**self._spans[span], **id_, **block.notes}
        self.open[block.key] = block
        self.chunked = block if is_chunked else None
        metadata = event_metadata({MESSAGE_ID: block.id, **block.notes})
        match block.kind:
            case "call":
                self._begin_step()
                self.known_calls.add(block.id)
                self.emit(chunks.ToolInputStart(block.id, block.name))
            case "assistant":
                self._begin_step()
                self.emit(chunks.TextStart(block.id, metadata))
            case "reasoning":
                self._begin_step()
                self.emit(chunks.ReasoningStart(block.id, metadata))

    def append(self, block: Block, delta: str) -> None:
        """Append to a block."""
        match block.kind:
            case "assistant":
                self.emit(chunks.TextDelta(block.id, delta))
            case "reasoning":
                self.emit(chunks.ReasoningDelta(block.id, delta))
            case kind:
                block.pieces.append(delta)
                if kind == CALL:
                    self.emit(chunks.ToolInputDelta(block.id, delta))

    def end(self, block: Block, notes: JsonObject) -> None:
        """End a block."""
        del self.open[block.key]
        if self.chunked is block:
            self.chunked = None
        self.end_last()
        block.notes = {**block.notes, **notes}
        self._ended = block

    def end_last(self) -> None:
        """Emit the end of the last block, because the next one begins."""
        ended = [self._ended, self.chunked and self.open.pop(self.chunked.key, None)]
        self._ended = self.chunked = None
        for block in filter(None, ended):
            self._emit_end(block)

    def close(self) -> None:
        """Emit the end of all open blocks, except calls, whose input is not complete."""
        self.end_last()
        for block in self.open.values():
            if block.kind != CALL:
                self._emit_end(block)
            elif block.notes:
                self.emit_rest("TOOL_CALL_START", {"toolCallId": block.id, **block.notes})
        self.open = {}

    def _emit_end(self, block: Block) -> None:
        id_, text = block.id, "".join(block.pieces)
        metadata = event_metadata({MESSAGE_ID: id_, **block.notes})
        match block.kind:
            case "call":
                self._emit_input(block, text)
            case "assistant":
                self.emit(chunks.TextEnd(id_, metadata if block.notes else None))
            case "reasoning":
                self.emit(chunks.ReasoningEnd(id_, metadata))
            case "user" if not block.notes:
                self.emit(chunks.SteeringMessageChunk(id_, (TextPart(text),)))
            case role:
                message = {"id": id_, "role": role, "content": text, **block.notes}
                self.emit(DataChunk(events.MESSAGE, message, id_))

    def _emit_input(self, block: Block, text: str) -> None:
        id_, name, notes = block.id, block.name, block.notes
        self.unanswered[id_] = None
        try:
            value = parse_input(text)
        except DecodeError as error:
            why = bad_input_text(error)
            metadata = event_metadata(notes)
            self.emit(chunks.ToolInputError(id_, name, why, text, provider_metadata=metadata))
            return
        raw = {} if dumps(value).decode() == text else {RAW_INPUT: text}
        metadata = event_metadata({**notes, **raw})
        self.emit(chunks.ToolInputAvailable(id_, name, value, provider_metadata=metadata))

    # Reasoning

    def start_span(self, id: str, notes: JsonObject) -> None:
        """Start reasoning, which may have several messages, or none."""
        self.end_last()
        self._spans[id] = notes
        self._empty_span = id

    def end_span(self, id: str | None, notes: JsonObject) -> JsonObject:
        """End a span, the last one if it has no id; return notes that could not be added."""
        id_ = next(reversed(self._spans), "") if id is None else id
        span = self._spans[id_]
        if self._empty_span == id_:  # the span has no message, so it becomes one
            self._empty_span = None
            self.start(Block(REASONING, id_, {**span, **notes}))
            notes = {}
        del self._spans[id_]
        if block := self.open.get((False, id_)):
            self.end(block, {})
        if self._ended is None:
            return notes
        self._ended.notes |= notes
        return {}

    def reasoning_id(self, *, is_new: bool) -> str:
        """Return an id for reasoning in streams without ids."""
        self._reasoning_count += is_new or not self._reasoning_count
        return f"thinking-{self._reasoning_count}"

    def encrypt(self, subtype: str, entity: str, value: str) -> None:
        """Keep the encrypted value of a message or a call as a note."""
        if subtype not in ("message", "tool-call"):
            raise KeyError(subtype)
        key, ended = (subtype == "tool-call", entity), self._ended
        block = ended if ended is not None and ended.key == key else self.open.get(key)
        if block is None and key == (False, self._empty_span):
            block = Block(REASONING, entity, {})
            self.start(block)
        if block is not None:
            block.notes[ENCRYPTED] = value
        else:
            found = {entity: {"subtype": subtype, ENCRYPTED: value}}
            self.emit(MessageMetadata({NAMESPACE: {"encryptedValues": found}}))

    # Steps and results

    def _begin_step(self) -> None:
        """Begin a step, if a text or a call is the first of one."""
        if self._needs_step:
            self._needs_step = False
            self.emit(chunks.StepStart())

    def start_step(self, name: str) -> None:
        """Start a step with a name."""
        self.end_last()
        self.step_names.append(name)
        self._needs_step = False
        self.emit(MessageMetadata({NAMESPACE: {"steps": list(self.step_names)}}))
        self.emit(chunks.StepStart())

    def end_step(self) -> None:
        """End a step."""
        self.end_last()
        self._needs_step = True
        self.emit(chunks.StepFinish())

    def add_call(self, id: str, name: str) -> str:
        """Add a call for a sub-agent that no call started."""
        self.end_last()
        self._begin_step()
        id_ = f"{id}:call" if id in self.known_calls else id
        self.known_calls.add(id_)
        self.emit(chunks.ToolInputAvailable(id_, name, {}, dynamic=True))
        return id_

    def emit_result(self, chunk: chunks.ToolOutputAvailable | chunks.ToolOutputChunk) -> None:
        """Emit the result of a call. The next part begins another step."""
        self.emit(chunk)
        self.unanswered.pop(chunk.tool_call_id, None)
        self._needs_step = True


# Handlers of events. A handler raises an error for an unexpected event, which is then kept. Members that a
# handler does not read are kept too.


def _block(agent: AgentStream, event: Event) -> None:
    """Start, continue or end a text, reasoning or a call. `…_CHUNK` does all of that in one event."""
    prefix, _, phase = event.type.rpartition("_")
    is_call, is_chunk, current = prefix == "TOOL_CALL", phase == "CHUNK", agent.chunked
    if prefix.startswith("THINKING"):
        id_ = agent.reasoning_id(is_new=phase == "START")
    else:
        known = current.id if is_chunk and current is not None and current.key[0] == is_call else None
        id_ = event.text("toolCallId" if is_call else "messageId", known)
    delta = "" if phase in ("START", "END") else event.text("delta", "" if is_chunk else None)
    block = agent.open.get((is_call, id_))
    if phase == "END":
        agent.end(agent.open[is_call, id_], event.take_rest())
        return
    if phase == "START" or (block is None and (is_chunk or not is_call)):
        block = _new_block(prefix, id_, event, has_notes=is_chunk or phase == "START")
        agent.start(block, is_chunked=is_chunk)
    if block is None:
        raise KeyError(id_)
    if delta or phase in ("CONTENT", "ARGS"):
        agent.append(block, delta)


def _new_block(prefix: str, id_: str, event: Event, *, has_notes: bool) -> Block:
    name, kind = "", CALL
    if prefix == "TOOL_CALL":
        name = event.text("toolCallName")
    elif prefix == "TEXT_MESSAGE":
        kind = event.text("role", ASSISTANT)
    else:
        kind = REASONING
        _read_role(event)
    return Block(kind, id_, event.take_rest() if has_notes else {}, name)


def _read_role(event: Event) -> None:
    """Read a role that follows from the type of the event."""
    if event.raw.get("role") in ("tool", REASONING):
        event.get("role")


def _span(agent: AgentStream, event: Event) -> None:
    is_old = event.type.startswith("THINKING")
    if event.type.endswith("_START"):
        agent.start_span(
            agent.reasoning_id(is_new=True) if is_old else event.text("messageId"), event.take_rest()
        )
    else:
        id_ = None if is_old else event.text("messageId")
        agent.emit_rest(event.type, agent.end_span(id_, event.take_rest()))


def _encrypted_value(agent: AgentStream, event: Event) -> None:
    agent.encrypt(event.text("subtype"), event.text("entityId"), event.text(ENCRYPTED))


def _result(agent: AgentStream, event: Event) -> None:
    id_, content = event.text("toolCallId"), event.get("content")
    _read_role(event)
    if block := agent.open.get((True, id_)):
        agent.end(block, {})
    agent.end_last()
    if id_ not in agent.known_calls:
        raise KeyError(id_)
    metadata = event_metadata(event.take_rest())
    if is_array(content):
        output = ContentOutput(read_content(CONTENT.read(content)))
        agent.emit_result(chunks.ToolOutputChunk(id_, output, provider_metadata=metadata))
    else:
        text = event.text("content")
        agent.emit_result(chunks.ToolOutputAvailable(id_, text, provider_metadata=metadata))


def _step(agent: AgentStream, event: Event) -> None:
    if event.type == "STEP_STARTED":
        agent.start_step(event.text("stepName"))
    else:
        agent.end_step()
        if event.raw.get("stepName") in agent.step_names:
            event.get("stepName")


def _custom(agent: AgentStream, event: Event) -> None:
    """Read data of the application, or a chunk for which AG-UI has no event."""
    name, value = event.text("name"), event.required("value")
    match event.raw.get("metadata"):
        case _ if name.startswith(events.CHUNK):
            agent.emit(read_chunk(value))
        case {**marks} if _is_from_encoder(marks):
            event.get("metadata")
            agent.emit(DataChunk(f"data-{name}", value, marks.get("id"), marks.get("transient")))
        case _:
            agent.emit(DataChunk(f"data-{name}", value))


def _is_from_encoder(metadata: JsonObject) -> bool:
    """Whether metadata was written by the encoder for a data chunk."""
    id_, transient = metadata.get("id"), metadata.get("transient")
    is_typed = isinstance(id_, str | None) and isinstance(transient, bool | None)
    return is_typed and metadata.keys() <= {"id", "transient"}


def _member_data(agent: AgentStream, event: Event) -> None:
    type_, member = MEMBER_DATA[event.type]
    agent.emit(DataChunk(type_, event.required(member)))


def _event_data(agent: AgentStream, event: Event) -> None:
    type_, _ = EVENT_DATA[event.type]
    id_ = event.text("messageId") if type_ == events.ACTIVITY else None
    agent.emit(DataChunk(type_, event.take_rest(), id_))


PHASES: Final[Mapping[str, tuple[str, ...]]] = {
    "TEXT_MESSAGE": ("START", "CONTENT", "END", "CHUNK"),
    "REASONING_MESSAGE": ("START", "CONTENT", "END", "CHUNK"),
    "THINKING_TEXT_MESSAGE": ("START", "CONTENT", "END"),
    "TOOL_CALL": ("START", "ARGS", "END", "CHUNK"),
}
HANDLERS: Final[Mapping[str, Callable[[AgentStream, Event], None]]] = {
    **{f"{prefix}_{phase}": _block for prefix, phases in PHASES.items() for phase in phases},
    **dict.fromkeys(("REASONING_START", "REASONING_END", "THINKING_START", "THINKING_END"), _span),
    "REASONING_ENCRYPTED_VALUE": _encrypted_value,
    "TOOL_CALL_RESULT": _result,
    "STEP_STARTED": _step,
    "STEP_FINISHED": _step,
    "CUSTOM": _custom,
    **dict.fromkeys(MEMBER_DATA, _member_data),
    **dict.fromkeys(EVENT_DATA, _event_data),
}


class AgUiDecoder:
    """Decodes the events of one run."""

    def __init__(self) -> None:
        self._sink: list[Chunk] = []
        self._main = AgentStream(self._sink)
        self._agents: dict[str, AgentStream] = {}

    def feed(self, event: Json) -> list[Chunk]:
        """Return the chunks of one event."""
        if not is_object(event) or not isinstance(type_ := event.get("type"), str):
            self._main.emit_event(event)
        elif type_ in LIFECYCLE:
            LIFECYCLE[type_](self, Event(event))
        else:
            agent, handler = self._agent(event.get(AGENT)), HANDLERS.get(type_)
            try:
                if handler is None:
                    agent.emit_event(event)
                else:
                    handler(agent, read := Event(event))
                    agent.emit_rest(type_, read.rest())
            except (KeyError, PartitaError):  # a member is missing or has another type
                agent.emit_event(event)
        return self._take()

    def finish(self) -> list[Chunk]:
        """Return the chunks that end everything that is open when the stream ends."""
        self._close()
        return self._take()

    def _take(self) -> list[Chunk]:
        taken = list(self._sink)
        self._sink.clear()
        return taken

    def _close(self) -> None:
        for agent in (*self._agents.values(), self._main):
            agent.close()

    # The run

    def _start_run(self, event: Event) -> None:
        self._main.begin(_run_metadata(event))

    def _end_run(self, event: Event) -> None:
        """End the run, which is complete, was cancelled, or waits for a response."""
        self._close()
        outcome = event.raw.get("outcome")
        kind = outcome.get("type") if is_object(outcome) else None
        left: JsonObject = {}
        if is_object(outcome) and kind == "interrupt" and is_array(outcome.get("interrupts")):
            for interrupt in outcome["interrupts"]:
                self._interrupt(interrupt)
            left = without(outcome, "type", "interrupts")
            event.get("outcome")
        elif is_object(outcome) and kind in ("success", "cancelled"):
            left = without(outcome, "type")
            event.get("outcome")
        metadata = _run_metadata(event, **({"outcome": left} if left else {}))
        if kind == "cancelled":
            if metadata:
                self._main.emit(MessageMetadata(metadata))
            self._main.emit(chunks.MessageAbort())
            return
        reason = metadata.get("finishReason")
        if not isinstance(reason, str):
            reason = "tool-calls" if kind == "interrupt" or self._main.unanswered else "stop"
        self._main.emit(MessageFinish(reason, {"finishReason": reason, **metadata}))

    def _fail_run(self, event: Event) -> None:
        self._close()
        message = event.raw.get("message")
        text = event.text("message") if isinstance(message, str) else "the run failed"
        self._main.emit(chunks.ErrorChunk(text))
        metadata = {"finishReason": "error", "errors": [text], **_run_metadata(event)}
        self._main.emit(MessageFinish("error", metadata))

    def _interrupt(self, interrupt: Json) -> None:
        """Read an interrupt: the run waits for the approval of a call, or for another response."""
        if not is_object(interrupt) or not isinstance(id_ := interrupt.get("id"), str):
            self._main.emit(DataChunk(events.INTERRUPT, interrupt))
            return
        agent, call = self._agent(interrupt.get(AGENT)), interrupt.get("toolCallId")
        if not isinstance(call, str) or call not in agent.known_calls:
            agent.emit(DataChunk(events.INTERRUPT, interrupt, id_))
            return
        rest = without(interrupt, "id", "toolCallId", AGENT)
        message = rest.pop("message") if isinstance(rest.get("message"), str) else None
        agent.emit(chunks.ToolApprovalRequest(id_, call, rest, reason=message))

    # Sub-agents

    def _agent(self, id_: Json) -> AgentStream:
        """Return the agent of an event. For an unknown sub-agent, a call is added."""
        if not isinstance(id_, str):
            return self._main
        return self._agents.get(id_) or self._start_agent(id_, {"name": id_})

    def _sub_agent(self, event: Event) -> None:
        id_ = event.get(AGENT)
        if not isinstance(id_, str):
            self._main.emit_event(event.raw)
        elif event.type != "SUBAGENT_STARTED":
            self._end_agent(self._agent(id_), event)
        elif id_ in self._agents:
            self._main.emit_event(event.raw)
        else:
            self._start_agent(id_, event.rest())

    def _start_agent(self, id_: str, about: JsonObject) -> AgentStream:
        parent = self._main
        if isinstance(parent_id := about.get("parentSubagentRunId"), str) and parent_id in self._agents:
            found = self._agents[parent_id]
            parent = found if len(found.path) < MAX_DEPTH else self._main
        call, added = about.get("parentToolCallId"), None
        is_taken = any(agent.path == (*parent.path, call) for agent in self._agents.values())
        if not isinstance(call, str) or call not in parent.known_calls or is_taken:
            name = about.get("name")
            call = parent.add_call(id_, name if isinstance(name, str) else id_)
            added = (parent, call)
        parent.end_last()
        agent = self._agents[id_] = AgentStream(self._sink, (*parent.path, call))
        agent.added_call = added
        agent.begin({NAMESPACE: about}, id_)
        return agent

    def _end_agent(self, agent: AgentStream, event: Event) -> None:
        agent.close()
        rest = event.rest()
        metadata = {NAMESPACE: rest} if rest else {}
        if event.type == "SUBAGENT_ERROR":
            agent.emit(chunks.ErrorChunk(str(rest.get("message", "the sub-agent failed"))))
            agent.emit(MessageFinish("error", metadata))
        else:
            agent.emit(MessageFinish("stop", metadata))
        if agent.added_call is not None and "result" in rest:
            parent, call = agent.added_call
            parent.emit_result(chunks.ToolOutputAvailable(call, rest["result"]))
            agent.added_call = None


def _run_metadata(event: Event, **notes: Json) -> JsonObject:
    """Return the members of an event about the run as metadata of its message."""
    metadata: JsonObject = {}
    if is_object(given := event.raw.get("metadata")):
        metadata |= given
        event.get("metadata")
    usage = event.raw.get("usage") if event.type != "RUN_STARTED" else None
    if is_array(usage):
        event.get("usage")
    if rest := {**event.rest(), **notes}:
        own = metadata.get(NAMESPACE)
        metadata[NAMESPACE] = {**(own if is_object(own) else {}), **rest}
    if is_array(usage):
        metadata["usage"] = {**_counts(usage), "raw": usage}
    return metadata


def _counts(usage: list[Json]) -> JsonObject:
    """Return the sum of the counts of all models of a run."""
    counts: JsonObject = {}
    for name, member in events.COUNTS.items():
        found = [one[member] for one in usage if is_object(one) and type(one.get(member)) is int]
        if found:
            counts[name] = sum(found)
    return counts


LIFECYCLE: Final[Mapping[str, Callable[[Any, Event], None]]] = {
    "RUN_STARTED": AgUiDecoder._start_run,
    "RUN_FINISHED": AgUiDecoder._end_run,
    "RUN_ERROR": AgUiDecoder._fail_run,
    "SUBAGENT_STARTED": AgUiDecoder._sub_agent,
    "SUBAGENT_FINISHED": AgUiDecoder._sub_agent,
    "SUBAGENT_ERROR": AgUiDecoder._sub_agent,
}
