"""Calls of tools in a stream: their inputs as they are written, what they ask, and what came of them."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from msgspec import UNSET, Struct

from partita.errors import DecodeError
from partita.formats.answers.outlet import RAW_INPUT
from partita.formats.core.tool_text import read_tool_text
from partita.types.chunks import (
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputChunk,
)
from partita.types.json import Json, JsonObject, dumps, is_object, loads
from partita.types.tools import InterruptedOutput

from .said import Said, same
from .voice import NAMESPACE, Voice

Handler: TypeAlias = Callable[[Said], bool]
LetSpeak: TypeAlias = Callable[[str, Json, str], bool]

UNNAMED: Final = "unknown"
WORKING: Final = "tool-output"
TOLD: Final[Mapping[str, tuple[str, type]]] = {
    "providerExecuted": ("provider_executed", bool),
    "dynamic": ("dynamic", bool),
    "title": ("title", str),
}
"""Members of a call that chunks have fields for."""


class Call(Struct):
    """A call so far."""

    id: str
    name: str
    pieces: list[str] | None = None  # of its input, while it is written
    input: Any = UNSET
    metadata: JsonObject | None = None
    told: JsonObject = {}  # who runs it, whether it is dynamic, its title
    asked: str | None = None  # the id of the approval that it waits for, or had
    shown: JsonObject = {}  # to the person who is asked
    ended: bool = False
    output: Any = UNSET
    where: str = ""
    message: int = 0  # the number of the message that has it


class Calls:
    """The calls of a message."""

    def __init__(self, voice: Voice, let_speak: LetSpeak, interrupt_under: Callable[[str], None]) -> None:
        self._voice = voice
        self._let_speak = let_speak
        self._interrupt_under = interrupt_under
        self._calls: dict[str, Call] = {}
        self.handlers: Mapping[str, Handler] = {
            "tool-call-input-streaming-start": self._input_start,
            "tool-call-delta": self._input_delta,
            "tool-call-input-streaming-end": self._input_end,
            "tool-call": self._call,
            "tool-result": self._result,
            "tool-error": self._failure,
            WORKING: self._work,
            "background-task-completed": self._completion,
            "background-task-failed": self._task_failure,
            "background-task-cancelled": self._task_end,
        }

    def find(self, call_id: Json) -> Call | None:
        """The call of that id, if there is one."""
        return self._calls.get(call_id) if isinstance(call_id, str) else None

    # Inputs

    def _input_start(self, said: Said) -> bool:
        id_, name = said.get("toolCallId"), said.get("toolName")
        if not isinstance(id_, str) or not isinstance(name, str):
            return False
        said.drop({"toolCallId": id_, "toolName": name})
        said.about = {"toolCallId": id_}
        told = _take_told(said, {})
        call = self._calls[id_] = Call(id_, name, [], metadata=said.take_metadata(), told=told)
        self._voice.emit(ToolInputStart(id_, name, provider_metadata=call.metadata, **told))
        call.message = self._voice.number
        return True

    def _input_delta(self, said: Said) -> bool:
        id_, delta = said.get("toolCallId"), said.get("argsTextDelta")
        if not isinstance(id_, str) or not isinstance(delta, str):
            return False
        name = said.get("toolName")
        call = self.find(id_)
        if call is None or call.pieces is None:
            call = self._calls[id_] = Call(id_, name if isinstance(name, str) else UNNAMED, [])
            self._voice.emit(ToolInputStart(id_, call.name))
            call.message = self._voice.number
        assert call.pieces is not None, "its input is being written"
        call.pieces.append(delta)
        said.about = {"toolCallId": id_}
        said.drop({"toolCallId": id_, "toolName": call.name, "argsTextDelta": delta})
        self._voice.emit(ToolInputDelta(id_, delta))
        return True

    def _input_end(self, said: Said) -> bool:
        """The input is whole, if it can be read. Not always does a call follow that says it again."""
        call = self.find(said.get("toolCallId"))
        if call is None or call.pieces is None:
            return False
        said.drop({"toolCallId": call.id, "toolName": call.name})
        said.about = {"toolCallId": call.id}
        input_ = _parsed(call.pieces)
        if input_ is not UNSET:
            self._available(call, input_)
        return True

    def _call(self, said: Said) -> bool:
        id_, name = said.get("toolCallId"), said.get("toolName")
        if not isinstance(id_, str) or not isinstance(name, str):
            return False
        said.drop({"toolCallId": id_, "toolName": name})
        said.about = {"toolCallId": id_}
        call = self.find(id_)
        if call is None or call.ended:
            call = self._calls[id_] = Call(id_, name)
        elif call.name != name:
            self._voice.keep("tool-call-input-streaming-start", {"toolCallId": id_, "toolName": call.name})
            call.name = name
        input_ = said.rest.pop("args", UNSET)
        metadata = said.take_metadata()
        if metadata is not None and call.metadata is not None and not same(metadata, call.metadata):
            kept = {"toolCallId": id_, "providerMetadata": call.metadata}
            self._voice.keep("tool-call-input-streaming-start", kept)
        call.metadata = call.metadata if metadata is None else metadata
        if call.pieces is not None and input_ is UNSET:
            input_ = _parsed(call.pieces)
        call.told = _take_told(said, call.told if call.pieces is None else {"dynamic": False, **call.told})
        self._available(call, input_)
        return True

    def _available(self, call: Call, input_: Json) -> None:
        """The input is whole. Words of it that say more than its value are kept with the call."""
        self._voice.ensure()
        call.message = self._voice.number
        if call.input is not UNSET and input_ is not UNSET and not same(call.input, input_):
            self._voice.keep("tool-call", {"toolCallId": call.id, "args": call.input})
        call.input = input_
        words = "".join(call.pieces or ())
        if words and (input_ is UNSET or dumps(input_).decode() != words):
            noted: Json = (call.metadata or {}).get(NAMESPACE)
            noted = noted if is_object(noted) else {}
            call.metadata = {**(call.metadata or {}), NAMESPACE: {**noted, RAW_INPUT: words}}
        self._voice.emit(
            ToolInputAvailable(call.id, call.name, input_, provider_metadata=call.metadata, **call.told)
        )

    def known(self, said: Said) -> Call | None:
        """The call that a chunk is about, which is called now if it was not; `None` if it names none."""
        id_, name, args = said.get("toolCallId"), said.get("toolName"), said.get("args")
        if not isinstance(id_, str):
            return None
        call = self.find(id_)
        if call is None:
            if not isinstance(name, str):
                return None
            call = self._calls[id_] = Call(id_, name)
            self._available(call, said.rest.pop("args", UNSET))
        elif call.input is UNSET and "args" in said.rest:
            self._available(call, said.rest.pop("args"))
        said.drop({"toolCallId": id_, "toolName": call.name})
        if call.input is not UNSET and same(args, call.input):
            said.drop({"args": args})
        said.about = {"toolCallId": id_}
        return call

    def open(self, call_id: str, name: str, input_: Json) -> Call:
        """A call that is made of something else: a step of a workflow."""
        call = self._calls[call_id] = Call(call_id, name, told={"dynamic": True})
        self._available(call, input_)
        return call

    # What came of them

    def _result(self, said: Said) -> bool:
        call = self.known(said)
        if call is None:
            return False
        output = said.rest.pop("result", UNSET)
        failed = said.take("isError", bool)
        self.end(call, output, said, failed=bool(failed))
        return True

    def _failure(self, said: Said) -> bool:
        if "error" not in said.rest:
            return False
        call = self.known(said)
        if call is None:
            return False
        self.end(call, said.rest.pop("error"), said, failed=True)
        return True

    def _completion(self, said: Said) -> bool:
        """The output of a call that worked in the background."""
        call = self._background(said) if "result" in said.rest else None
        if call is None:
            return False
        self.end(call, said.rest.pop("result"), said)
        return True

    def _task_failure(self, said: Said) -> bool:
        """A call that worked in the background failed, and with it the sub-agent that worked for it."""
        call = self._background(said) if "error" in said.rest else None
        if call is None:
            return False
        self._interrupt_under(call.id)
        self.end(call, said.rest.pop("error"), said, failed=True)
        return True

    def _task_end(self, said: Said) -> bool:
        """A call that worked in the background was cancelled."""
        call = self._background(said)
        if call is None:
            return False
        self._interrupt_under(call.id)
        self._interrupt(call)
        return True

    def _background(self, said: Said) -> Call | None:
        """The call of a background task, unless it has its output already."""
        call = self.find(said.get("toolCallId"))
        return None if call is None or call.ended else self.known(said)

    def interrupt(self) -> None:
        """End the calls of the message that have no output and do not wait for a client."""
        for call in self._calls.values():
            if not call.ended and call.asked is None and call.message == self._voice.number:
                self._interrupt(call)

    def _interrupt(self, call: Call) -> None:
        call.ended = True
        self._voice.emit(ToolOutputChunk(call.id, InterruptedOutput("aborted")))

    def end(self, call: Call, output: Json, said: Said, *, failed: bool = False) -> None:
        """A call has an output, or a preliminary one. One that it replaces is told."""
        if call.output is not UNSET and not same(call.output, output):
            self._voice.lose(call.where, call.output, "a later chunk has replaced it")
        call.output, call.where = output, said.where
        executed = said.take("providerExecuted", bool)
        metadata = said.take_metadata()
        preliminary = said.take("preliminary", bool)
        if said.get("dynamic") is True:
            said.take("dynamic", bool)
        call.ended = not preliminary
        if failed:
            typed = read_tool_text("failed", None if output is UNSET else output)
            self._voice.emit(ToolOutputChunk(call.id, typed, executed, metadata, preliminary=preliminary))
        else:
            self._voice.emit(
                ToolOutputAvailable(call.id, output, executed, metadata, preliminary=preliminary)
            )

    def _work(self, said: Said) -> bool:
        """A chunk of a sub-agent or a workflow that works for a call."""
        call = self.find(said.get("toolCallId"))
        if call is None or not self.speak(call, said):
            return False
        said.drop({"toolCallId": call.id, "toolName": call.name})
        said.about = {"toolCallId": call.id}
        return True

    def speak(self, call: Call, said: Said) -> bool:
        """The chunk inside, of whoever works for a call; whether there is one."""
        if not self._let_speak(call.id, said.get("output"), f"{said.where}.payload.output"):
            return False
        del said.rest["output"]
        return True


def _take_told(said: Said, before: JsonObject) -> JsonObject:
    """What is told of a call beside its input. What was told before stays: else it would be another call."""
    told = dict(before)
    for name, (field, kind) in TOLD.items():
        value = said.get(name)
        if isinstance(value, kind) and told.get(field, value) == value:
            told[field] = said.take(name, kind)
    return told


def _parsed(pieces: list[str]) -> Json:
    """The value of an input; unset if its words are no JSON."""
    words = "".join(pieces)
    try:
        return loads(words) if words.strip() else {}
    except DecodeError:
        return UNSET
