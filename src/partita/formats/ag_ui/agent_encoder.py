"""The chunks of one agent → AG-UI events. `encoder` encodes a whole run; this is a separate module because
a run has such an encoder for its main agent and for each sub-agent.

Texts, calls and results get the ids that `format` gives the same message, unless they have ids of AG-UI.
"""

from typing import Any, Final, TypeAlias

from msgspec import UNSET, UnsetType

from partita.errors import DecodeError
from partita.formats.core.members import without
from partita.formats.core.metadata import RAW_INPUT, notes
from partita.formats.core.report import Entry, Record
from partita.formats.core.wire import to_json
from partita.formats.losses import NO_PLACE, REQUIRED, Loss, Severity
from partita.types import chunks, parts
from partita.types.chunks import Chunk, DataChunk, MessageFinish, MessageStart
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads
from partita.types.parts import TextPart
from partita.types.tool_results import results_id

from . import events, wire
from .events import EVENT_DATA, MEMBER_DATA
from .parts import REPORT, encrypted_value, other_metadata, read_content, write_result
from .wire import AGENT, ENCRYPTED, MESSAGE_ID, NAMESPACE, PARENT

Text: TypeAlias = chunks.TextStart | chunks.TextDelta | chunks.TextEnd
Reasoning: TypeAlias = chunks.ReasoningStart | chunks.ReasoningDelta | chunks.ReasoningEnd
Input: TypeAlias = chunks.ToolInputStart | chunks.ToolInputAvailable | chunks.ToolInputError
Approval: TypeAlias = chunks.ToolApprovalRequest | chunks.ToolApprovalResponse
Output: TypeAlias = (
    chunks.ToolOutputAvailable | chunks.ToolOutputError | chunks.ToolOutputDenied | chunks.ToolOutputChunk
)
MessageChunk: TypeAlias = (
    MessageStart | MessageFinish | chunks.MessageAbort | chunks.MessageMetadata | chunks.ErrorChunk
)


class RunOutput:
    """The events of a run, and the losses of its chunks."""

    def __init__(self) -> None:
        self.events: list[Json] = []
        self.losses: list[Loss] = []
        self.number = 0
        """The number of the current chunk."""


class AgentOutput:
    """Adds the events of one agent to those of its run."""

    def __init__(self, run: RunOutput, agent: str | None = None) -> None:
        self.run, self.agent = run, agent

    def emit(self, type: str, **members: Json) -> None:
        """Add an event. Members that are `None` are left out."""
        self.emit_event({"type": type, **{key: one for key, one in members.items() if one is not None}})

    def emit_event(self, event: JsonObject) -> None:
        """Add an event, with the name of the sub-agent."""
        if self.agent is not None:
            event[AGENT] = self.agent
        self.run.events.append(event)

    def report_loss(self, name: str, value: Json, why: str = NO_PLACE, severity: Severity = "lost") -> None:
        """Report a member of the current chunk that no event has."""
        self.report_losses([Loss.of(name, value, why, severity)])

    def report_losses(self, losses: list[Loss]) -> None:
        """Report losses whose paths begin in the current chunk."""
        at = f"$[{self.run.number}]"
        self.run.losses += [one._replace(path=f"{at}.{one.path}" if one.path else at) for one in losses]

    def emit_encrypted(self, subtype: str, entity: str, metadata: JsonObject | None, *written: str) -> None:
        """Add the encrypted value of a message or a call, and report notes that were not `written`."""
        found, others = notes(metadata, NAMESPACE), other_metadata(metadata)
        noted = found.get(ENCRYPTED)
        value = noted if isinstance(noted, str) else encrypted_value(metadata)
        if value is not UNSET:
            self.emit("REASONING_ENCRYPTED_VALUE", subtype=subtype, entityId=entity, encryptedValue=value)
        if others and value is noted:
            self.report_loss("providerMetadata", others)
        if rest := without(found, ENCRYPTED, *written):
            self.report_loss(f"providerMetadata.{NAMESPACE}", rest)


class MessageIds:
    """The ids of the AG-UI messages of one canonical message: see `format`."""

    def __init__(self, message_id: str) -> None:
        self.start(message_id)

    def start(self, message_id: str) -> None:
        """Start another message."""
        self.message_id, self.number, self.is_used = message_id, 1, False
        self.parent: str | None = None
        """The id of the message with the current text or calls."""
        self._steps: dict[str, int] = {}
        self._results: dict[int, int] = {}

    def end_step(self) -> None:
        """End the step: the next part cannot follow a text or a call in the same message."""
        self.number += self.is_used
        self.is_used = False

    def text(self) -> str:
        """Return the id of the message of a text."""
        self.end_step()
        self.is_used = True
        return self.message_id if self.number == 1 else f"{self.message_id}#{self.number}"

    def call(self, call_id: str) -> str:
        """Return the id of the message of a call."""
        if not self.is_used or self.parent is None:
            self.is_used = False
            self.parent = self.text()
        self._steps[call_id] = self.number
        return self.parent

    def result(self, call_id: str) -> str:
        """Return the id of the message of a result."""
        number = self._steps.get(call_id, self.number)
        count = self._results[number] = self._results.get(number, 0) + 1
        id_ = results_id(self.message_id, number)
        return id_ if count == 1 else f"{id_}:{count}"


class TextEncoder:
    """Encodes the texts and the reasoning of one agent."""

    def __init__(self, output: AgentOutput, ids: MessageIds) -> None:
        self._output, self._ids = output, ids
        self._open: dict[tuple[str, str], tuple[str, JsonObject | None]] = {}  # message id, metadata
        self._used: set[str] = set()

    def encode(self, chunk: Text | Reasoning) -> None:
        """Encode a chunk. A text that has not started starts with its first chunk."""
        key = ("TEXT" if isinstance(chunk, Text) else "REASONING", chunk.id)
        is_start = isinstance(chunk, chunks.TextStart | chunks.ReasoningStart)
        if is_start and key in self._open:
            self._end(key, None)
        if key not in self._open:
            self._start(key, chunk.provider_metadata if is_start else None)
        id_, metadata = self._open[key]
        metadata = metadata if chunk.provider_metadata is None else chunk.provider_metadata
        if isinstance(chunk, chunks.TextDelta | chunks.ReasoningDelta):
            self._open[key] = id_, metadata
            if chunk.delta:
                self._output.emit(f"{key[0]}_MESSAGE_CONTENT", messageId=id_, delta=chunk.delta)
        elif isinstance(chunk, chunks.TextEnd | chunks.ReasoningEnd):
            if isinstance(chunk, chunks.TextEnd) and chunk.citations is not None:
                self._output.report_loss("citations", to_json(chunk.citations), "there are no citations")
            self._end(key, metadata)

    def close(self) -> None:
        """End everything that is open."""
        for key, (_, metadata) in list(self._open.items()):
            self._end(key, metadata)

    def _start(self, key: tuple[str, str], metadata: JsonObject | None) -> None:
        found, ids, is_text = notes(metadata, NAMESPACE), self._ids, key[0] == "TEXT"
        ids.end_step()
        default_id = ids.text() if is_text else f"{ids.message_id}:{key[1]}"
        if default_id in self._used and not is_text:
            default_id = f"{default_id}:{len(self._used)}"
        known = found.get(MESSAGE_ID)
        id_ = known if isinstance(known, str) and known not in self._used else default_id
        self._used.add(id_)
        self._open[key] = id_, metadata
        if is_text:
            ids.parent = id_
            more = {name: found[name] for name in ("name", "metadata", "timestamp") if name in found}
            self._output.emit("TEXT_MESSAGE_START", messageId=id_, role="assistant", **more)
        else:
            self._output.emit("REASONING_START", messageId=id_)
            self._output.emit("REASONING_MESSAGE_START", messageId=id_, role="reasoning")

    def _end(self, key: tuple[str, str], metadata: JsonObject | None) -> None:
        id_, _ = self._open.pop(key)
        self._output.emit(f"{key[0]}_MESSAGE_END", messageId=id_)
        written = (MESSAGE_ID, "name", "metadata", "timestamp")
        self._output.emit_encrypted("message", id_, metadata, *written)
        if key[0] == "REASONING":
            self._output.emit("REASONING_END", messageId=id_)


NOT_WRITTEN: Final = ("provider_executed", "tool_metadata", "dynamic", "title", "input_encoding")
"""Fields of chunks that the events of calls have no member for."""

APPROVAL_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["approved"],
}
"""The schema of the response to an approval request."""


class CallEncoder:
    """Encodes the calls of one agent, their results and approvals."""

    def __init__(self, output: AgentOutput, ids: MessageIds) -> None:
        self._output, self._ids = output, ids
        self._open: dict[str, str] = {}  # inputs that are not complete, as text
        self._complete: dict[str, str] = {}  # inputs of calls that have no result
        self.names: dict[str, str] = {}
        self._answered: set[str] = set()
        self._requests: dict[str, chunks.ToolApprovalRequest] = {}
        self._lost: set[tuple[str, str, bytes]] = set()

    def open_calls(self) -> list[str]:
        """Return the calls without a result, in order."""
        return [call for call in self.names if call not in self._answered]

    def interrupts(self) -> list[JsonObject]:
        """Return the approval requests without a response."""
        return [_interrupt(request) for request in self._requests.values()]

    def discard_calls(self) -> None:
        """Discard the calls of an earlier run: this run does not wait for them."""
        self._answered.update(self.names)
        self._complete, self._requests = {}, {}

    def close(self) -> None:
        """End all inputs."""
        for call in list(self._open):
            self.end_input(call)

    def end_input(self, call: str) -> None:
        """End the input of a call, if it is open."""
        if call in self._open:
            self._complete[call] = self._open.pop(call)
            self._output.emit("TOOL_CALL_END", toolCallId=call)

    def encode_approval(self, chunk: Approval) -> None:
        """Keep an approval request until its response. Without one it is encoded when the run ends."""
        if isinstance(chunk, chunks.ToolApprovalRequest):
            self.end_input(chunk.tool_call_id)
            self._requests[chunk.approval_id] = chunk
        else:
            self._requests.pop(chunk.approval_id, None)
            self._output.report_loss("", to_json(chunk), "answers come from the client, not from the agent")

    def append(self, call: str, delta: str) -> None:
        """Encode a delta of the input of a call."""
        if call not in self._open:
            self._output.report_loss("inputTextDelta", delta, "the input of its call is not open")
        elif delta:
            self._open[call] += delta
            self._output.emit("TOOL_CALL_ARGS", toolCallId=call, delta=delta)

    def encode_input(self, chunk: Input) -> None:
        """Encode the start or the end of an input. A repeated input must be the same."""
        call, metadata = chunk.tool_call_id, chunk.provider_metadata
        self._report_fields(chunk)
        is_open = call in self._open
        if isinstance(chunk, chunks.ToolInputAvailable) and call in self._complete and not is_open:
            self._compare(self._complete[call], chunk.input)
        elif not is_open:
            self._open[call], self.names[call] = "", chunk.tool_name
            self._answered.discard(call)
            parent = self._ids.call(call)
            name = chunk.tool_name
            self._output.emit("TOOL_CALL_START", toolCallId=call, toolCallName=name, parentMessageId=parent)
        if not isinstance(chunk, chunks.ToolInputStart) and call in self._open:
            self._complete_input(chunk)
        is_parent = notes(metadata, NAMESPACE).get(PARENT) == self._ids.parent
        self._output.emit_encrypted("tool-call", call, metadata, RAW_INPUT, *((PARENT,) if is_parent else ()))
        if isinstance(chunk, chunks.ToolInputError):
            why = "the error of an input is the result of its call"
            self._output.report_loss("errorText", chunk.error_text, why, "changed")
            self._result(call, chunk.error_text, None)

    def _complete_input(self, chunk: chunks.ToolInputAvailable | chunks.ToolInputError) -> None:
        call, value = chunk.tool_call_id, chunk.input
        is_error, text = isinstance(chunk, chunks.ToolInputError), self._open[call]
        if text and not is_error:
            self._compare(text, value)
        elif not text and value is not UNSET:
            self.append(call, value if is_error and isinstance(value, str) else dumps(value).decode())
        self.end_input(call)

    def _compare(self, text: str, value: Json | UnsetType) -> None:
        """Report an input that differs from its deltas, which were sent."""
        try:
            is_same = value is not UNSET and (text == value or loads(text) == value)
        except DecodeError:
            is_same = False
        if not is_same:
            self._output.report_loss("input", None if value is UNSET else value, "it differs from its deltas")

    def _report_fields(self, chunk: Input | Output) -> None:
        """Report fields that no event has, once for each call and value."""
        for field in NOT_WRITTEN:
            value = getattr(chunk, field, None)
            if value is not None and (lost := (chunk.tool_call_id, field, dumps(value))) not in self._lost:
                self._lost.add(lost)
                first, *words = field.split("_")
                self._output.report_loss(first + "".join(map(str.title, words)), value)

    def encode_output(self, chunk: Output) -> None:
        """Encode the output of a call."""
        call = chunk.tool_call_id
        self.end_input(call)
        self._requests = {id_: one for id_, one in self._requests.items() if one.tool_call_id != call}
        self._report_fields(chunk)
        if is_preliminary(chunk):
            output: Json = getattr(chunk, "output", UNSET)
            lost = None if output is UNSET else to_json(output)
            self._output.report_loss("output", lost, "a call has one result, the last", "minor")
            return
        self._result(call, self._content(chunk), getattr(chunk, "provider_metadata", None))

    def _content(self, chunk: Output) -> Json:
        """Return the content of a result. The event has no member for errors, so they become texts."""
        output: parts.ToolOutput
        name = "output"
        match chunk:
            case chunks.ToolOutputDenied():
                name, output = "", parts.ExecutionDeniedOutput()
            case chunks.ToolOutputError():
                name, output = "errorText", parts.ErrorTextOutput(chunk.error_text)
            case chunks.ToolOutputChunk():
                output = chunk.output
            case chunks.ToolOutputAvailable(output=str(text)):
                output = parts.TextOutput(text)
            case chunks.ToolOutputAvailable():
                if chunk.output is UNSET:
                    self._output.report_loss("output", None, REQUIRED, "repaired")
                    return ""
                output = parts.JsonOutput(chunk.output)
        block: Any = write_result(parts.ToolResultPart(chunk.tool_call_id, "", output))
        content: Json = to_json(block.content)
        read_back: parts.ToolOutput
        if isinstance(content, str):
            read_back = parts.TextOutput(content)
        else:
            read_back = parts.ContentOutput(read_content(wire.CONTENT.read(content)))
        record = Record()
        record.entries.append(Entry(output, name, 0))
        self._output.report_losses(REPORT.compare(record, {0: read_back}))
        return content

    def _result(self, call: str, content: Json, metadata: JsonObject | None) -> None:
        known = notes(metadata, NAMESPACE).get(MESSAGE_ID)
        id_ = known if isinstance(known, str) else self._ids.result(call)
        self._answered.add(call)
        self._complete.pop(call, None)
        self._output.emit("TOOL_CALL_RESULT", messageId=id_, toolCallId=call, content=content, role="tool")
        self._output.emit_encrypted("message", id_, metadata, MESSAGE_ID)


def is_preliminary(chunk: Output) -> bool:
    """Whether another output follows."""
    return bool(getattr(chunk, "preliminary", None))


def _interrupt(request: chunks.ToolApprovalRequest) -> JsonObject:
    """Return an approval request as an interrupt: https://docs.ag-ui.com/concepts/interrupts."""
    written: JsonObject = to_json(request)
    more = {
        name: written[name] for name in ("inputSchemaInput", "signature", "isAutomatic") if name in written
    }
    descriptor = request.approval_descriptor
    if is_object(descriptor) and isinstance(descriptor.get("reason"), str):  # it was an interrupt
        interrupt = dict(descriptor)
    else:
        interrupt = {"reason": "tool_call", "responseSchema": APPROVAL_SCHEMA}
        more = more if descriptor is UNSET else {"descriptor": descriptor, **more}
    if more:
        metadata = interrupt.get("metadata")
        interrupt["metadata"] = {**metadata, **more} if is_object(metadata) else more
    if request.reason is not None:
        interrupt["message"] = request.reason
    return {**interrupt, "id": request.approval_id, "toolCallId": request.tool_call_id}


class AgentEncoder:
    """Encodes the chunks of one agent, and of its sub-agents."""

    def __init__(self, run: RunOutput, message_id: str, agent: str | None = None) -> None:
        self._output = AgentOutput(run, agent)
        self.ids = MessageIds(message_id)
        self.calls = CallEncoder(self._output, self.ids)
        self._texts = TextEncoder(self._output, self.ids)
        self._agents: dict[str, AgentEncoder] = {}  # sub-agents by call
        self._interrupts: list[JsonObject] = []  # besides approval requests
        self._steps = 0
        self._step: str | None = None
        self.next_step: str | None = None
        """The name of the next step."""
        self._result: Json = None  # of a sub-agent
        self._error: str | None = None

    def start_message(self, message_id: str | None) -> None:
        """Start another message, if its id differs."""
        if message_id is not None and message_id != self.ids.message_id:
            self._close_blocks()
            self.ids.start(message_id)

    def close(self) -> None:
        """End everything that is open."""
        for agent in self._agents.values():
            agent.end()
        self._agents = {}
        self._close_blocks()
        self._end_step()

    def interrupts(self) -> list[JsonObject]:
        """Return the interrupts of this agent and its sub-agents."""
        own: JsonObject = {} if self._output.agent is None else {AGENT: self._output.agent}
        own_interrupts = [{**one, **own} for one in (*self.calls.interrupts(), *self._interrupts)]
        return own_interrupts + [one for agent in self._agents.values() for one in agent.interrupts()]

    def encode(self, chunk: Chunk) -> None:
        """Encode a chunk. One without an event becomes a custom event that only Partita reads."""
        if not isinstance(chunk, chunks.UnknownChunk) and chunk.extra:
            self._output.report_loss("", dict(chunk.extra))
        if isinstance(chunk, Text | Reasoning):
            self._texts.encode(chunk)
        elif isinstance(chunk, chunks.ToolInputDelta | Input | Approval | Output):
            self._texts.close()
            self._encode_call(chunk)
        elif isinstance(chunk, MessageChunk):
            self._encode_message(chunk)
        elif isinstance(chunk, DataChunk):
            self._encode_data(chunk)
        else:
            self._encode_other(chunk)

    def _encode_other(self, chunk: Chunk) -> None:
        match chunk:
            case chunks.StepStart():
                self._start_step()
            case chunks.StepFinish():
                self._close_blocks()
                self._end_step()
            case chunks.StepReset():
                self._output.report_loss("", "reset-step", "events that were sent cannot be taken back")
            case chunks.SteeringMessageChunk(parts=(TextPart() as text,)) if text == TextPart(text.text):
                self._encode_steering(chunk.id, text.text)
            case chunks.ChildChunk(path=(call, *rest)):
                agent = self._agents.get(call) or self._start_agent(call, chunk.chunk)
                agent.encode(chunks.ChildChunk(tuple(rest), chunk.chunk) if rest else chunk.chunk)
            case chunks.ChildChunk():
                self._output.report_loss("", to_json(chunk), "its path is empty")
            case _:
                value, type_ = to_json(chunk), chunks.type_of(chunk)
                self._output.emit("CUSTOM", name=f"{events.CHUNK}{type_}", value=value)
                why = f"there is no event for {type_}: it is a custom one"
                self._output.report_loss("", value, why, "changed")

    def _close_blocks(self) -> None:
        self._texts.close()
        self.calls.close()

    def _encode_call(self, chunk: chunks.ToolInputDelta | Input | Approval | Output) -> None:
        if isinstance(chunk, chunks.ToolInputDelta):
            self.calls.append(chunk.tool_call_id, chunk.input_text_delta)
        elif isinstance(chunk, Input):
            self.calls.encode_input(chunk)
        elif isinstance(chunk, Approval):
            self.calls.encode_approval(chunk)
        else:
            agent = None if is_preliminary(chunk) else self._agents.pop(chunk.tool_call_id, None)
            if agent is not None:
                self.calls.end_input(chunk.tool_call_id)
                agent.end()
            self.calls.encode_output(chunk)

    def _encode_steering(self, id: str, text: str) -> None:
        self._texts.close()
        self._output.emit("TEXT_MESSAGE_START", messageId=id, role="user")
        if text:
            self._output.emit("TEXT_MESSAGE_CONTENT", messageId=id, delta=text)
        self._output.emit("TEXT_MESSAGE_END", messageId=id)
        self.ids.end_step()

    def _start_step(self) -> None:
        self._close_blocks()
        self._end_step()
        self.ids.end_step()
        self._steps += 1
        self._step, self.next_step = self.next_step or f"step-{self._steps}", None
        self._output.emit("STEP_STARTED", stepName=self._step)

    def _end_step(self) -> None:
        if self._step is not None:
            self._output.emit("STEP_FINISHED", stepName=self._step)
            self._step = None

    def _encode_data(self, chunk: DataChunk) -> None:
        output, data = self._output, None if chunk.data is UNSET else chunk.data
        marks = {"id": chunk.id, "transient": chunk.transient}
        marks = {name: value for name, value in marks.items() if value is not None}
        if chunk.type == events.INTERRUPT and is_object(data):
            self._interrupts.append(data)
        elif chunk.type in (events.REST, events.INTERRUPT):
            output.report_loss("data", data, "it was a member of another event", "minor")
        elif (event := _event_of(chunk)) is not None:
            if chunk.type == events.EVENT:
                output.run.events.append(event)
            else:
                output.emit_event(event)
            for name, value in without(marks, *(("id",) if chunk.type == events.ACTIVITY else ())).items():
                output.report_loss(name, value, NO_PLACE, "minor")
        else:
            more = {"metadata": marks} if marks else {}
            output.emit_event({"type": "CUSTOM", "name": chunk.name, "value": data, **more})
            if chunk.data is UNSET:
                output.report_loss("data", None, REQUIRED, "repaired")

    # Sub-agents

    def _start_agent(self, call: str, first: Chunk) -> "AgentEncoder":
        """Announce the sub-agent of a call. Its name is in its metadata, or it is that of the tool."""
        self._texts.close()
        self.calls.end_input(call)
        metadata = first.message_metadata if isinstance(first, MessageStart) else None
        about = notes(metadata, NAMESPACE) if is_object(metadata) else {}
        name, description = about.get("name"), about.get("description")
        run = self._output.run
        AgentOutput(run).emit(
            "SUBAGENT_STARTED",
            subagentRunId=call,
            name=name if isinstance(name, str) else self.calls.names.get(call, call),
            parentToolCallId=call,
            description=description if isinstance(description, str) else None,
            parentSubagentRunId=self._output.agent,
        )
        agent = self._agents[call] = AgentEncoder(run, f"{call}/1", call)
        return agent

    def _encode_message(self, chunk: MessageChunk) -> None:
        """Encode the start or the end of the message of a sub-agent."""
        if isinstance(chunk, chunks.ErrorChunk):
            self._error = chunk.error_text
            why = "a sub-agent ends with its last error"
            self._output.report_loss("errorText", chunk.error_text, why, "minor")
            return
        if isinstance(chunk, chunks.MessageAbort):
            why = "there is no event for a sub-agent that was stopped"
            self._output.report_loss("reason", chunk.reason, why)
            return
        if isinstance(chunk, MessageStart):
            self.start_message(chunk.message_id)
        metadata: JsonObject = chunk.message_metadata if is_object(chunk.message_metadata) else {}
        found = notes(metadata, NAMESPACE)
        if isinstance(chunk, MessageFinish) and "result" in found:
            self._result = found["result"]
        known = ("name", "description", "result", "parentToolCallId", "parentSubagentRunId")
        if rest := {**without(metadata, NAMESPACE), **without(found, *known)}:
            self._output.report_loss("messageMetadata", rest, "sub-agents have no metadata")

    def end(self) -> None:
        """End this sub-agent."""
        self.close()
        if self._error is not None:
            self._output.emit("SUBAGENT_ERROR", message=self._error)
            return
        ids = [one["id"] for one in self.calls.interrupts()]
        outcome = {"type": "suspended", "interruptIds": ids} if ids else None
        self._output.emit("SUBAGENT_FINISHED", result=self._result, outcome=outcome)


def _event_of(chunk: DataChunk) -> JsonObject | None:
    """Return the event that is kept in data, if there is one."""
    type_, data = chunk.type, chunk.data
    if type_ == events.EVENT:
        return data if is_object(data) and isinstance(data.get("type"), str) else None
    for event, (name, member) in MEMBER_DATA.items():
        if type_ == name and data is not UNSET and (name == events.STATE or is_array(data)):
            return {"type": event, member: data}
    for event, (name, required) in EVENT_DATA.items():
        if type_ == name and is_object(data) and "type" not in data and data.keys() >= set(required):
            if name != events.ACTIVITY:
                return {"type": event, **data}
            return (
                {"type": event, MESSAGE_ID: chunk.id, **data} if chunk.id and MESSAGE_ID not in data else None
            )
    return None
