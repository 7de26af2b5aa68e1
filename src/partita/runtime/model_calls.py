"""Model calls within one message: their requests in the run log, and their responses merged into the message.

Used live, and when a log is decoded a second time.
"""

from typing import Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.call_decoder import CALL, is_marker
from partita.types.chunks import (
    AgentStreamEvent,
    Chunk,
    ChunkEvent,
    DataChunk,
    MessageFinish,
    MessageStart,
    RawEvent,
)
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.usage import Usage, sum_usages

from .run_fold import read_usage

# Requests, as markers in the log before the mark of the call.
#
# A model that calls tools is sent the whole conversation each time. So the first request of a message is kept
# whole, and of each other request only what changed since the one before.

REQUEST: Final = "data-partita-request"
"""The marker with a request that was sent, without its headers."""


class ModelRequest(NamedTuple):
    """One request to a provider's API."""

    format_name: str
    """The format that reads the response."""
    path: str
    """Relative to the base URL of the API."""
    body: JsonObject


def request_marker(request: ModelRequest) -> DataChunk:
    """The marker with a whole request."""
    data = {"format": request.format_name, "path": request.path, "body": request.body}
    return DataChunk(REQUEST, data, transient=True)


def read_request_marker(chunk: Chunk) -> ModelRequest | None:
    """The request of a marker; `None` if the chunk is not a marker with a whole request."""
    data: Json = chunk.data if isinstance(chunk, DataChunk) and is_marker(chunk, REQUEST) else None
    if not is_object(data) or not is_object(data.get("body")):
        return None
    return ModelRequest(str(data.get("format")), str(data.get("path")), data["body"])


class RequestCompressor:
    """Replaces requests by what changed since the request before."""

    def __init__(self) -> None:
        self._previous: ModelRequest | None = None

    def compress(self, chunk: DataChunk) -> DataChunk:
        """The marker of the next request, as changes if there is a request to the same API before it."""
        request, previous = read_request_marker(chunk), self._previous
        if request is None:
            return chunk
        self._previous = request
        if previous is None or previous[:2] != request[:2]:
            return chunk
        changes = {name: _change(previous.body, name, value) for name, value in request.body.items()}
        return DataChunk(REQUEST, {"changes": changes}, transient=True)


class RequestExpander:
    """Reads compressed markers as whole requests."""

    def __init__(self) -> None:
        self._previous: ModelRequest | None = None

    def read(self, chunk: Chunk) -> ModelRequest | None:
        """The request of the next marker; `None` if the request before it is missing."""
        data: Json = chunk.data if isinstance(chunk, DataChunk) else None
        if is_object(data) and is_object(changes := data.get("changes")):
            previous = self._previous
            if previous is not None:
                body = {name: _changed(previous.body.get(name), change) for name, change in changes.items()}
                self._previous = previous._replace(body=body)
        else:
            self._previous = read_request_marker(chunk)
        return self._previous


def _change(previous: JsonObject, name: str, value: Json) -> JsonObject:
    if name not in previous:
        return {"set": value}
    old: Json = previous[name]
    if old == value:
        return {}
    if not is_array(old) or not is_array(value):
        return {"set": value}
    pairs = zip(old, value, strict=False)
    kept = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(old), len(value)))
    return {"keep": kept, "add": value[kept:]} if kept else {"set": value}


def _changed(old: Json, change: Json) -> Json:
    if not is_object(change) or not change:
        return old
    if "set" in change:
        return change["set"]
    kept, added = change.get("keep"), change.get("add")
    return [*old[:kept], *added] if is_array(old) and is_array(added) else old


# Responses

MERGED: Final = "stitched"
"""In the mark of a call: its response is a step of a longer message."""


class ResponseMerger:
    """Merges the responses of several calls into one message.

    Each response has a `start` and a `finish` of its own. The message has one of each, with the usage of all.
    """

    def __init__(self) -> None:
        self.steps: list[JsonObject] = []
        """The metadata of each response."""
        self._requests = RequestCompressor()

    def event(self, event: AgentStreamEvent) -> AgentStreamEvent | None:
        """An event of a response as the message has it; `None` if it is left out."""
        if not isinstance(event, ChunkEvent):
            return event
        chunk = self.chunk(event.chunk)
        if chunk is not None:
            return event if chunk is event.chunk else replace(event, chunk=chunk)
        if event.raw_text is None and event.raw_agent_message is UNSET:
            return None
        return RawEvent(raw_agent_message=event.raw_agent_message, raw_text=event.raw_text)

    def chunk(self, chunk: Chunk) -> Chunk | None:
        """A chunk of a response as the message has it; `None` for a `start` or a `finish`."""
        if isinstance(chunk, MessageStart):
            return None
        if isinstance(chunk, MessageFinish):
            metadata: Json = chunk.message_metadata
            self.steps.append(metadata if is_object(metadata) else {"finishReason": chunk.finish_reason})
            return None
        if isinstance(chunk, DataChunk) and is_marker(chunk, CALL) and is_object(chunk.data):
            return replace(chunk, data={**chunk.data, MERGED: True})
        if isinstance(chunk, DataChunk) and is_marker(chunk, REQUEST):
            return self._requests.compress(chunk)
        return chunk

    @property
    def usage(self) -> Usage | None:
        """The usage of all responses."""
        known = [usage for step in self.steps if (usage := read_usage(step.get("usage"))) is not None]
        return sum_usages(known)

    def finish(self, reason: str | None = None, more: JsonObject | None = None) -> MessageFinish:
        """The end of the message: the last response's reason unless another is given, and all usage."""
        last: JsonObject = self.steps[-1] if self.steps else {}
        usage = self.usage
        metadata = {**last, **({} if usage is None else {"usage": to_json(usage)})}
        if len(self.steps) > 1:
            metadata["steps"] = self.steps
        finish_reason = reason or last.get("finishReason")
        metadata["finishReason"] = finish_reason if isinstance(finish_reason, str) else "other"
        return MessageFinish(metadata["finishReason"], {**metadata, **(more or {})})
