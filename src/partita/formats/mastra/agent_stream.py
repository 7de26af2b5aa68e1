"""Events of an agent or a workflow → chunks of its messages. Sub-agents are nested in their calls.

An event of an unknown type, or an invalid event, becomes data under its type. Chunk types:
packages/core/src/stream/types.ts in https://github.com/mastra-ai/mastra
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final
from urllib.parse import quote

from partita.formats.ai_sdk.versions import REDACTED, SIGNATURE, SIGNER, ai_sdk_usage
from partita.formats.core.files import file_url, guess_media_type
from partita.formats.core.metadata import notes
from partita.formats.losses import Loss
from partita.types.chunks import (
    Chunk,
    ErrorChunk,
    FileChunk,
    MessageAbort,
    SourceDocumentChunk,
    SourceUrlChunk,
    SteeringMessageChunk,
    StepFinish,
    StepStart,
)
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.parts import FilePart, TextPart

from .stream_calls import Calls, Handler
from .stream_output import COMMON_MEMBERS, NAMESPACE, Event, Kind, Output

MAX_DEPTH: Final = 32
"""The maximum depth of nested sub-agents. Events of deeper ones become data."""

DATA: Final = "data-"
STEERING: Final = "data-user-message"

ABORTS: Final = ("abort", "tripwire", "agent-execution-abort", "workflow-canceled")
KEPT: Final = (
    *("response-metadata", "raw", "watch"),
    *("workflow-start", "workflow-finish", "workflow-step-finish"),
)
"""Events about the run itself, whose members are kept as metadata."""

OBJECTS: Final[Mapping[str, str]] = {
    "object": "object",
    "network-object": "network-object",
    "object-result": "object",
    "network-object-result": "network-object",
}
"""Events with an object that is generated in pieces, and with the complete one; the data they become."""

UNESCAPED: Final = "!'()*-._~"
"""The characters that `encodeURIComponent` of JavaScript does not escape, besides letters and digits."""


class AgentStream:
    """Decodes the events of one agent or workflow."""

    def __init__(self, sink: list[Chunk], losses: list[Loss], path: tuple[str, ...] = ()) -> None:
        self.output = Output(sink, losses, path)
        self._errors: list[str] = []
        self._children: dict[str, AgentStream] = {}  # by call id
        self._pending_start: Event | None = None  # the start event of a message that has no id yet
        self._calls = Calls(self.output, self._feed_child, self._interrupt_child)
        self._handlers: Mapping[str, Handler] = {
            "start": self._start,
            "step-start": self._step_start,
            "step-finish": self._step_finish,
            "finish": self._finish,
            "error": self._error,
            "reasoning-signature": self._signature,
            "redacted-reasoning": self._redacted,
            "source": self._source,
            "file": self._file,
            **self._block_handlers("text"),
            **self._block_handlers("reasoning"),
            **self._calls.handlers,
            **dict.fromkeys(ABORTS, self._abort),
            **dict.fromkeys(KEPT, lambda event: True),
        }

    def feed(self, raw: JsonObject, where: str) -> None:
        """Decode an event."""
        event = Event(raw, where)
        if event.type == "start" and not self.output.count:
            self._keep_pending_start()
        self.output.next_envelope = {key: raw[key] for key in COMMON_MEMBERS if key in raw}
        if event.type.startswith(DATA):
            self._data(event)
        elif not self._is_handled(event):
            self._keep_whole(event)
        if self._pending_start is event:
            return
        if self.output.count:
            self._keep_pending_start()
        self.output.keep_rest(event)

    def _is_handled(self, event: Event) -> bool:
        if event.type in OBJECTS:
            return self._object(event)
        handler = self._handlers.get(event.type)
        return handler is not None and is_object(event.payload) and handler(event)

    def _keep_whole(self, event: Event) -> None:
        """Emit an event as data."""
        if event.payload is None:
            members = [key for key in event.envelope if key not in COMMON_MEMBERS]
            self.output.data(event.type, {key: event.envelope.pop(key) for key in members})
        else:
            self.output.data(event.type, event.payload)
        event.rest = {}
        event.envelope.pop("payload", None)

    def _keep_pending_start(self) -> None:
        """Keep the members of the start event, once the message has an id or cannot get one."""
        if self._pending_start is not None:
            self.output.keep_rest(self._pending_start)
            self._pending_start = None

    def close(self) -> None:
        """End everything that is open."""
        for child in self._children.values():
            child.close()
        self._keep_pending_start()
        self.output.close()

    def _feed_child(self, call_id: str, raw: Json, where: str) -> bool:
        """Decode an event of the sub-agent of a call. Returns whether it is an event."""
        if not is_event(raw) or len(self.output.path) >= MAX_DEPTH:
            return False
        child = self._children.get(call_id)
        if child is None:
            path = (*self.output.path, call_id)
            child = self._children[call_id] = AgentStream(self.output.sink, self.output.losses, path)
        child.feed(raw, where)
        return True

    def _interrupt_child(self, call_id: str) -> None:
        if call_id in self._children:
            self._children[call_id].interrupt()

    def interrupt(self) -> None:
        """End the open texts and calls of this agent and its sub-agents."""
        for child in self._children.values():
            child.interrupt()
        self.output.end_blocks()
        self._calls.interrupt()

    # The message

    def _start(self, event: Event) -> bool:
        """Begin a run. The id of its message may come with the first step."""
        if not self._begin(event) and not self.output.count:
            self._pending_start = event
        return True

    def _step_start(self, event: Event) -> bool:
        self._begin(event)
        self.output.emit(StepStart())
        return True

    def _begin(self, event: Event) -> bool:
        """Begin the message that an event names, or the next one if the last has ended."""
        message_id: str | None = event.take("messageId", str)
        has_ended = self.output.count > 0 and not self.output.is_open
        is_current = self.output.is_open and self.output.message_id == message_id
        if has_ended or (message_id is not None and not is_current):
            self.output.begin(message_id)
        return message_id is not None or has_ended

    def _step_finish(self, event: Event) -> bool:
        event.drop({"messageId": self.output.message_id})
        self.output.emit(StepFinish())
        return True

    def _finish(self, event: Event) -> bool:
        self.output.ensure()
        event.drop({"messageId": self.output.message_id})
        result, output = event.get("stepResult"), event.get("output")
        if is_object(result) and isinstance(result.get("reason"), str):
            self.output.finish(result["reason"])
            event.rest["stepResult"] = {key: item for key, item in result.items() if key != "reason"}
        if is_object(output) and is_object(output.get("usage")):
            self.output.finish(None, usage=usage_of(output["usage"]))
            event.rest["output"] = {key: item for key, item in output.items() if key != "usage"}
        self.output.keep_rest(event)
        event.rest, event.envelope = {}, {}
        self.output.close()
        return True

    def _error(self, event: Event) -> bool:
        if "error" not in event.rest:
            return False
        error = event.rest["error"]
        if isinstance(error, str):
            del event.rest["error"]
        message: Json = error.get("message") if is_object(error) else error
        self._errors.append(message if isinstance(message, str) else dumps(error).decode())
        self.output.emit(ErrorChunk(self._errors[-1]))
        self.output.finish(None, errors=list(self._errors))
        return True

    def _abort(self, event: Event) -> bool:
        """End the run early: by a user, by the tripwire of a processor, or as a cancelled workflow."""
        reason = event.get("reason")
        self.interrupt()
        self.output.emit(MessageAbort(reason if isinstance(reason, str) else None))
        if not isinstance(reason, str):
            event.rest.setdefault("aborted", True)  # an abort leaves no trace in a message
        return True

    # Text and reasoning

    def _block_handlers(self, kind: Kind) -> Mapping[str, Handler]:
        return {
            f"{kind}-start": partial(self._block_start, kind),
            f"{kind}-delta": partial(self._block_delta, kind),
            f"{kind}-end": partial(self._block_end, kind),
        }

    def _block_start(self, kind: Kind, event: Event) -> bool:
        event.drop({"type": event.type})
        id_ = event.take("id", str)
        where = None if id_ is None else event.where
        self.output.start(kind, id_ or kind, event.take("providerMetadata", dict), where)
        return True

    def _block_delta(self, kind: Kind, event: Event) -> bool:
        delta = event.get("text")
        if not isinstance(delta, str):
            return False
        event.drop({"type": event.type, "text": delta})
        id_ = event.take("id", str)
        where = None if id_ is None else event.where
        self.output.append(kind, id_ or kind, delta, event.take("providerMetadata", dict), where)
        return True

    def _block_end(self, kind: Kind, event: Event) -> bool:
        """End a block. An end without a start is not handled."""
        event.drop({"type": event.type})
        id_ = event.get("id")
        metadata = event.take("providerMetadata", dict)
        if not self.output.end(kind, id_ if isinstance(id_, str) else kind, metadata):
            return False
        event.take("id", str)
        return True

    def _signature(self, event: Event) -> bool:
        signature = event.take("signature", str)
        if signature is None:
            return False
        id_ = event.take("id", str) or "reasoning"
        self.output.append("reasoning", id_, "", {SIGNER: {SIGNATURE: signature}})
        return True

    def _redacted(self, event: Event) -> bool:
        data = event.take("data", str)
        if data is None:
            return False
        id_ = event.take("id", str) or "redacted"
        metadata: JsonObject | None = event.take("providerMetadata", dict)
        known = notes(metadata, SIGNER)
        self.output.start("reasoning", id_, {**(metadata or {}), SIGNER: {REDACTED: data, **known}})
        if known.get(REDACTED, data) != data:
            event.rest["data"] = data
        self.output.end("reasoning", id_)
        return True

    # Other parts

    def _source(self, event: Event) -> bool:
        match event.rest:
            case {"sourceType": "url", "id": str(id_), "url": str(url), **rest}:
                event.rest = rest
                title, metadata = event.take("title", str), event.take("providerMetadata", dict)
                self.output.emit(SourceUrlChunk(id_, url, title, metadata))
            case {
                "sourceType": "document",
                "id": str(id_),
                "title": str(title),
                "mimeType": str(media),
                **rest,
            }:
                event.rest = rest
                name, metadata = event.take("filename", str), event.take("providerMetadata", dict)
                self.output.emit(SourceDocumentChunk(id_, media, title, name, metadata))
            case _:
                return False
        return True

    def _file(self, event: Event) -> bool:
        """Emit a file: base64, a URL, or plain text."""
        data, encoded = event.take("data", str), event.get("base64")
        if data is None:
            return False
        media_type = event.take("mimeType", str)
        media_type = guess_media_type(data, None) if media_type is None else media_type
        url = file_url(data, media_type)
        if "base64" in event.rest and not encoded and encoded is not None:
            url = f"data:{media_type},{quote(data, safe=UNESCAPED)}"
            del event.rest["base64"]
        elif encoded is True or encoded == data:
            del event.rest["base64"]
        name, metadata = event.take("filename", str), event.take("providerMetadata", dict)
        if name is not None:
            metadata = {**(metadata or {}), NAMESPACE: {"filename": name}}
        self.output.emit(FileChunk(url, media_type, metadata))
        return True

    def _object(self, event: Event) -> bool:
        """Emit an object that is generated in pieces. Each event has the whole object so far."""
        holder = event.rest if "object" in event.rest else event.envelope
        if "object" not in holder:
            return False
        name = OBJECTS[event.type]
        self.output.data(name, holder.pop("object"), name)
        return True

    def _data(self, event: Event) -> None:
        """Emit data of the application, or a message that the user sent while the agent was running."""
        if event.type == STEERING and (steering := _take_steering(event)) is not None:
            self.output.emit(steering)
            return
        envelope = event.envelope
        id_ = envelope.pop("id") if isinstance(envelope.get("id"), str) else None
        transient = envelope.pop("transient") if isinstance(envelope.get("transient"), bool) else None
        if "data" in envelope:
            data = envelope.pop("data")
        else:
            data, event.rest = event.payload, {}
            envelope.pop("payload", None)
        self.output.data(event.type.removeprefix(DATA), data, id_, transient)


def is_event(value: Json) -> bool:
    """Whether a value is an event, and not just any object with a type."""
    if not is_object(value) or not isinstance(value.get("type"), str):
        return False
    return "payload" in value or "runId" in value or str(value["type"]).startswith(DATA)


def usage_of(raw: JsonObject) -> Json:
    """Return a usage in the form of message metadata."""
    return to_json(ai_sdk_usage(raw))


# Messages that the user sends while the agent is running


def _take_steering(event: Event) -> SteeringMessageChunk | None:
    """Remove the message of the user from the event and return it; `None` if it is invalid."""
    match event.envelope.get("data"):
        case {"id": str(id_), "contents": contents, **rest}:
            parts = _steering_parts(contents)
        case _:
            return None
    if parts is None:
        return None
    del event.envelope["data"]
    event.subject = {"id": id_}
    event.rest |= rest
    return SteeringMessageChunk(id_, tuple(parts))


def _steering_parts(contents: Json) -> Sequence[TextPart | FilePart] | None:
    """Return the parts of a text, of a list of parts, or of whole user messages."""
    if isinstance(contents, str):
        return [TextPart(contents)]
    if is_object(contents):
        is_message = contents.keys() == {"role", "content"} and contents["role"] == "user"
        content = contents.get("content")
        return _steering_parts(content) if is_message and not is_object(content) else None
    if not is_array(contents) or not contents:
        return None
    found = [
        _steering_parts(item) if is_object(item) and "role" in item else _steering_part(item)
        for item in contents
    ]
    return None if None in found else [part for parts in found if parts is not None for part in parts]


def _steering_part(item: Json) -> Sequence[TextPart | FilePart] | None:
    match item:
        case {"type": "text", "text": str(text), **rest} if not rest:
            return [TextPart(text)]
        case {"type": "image", "image": str(data), **rest} | {"type": "file", "data": str(data), **rest}:
            name = rest.pop("filename", None)
            given = [rest.pop(key) for key in ("mediaType", "mimeType") if isinstance(rest.get(key), str)]
            if rest or len(given) > 1 or not isinstance(name, str | None):
                return None
            media_type = given[0] if given else guess_media_type(data, name)
            return [FilePart(file_url(data, media_type), media_type, name)]
        case _:
            return None
