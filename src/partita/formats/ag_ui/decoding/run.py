"""What one agent does in a run, as chunks: the first agent, or one of its sub-agents."""

from typing import Final, NamedTuple

from partita.errors import DecodeError
from partita.formats.ag_ui import names
from partita.formats.ag_ui.notes import NAMESPACE, SEALED, opened, rest_of
from partita.formats.answers.outlet import RAW_INPUT
from partita.types.chunks import (
    Chunk,
    DataChunk,
    MessageMetadata,
    MessageStart,
    StepFinish,
    StepStart,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputError,
    ToolInputStart,
)
from partita.types.json import Json, JsonObject, dumps, loads

from .words import Words

BASE: Final = ("type", names.AGENT)


class Call(NamedTuple):
    """A call whose input is being written."""

    name: str
    pieces: list[str]
    notes: JsonObject


class Ending(NamedTuple):
    """A call that is whole, and is told so once nothing can be added to it."""

    id: str
    call: Call


class Run:
    """Gathers the chunks of one agent. `take` hands them out."""

    def __init__(self, start: MessageStart | None = None) -> None:
        self._start = start or MessageStart()
        self._chunks: list[Chunk] = []
        self.is_begun = False
        self.words = Words(self.emit, self.begin_step)
        self.open_calls: dict[str, Call] = {}
        self.unanswered: dict[str, None] = {}
        """Calls that are whole and have no result, in order."""
        self.known_calls: dict[str, str] = {}
        """The names of all calls, by id."""
        self.chunked_call: str | None = None
        self._ending: Ending | None = None
        self._steps: list[str] = []
        self._needs_step = True

    def take(self) -> list[Chunk]:
        """The chunks since the last time."""
        chunks, self._chunks = self._chunks, []
        return chunks

    def begin(self, start: MessageStart) -> None:
        """The run begins, unless it has."""
        if not self.is_begun:
            self._start = start
            self.is_begun = True
            self._chunks.append(start)
        else:
            self.emit(MessageMetadata(start.message_metadata))

    def emit(self, chunk: Chunk) -> None:
        """Add a chunk to a message that has begun."""
        if not self.is_begun:
            self.is_begun = True
            self._chunks.append(self._start)
        self._chunks.append(chunk)

    def keep(self, event: Json) -> None:
        """Keep an event that fits nowhere."""
        self.emit(DataChunk(names.EVENT, event))

    def rest(self, event: JsonObject, *read: str) -> None:
        """Tell what an event says beyond what was read of it."""
        if rest := rest_of(event, *BASE, *read):
            self.emit(DataChunk(names.REST, {"type": event["type"], **rest}, transient=True))

    def settle(self) -> None:
        """Something else begins: what was whole is told so, and what came in shorthand is whole."""
        self.words.settle()
        if self.chunked_call is not None:
            self.end_call(self.chunked_call, {})
        if self._ending is not None:
            ending, self._ending = self._ending, None
            self._tell_call(ending)

    def close(self) -> None:
        """Nothing more comes."""
        self.settle()
        self.words.end_all()
        for id_, call in self.open_calls.items():
            if call.notes:
                rest = {"type": "TOOL_CALL_START", "toolCallId": id_, **call.notes}
                self.emit(DataChunk(names.REST, rest, transient=True))
        self.open_calls = {}

    # Steps

    def begin_step(self) -> None:
        """Words or calls begin: behind results they are another step."""
        if self._needs_step:
            self._needs_step = False
            self.emit(StepStart())

    def named_step(self, name: str) -> None:
        """A step of that name begins."""
        self._steps.append(name)
        self._needs_step = False
        self.emit(MessageMetadata({NAMESPACE: {"steps": list(self._steps)}}))
        self.emit(StepStart())

    def end_step(self) -> None:
        """A step has ended."""
        self._needs_step = True
        self.emit(StepFinish())

    @property
    def steps(self) -> list[str]:
        """The names of the steps so far."""
        return self._steps

    # Calls

    def start_call(self, id: str, name: str, notes: JsonObject) -> None:
        """A call begins."""
        self.settle()
        self.begin_step()
        self.open_calls[id] = Call(name, [], notes)
        self.known_calls[id] = name
        self.emit(ToolInputStart(id, name))

    def grow_call(self, id: str, delta: str) -> None:
        """The next piece of the input of a call that is open."""
        self.open_calls[id].pieces.append(delta)
        self.emit(ToolInputDelta(id, delta))

    def end_call(self, id: str, notes: JsonObject) -> None:
        """The input of a call is whole."""
        if self.chunked_call == id:
            self.chunked_call = None
        call = self.open_calls.pop(id, None)
        if call is not None:
            self.settle()
            self._ending = Ending(id, call._replace(notes={**call.notes, **notes}))
            self.unanswered[id] = None

    def answered(self, id: str) -> None:
        """A call has its result: what comes next is another step."""
        self.unanswered.pop(id, None)
        self._needs_step = True

    def _tell_call(self, ending: Ending) -> None:
        id_, (name, pieces, notes) = ending
        words = "".join(pieces)
        try:
            value: Json = loads(words) if words.strip() else {}
        except DecodeError as error:
            why = f"the input is no JSON: {error}"
            self.emit(ToolInputError(id_, name, why, words, provider_metadata=opened(notes)))
            return
        kept = {} if dumps(value).decode() == words else {RAW_INPUT: words}
        self.emit(ToolInputAvailable(id_, name, value, provider_metadata=opened({**notes, **kept})))

    # What only the agent can read

    def seal(self, subtype: str, entity: str, value: str) -> None:
        """A sealed value of a message or a call."""
        if subtype not in ("message", "tool-call"):
            raise KeyError(subtype)
        if subtype == "tool-call" and self._ending is not None and self._ending.id == entity:
            self._ending.call.notes[SEALED] = value
        elif subtype == "tool-call" and entity in self.open_calls:
            self.open_calls[entity].notes[SEALED] = value
        elif subtype == "tool-call" or not self.words.seal(entity, value):
            kept = {entity: {"subtype": subtype, SEALED: value}}
            self.emit(MessageMetadata({NAMESPACE: {"encryptedValues": kept}}))
