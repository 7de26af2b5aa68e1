"""Tool calls while their pieces come. The key of a call is its index; where there is none, its id."""

from typing import Final

from partita.errors import DecodeError
from partita.formats.answers.outlet import Call, Outlet
from partita.types.chunks import CustomChunk, ToolInputAvailable, ToolInputStart
from partita.types.json import Json, JsonObject, dumps, heal, is_object, loads

from .looking import is_empty, word
from .notes import FIELDS

UNKNOWN_TOOL: Final = "unknown-tool"
"""The name of a tool that a server called without saying which."""

OWN_FIELDS: Final = frozenset({"index", "id", "type", "function", "custom"})
"""What is read of a call."""


class Pieces:
    """A call of which some pieces came. `place` is how many calls began before it."""

    __slots__ = ("call", "custom", "extra", "held", "name", "place", "said_id")

    def __init__(self, place: int, said_id: Json, *, custom: bool) -> None:
        self.place = place
        self.said_id = said_id
        self.custom = custom
        """Whether its input is free text."""
        self.name = ""
        self.held: list[str] = []
        """Input that came before the name."""
        self.extra: JsonObject = {}
        self.call: Call | None = None


class Calls:
    """All calls of an answer, in the order they began."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self._calls: list[Pieces] = []
        self._by_index: dict[int, Pieces] = {}
        self._by_id: dict[str, Pieces] = {}
        self._taken: set[str] = set()
        self._legacy: dict[str, list[str]] = {"name": [], "arguments": []}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def take(self, piece: JsonObject, answer_id: str, place: int | None = None) -> None:
        """A piece of a call, or at a `place` of a whole message a whole one."""
        said = _said(piece)
        pieces = self._find(piece, piece.get("index") if place is None else place, word(said, "name"))
        pieces.name = pieces.name or word(said, "name")
        pieces.extra |= {
            key: value for key, value in piece.items() if key not in OWN_FIELDS and not is_empty(value)
        }
        if pieces.name and pieces.call is None:
            self._start(pieces, answer_id)
        text = as_text(said.get("input" if pieces.custom else "arguments"))
        if pieces.call is None:
            pieces.held.append(text)
        elif text:
            self._outlet.grow_call(pieces.call.id, text)

    def take_legacy(self, piece: JsonObject) -> None:
        """A piece of a `function_call`: it has no id, so nothing could answer it as a tool call."""
        for key, pieces in self._legacy.items():
            pieces.append(word(piece, key))

    def settle(self, answer_id: str, *, complete: bool, cut: bool = False) -> None:
        """Nothing more comes. Inputs are whole only if the answer is.

        Of an answer that the server `cut`, an input that is no JSON stays open, and so does the last text.
        """
        for pieces in self._calls:
            if pieces.call is None:
                pieces.name = UNKNOWN_TOOL
                self._start(pieces, answer_id)
            is_open = cut and (pieces is self._calls[-1] if pieces.custom else not _is_whole(pieces.call))
            if complete and not is_open and pieces.call is not None:
                self._end(pieces, pieces.call)
        told = {key: "".join(pieces) for key, pieces in self._legacy.items()}
        if any(told.values()):
            namespace = self._outlet.namespace
            self._outlet.emit(CustomChunk(f"{namespace}.function_call", {namespace: told}))

    def new_id(self, said: Json, answer_id: str, place: int) -> str:
        """The id that a server said, or one made of the answer's if it said none or said it before."""
        new, number = said if isinstance(said, str) else "", place
        while not new or new in self._taken:
            new, number = f"{answer_id or 'call'}-{number}", number + 1
        self._taken.add(new)
        return new

    def _find(self, piece: JsonObject, index: Json, name: str) -> Pieces:
        """The call that a piece belongs to. An id or a name that is empty says nothing."""
        said = word(piece, "id")
        if isinstance(index, int):
            known = self._by_index.get(index)
            # Gemini's endpoint gives all calls of an answer the same index.
            if known is not None and name and said and known.said_id and said != known.said_id:
                known = None
        elif said:
            known = self._by_id.get(said)
        else:
            known = self._calls[-1] if self._calls and not name else None
        if known is None:
            known = Pieces(len(self._calls), piece.get("id"), custom=is_object(piece.get("custom")))
            self._calls.append(known)
        if isinstance(index, int):
            self._by_index[index] = known
        if said:
            known.said_id = known.said_id or said
            self._by_id.setdefault(said, known)
        return known

    def _start(self, pieces: Pieces, answer_id: str) -> None:
        call = Call(self.new_id(pieces.said_id, answer_id, pieces.place), pieces.name, [])
        pieces.call = call
        if pieces.custom:
            self._outlet.calls[call.id] = call
            self._outlet.emit(ToolInputStart(call.id, call.name, input_encoding="text"))
        else:
            self._outlet.start_call(call)
        for text in filter(None, pieces.held):
            self._outlet.grow_call(call.id, text)

    def _end(self, pieces: Pieces, call: Call) -> None:
        facts = {FIELDS: pieces.extra, **_signature(pieces.extra)} if pieces.extra else {}
        if pieces.said_id != call.id:
            facts["id"] = pieces.said_id
        words = heal("".join(call.pieces))  # a character may be cut in halves
        if pieces.custom:
            self._outlet.calls.pop(call.id, None)
            named = {self._outlet.namespace: {**facts, "type": "custom"}}
            self._outlet.emit(ToolInputAvailable(call.id, call.name, words, None, named))
            return
        self._outlet.end_call(call._replace(pieces=[words]), metadata=facts)


def _is_whole(call: Call | None) -> bool:
    """Whether the input of a call is JSON, or there is none."""
    words = "" if call is None else heal("".join(call.pieces))
    try:
        loads(words.strip() or "{}")
    except DecodeError:
        return False
    return True


def _said(piece: JsonObject) -> JsonObject:
    """What a call says: of a function, or of a custom tool."""
    for said in (piece.get("custom"), piece.get("function")):
        if is_object(said):
            return said
    return {}


def _signature(extra: JsonObject) -> JsonObject:
    """Gemini's signature under the name that the AI SDK gives it."""
    match extra:
        case {"extra_content": {"google": {"thought_signature": str(signature)}}}:
            return {"thoughtSignature": signature}
        case _:
            return {}


def as_text(written: Json) -> str:
    """A piece of an input; some servers give a whole value instead of its text."""
    if written is None or isinstance(written, str):
        return written or ""
    try:
        return dumps(written).decode()
    except DecodeError as error:
        return str(error)  # no JSON, so the call ends as one whose input is no good
