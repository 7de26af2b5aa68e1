"""Calls, their results and the questions whether they may run, as events."""

from typing import Final, TypeAlias, assert_never

from msgspec import UNSET, UnsetType

from partita.errors import DecodeError
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
from partita.types.json import Json, JsonObject, dumps, is_object, loads
from partita.types.tools import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    ToolOutput,
)

from . import names
from .answers import DENIED, PARENT, words_of_output
from .content import write_content
from .losses import Losses
from .messages import MESSAGE_ID
from .notes import SEALED, notes_in, others_in, rest_of, seal
from .pieces import Pieces
from .telling import Telling

Called: TypeAlias = (
    ToolInputStart
    | ToolInputDelta
    | ToolInputAvailable
    | ToolInputError
    | ToolOutputAvailable
    | ToolOutputError
    | ToolOutputDenied
    | ToolOutputChunk
    | ToolApprovalRequest
    | ToolApprovalResponse
)

ANSWER: Final[JsonObject] = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["approved"],
}
"""What an answer to the question whether a call may run looks like."""

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

    def __init__(self, telling: Telling, message_id: str) -> None:
        self._telling = telling
        self.pieces = Pieces(message_id)
        self.parent: str | None = None
        """The message that the piece at hand is, once it has an id."""
        self._open: dict[str, list[str]] = {}
        self._names: dict[str, str] = {}
        self._answered: set[str] = set()
        self._questions: dict[str, ToolApprovalRequest] = {}
        self._lost: set[tuple[str, str]] = set()

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
        return [_interrupt(asked) for asked in self._questions.values()]

    def settle(self) -> None:
        """The calls so far are of an earlier run: this one neither told them nor waits for them."""
        self._answered.update(self._names)
        self._questions = {}

    def close(self) -> None:
        """The inputs that are open will not be written any further."""
        for call in list(self._open):
            self.end_input(call)

    def end_input(self, call: str) -> None:
        """The input of a call is whole, if it is open."""
        if self._open.pop(call, None) is not None:
            self._telling.emit("TOOL_CALL_END", toolCallId=call)

    def tell(self, chunk: Called) -> None:
        """Tell of a chunk."""
        match chunk:
            case ToolInputStart():
                self._untold(chunk)
                self._start(chunk.tool_call_id, chunk.tool_name)
                self._seal(chunk.tool_call_id, chunk.provider_metadata)
            case ToolInputDelta():
                self._grow(chunk.tool_call_id, chunk.input_text_delta)
            case ToolInputAvailable():
                self._whole(chunk)
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

    def _whole(self, chunk: ToolInputAvailable) -> None:
        call = chunk.tool_call_id
        self._untold(chunk)
        if call not in self._open:
            if call in self._names and call not in self._answered:
                self._seal(call, chunk.provider_metadata)
                return  # it has been told
            self._start(call, chunk.tool_name)
        self._write_input(call, chunk.input)
        self.end_input(call)
        self._seal(call, chunk.provider_metadata)

    def _write_input(self, call: str, value: Json | UnsetType) -> None:
        """Write an input, unless its pieces have said the same."""
        words = "".join(self._open[call])
        if not words:
            if value is not UNSET:
                self._grow(call, dumps(value).decode())
        elif not _says(words, value):
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

    def _untold(self, chunk: ToolInputStart | ToolInputAvailable | ToolInputError) -> None:
        for field, name in NOT_TOLD.items():
            value = getattr(chunk, field, None)
            if value is not None and (chunk.tool_call_id, name) not in self._lost:
                self._lost.add((chunk.tool_call_id, name))
                self._telling.lose(name, value, NO_PLACE)

    # Outputs

    def _output(
        self, chunk: ToolOutputAvailable | ToolOutputError | ToolOutputDenied | ToolOutputChunk
    ) -> None:
        call = chunk.tool_call_id
        self.end_input(call)
        self._questions = {key: one for key, one in self._questions.items() if one.tool_call_id != call}
        if isinstance(chunk, ToolOutputDenied):
            self._telling.lose("", "tool-output-denied", "a refusal becomes words", "changed")
            self._result(call, DENIED, None)
            return
        for field, name in NOT_TOLD.items():
            value = getattr(chunk, field, None)
            if value is not None and (call, name) not in self._lost:
                self._telling.lose(name, value, NO_PLACE)
        if isinstance(chunk, ToolOutputError):
            self._telling.lose("errorText", chunk.error_text, "an error becomes words", "changed")
            self._result(call, chunk.error_text, chunk.provider_metadata)
            return
        value = chunk.output
        if chunk.preliminary:
            told: Json = to_json(value) if value is not UNSET else None
            self._telling.lose("output", told, "a call has one result, its last", "minor")
            return
        self._result(call, self._content(value), chunk.provider_metadata)

    def _content(self, output: Json | ToolOutput | UnsetType) -> Json:
        match output:
            case str() | TextOutput():
                return output if isinstance(output, str) else output.value
            case ContentOutput():
                losses = Losses()
                written = write_content(output.value, "output", losses)
                for loss in losses.told:
                    self._telling.lose(loss.path, loss.what, loss.why, loss.severity)
                return written
            case ErrorTextOutput():
                self._telling.lose("output", to_json(output), "an error becomes words", "changed")
                return output.value
            case UnsetType():
                self._telling.lose("output", None, "a result must have a content", "repaired")
                return ""
            case JsonOutput() | ErrorJsonOutput() | ExecutionDeniedOutput() | InterruptedOutput():
                words = words_of_output(output)
            case _:
                words = dumps(output).decode()
        self._telling.lose("output", words, "an output that is no text becomes words", "changed")
        return words

    def _result(self, call: str, content: Json, metadata: JsonObject | None) -> None:
        known_as = notes_in(metadata).get(MESSAGE_ID)
        id_ = known_as if isinstance(known_as, str) else self.pieces.result(call)
        self._answered.add(call)
        self._telling.emit("TOOL_CALL_RESULT", messageId=id_, toolCallId=call, content=content, role="tool")
        if others := others_in(metadata):
            self._telling.emit(
                "REASONING_ENCRYPTED_VALUE", subtype="message", entityId=id_, encryptedValue=seal(others)
            )
        self._unplaced(metadata, MESSAGE_ID)

    def _seal(self, call: str, metadata: JsonObject | None) -> None:
        """What only providers understand goes along, sealed."""
        sealed = notes_in(metadata).get(SEALED)
        if others := others_in(metadata):
            sealed = seal(others)
        if isinstance(sealed, str):
            self._telling.emit(
                "REASONING_ENCRYPTED_VALUE", subtype="tool-call", entityId=call, encryptedValue=sealed
            )
        told = (SEALED, RAW_INPUT, *((PARENT,) if notes_in(metadata).get(PARENT) == self.parent else ()))
        self._unplaced(metadata, *told)

    def _unplaced(self, metadata: JsonObject | None, *told: str) -> None:
        if rest := rest_of(notes_in(metadata), *told):
            self._telling.lose("providerMetadata.agUi", rest, NO_PLACE)


def _says(words: str, value: Json | UnsetType) -> bool:
    """Whether the words of an input say the same as its value; words of a text say themselves."""
    if value is UNSET or words == value:
        return value is not UNSET
    try:
        return bool(loads(words) == value)
    except DecodeError:
        return False


def _interrupt(asked: ToolApprovalRequest) -> JsonObject:
    """A question as something that the run waits for."""
    descriptor = asked.approval_descriptor
    said: JsonObject = dict(descriptor) if is_object(descriptor) else {}
    if not isinstance(said.get("reason"), str):
        said = {"reason": names.APPROVAL, "responseSchema": ANSWER}
        more: JsonObject = {} if descriptor is UNSET else {"descriptor": descriptor}
        if asked.input_schema_input is not UNSET:
            more["inputSchemaInput"] = asked.input_schema_input
        for field, name in (("signature", "signature"), ("is_automatic", "isAutomatic")):
            if (value := getattr(asked, field)) is not None:
                more[name] = value
        if more:
            said["metadata"] = more
    if asked.reason is not None:
        said["message"] = asked.reason
    return {**said, "id": asked.approval_id, "toolCallId": asked.tool_call_id}
