"""Streams of Mastra's agents, workflows and networks → chunks and messages.

A stream may contain several messages: each begins with a start event with its id. Values without a place in a
message are in its metadata under `mastra`; unknown events become data.
"""

from typing import Final

from msgspec.structs import replace

from partita.errors import DecodeError, StreamError
from partita.formats.event_streams import load_events
from partita.formats.format import Format, Loaded
from partita.formats.losses import Loss
from partita.types.chunks import Chunk
from partita.types.codec import Codec
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import AssistantContent, AssistantMessage, Message
from partita.types.usage import Usage

from .agent_stream import AgentStream
from .network import is_decision
from .network_payload import calls_in
from .network_stream import NetworkStream

_USAGE: Final[Codec[Usage]] = Codec(Usage)


class MastraStreamDecoder:
    """Decodes the events of a stream."""

    def __init__(self) -> None:
        self.losses: list[Loss] = []
        """Values that are not in the messages, by their paths in the list of events."""
        self._count = 0
        self._chunks: list[Chunk] = []
        self._stream = AgentStream(self._chunks, self.losses)
        self._network = NetworkStream(self._stream)

    def feed(self, event: Json) -> list[Chunk]:
        """Return the chunks of an event."""
        where = f"$[{self._count}]"
        raw = _checked(event)
        self._count += 1
        if not self._network.feed(raw, where):
            self._stream.feed(raw, where)
        return self._take()

    def finish(self) -> list[Chunk]:
        """Return the chunks that end everything that is open."""
        self._network.close()
        self._stream.close()
        return self._take()

    def _take(self) -> list[Chunk]:
        chunks = list(self._chunks)
        self._chunks.clear()
        return chunks


def _checked(event: Json) -> JsonObject:
    if not is_object(event):
        what, hint = f"a chunk is an object, found {kind_of(event)}", "pass parsed JSON"
        raise StreamError(what, where="$", hint=hint)
    if not isinstance(event.get("type"), str):
        hint = "use {type, runId, from, payload}"
        raise StreamError("a chunk without a type", where="$.type", hint=hint)
    return event


def load(payload: Json) -> Loaded:
    """Read the messages of a stream: from the list of its events, or from one event."""
    loaded = load_events(MastraStreamDecoder(), payload if is_array(payload) else [payload])
    return Loaded(tuple(map(_completed, loaded.messages)), loaded.losses, is_complete=True)


def _completed(message: Message) -> Message:
    """Return a message as in Mastra's rows, with the calls of a network's run next to its messages.

    The usage has its own field, and a decision of the router is an internal event.
    """
    if not isinstance(message, AssistantMessage):
        return message
    content = _with_calls(_with_usage(message.content))
    if is_decision(content):
        return replace(message, content=content, type="event", internal=True)
    return replace(message, content=content)


def _with_usage(content: AssistantContent) -> AssistantContent:
    metadata = content.metadata
    if not is_object(metadata) or "usage" not in metadata:
        return content
    rest = {key: item for key, item in metadata.items() if key != "usage"}
    try:
        return replace(content, usage=_USAGE.read(metadata["usage"]), metadata=rest)
    except DecodeError:
        return content


def _with_calls(content: AssistantContent) -> AssistantContent:
    network = content.network_execution
    if network is None or network.final_result is None or not network.final_result.messages:
        return content
    result = replace(network.final_result, tool_calls=calls_in(network.final_result.messages))
    return replace(content, network_execution=replace(network, final_result=result))


FORMAT: Final = Format(
    "mastra-stream",
    "chunks of Mastra's agents, workflows and networks",
    load,
    decoder=MastraStreamDecoder,
    is_complete=True,
)
