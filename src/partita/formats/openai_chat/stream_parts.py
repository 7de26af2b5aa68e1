"""The parts of a streamed response: texts, reasoning details, calls, sounds, and tools of the server."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from partita.errors import DecodeError
from partita.formats.core.decoder import Call, ChunkEmitter
from partita.formats.core.members import count_in, is_empty, objects_in, text_in
from partita.types.chunks import (
    CustomChunk,
    FileChunk,
    ToolInputAvailable,
    ToolInputStart,
    ToolOutputAvailable,
)
from partita.types.json import Json, JsonObject, dumps, is_object, join_surrogates, loads
from partita.types.parts import Citation

from .parts import FIELDS, TYPE, read_audio

Kind: TypeAlias = Literal["text", "refusal", "reasoning"]

PREFIXES: Final[Mapping[Kind, str]] = {"text": "txt", "refusal": "refusal", "reasoning": "reasoning"}
"""The start of the ids of each kind."""

UNKNOWN_TOOL: Final = "unknown-tool"
"""The name of a tool that a server does not name."""


class Texts:
    """The texts, refusals and reasonings of a response, one at a time, with their notes."""

    def __init__(self, emitter: ChunkEmitter) -> None:
        self.has_refused = False
        self.details = Details()
        self.signature = ""
        """Mistral's, of the current reasoning."""
        self.field = ""
        """The member that the current reasoning is from."""
        self.logprobs: dict[Kind, list[Json]] = {"text": [], "refusal": []}
        self.extra: JsonObject = {}
        """Values that the server requires back with the text."""
        self.citations: list[Citation] = []
        self._emitter = emitter
        self._kind: Kind | None = None
        self._counts = dict.fromkeys(PREFIXES, 0)

    def add(self, kind: Kind, delta: str) -> None:
        """Add a delta. One of another kind ends the current part."""
        if not delta:
            return
        if self._kind != kind:
            self._end()
            if kind != "reasoning":
                self._emit_details()
            self._start(kind)
        if kind == "reasoning":
            self._emitter.append_reasoning(self._id(kind), delta)
        else:
            self._emitter.append_text(self._id(kind), delta)

    def before_call(self) -> None:
        """End the reasoning before a call. A text may continue."""
        if self._kind in (None, "reasoning"):
            self.finish()

    def finish(self) -> None:
        """End what is open, and emit the remaining details."""
        self._end()
        self._emit_details()

    def _end(self) -> None:
        if self._kind is None:
            return
        kind, self._kind = self._kind, None
        cited = tuple(self.citations) if kind == "text" else ()
        self._emitter.end(self._id(kind), self._facts(kind), cited or None)
        if kind == "text":
            self.citations.clear()

    def _emit_details(self) -> None:
        """Emit details without text, which usually are encrypted, as a reasoning without text."""
        if self.details.are_pending:
            self._start("reasoning")
            self._end()

    def _start(self, kind: Kind) -> None:
        self._kind = kind
        self._counts[kind] += 1
        if kind == "reasoning":
            self._emitter.start_reasoning(self._id(kind))
        else:
            self.has_refused |= kind == "refusal"
            self._emitter.start_text(self._id(kind), {"refusal": True} if kind == "refusal" else None)

    def _id(self, kind: Kind) -> str:
        return f"{PREFIXES[kind]}-{self._counts[kind] - 1}"

    def _facts(self, kind: Kind) -> JsonObject:
        """The notes about the part that ends."""
        if kind == "reasoning":
            facts: JsonObject = {"field": self.field, "signature": self.signature}
            facts["reasoning_details"] = self.details.take()
            self.field, self.signature = "", ""
        else:
            facts = {"refusal": kind == "refusal", "logprobs": self.logprobs[kind]}
            self.logprobs[kind] = []
        if kind == "text":
            facts |= self.extra
            self.extra = {}
        return {key: value for key, value in facts.items() if value}


# Reasoning details

DELTA_MEMBERS: Final[Mapping[str, str]] = {"reasoning.text": "text", "reasoning.summary": "summary"}
"""Types with deltas, and the member with the text. Encrypted data has no deltas."""


class _Detail:
    __slots__ = ("fields", "pieces", "type")

    def __init__(self, fields: JsonObject) -> None:
        self.fields = dict(fields)
        self.type = text_in(fields, "type")
        self.pieces: list[str] = []

    def is_continued_by(self, delta: JsonObject) -> bool:
        is_same = text_in(delta, "type") == self.type and count_in(delta, "index") == count_in(
            self.fields, "index"
        )
        return (
            is_same
            and self.type in DELTA_MEMBERS
            and text_in(delta, "id") in ("", text_in(self.fields, "id"))
        )

    def add(self, delta: JsonObject) -> None:
        grown = DELTA_MEMBERS[self.type]
        self.pieces.append(text_in(delta, grown))
        self.fields |= {key: value for key, value in delta.items() if key != grown and not is_empty(value)}

    def joined(self) -> JsonObject:
        if not any(self.pieces):
            return self.fields
        grown = DELTA_MEMBERS[self.type]
        return {**self.fields, grown: text_in(self.fields, grown) + "".join(self.pieces)}


class Details:
    """The `reasoning_details` of the current reasoning, which must be sent back completely and in order.

    https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks
    """

    def __init__(self) -> None:
        self._details: list[_Detail] = []
        self.are_pending = False
        """Whether there are any with content."""

    def add(self, raw: Json, *, is_whole: bool) -> None:
        """Add the details of a delta, or of a whole message, which has no deltas."""
        for item in objects_in(raw):
            last = self._details[-1] if self._details and not is_whole else None
            if last is not None and last.is_continued_by(item):
                last.add(item)
            else:
                self._details.append(_Detail(item))
            self.are_pending |= any(text_in(item, key) for key in ("text", "summary", "data", "signature"))

    def take(self) -> list[JsonObject]:
        """Return all details, joined, if one has content. The next ones belong to another reasoning."""
        taken = [detail.joined() for detail in self._details] if self.are_pending else []
        self._details, self.are_pending = [], False
        return taken


# Calls

_HANDLED: Final = frozenset({"index", "id", "type", "function", "custom"})


class _PendingCall:
    """A call that is being streamed. `number` is the number of calls before it."""

    __slots__ = ("call", "extra", "given_id", "held", "is_custom", "name", "number")

    def __init__(self, number: int, given_id: Json, *, is_custom: bool) -> None:
        self.number, self.given_id, self.is_custom = number, given_id, is_custom
        self.name = ""
        self.held: list[str] = []
        """Input that came before the name."""
        self.extra: JsonObject = {}
        self.call: Call | None = None


class Calls:
    """All calls of a response. The key of a call is its index, else its id."""

    def __init__(self, emitter: ChunkEmitter) -> None:
        self._emitter = emitter
        self._calls: list[_PendingCall] = []
        self._by_index: dict[int, _PendingCall] = {}
        self._by_id: dict[str, _PendingCall] = {}
        self._taken: set[str] = set()
        self._legacy: dict[str, list[str]] = {"name": [], "arguments": []}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, delta: JsonObject, response_id: str, number: int | None = None) -> None:
        """Add a delta of a call; with a `number`, a whole call of a message."""
        given = next((one for key in ("custom", "function") if is_object(one := delta.get(key))), {})
        pending_call = self._find(
            delta, delta.get("index") if number is None else number, text_in(given, "name")
        )
        pending_call.name = pending_call.name or text_in(given, "name")
        extra = {key: item for key, item in delta.items() if key not in _HANDLED and not is_empty(item)}
        pending_call.extra |= extra
        if pending_call.name and pending_call.call is None:
            self._start(pending_call, response_id)
        text = input_text(given.get("input" if pending_call.is_custom else "arguments"))
        if pending_call.call is None:
            pending_call.held.append(text)
        elif text:
            self._emitter.append_input(pending_call.call.id, text)

    def add_function(self, delta: JsonObject) -> None:
        """Add a delta of a `function_call`. It has no id, so a result could not be sent for it."""
        for key, texts in self._legacy.items():
            texts.append(text_in(delta, key))

    def finish(self, response_id: str, *, is_complete: bool, is_cut: bool = False) -> None:
        """End all calls. Inputs are complete only if the response is.

        If the server cut the response, an input that is not JSON stays open, and so does the last text.
        """
        for pending_call in self._calls:
            if pending_call.call is None:
                pending_call.name = UNKNOWN_TOOL
                self._start(pending_call, response_id)
            is_last = pending_call is self._calls[-1]
            is_open = is_cut and (is_last if pending_call.is_custom else not _is_json(pending_call.call))
            if is_complete and not is_open and pending_call.call is not None:
                self._end(pending_call, pending_call.call)
        legacy = {key: "".join(texts) for key, texts in self._legacy.items()}
        if any(legacy.values()):
            namespace = self._emitter.namespace
            self._emitter.emit(CustomChunk(f"{namespace}.function_call", {namespace: legacy}))

    def new_id(self, given: Json, response_id: str, number: int) -> str:
        """Return the id from the server, or a new one if there is none or it is used."""
        new = given if isinstance(given, str) else ""
        while not new or new in self._taken:
            new, number = f"{response_id or 'call'}-{number}", number + 1
        self._taken.add(new)
        return new

    def _find(self, delta: JsonObject, index: Json, name: str) -> _PendingCall:
        """Return the call of a delta. Later deltas of Qwen have an empty id (seen in a recording)."""
        given_id = text_in(delta, "id")
        if isinstance(index, int):
            known = self._by_index.get(index)
            # Gemini's endpoint gives all calls of a response the same index (seen in a recording).
            if known is not None and name and given_id and known.given_id and given_id != known.given_id:
                known = None
        elif given_id:
            known = self._by_id.get(given_id)
        else:
            known = self._calls[-1] if self._calls and not name else None
        if known is None:
            known = _PendingCall(len(self._calls), delta.get("id"), is_custom=is_object(delta.get("custom")))
            self._calls.append(known)
        if isinstance(index, int):
            self._by_index[index] = known
        if given_id:
            known.given_id = known.given_id or given_id
            self._by_id.setdefault(given_id, known)
        return known

    def _start(self, pending_call: _PendingCall, response_id: str) -> None:
        call = Call(
            self.new_id(pending_call.given_id, response_id, pending_call.number), pending_call.name, []
        )
        pending_call.call = call
        if pending_call.is_custom:
            self._emitter.calls[call.id] = call
            self._emitter.emit(ToolInputStart(call.id, call.name, input_encoding="text"))
        else:
            self._emitter.start_call(call)
        for text in filter(None, pending_call.held):
            self._emitter.append_input(call.id, text)

    def _end(self, pending_call: _PendingCall, call: Call) -> None:
        facts = {FIELDS: pending_call.extra, **_signature(pending_call.extra)} if pending_call.extra else {}
        if pending_call.given_id != call.id:
            facts["id"] = pending_call.given_id
        text = join_surrogates("".join(call.pieces))  # a character may be cut in halves
        if pending_call.is_custom:
            self._emitter.calls.pop(call.id, None)
            metadata = {self._emitter.namespace: {**facts, TYPE: "custom"}}
            self._emitter.emit(ToolInputAvailable(call.id, call.name, text, None, metadata))
        else:
            self._emitter.end_call(call._replace(pieces=[text]), metadata=facts)


def _is_json(call: Call | None) -> bool:
    text = "" if call is None else join_surrogates("".join(call.pieces))
    try:
        loads(text.strip() or "{}")
    except DecodeError:
        return False
    return True


def _signature(extra: JsonObject) -> JsonObject:
    """Gemini's signature under the name that the AI SDK gives it."""
    match extra:
        case {"extra_content": {"google": {"thought_signature": str(signature)}}}:
            return {"thoughtSignature": signature}
        case _:
            return {}


def input_text(given: Json) -> str:
    """Return the text of a delta of an input. Some servers send a value instead of its text."""
    if given is None or isinstance(given, str):
        return given or ""
    try:
        return dumps(given).decode()
    except DecodeError as error:
        return str(error)  # it is not JSON, so the call ends with an invalid input


TOOL_MEMBERS: Final = frozenset({"index", "type", "name", "arguments"})
"""Members of a tool that the server ran which describe the call; the others are its result."""


class ServerTools:
    """Groq's `executed_tools`: first a call, later with its output. They are numbered and have no ids.

    https://console.groq.com/docs/agentic-tooling
    """

    def __init__(self, emitter: ChunkEmitter, calls: Calls) -> None:
        self._emitter, self._calls = emitter, calls
        self._ids: dict[tuple[int, str, str], str] = {}
        self._waiting: dict[str, JsonObject] = {}
        """The members of the results of tools without an output, by id."""

    def add(self, tool: JsonObject, response_id: str) -> None:
        """A tool, with its output if it has one by now."""
        index, text = tool.get("index"), input_text(tool.get("arguments"))
        name = text_in(tool, "type") or text_in(tool, "name")
        number = index if isinstance(index, int) else len(self._ids)
        known = self._ids.get((number, name, text))
        if known is None:
            known = self._ids[number, name, text] = self._calls.new_id(None, response_id, number)
            self._waiting[known] = {}
            self._call(Call(known, name or UNKNOWN_TOOL, [text], provider_executed=True), index)
        if known in self._waiting:
            self._waiting[known] |= {key: item for key, item in tool.items() if key not in TOOL_MEMBERS}
            if not is_empty(tool.get("output")):
                self._end(known)

    def finish(self) -> None:
        """End the tools without an output, with the known members of their results."""
        for call_id in [call_id for call_id, facts in self._waiting.items() if facts]:
            self._end(call_id)

    def _call(self, call: Call, index: Json) -> None:
        self._emitter.start_call(call._replace(pieces=[]))
        if call.pieces[0]:
            self._emitter.append_input(call.id, call.pieces[0])
        self._emitter.end_call(call, metadata={} if index is None else {"index": index})

    def _end(self, call_id: str) -> None:
        self._emitter.emit(ToolOutputAvailable(call_id, self._waiting.pop(call_id), provider_executed=True))


class Audio:
    """A sound, with its transcript."""

    def __init__(self) -> None:
        self._data: list[str] = []
        self._transcript: list[str] = []
        self._facts: JsonObject = {}

    def add(self, delta: JsonObject) -> None:
        """Add a chunk."""
        self._data.append(text_in(delta, "data"))
        self._transcript.append(text_in(delta, "transcript"))
        self._facts |= {key: item for key, item in delta.items() if key not in ("data", "transcript")}

    def finish(self, emitter: ChunkEmitter) -> JsonObject:
        """Emit the sound, if there is one. Without data, return its other members."""
        transcript = "".join(self._transcript)
        facts = {**self._facts, **({"transcript": transcript} if transcript else {})}
        if not any(self._data):
            return facts
        part = read_audio(self._data, facts, emitter.namespace)
        emitter.emit(FileChunk(part.url, part.media_type, part.provider_metadata))
        return {}
