"""The blocks of an answer while they are written: text, thinking, calls, and content of no other kind."""

from typing import Final, Protocol

from msgspec import UNSET, UnsetType

from partita.errors import DecodeError
from partita.formats.answers.outlet import Call, Outlet
from partita.types.chunks import CustomChunk
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads
from partita.types.parts import Citation

from .citations import Shelf, citation_of, document_source
from .results import MCP_CALL, MCP_MARK
from .words import ANTHROPIC, CALLER, INDEX, renamed, rest_of, text_of

DELTAS: Final = "deltas"
"""Where the pieces of an unknown block stand, beside what it began with."""

CALLS: Final = ("tool_use", "server_tool_use", MCP_CALL)


class Block(Protocol):
    """A block that has begun."""

    def grow(self, delta: JsonObject) -> bool:
        """Take a piece; whether it is one that such a block can have."""
        ...

    def stop(self) -> None:
        """The block is whole, or nothing more comes of it."""
        ...


class ToldBlock:
    """A block that was whole when it began."""

    def grow(self, delta: JsonObject) -> bool:
        """No piece belongs to it."""
        return False

    def stop(self) -> None:
        """Nothing is left to tell."""


class TextBlock:
    """A text, and what its words rest on. Citations often come before the words."""

    def __init__(self, outlet: Outlet, id: str, block: JsonObject, shelf: Shelf) -> None:
        self._outlet, self._id, self._shelf = outlet, id, shelf
        self._raw: list[JsonObject] = []
        self._citations: list[Citation] = []
        raw = block.get("citations")
        citations: list[JsonObject] = raw if is_array(raw) and all(map(is_object, raw)) else []
        is_list = is_array(raw) and len(citations) == len(raw)
        known = ("type", *(["text"] if isinstance(block.get("text"), str) else []))
        self._rest = rest_of(block, (*known, "citations") if is_list else known)
        outlet.start_text(id)
        self._say(block.get("text"))
        for citation in citations:
            self._cite(citation)

    def grow(self, delta: JsonObject) -> bool:
        """Take words or a citation."""
        match delta:
            case {"type": "text_delta", "text": str(text)}:
                self._say(text)
            case {"type": "citations_delta", "citation": dict()}:
                self._cite(delta["citation"])
            case _:
                return False
        return True

    def stop(self) -> None:
        """The text is whole: its citations go with its end."""
        raw: JsonObject = {"citations": self._raw} if self._raw else {}
        self._outlet.end(self._id, {**raw, **self._rest}, tuple(self._citations) or None)

    def _say(self, text: Json) -> None:
        if text_of(text):
            self._outlet.text(self._id, text)

    def _cite(self, raw: JsonObject) -> None:
        self._raw.append(raw)
        citation = citation_of(raw, self._shelf)
        if citation is not None:
            self._citations.append(citation)
        if text_of(raw.get("url")):
            self._shelf.cited.append(raw)
        source = document_source(raw, self._shelf, f"{self._shelf.answer}-{self._id}-{len(self._raw) - 1}")
        if source is not None:
            self._outlet.emit(source)


class ThinkingBlock:
    """Thoughts and their signature, or thoughts that only the provider can read."""

    def __init__(self, outlet: Outlet, id: str, block: JsonObject) -> None:
        self._outlet, self._id = outlet, id
        words = [key for key in ("thinking", "signature") if isinstance(block.get(key), str)]
        self._rest = rest_of(block, ("type", "data", *words))
        data = block.get("data")
        self._opaque: JsonObject = {} if data is None else {"redactedData": data}
        outlet.start_reasoning(id, self._opaque)
        if text_of(block.get("thinking")):
            outlet.reasoning(id, block["thinking"])
        self._sign(block.get("signature"))

    def grow(self, delta: JsonObject) -> bool:
        """Take thoughts, or the signature under them."""
        match delta:
            case {"type": "thinking_delta", "thinking": str(text)}:
                self._outlet.reasoning(self._id, text)
            case {"type": "signature_delta", "signature": str(signature)}:
                self._sign(signature)
            case _:
                return False
        return True

    def stop(self) -> None:
        """The thoughts are whole. The metadata of an end replaces what was there: it says all or nothing."""
        self._outlet.end(self._id, {**self._opaque, **self._rest} if self._rest else None)

    def _sign(self, signature: Json) -> None:
        if text_of(signature):
            self._opaque["signature"] = signature
            self._outlet.reasoning(self._id, "", dict(self._opaque))


class CallBlock:
    """A call. Its input is written in pieces, or was there from the beginning."""

    def __init__(self, outlet: Outlet, index: int, block: JsonObject) -> None:
        self._outlet = outlet
        self.is_told = False
        is_served = block["type"] != "tool_use"
        is_remote = block["type"] == MCP_CALL
        self.call = Call(block["id"], block["name"], [], is_served or None, is_remote or None)
        self.metadata: JsonObject = {
            **({"type": MCP_MARK, "serverName": block.get("server_name")} if is_remote else {}),
            **({"caller": renamed(block["caller"], CALLER)} if is_object(block.get("caller")) else {}),
            **({INDEX: index} if is_served else {}),
            **rest_of(block, self._known(block)),
        }
        given = block.get("input")
        self._given: Json | UnsetType = UNSET if given is None or given == {} else given
        outlet.start_call(self.call)

    @staticmethod
    def _known(block: JsonObject) -> tuple[str, ...]:
        caller = ("caller",) if is_object(block.get("caller")) else ()
        server = ("server_name",) if block["type"] == MCP_CALL else ()
        return ("type", "id", "name", "input", *caller, *server)

    def grow(self, delta: JsonObject) -> bool:
        """Take a piece of the input."""
        match delta:
            case {"type": "input_json_delta", "partial_json": str(piece)} if not self.is_told:
                if piece:
                    self._outlet.grow_call(self.call.id, piece)
                return True
            case _:
                return False

    def show_given(self) -> None:
        """Tell an input that was there from the beginning as if it were written."""
        if self._given is not UNSET:
            self._outlet.grow_call(self.call.id, _written(self._given))

    def stop(self) -> None:
        """The input is whole, if it is JSON. If not, whether it was cut depends on how the answer ends."""
        words = "".join(self.call.pieces)
        try:
            self._tell(loads(words) if words.strip() else self._given)
        except DecodeError:
            return

    def settle(self) -> None:
        """Nothing more comes of the input: words that are no JSON are told so."""
        self.stop()
        if not self.is_told:
            self._tell(UNSET)

    def _tell(self, value: Json | UnsetType) -> None:
        if not self.is_told:
            self._outlet.end_call(self.call, value, self.metadata)
            self.is_told = True


class CustomBlock:
    """Content that has no part of its own: a compaction, a change of models, whatever is new. Kept whole."""

    def __init__(self, outlet: Outlet, block: JsonObject) -> None:
        self._outlet = outlet
        self._block = dict(block)
        self._deltas: list[JsonObject] = []

    def grow(self, delta: JsonObject) -> bool:
        """Take any piece. That of a compaction holds its fields."""
        if delta.get("type") == "compaction_delta" and self._block["type"] == "compaction":
            self._block |= {key: item for key, item in delta.items() if key != "type"}
        else:
            self._deltas.append(delta)
        return True

    def stop(self) -> None:
        """Tell it, named after its type."""
        pieces: JsonObject = {DELTAS: self._deltas} if self._deltas else {}
        self._outlet.emit(
            CustomChunk(f"{ANTHROPIC}.{self._block['type']}", {ANTHROPIC: {**self._block, **pieces}})
        )


def _written(value: Json) -> str:
    try:
        return dumps(value).decode()
    except DecodeError:
        return ""
