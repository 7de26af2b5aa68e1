"""Calls that the client runs: whole in one part, or with arguments that come piece by piece."""

from typing import NamedTuple

from msgspec import UNSET, UnsetType

from partita.formats.answers.outlet import Call, Outlet
from partita.types.json import Json, JsonObject

from .arguments import ArgumentWriter
from .ids import CallIds
from .looking import CALL_ID, items_at, marks_of, more_of, text_at, written


class Writing(NamedTuple):
    """A call whose arguments are being written."""

    call: Call
    marks: JsonObject
    arguments: ArgumentWriter


class Calls:
    """Tells the calls of an answer."""

    def __init__(self, outlet: Outlet, ids: CallIds) -> None:
        self.is_any = False
        """Whether there is a call for the client to run."""
        self._outlet = outlet
        self._ids = ids
        self._writing: Writing | None = None

    def take(self, part: JsonObject, call: JsonObject) -> bool:
        """A call, or a piece of one; whether it was understood."""
        more = more_of(call, "functionCall", "id", "name", "args", "partialArgs", "willContinue")
        marks = {**marks_of(part, "functionCall"), **more}
        if text_at(call, "name") is not None:
            self.end()
            self._start(call, marks)
        elif self._writing is None:
            return not call
        if self._writing is None:
            return True
        self._writing.marks.update(marks)
        understood = self._write(self._writing, items_at(call, "partialArgs"))
        arguments = call.get("args")
        if arguments is not None:
            self.end(arguments)
        elif call.get("willContinue") is not True and not self._writing.arguments.is_inside_text:
            self.end()  # the empty part that should end a call can be missing
        return understood

    def end(self, given: Json | UnsetType = UNSET) -> None:
        """The arguments being written, if any are, are whole: `given`, or what was written."""
        if self._writing is None:
            return
        call, marks, arguments = self._writing
        self._writing = None
        if given is UNSET:
            text, given = arguments.close()
            self._outlet.grow_call(call.id, text)
        self._outlet.end_call(call, given, marks)

    def _start(self, call: JsonObject, marks: JsonObject) -> None:
        self.is_any = True
        told = text_at(call, "id")
        marks = dict(marks) if told is None else {**marks, CALL_ID: told}
        begun = Call(self._ids.next(told), call["name"], [])
        self._outlet.start_call(begun, dict(marks))
        is_begun = call.get("willContinue") is True and call.get("args") is None
        if is_begun or call.get("partialArgs") is not None:
            self._writing = Writing(begun, marks, ArgumentWriter())
        else:
            self._tell_whole(begun, call.get("args"), marks)

    def _tell_whole(self, call: Call, arguments: Json, marks: JsonObject) -> None:
        text = arguments if isinstance(arguments, str) else written(arguments)
        if arguments is not None and text is not None:
            self._outlet.grow_call(call.id, text)
        given: Json = {} if arguments is None else arguments
        self._outlet.end_call(call, UNSET if isinstance(given, str) else given, marks)

    def _write(self, writing: Writing, pieces: list[Json]) -> bool:
        texts = [writing.arguments.write(piece) for piece in pieces]
        told = "".join(text for text in texts if text is not None)
        if told:
            self._outlet.grow_call(writing.call.id, told)
        return None not in texts
