"""Tools that the server runs itself: `executed_tools` of Groq, first a call, later with its output."""

from typing import Final

from partita.formats.answers.outlet import Call, Outlet
from partita.types.chunks import ToolOutputAvailable
from partita.types.json import Json, JsonObject

from .calls import UNKNOWN_TOOL, Calls, as_text
from .looking import is_empty, word

OF_THE_CALL: Final = frozenset({"index", "type", "name", "arguments"})
"""What says which tool was called and how; the rest is what came of it."""


class ServerTools:
    """The tools that the server ran for an answer."""

    def __init__(self, outlet: Outlet, calls: Calls) -> None:
        self._outlet = outlet
        self._calls = calls
        self._ids: dict[tuple[int, str, str], str] = {}
        self._waiting: dict[str, JsonObject] = {}
        """What is known of those that gave no output yet, by id."""

    def take(self, tool: JsonObject, answer_id: str) -> None:
        """A tool, as far as it has come."""
        index, written = tool.get("index"), as_text(tool.get("arguments"))
        name = word(tool, "type") or word(tool, "name")
        place = index if isinstance(index, int) else len(self._ids)
        known = self._ids.get((place, name, written))
        if known is None:
            known = self._calls.new_id(None, answer_id, place)
            self._ids[place, name, written] = known
            self._waiting[known] = {}
            self._begin(Call(known, name or UNKNOWN_TOOL, [written], provider_executed=True), index)
        if known in self._waiting:
            self._waiting[known] |= {key: value for key, value in tool.items() if key not in OF_THE_CALL}
            if not is_empty(tool.get("output")):
                self._end(known)

    def settle(self) -> None:
        """Nothing more comes: what is known is what came of them."""
        for call_id in [call_id for call_id, facts in self._waiting.items() if facts]:
            self._end(call_id)

    def _begin(self, call: Call, index: Json) -> None:
        # Groq counts its tools instead of giving them ids: the number is all that it knows them by.
        facts: JsonObject = {} if index is None else {"index": index}
        self._outlet.start_call(Call(call.id, call.name, [], provider_executed=True))
        if call.pieces[0]:
            self._outlet.grow_call(call.id, call.pieces[0])
        self._outlet.end_call(call, metadata=facts)

    def _end(self, call_id: str) -> None:
        self._outlet.emit(ToolOutputAvailable(call_id, self._waiting.pop(call_id), provider_executed=True))
