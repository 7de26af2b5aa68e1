"""Calls whose input the model writes in words: functions, whose words are JSON, and custom tools."""

from collections.abc import Mapping
from typing import Final

from msgspec import UNSET

from partita.errors import DecodeError
from partita.formats.answers.outlet import Call
from partita.types.chunks import ToolInputStart
from partita.types.json import Json, JsonObject, is_object, loads

from .answer import Answer
from .fields import ITEM, inner, present, rest_of, text

CUSTOM: Final = "custom_tool_call"

FIELDS: Final[Mapping[str, str]] = {"function_call": "arguments", CUSTOM: "input"}
"""Where the words of a finished call stand, by the kind of its item."""

EVENTS: Final[Mapping[str, str]] = {
    "response.function_call_arguments.delta": "delta",
    "response.custom_tool_call_input.delta": "delta",
    "response.function_call_arguments.done": "arguments",
    "response.custom_tool_call_input.done": "input",
}
"""Events inside a call, and where their words stand."""


class WrittenCall:
    """A call of a function or of a custom tool."""

    def __init__(self, answer: Answer, item: JsonObject) -> None:
        self.kind = text(item, "type")
        self.is_ended = False
        self._answer = answer
        self._item = item
        self._words: Json = None
        """The whole input, once it was said in one piece: text, or an object as some servers write it."""
        wanted = text(item, "call_id") or text(item, "id")
        self._call = Call(answer.call_id(wanted, provider_executed=False), "", [])
        self._name(item)
        if self._call.name:
            self._start()

    def hear(self, event: JsonObject) -> bool:
        """Take an event inside the call."""
        field = EVENTS.get(text(event, "type"))
        if field is None or self.is_ended:
            return False
        if field != "delta":
            self._words = event.get(field) or self._words
        elif text(event, "delta"):
            self._start()
            self._answer.outlet.grow_call(self._call.id, text(event, "delta"))
        return True

    def may_be(self, item: JsonObject) -> bool:
        """Whether a whole item has the id of the call."""
        return bool(text(item, "call_id")) and text(item, "call_id") == text(self._item, "call_id")

    def end(self, item: JsonObject) -> None:
        """Take the whole call."""
        self._item = item
        self._words = item.get(FIELDS[self.kind]) or self._words
        self._name(item)
        self._close(cut=text(item, "status") == "incomplete")

    def stop(self, *, whole: bool) -> None:
        """Nothing more comes: an answer that is whole has whole calls, even if it does not say so."""
        self._close(cut=not whole and self._words is None)

    def _name(self, item: JsonObject) -> None:
        """Take the name of the tool, which decides who runs it."""
        name = text(item, "name") or self._call.name
        executed = self.kind == CUSTOM and self._answer.is_providers_tool(name)
        self._call = self._call._replace(name=name, provider_executed=executed or None)
        if executed:
            self._answer.answer_call(self._call.id)

    def _start(self) -> None:
        calls = self._answer.outlet.calls
        if self._call.id in calls:
            return
        if self.kind == CUSTOM:
            calls[self._call.id] = self._call
            executed = self._call.provider_executed
            self._answer.outlet.emit(
                ToolInputStart(self._call.id, self._call.name, executed, input_encoding="text")
            )
        else:
            self._answer.outlet.start_call(self._call)

    def _close(self, *, cut: bool) -> None:
        """Tell the whole input. A call that was cut stays open, with the words it has."""
        if self.is_ended:
            return
        self.is_ended = True
        self._start()
        said = "".join(self._call.pieces)
        words = said if self._words is None else self._words
        if cut and (self.kind == CUSTOM or not _is_json(words)):
            if not said and isinstance(words, str):
                self._answer.outlet.grow_call(self._call.id, words)
        elif self.kind == CUSTOM or not isinstance(words, str):
            self._answer.outlet.end_call(self._call._replace(pieces=[]), words, self._metadata())
        else:
            self._answer.outlet.end_call(self._call._replace(pieces=[words]), UNSET, self._metadata())

    def _metadata(self) -> JsonObject:
        item = self._item
        caller = {
            "callerId" if name == "caller_id" else name: said for name, said in inner(item, "caller").items()
        }
        rest = rest_of(item, FIELDS[self.kind], "call_id", "name", "status", "namespace", "caller")
        return present(
            itemId=text(item, "id"),
            type=self.kind if self.kind == CUSTOM else None,
            namespace=text(item, "namespace"),
            caller=caller,
            **{ITEM: rest},
        )


def _is_json(words: Json) -> bool:
    if is_object(words):
        return True
    try:
        loads(words if isinstance(words, str) else "")
    except DecodeError:
        return False
    return True
