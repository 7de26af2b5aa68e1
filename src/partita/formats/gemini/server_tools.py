"""Tools that the provider runs itself: code, and `toolCall` parts.

A result finds its call by id, or else by order.
"""

from typing import Final

from partita.formats.answers.outlet import Call, Outlet
from partita.types.chunks import ToolOutputAvailable
from partita.types.json import Json, JsonObject

from .ids import CallIds
from .looking import CALL_ID, NAMESPACE, TOOL_TYPE, marks_of, more_of, text_at

CODE_EXECUTION: Final = "code_execution"
CODE_TYPE: Final = "CODE_EXECUTION"
SERVER_PREFIX: Final = "server:"
RESULTS: Final = "results"
"""Where all results of a call stand in the metadata of its result, when it has more than one."""


class ServerTools:
    """Tells the calls that the provider ran, and what came of them."""

    def __init__(self, outlet: Outlet, ids: CallIds) -> None:
        self._outlet = outlet
        self._ids = ids
        self._last: dict[str, str] = {}
        self._named: dict[tuple[str, str], str] = {}
        self._results: dict[str, list[JsonObject]] = {}

    def take_code(self, part: JsonObject, code: JsonObject) -> bool:
        """Code that the model wrote and the provider runs."""
        marks = {**marks_of(part, "executableCode"), TOOL_TYPE: CODE_TYPE}
        given = {key: value for key, value in code.items() if key != "id"}
        self._tell(CODE_TYPE, CODE_EXECUTION, code, given, marks)
        return True

    def take_code_result(self, part: JsonObject, result: JsonObject) -> bool:
        """What the code gave back. Code may give back several times."""
        output = {"outcome": result.get("outcome"), "output": result.get("output") or ""}
        more = {key: value for key, value in result.items() if key not in ("id", *output)}
        marks = {**marks_of(part, "codeExecutionResult"), TOOL_TYPE: CODE_TYPE}
        return self._answer(CODE_TYPE, result, {**output, **more}, marks)

    def take_call(self, part: JsonObject, call: JsonObject) -> bool:
        """A call of a tool on the provider's side."""
        kind = text_at(call, "toolType") or ""
        given = call.get("args")
        more = more_of(call, "toolCall", "id", "toolType", "args")
        marks = {**marks_of(part, "toolCall"), **more, TOOL_TYPE: kind}
        name = SERVER_PREFIX + kind
        self._tell(kind, name, call, {} if given is None else given, marks)
        return True

    def take_response(self, part: JsonObject, response: JsonObject) -> bool:
        """What such a tool gave back."""
        kind = text_at(response, "toolType") or ""
        output = response.get("response")
        more = more_of(response, "toolResponse", "id", "toolType", "response")
        marks = {**marks_of(part, "toolResponse"), **more, TOOL_TYPE: kind}
        return self._answer(kind, response, {} if output is None else output, marks)

    def _tell(self, kind: str, name: str, call: JsonObject, given: Json, marks: JsonObject) -> None:
        told = text_at(call, "id")
        call_id = self._ids.next(told)
        self._last[kind] = call_id
        if told is not None:
            self._named[kind, told] = call_id
        dynamic = True if name.startswith(SERVER_PREFIX) else None
        begun = Call(call_id, name, [], provider_executed=True, dynamic=dynamic)
        self._outlet.end_call(begun, given, {**marks, **_id_marks(kind, told, call_id)})

    def _answer(self, kind: str, result: JsonObject, output: Json, marks: JsonObject) -> bool:
        told = text_at(result, "id")
        call_id = self._named.get((kind, told or "")) or self._last.get(kind)
        if call_id is None:
            return False
        results = self._results.setdefault(call_id, [])
        results.append({"output": output, **marks, **_id_marks(kind, told, call_id)})
        metadata = {key: value for key, value in results[-1].items() if key != "output"}
        if len(results) > 1:
            metadata[RESULTS] = list(results)
        self._outlet.emit(ToolOutputAvailable(call_id, output, True, {NAMESPACE: metadata}))
        return True


def _id_marks(kind: str, told: str | None, call_id: str) -> JsonObject:
    """The id that the provider gave; the AI SDK has another name for it, and always a value."""
    if kind != CODE_TYPE:
        return {"serverToolCallId": told or call_id, **({} if told is None else {CALL_ID: told})}
    return {} if told is None else {CALL_ID: told}
