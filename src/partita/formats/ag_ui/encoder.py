"""Chunks → AG-UI events.

One stream of chunks is one run, whichever messages it goes through. Texts, calls and results get the ids that
`pieces` gives the same message when it is dumped, unless they came with ids of AG-UI. The end of the run is
told when the chunks end: only then is it known whether calls still wait for somebody.
"""

from collections.abc import Iterable, Sequence
from typing import Final, assert_never

from msgspec import UNSET

from partita.formats.losses import Loss, Severity
from partita.types.chunks import (
    ChildChunk,
    ChildMessage,
    Chunk,
    CustomChunk,
    DataChunk,
    ErrorChunk,
    FileChunk,
    MessageAbort,
    MessageFinish,
    MessageMetadata,
    MessageStart,
    NetworkExecutionEnd,
    NetworkExecutionStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningFileChunk,
    ReasoningStart,
    SourceDocumentChunk,
    SourceUrlChunk,
    SteeringMessageChunk,
    StepFinish,
    StepReset,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputError,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputChunk,
    ToolOutputDenied,
    ToolOutputError,
    UnknownChunk,
    type_of,
)
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import TextPart

from . import names
from .encoding_calls import Calls
from .encoding_data import event_of_data
from .encoding_ends import Ends
from .encoding_words import Spoken
from .notes import NAMESPACE, notes_in, rest_of

VERSION: Final = "1.0"


class Teller:
    """Tells of one agent: the first, or a sub-agent, whose events carry its name."""

    def __init__(self, losses: list[Loss], message_id: str, agent: str | None = None) -> None:
        self._events: list[Json] = []
        self._losses = losses
        self._agent = agent
        self._number = 0
        self.message_id = message_id
        self.calls = Calls(self, message_id)
        self.spoken = Spoken(self, self.calls)
        self._step: str | None = None
        self._steps = 0
        self._step_name: str | None = None
        self.below: dict[str, Teller] = {}
        self.asked: list[JsonObject] = []
        """What the agent waits for besides approvals."""
        self.result: Json = None
        """What a sub-agent gave back."""
        self.failed: str | None = None
        """What went wrong with a sub-agent."""

    def take(self) -> list[Json]:
        """The events since the last time."""
        events, self._events = self._events, []
        return events

    def emit(self, type: str, **members: Json) -> None:
        """Add an event. What is `None` is left out."""
        event: JsonObject = {"type": type}
        event |= {name: value for name, value in members.items() if value is not None}
        if self._agent is not None:
            event[names.AGENT] = self._agent
        self._events.append(event)

    def emit_whole(self, event: Json) -> None:
        """Add an event as it is."""
        self._events.append(event)

    def lose(self, name: str, value: Json, why: str, severity: Severity = "lost") -> None:
        """Tell that a member of the chunk at hand does not arrive."""
        member = f".{name}" if name else ""
        self._losses.append(Loss.of(f"$[{self._number}]{member}", value, why, severity))

    def at(self, number: int) -> None:
        """The chunk of that number is at hand."""
        self._number = number

    def message(self, message_id: str | None) -> None:
        """Another message begins, if it has another id."""
        if message_id is not None and message_id != self.message_id:
            self.close_words()
            self.message_id = message_id
            self.calls.message(message_id)

    def close_words(self) -> None:
        """No text and no input is open any more."""
        self.spoken.close()
        self.calls.close()

    def close(self) -> None:
        """Nothing more comes."""
        for agent, teller in self.below.items():
            self._end_agent(agent, teller)
        self.below = {}
        self.close_words()
        self._end_step()

    def interrupts(self) -> list[JsonObject]:
        """What this agent and those below it wait for."""
        own = [] if self._agent is None else [(names.AGENT, self._agent)]
        mine = [{**one, **dict(own)} for one in (*self.calls.interrupts(), *self.asked)]
        return mine + [one for teller in self.below.values() for one in teller.interrupts()]

    # Steps

    def name_step(self, name: str) -> None:
        """The next step has a name."""
        self._step_name = name

    def step(self) -> None:
        """A step begins."""
        self.close_words()
        self._end_step()
        self.calls.pieces.step()
        self._steps += 1
        self._step = self._step_name or f"step-{self._steps}"
        self._step_name = None
        self.emit("STEP_STARTED", stepName=self._step)

    def _end_step(self) -> None:
        if self._step is not None:
            self.emit("STEP_FINISHED", stepName=self._step)
            self._step = None

    # What happens

    def tell(self, chunk: Chunk) -> None:
        """Tell of a chunk."""
        self._extra(chunk)
        match chunk:
            case TextStart() | TextDelta() | TextEnd() | ReasoningStart() | ReasoningDelta() | ReasoningEnd():
                self.spoken.tell(chunk)
            case (
                ToolInputStart()
                | ToolInputDelta()
                | ToolInputAvailable()
                | ToolInputError()
                | ToolOutputAvailable()
                | ToolOutputError()
                | ToolOutputDenied()
                | ToolOutputChunk()
                | ToolApprovalRequest()
                | ToolApprovalResponse()
            ):
                self.spoken.close()
                self.calls.tell(chunk)
                self._end_agent_of(chunk)
            case StepStart():
                self.step()
            case StepFinish():
                self.close_words()
                self._end_step()
            case StepReset():
                self.lose("", "reset-step", "what was told cannot be taken back")
            case DataChunk():
                self._data(chunk)
            case SteeringMessageChunk():
                self._steer(chunk)
            case ChildChunk():
                self._child(chunk)
            case MessageStart() | MessageFinish() | MessageAbort() | MessageMetadata() | ErrorChunk():
                self._frame(chunk)
            case (
                FileChunk()
                | ReasoningFileChunk()
                | SourceUrlChunk()
                | SourceDocumentChunk()
                | CustomChunk()
                | NetworkExecutionStart()
                | NetworkExecutionEnd()
                | ChildMessage()
                | UnknownChunk()
            ):
                self._whole(chunk)
            case _:
                assert_never(chunk)

    def _extra(self, chunk: Chunk) -> None:
        if not isinstance(chunk, UnknownChunk) and chunk.extra:
            self.lose("", dict(chunk.extra), "events have no place for it")

    def _whole(self, chunk: Chunk) -> None:
        """A chunk that no event tells of travels as it is: only we can read it."""
        value = to_json(chunk)
        kind = type_of(chunk)
        self.emit("CUSTOM", name=f"{names.CHUNK}{kind}", value=value)
        self.lose("", value, f"there is no event for {kind}: it is a custom one", "changed")

    def _data(self, chunk: DataChunk) -> None:
        if chunk.type == names.INTERRUPT and is_object(chunk.data):
            self.asked.append(chunk.data)
            return
        event = event_of_data(chunk)
        if event is None:
            self.lose("data", None if chunk.data is UNSET else chunk.data, "it was part of an event", "minor")
            return
        if chunk.type == names.EVENT and is_object(chunk.data):
            self.emit_whole(chunk.data)
            return
        kind = event.pop("type")
        if kind == "CUSTOM":  # a value is required, be it null
            self._events.append(
                {"type": kind, **event, **({} if self._agent is None else {names.AGENT: self._agent})}
            )
            if chunk.data is UNSET:
                self.lose("data", None, "an event without a value says null", "repaired")
            return
        self.emit(kind, **event)

    def _steer(self, chunk: SteeringMessageChunk) -> None:
        match chunk.parts:
            case (TextPart(provider_metadata=None, extra=None, citations=None, state=None) as said,):
                self.spoken.close()
                self.emit("TEXT_MESSAGE_START", messageId=chunk.id, role="user")
                if said.text:
                    self.emit("TEXT_MESSAGE_CONTENT", messageId=chunk.id, delta=said.text)
                self.emit("TEXT_MESSAGE_END", messageId=chunk.id)
                self.calls.pieces.step()
            case _:
                self._whole(chunk)

    def _frame(
        self, chunk: MessageStart | MessageFinish | MessageAbort | MessageMetadata | ErrorChunk
    ) -> None:
        """The frame of a sub-agent's message."""
        match chunk:
            case MessageStart():
                self.message(chunk.message_id)
            case ErrorChunk():
                self.lose(
                    "errorText", chunk.error_text, "the end of a sub-agent tells its last error", "minor"
                )
            case MessageAbort():
                self.lose("reason", chunk.reason, "a sub-agent cannot be told to have been stopped")
            case _:
                pass
        said = getattr(chunk, "message_metadata", UNSET)
        if not is_object(said):
            return
        notes = notes_in(said)
        if isinstance(chunk, MessageFinish) and "result" in notes:
            self.result = notes["result"]
        told = ("name", "description", "result", "parentToolCallId", "parentSubagentRunId")
        rest = {**rest_of(said, NAMESPACE), **rest_of(notes, *told)}
        if rest:
            self.lose("messageMetadata", rest, "sub-agents have no metadata")

    # Sub-agents

    def _child(self, chunk: ChildChunk) -> None:
        if not chunk.path:
            self.lose("", to_json(chunk), "its path is empty")
            return
        call, rest = chunk.path[0], chunk.path[1:]
        teller = self.below.get(call) or self._begin_agent(call, chunk.chunk)
        teller.at(self._number)
        inner = ChildChunk(rest, chunk.chunk) if rest else chunk.chunk
        if isinstance(inner, ErrorChunk):
            teller.failed = inner.error_text
        teller.tell(inner)
        self._events += teller.take()

    def _begin_agent(self, call: str, first: Chunk) -> "Teller":
        self.spoken.close()
        self.calls.end_input(call)
        teller = Teller(self._losses, f"{call}/1", call)
        self.below[call] = teller
        said = first.message_metadata if isinstance(first, MessageStart) else UNSET
        notes = notes_in(said) if is_object(said) else {}
        name = notes.get("name")
        event: JsonObject = {
            "type": "SUBAGENT_STARTED",
            names.AGENT: call,
            "name": name if isinstance(name, str) else self.calls.name_of(call) or call,
            "parentToolCallId": call,
        }
        if isinstance(notes.get("description"), str):
            event["description"] = notes["description"]
        if self._agent is not None:
            event["parentSubagentRunId"] = self._agent
        self._events.append(event)
        return teller

    def _end_agent_of(self, chunk: Chunk) -> None:
        """A call that has its output has no sub-agent at work any more."""
        match chunk:
            case ToolOutputAvailable() | ToolOutputChunk() if chunk.preliminary:
                return
            case ToolOutputAvailable() | ToolOutputChunk() | ToolOutputError() | ToolOutputDenied():
                teller = self.below.pop(chunk.tool_call_id, None)
                if teller is not None:
                    result = self._events.pop()  # it comes when the sub-agent has ended
                    self._end_agent(chunk.tool_call_id, teller)
                    self._events.append(result)
            case _:
                return

    def _end_agent(self, agent: str, teller: "Teller") -> None:
        teller.close()
        self._events += teller.take()
        if teller.failed is not None:
            self._events.append({"type": "SUBAGENT_ERROR", names.AGENT: agent, "message": teller.failed})
            return
        event: JsonObject = {"type": "SUBAGENT_FINISHED", names.AGENT: agent}
        if teller.result is not None:
            event["result"] = teller.result
        asked = [one["id"] for one in teller.calls.interrupts()]
        if asked:
            event["outcome"] = {"type": "suspended", "interruptIds": asked}
        self._events.append(event)


class AgUiEncoder:
    """Chunks in, events out. One encoder writes one run."""

    def __init__(
        self,
        thread_id: str | None = None,
        run_id: str | None = None,
        message_id: str | None = None,
        before: Iterable[Chunk] = (),
    ) -> None:
        """Without ids, those that the chunks bring count, or made up ones.

        `before` is what the message said in an earlier run: it is not told again.
        """
        self._losses: list[Loss] = []
        self._teller = Teller(self._losses, message_id or "message-1")
        self._ends = Ends(thread_id, run_id)
        self._begun = False
        self._number = 0
        for chunk in before:
            self.feed(chunk)
        if self._begun:
            self._forget()

    def _forget(self) -> None:
        """What was told was told by another run. Only the names that are taken stay so."""
        self._teller.close()
        self._teller.take()
        self._teller.calls.settle()
        self._teller.calls.pieces.step()
        self._ends.forget()
        self._losses.clear()
        self._begun, self._number = False, 0

    @property
    def losses(self) -> Sequence[Loss]:
        """What could not be told so far; a path begins with the number of the chunk."""
        return self._losses

    def feed(self, chunk: Chunk) -> list[Json]:
        """The events that tell of a chunk."""
        teller = self._teller
        teller.at(self._number)
        if not self._begun:
            self._begin(chunk)
        match chunk:
            case MessageStart():
                teller.message(chunk.message_id)
                self._ends.note(chunk.message_metadata)
                self._ends.goes_on()
            case MessageMetadata():
                self._name_steps(chunk)
                self._ends.note(chunk.message_metadata)
            case MessageFinish() | MessageAbort() | ErrorChunk():
                self._ends.hear(chunk, teller)
            case _:
                teller.tell(chunk)
        self._number += 1
        return teller.take()

    def finish(self) -> list[Json]:
        """The events that close what is open when the chunks end."""
        if not self._begun:
            self._begin(None)
        interrupts = self._teller.interrupts()
        self._teller.close()
        self._ends.tell(self._teller, interrupts)
        return self._teller.take()

    def _begin(self, chunk: Chunk | None) -> None:
        self._begun = True
        said = chunk.message_metadata if isinstance(chunk, MessageStart) else UNSET
        notes = notes_in(said) if is_object(said) else {}
        if isinstance(chunk, MessageStart) and chunk.message_id is not None:
            self._teller.message(chunk.message_id)
        self._ends.begin(notes)
        rest = {name: value for name, value in notes.items() if name in ("parentRunId", "input", "timestamp")}
        version = notes.get("protocolVersion", VERSION)
        self._teller.emit(
            "RUN_STARTED",
            threadId=self._ends.thread_id,
            runId=self._ends.run_id,
            protocolVersion=version,
            **rest,
        )

    def _name_steps(self, chunk: MessageMetadata) -> None:
        """The name of the step that comes, where the metadata bring it."""
        said = chunk.message_metadata
        notes = notes_in(said) if is_object(said) else {}
        steps = notes.get("steps")
        if isinstance(steps, list) and steps and isinstance(steps[-1], str):
            self._teller.name_step(steps[-1])
