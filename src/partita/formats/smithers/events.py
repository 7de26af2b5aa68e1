"""Stream events of Smithers, parts with the names of AI SDK 6 providers → chunks.

Parts that no chunk can express (metadata of responses, warnings, the finish, and all unknown parts) are kept
whole in `kept`.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from msgspec import UNSET

from partita.errors import DecodeError
from partita.formats.core.members import parsed
from partita.formats.losses import NO_CALL, OTHER_INPUT, Loss
from partita.types.chunks import (
    Chunk,
    DataChunk,
    FileChunk,
    SourceUrlChunk,
    StepStart,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputStart,
    ToolOutputAvailable,
)
from partita.types.codec import read_chunk
from partita.types.json import Json, JsonObject, is_object

UNNAMED: Final = "unknown"
"""The name that Smithers uses if it does not know the name of a tool."""

FIELDS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(
        ("text-start", "text-end", "reasoning-start", "reasoning-end", "tool-input-end"), frozenset({"id"})
    ),
    **dict.fromkeys(("text-delta", "reasoning-delta", "tool-input-delta"), frozenset({"id", "delta"})),
    "stream-start": frozenset({"warnings"}),
    "source": frozenset({"sourceType", "id", "title", "url", "content"}),
    "tool-input-start": frozenset({"id", "toolName"}),
    "tool-call": frozenset({"toolCallId", "toolName", "input"}),
    "tool-result": frozenset({"toolCallId", "toolName", "result"}),
    "file": frozenset({"mediaType", "data"}),
    "error": frozenset({"error"}),
    "cli-output": frozenset({"stream", "raw"}),
}
"""Types of parts that become chunks, and their members. A part with other members is also kept."""

Reader: TypeAlias = Callable[[JsonObject, str], list[Chunk]]


class EventDecoder:
    """Converts parts to chunks."""

    def __init__(self) -> None:
        self.kept: list[Json] = []
        """Parts that chunks cannot express completely."""
        self.losses: list[Loss] = []
        self._names: dict[str, str] = {}  # of the calls so far
        self._pieces: dict[str, list[str]] = {}  # of inputs that are being streamed
        self._readers: Mapping[str, Reader] = {
            "tool-input-start": self._input_start,
            "tool-input-delta": self._input_delta,
            "tool-input-end": self._input_end,
            "tool-call": self._call,
            "tool-result": self._result,
            "stream-start": self._start,
            "source": self._source,
        }

    def feed(self, event: Json, path: str = "$") -> list[Chunk]:
        """Return the chunks of a part."""
        type_ = event.get("type") if is_object(event) else None
        if not is_object(event) or not isinstance(type_, str):
            self.kept.append(event)
            return []
        try:
            chunks = self._readers.get(type_, self._plain)(event, path)
        except (DecodeError, KeyError):
            chunks = []
        known = FIELDS.get(type_, frozenset())
        if (not chunks and type_ != "tool-input-end") or event.keys() - known - {"type"}:
            self.kept.append(event)
        return chunks

    def _plain(self, event: JsonObject, path: str) -> list[Chunk]:
        """Return the chunk of a part that has nearly the form of one."""
        match event:
            case {"type": "error", "error": error}:
                return [DataChunk("data-error", error if is_object(error) else {"message": error})]
            case {"type": "cli-output", "stream": stream, "raw": raw}:
                return [DataChunk("data-cli-output", {"stream": stream, "raw": raw})]
            case {"type": "file", "mediaType": str(media_type), "data": str(data)}:
                return [FileChunk(f"data:{media_type};base64,{data}", media_type)]
            case {"type": str(type_)} if type_ in FIELDS:
                return [read_chunk({key: event[key] for key in FIELDS[type_] | {"type"}})]
            case _:
                return []

    def _start(self, event: JsonObject, path: str) -> list[Chunk]:
        """Start a model call. Its warnings are kept."""
        if event.get("warnings"):
            self.kept.append(event)
        return [StepStart()]

    def _input_start(self, event: JsonObject, path: str) -> list[Chunk]:
        id_, name = _text(event, "id"), _text(event, "toolName")
        self._names[id_] = name
        self._pieces[id_] = []
        return [ToolInputStart(id_, name, dynamic=True)]

    def _input_delta(self, event: JsonObject, path: str) -> list[Chunk]:
        id_, delta = _text(event, "id"), _text(event, "delta")
        opening = [] if id_ in self._pieces else self._input_start({"id": id_, "toolName": UNNAMED}, path)
        self._pieces[id_].append(delta)
        return [*opening, ToolInputDelta(id_, delta)]

    def _input_end(self, event: JsonObject, path: str) -> list[Chunk]:
        """End the input: a call that repeats it does not always follow."""
        id_ = _text(event, "id")
        if id_ not in self._pieces:
            self.losses.append(Loss.of(f"{path}.id", event["id"], NO_CALL))
            return []
        text = "".join(self._pieces.pop(id_))
        input_ = parsed(text)
        return [] if input_ == text else [ToolInputAvailable(id_, self._names[id_], input_, dynamic=True)]

    def _call(self, event: JsonObject, path: str) -> list[Chunk]:
        id_, name = _text(event, "toolCallId"), _text(event, "toolName")
        self._names[id_] = name
        self._pieces.pop(id_, None)
        return [ToolInputAvailable(id_, name, parsed(event["input"]), dynamic=True)]

    def _result(self, event: JsonObject, path: str) -> list[Chunk]:
        """Return the output of a call. If the call is missing, it is added without an input."""
        id_, name = _text(event, "toolCallId"), _text(event, "toolName")
        calls: list[Chunk] = []
        if id_ not in self._names:
            self._names[id_] = name
            calls.append(ToolInputAvailable(id_, name, UNSET, dynamic=True))
        elif name not in (UNNAMED, self._names[id_]):
            self.losses.append(Loss.of(f"{path}.toolName", name, OTHER_INPUT))
        return [*calls, ToolOutputAvailable(id_, event["result"], dynamic=True)]

    def _source(self, event: JsonObject, path: str) -> list[Chunk]:
        match event:
            case {"sourceType": "url", "url": str(url), **rest} if "content" not in rest:
                title, id_ = rest.get("title"), rest.get("id")
                if isinstance(title, str | None) and isinstance(id_, str | None):
                    return [SourceUrlChunk(url if id_ is None else id_, url, title)]
            case _:
                pass
        return [DataChunk("data-source", {key: value for key, value in event.items() if key != "type"})]


def _text(event: JsonObject, name: str) -> str:
    value = event[name]
    if not isinstance(value, str):
        raise KeyError(name)
    return value
