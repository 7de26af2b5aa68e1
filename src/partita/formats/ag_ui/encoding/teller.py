"""What one agent does, as events: the first agent, or a sub-agent below a call of another."""

from typing import assert_never

from partita.formats.ag_ui import names
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
)
from partita.types.codec import to_json
from partita.types.json import JsonObject, is_object
from partita.types.parts import TextPart

from .calls import Calls
from .data import tell_data, tell_whole
from .frames import Frame, Framed, started
from .outputs import Output
from .steps import Steps
from .telling import Telling
from .words import Spoken


class Teller:
    """Tells of one agent and of those below it."""

    def __init__(self, telling: Telling) -> None:
        self.telling = telling
        self.calls = Calls(telling)
        self.steps = Steps(telling)
        self._spoken = Spoken(telling, self.calls)
        self._frame = Frame(telling)
        self._below: dict[str, Teller] = {}
        self._asked: list[JsonObject] = []  # what the agent waits for besides approvals

    def message(self, message_id: str | None) -> None:
        """Another message begins, if it has another id."""
        if message_id is not None and message_id != self.telling.message_id:
            self.close_words()
            self.telling.message_id = message_id
            self.calls.message(message_id)

    def close_words(self) -> None:
        """No text and no input is open any more."""
        self._spoken.close()
        self.calls.close()

    def close(self) -> None:
        """Nothing more comes."""
        for teller in self._below.values():
            self._end_agent(teller)
        self._below = {}
        self.close_words()
        self.steps.end()

    def interrupts(self) -> list[JsonObject]:
        """What this agent and those below it wait for."""
        agent = self.telling.agent
        own: JsonObject = {} if agent is None else {names.AGENT: agent}
        mine = [{**one, **own} for one in (*self.calls.interrupts(), *self._asked)]
        return mine + [one for teller in self._below.values() for one in teller.interrupts()]

    def tell(self, chunk: Chunk) -> None:
        """Tell of a chunk."""
        self._extra(chunk)
        match chunk:
            case TextDelta() | TextStart() | TextEnd() | ReasoningDelta() | ReasoningStart() | ReasoningEnd():
                self._spoken.tell(chunk)
            case (
                ToolInputDelta()
                | ToolInputStart()
                | ToolInputAvailable()
                | ToolInputError()
                | ToolApprovalRequest()
                | ToolApprovalResponse()
            ):
                self._spoken.close()
                self.calls.tell(chunk)
            case ToolOutputAvailable() | ToolOutputError() | ToolOutputDenied() | ToolOutputChunk():
                self._output(chunk)
            case StepStart():
                self._start_step()
            case StepFinish():
                self.close_words()
                self.steps.end()
            case StepReset():
                self.telling.lose("", "reset-step", "what was told cannot be taken back")
            case DataChunk():
                self._data(chunk)
            case SteeringMessageChunk():
                self._steer(chunk)
            case ChildChunk():
                self._child(chunk)
            case MessageStart() | MessageFinish() | MessageAbort() | MessageMetadata() | ErrorChunk():
                self._framed(chunk)
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
                tell_whole(chunk, self.telling)
            case _:
                assert_never(chunk)

    def _extra(self, chunk: Chunk) -> None:
        if not isinstance(chunk, UnknownChunk) and chunk.extra:
            self.telling.lose("", dict(chunk.extra), "events have no place for it")

    def _start_step(self) -> None:
        self.close_words()
        self.steps.end()
        self.calls.pieces.step()
        self.steps.start()

    def _data(self, chunk: DataChunk) -> None:
        if chunk.type == names.INTERRUPT and is_object(chunk.data):
            self._asked.append(chunk.data)
        else:
            tell_data(chunk, self.telling)

    def _steer(self, chunk: SteeringMessageChunk) -> None:
        """What a user said in between, if it is one plain text."""
        match chunk.parts:
            case (TextPart(provider_metadata=None, extra=None, citations=None, state=None) as said,):
                self._spoken.close()
                self.telling.emit("TEXT_MESSAGE_START", messageId=chunk.id, role="user")
                if said.text:
                    self.telling.emit("TEXT_MESSAGE_CONTENT", messageId=chunk.id, delta=said.text)
                self.telling.emit("TEXT_MESSAGE_END", messageId=chunk.id)
                self.calls.pieces.step()
            case _:
                tell_whole(chunk, self.telling)

    def _framed(self, chunk: Framed) -> None:
        """The frame of a sub-agent's message."""
        if isinstance(chunk, MessageStart):
            self.message(chunk.message_id)
        self._frame.hear(chunk)

    # Sub-agents

    def _child(self, chunk: ChildChunk) -> None:
        if not chunk.path:
            self.telling.lose("", to_json(chunk), "its path is empty")
            return
        call, rest = chunk.path[0], chunk.path[1:]
        teller = self._below.get(call) or self._begin_agent(call, chunk.chunk)
        teller.telling.number = self.telling.number
        teller.tell(ChildChunk(rest, chunk.chunk) if rest else chunk.chunk)
        self.telling.emit_whole(*teller.telling.take())

    def _begin_agent(self, call: str, first: Chunk) -> "Teller":
        self._spoken.close()
        self.calls.end_input(call)
        teller = Teller(Telling(self.telling.losses, f"{call}/1", call))
        self._below[call] = teller
        self.telling.emit_whole(started(call, self.calls.name_of(call), first, self.telling.agent))
        return teller

    def _output(self, chunk: Output) -> None:
        """A call that has its output has no sub-agent at work any more."""
        self._spoken.close()
        is_last = isinstance(chunk, ToolOutputError | ToolOutputDenied) or not chunk.preliminary
        teller = self._below.pop(chunk.tool_call_id, None) if is_last else None
        if teller is not None:
            self.calls.end_input(chunk.tool_call_id)
            self._end_agent(teller)
        self.calls.tell(chunk)

    def _end_agent(self, teller: "Teller") -> None:
        teller.close()
        ended = teller._frame.ended(teller.calls.interrupts())
        self.telling.emit_whole(*teller.telling.take(), ended)
