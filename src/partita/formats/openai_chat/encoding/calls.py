"""Calls as pieces of a stream: those that are the client's as they are written, the others once they wait."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, Protocol, TypeAlias

from msgspec import UNSET, UnsetType

from partita.errors import DecodeError
from partita.formats.call_owners import network_path
from partita.formats.losses import Severity
from partita.types.chunks import ToolInputAvailable, ToolInputDelta, ToolInputError, ToolInputStart
from partita.types.json import Json, JsonObject, dumps, loads

Input: TypeAlias = ToolInputStart | ToolInputDelta | ToolInputAvailable | ToolInputError

NOT_TOLD: Final = {
    "provider_metadata": "providerMetadata",
    "tool_metadata": "toolMetadata",
    "dynamic": "dynamic",
    "title": "title",
    "input_encoding": "inputEncoding",
}
"""Fields that calls of the API have no place for."""

NO_PLACE: Final = "calls of Chat Completions have no place for it"
THEIR_OWN: Final = "the provider runs it itself"


class Lose(Protocol):
    """Hears what of the chunk at hand does not arrive."""

    def __call__(self, name: str, value: Json, why: str = ..., severity: Severity = ...) -> None:
        """Tell it."""
        ...


class Call:
    """A call: its tool, its words so far, and its place among those that are told."""

    def __init__(self, name: str, index: int | None) -> None:
        self.name = name
        self.index = index
        self.words: list[str] = []
        self.is_answered = False
        self.is_copy = False


class Calls:
    """The calls of one answer."""

    def __init__(self, lose: Lose, live: Collection[str] | None, *, only_live: bool = False) -> None:
        self._lose = lose
        self._live = live
        self._only_live = only_live
        self._calls: dict[str, Call] = {}
        self._told = 0
        self._passed: set[str] = set()
        self._on_server: set[str] = set()

    @property
    def wait(self) -> bool:
        """Whether a call that was told has no output."""
        return any(call.index is not None and not call.is_answered for call in self._calls.values())

    def answer(self, id: str) -> None:
        """A call has its output."""
        if id in self._calls:
            self._calls[id].is_answered = True

    def keep(self, ids: Iterable[str]) -> None:
        """Calls that the agent itself will run: if they were held back, they stay so."""
        self._on_server.update(ids)

    def ask(self, id: str) -> None:
        """A call waits until somebody allows it: if it was held back, it stays so."""
        if id in self._calls and self._calls[id].index is None:
            self._calls[id].is_answered = True

    def tell(self, chunk: Input) -> Iterator[JsonObject]:
        """The pieces that tell of a chunk."""
        id_ = chunk.tool_call_id
        if isinstance(chunk, ToolInputDelta):
            call = self._calls.get(id_)
            if call is not None:
                yield from self._grow(call, chunk.input_text_delta)
            elif id_ not in self._passed:
                self._lose("inputTextDelta", chunk.input_text_delta, "the input of its call is not open")
            return
        for field, name in NOT_TOLD.items():
            value = getattr(chunk, field, None)
            if value is not None:
                self._lose(name, value, NO_PLACE)
        if chunk.provider_executed:
            self._passed.add(id_)
            self._lose("", id_, THEIR_OWN)
            return
        call = self._calls.get(id_)
        if call is None:
            call, piece = self._begin(id_, chunk.tool_name, network_path(chunk.provider_metadata))
            yield from piece
        if not isinstance(chunk, ToolInputStart):
            yield from self._whole(call, chunk.input)
        if isinstance(chunk, ToolInputError):
            call.is_answered = True
            self._lose("errorText", chunk.error_text, NO_PLACE)

    def held(self) -> Iterator[JsonObject]:
        """The calls that were held back, have no output, and are the client's to run."""
        for id_, call in self._calls.items():
            is_hidden = id_ in self._on_server or (self._only_live and not call.is_copy)
            if call.index is None and not call.is_answered and not is_hidden:
                call.index = self._told
                self._told += 1
                yield _piece(call.index, id_, call.name, "".join(call.words))

    def _begin(self, id_: str, name: str, path: Sequence[str]) -> tuple[Call, list[JsonObject]]:
        self.keep(path)
        if path or (self._live is not None and name not in self._live):
            call = self._calls[id_] = Call(name, None)
            call.is_copy = bool(path)
            return call, []
        call = self._calls[id_] = Call(name, self._told)
        self._told += 1
        return call, [_piece(self._told - 1, id_, name, "")]

    def _grow(self, call: Call, delta: str) -> list[JsonObject]:
        if not delta:
            return []
        call.words.append(delta)
        return [] if call.index is None else [{"index": call.index, "function": {"arguments": delta}}]

    def _whole(self, call: Call, value: Json | UnsetType) -> list[JsonObject]:
        """The input of a call, unless its pieces have said it."""
        words = "".join(call.words)
        if value is UNSET:
            return []
        if not words:
            return self._grow(call, value if isinstance(value, str) else dumps(value).decode())
        if not _says(words, value):
            self._lose("input", value, "its pieces said something else")
        return []


def _piece(index: int, id_: str, name: str, arguments: str) -> JsonObject:
    function = {"name": name, "arguments": arguments}
    return {"index": index, "id": id_, "type": "function", "function": function}


def _says(words: str, value: Json) -> bool:
    if words == value:
        return True
    try:
        return bool(loads(words) == value)
    except DecodeError:
        return False
