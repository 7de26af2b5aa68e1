"""Calls, their results and the questions whether they may run, as events."""

from typing import Final, TypeAlias, assert_never

from msgspec import UNSET, UnsetType

from partita.formats.ag_ui.inputs import says
from partita.formats.ag_ui.names import MESSAGE_ID, PARENT
from partita.formats.ag_ui.notes import SEALED, notes_in, others_in, seal
from partita.formats.ag_ui.pieces import Pieces
from partita.formats.answers.outlet import RAW_INPUT
from partita.types.chunks import (
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
)
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps

from .outputs import Output, content_of, preview_of
from .questions import interrupt_of
from .seals import lose_notes, seal_in, tell_seal
from .telling import Telling

Input: TypeAlias = ToolInputStart | ToolInputAvailable | ToolInputError
Called: TypeAlias = Input | ToolInputDelta | Output | ToolApprovalRequest | ToolApprovalResponse

NOT_TOLD: Final = {
    "provider_executed": "providerExecuted",
    "tool_metadata": "toolMetadata",
    "dynamic": "dynamic",
    "title": "title",
    "input_encoding": "inputEncoding",
}
"""Fields of chunks that calls have no place for."""

NO_PLACE: Final = "events of calls have no place for it"


class Calls:
    """The calls of one agent, as events."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self.pieces = Pieces(telling.message_id)
        self.parent: str | None = None
        """The message that the piece at hand is, once it has an id."""
        self._open: dict[str, list[str]] = {}  # the words of inputs that are being written
        self._whole: dict[str, list[str]] = {}  # and of those that wait for a result
        self._names: dict[str, str] = {}
        self._answered: set[str] = set()
        self._questions: dict[str, ToolApprovalRequest] = {}
        self._lost: set[tuple[str, str, bytes]] = set()

    def message(self, message_id: str) -> None:
        """Another message begins."""
        self.pieces = Pieces(message_id)
        self.parent = None

    def name_of(self, call: str) -> str | None:
        """The tool that a call is for."""
        return self._names.get(call)

    def unanswered(self) -> list[str]:
        """The calls that have no result, in order."""
        return [call for call in self._names if call not in self._answered]

    def interrupts(self) -> list[JsonObject]:
        """The questions that nobody has answered."""
        return [interrupt_of(asked) for asked in self._questions.values()]

    def settle(self) -> None:
        """The calls so far are of an earlier run: this one neither told them nor waits for them."""
        self._answered.update(self._names)
        self._whole = {}
        self._questions = {}

    def close(self) -> None:
        """The inputs that are open will not be written any further."""
        for call in list(self._open):
            self.end_input(call)

    def end_input(self, call: str) -> None:
        """The input of a call is whole, if it is open."""
        words = self._open.pop(call, None)
        if words is not None:
            self._whole[call] = words
            self._telling.emit("TOOL_CALL_END", toolCallId=call)

    def tell(self, chunk: Called) -> None:
        """Tell of a chunk."""
        match chunk:
            case ToolInputDelta():
                self._grow(chunk.tool_call_id, chunk.input_text_delta)
            case ToolInputStart():
                self._untold(chunk)
                self._start(chunk.tool_call_id, chunk.tool_name)
                self._seal(chunk.tool_call_id, chunk.provider_metadata)
            case ToolInputAvailable():
                self._input(chunk)
            case ToolInputError():
                self._bad(chunk)
            case ToolApprovalRequest():
                self.end_input(chunk.tool_call_id)
                self._questions[chunk.approval_id] = chunk
            case ToolApprovalResponse():
                self._questions.pop(chunk.approval_id, None)
                answer = to_json(chunk)
                self._telling.lose("", answer, "answers come from the client, not from the agent")
            case ToolOutputAvailable() | ToolOutputError() | ToolOutputDenied() | ToolOutputChunk():
                self._output(chunk)
            case _:
                assert_never(chunk)

    # Inputs

    def _start(self, call: str, name: str) -> None:
        if call in self._open:
            return
        new_piece = not self.pieces.is_used
        made = self.pieces.call(call)
        if new_piece or self.parent is None:
            self.parent = made
        self._open[call] = []
        self._names[call] = name
        self._answered.discard(call)
        self._telling.emit("TOOL_CALL_START", toolCallId=call, toolCallName=name, parentMessageId=self.parent)

    def _grow(self, call: str, delta: str) -> None:
        pieces = self._open.get(call)
        if pieces is None:
            self._telling.lose("inputTextDelta", delta, "the input of its call is not open")
        elif delta:
            pieces.append(delta)
            self._telling.emit("TOOL_CALL_ARGS", toolCallId=call, delta=delta)

    def _input(self, chunk: ToolInputAvailable) -> None:
        call = chunk.tool_call_id
        self._untold(chunk)
        if call in self._whole and call not in self._open:  # it has been told
            self._compare("".join(self._whole[call]), chunk.input)
        else:
            self._start(call, chunk.tool_name)
            self._write_input(call, chunk.input)
            self.end_input(call)
        self._seal(call, chunk.provider_metadata)

    def _write_input(self, call: str, value: Json | UnsetType) -> None:
        """Write an input, unless its pieces have said the same."""
        words = "".join(self._open[call])
        if words:
            self._compare(words, value)
        elif value is not UNSET:
            self._grow(call, dumps(value).decode())

    def _compare(self, words: str, value: Json | UnsetType) -> None:
        if not says(words, value):
            self._telling.lose("input", None if value is UNSET else value, "its pieces said something else")

    def _bad(self, chunk: ToolInputError) -> None:
        call = chunk.tool_call_id
        self._untold(chunk)
        if call not in self._open:
            self._start(call, chunk.tool_name)
        if not self._open[call] and chunk.input is not UNSET:
            value: Json = chunk.input
            self._grow(call, value if isinstance(value, str) else dumps(value).decode())
        self.end_input(call)
        self._seal(call, chunk.provider_metadata)
        self._telling.lose("errorText", chunk.error_text, "an input that is no good has a result", "changed")
        self._result(call, chunk.error_text, None)

    def _untold(self, chunk: Input | Output) -> None:
        """Tell once for each call what there is no place for."""
        for field, name in NOT_TOLD.items():
            value = getattr(chunk, field, None)
            if value is not None and (lost := (chunk.tool_call_id, name, dumps(value))) not in self._lost:
                self._lost.add(lost)
                self._telling.lose(name, value, NO_PLACE)

    def _seal(self, call: str, metadata: JsonObject | None) -> None:
        if metadata is None:
            return
        tell_seal(self._telling, "tool-call", call, seal_in(metadata))
        is_parent = notes_in(metadata).get(PARENT) == self.parent
        lose_notes(self._telling, metadata, NO_PLACE, SEALED, RAW_INPUT, *((PARENT,) if is_parent else ()))

    # Outputs

    def _output(self, chunk: Output) -> None:
        call = chunk.tool_call_id
        self.end_input(call)
        if self._questions:
            self._questions = {key: one for key, one in self._questions.items() if one.tool_call_id != call}
        self._untold(chunk)
        preview = preview_of(chunk)
        if preview is not UNSET:
            self._telling.lose("output", preview, "a call has one result, its last", "minor")
            return
        metadata = None if isinstance(chunk, ToolOutputDenied) else chunk.provider_metadata
        self._result(call, content_of(chunk, self._telling), metadata)

    def _result(self, call: str, content: Json, metadata: JsonObject | None) -> None:
        known_as = notes_in(metadata).get(MESSAGE_ID)
        id_ = known_as if isinstance(known_as, str) else self.pieces.result(call)
        self._answered.add(call)
        self._whole.pop(call, None)
        self._telling.emit("TOOL_CALL_RESULT", messageId=id_, toolCallId=call, content=content, role="tool")
        if metadata is None:
            return
        if others := others_in(metadata):
            tell_seal(self._telling, "message", id_, seal(others))
        lose_notes(self._telling, metadata, NO_PLACE, MESSAGE_ID)
