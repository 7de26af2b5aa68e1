"""Calls whose input is an object around one long text that comes in pieces: code to run, a patch."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from partita.formats.answers.outlet import Call
from partita.types.json import Json, JsonObject

from .answer import Answer
from .fields import about, inner, text, written
from .hosted_calls import output_chunk


class Quoting(NamedTuple):
    """A kind of item with a text in its input."""

    name: str
    provider_executed: bool
    text: str
    """The field that holds the text."""
    told: tuple[str, ...]
    """Fields of the item that the input tells in full."""


QUOTINGS: Final[Mapping[str, Quoting]] = {
    "code_interpreter_call": Quoting("code_interpreter", True, "code", ("code", "container_id")),
    "apply_patch_call": Quoting("apply_patch", False, "diff", ("operation", "call_id", "status")),
}

DELTAS: Final = frozenset(
    {
        "response.code_interpreter_call_code.delta",
        "response.apply_patch_call_operation_diff.delta",
    }
)
DONES: Final[Mapping[str, str]] = {
    "response.code_interpreter_call_code.done": "code",
    "response.apply_patch_call_operation_diff.done": "diff",
}
"""Events with the whole text, and where it stands."""


class QuotedCall:
    """A call of the code interpreter, or of the tool that applies patches."""

    def __init__(self, answer: Answer, item: JsonObject) -> None:
        self.kind = text(item, "type")
        self.is_ended = False
        self._answer = answer
        self._quoting = QUOTINGS[self.kind]
        self._item = item
        self._has_pieces = False
        self._is_whole = False
        executed = self._quoting.provider_executed
        wanted = text(item, "call_id") or text(item, "id")
        call_id = answer.call_id(wanted, provider_executed=executed)
        self._call = Call(call_id, self._quoting.name, [], executed or None)
        answer.outlet.start_call(self._call)

    def hear(self, event: JsonObject) -> bool:
        """Take an event inside the call."""
        kind = text(event, "type")
        if self.is_ended or self._is_whole:
            return False
        if kind in DELTAS:
            self._grow(text(event, "delta"))
        elif kind in DONES:
            self._finish_text(text(event, DONES[kind]))
        else:
            return False
        return True

    def may_be(self, item: JsonObject) -> bool:
        """Whether a whole item has the id of the call."""
        return bool(text(item, "call_id")) and text(item, "call_id") == text(self._item, "call_id")

    def end(self, item: JsonObject) -> None:
        """Take the whole call, and its output if the provider ran it."""
        if self.is_ended:
            return
        self.is_ended = True
        self._item = item
        executed = self._quoting.provider_executed
        if not self._is_whole:
            self._quote_end()
            self._tell_input(self._input())
        if executed:
            self._answer.outlet.emit(output_chunk(self._call.id, item, self._quoting.told))

    def stop(self, *, whole: bool) -> None:
        """Nothing more comes: the call stays as far as it was written."""
        self.is_ended = True

    def _finish_text(self, words: str) -> None:
        """The text is whole. Code runs from here on; a patch waits for its item."""
        if not self._has_pieces and words:
            self._grow(words)
        self._quote_end()
        if self._quoting.provider_executed:
            self._tell_input(self._input() | {self._quoting.text: words})

    def _grow(self, words: str) -> None:
        """Write a piece into the JSON of the input, whose other fields come first."""
        if not self._has_pieces:
            self._has_pieces = True
            around = {name: value for name, value in self._input().items() if name != self._quoting.text}
            opening = written(around | {self._quoting.text: ""})
            self._answer.outlet.grow_call(self._call.id, opening.removesuffix('"}'))
        if words:
            self._answer.outlet.grow_call(self._call.id, written(words)[1:-1])

    def _quote_end(self) -> None:
        if self._has_pieces:
            self._has_pieces = False
            self._answer.outlet.grow_call(self._call.id, '"}')

    def _tell_input(self, value: Json) -> None:
        self._is_whole = True
        executed = self._quoting.provider_executed
        metadata = None if executed else about(self._item, *self._quoting.told)
        self._answer.outlet.end_call(self._call._replace(pieces=[]), value, metadata)

    def _input(self) -> JsonObject:
        if self.kind == "apply_patch_call":
            return inner(self._item, "operation")
        return {"containerId": self._item.get("container_id"), "code": self._item.get("code")}
