"""Chunks of Mastra's streams, all at hand → the messages they amount to."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.formats.mastra.network import is_decision
from partita.formats.mastra.network_payload import calls_in
from partita.stream.accumulator import Accumulator
from partita.types.chunks import Chunk, MessageStart
from partita.types.codec import Codec, to_json
from partita.types.json import Json, is_array, is_object
from partita.types.messages import AssistantContent, AssistantMessage
from partita.types.usage import Usage

from .decoder import MastraStreamDecoder

_USAGE: Codec[Usage] = Codec(Usage)


def load(payload: Json) -> Loaded:
    """The messages of a stream, given as a list of its chunks or as one of them."""
    decoder = MastraStreamDecoder()
    told = list(_told(decoder, payload if is_array(payload) else [payload]))
    losses: list[Loss] = []
    messages: list[AssistantMessage] = []
    for id_, chunks in _by_message(told):
        messages.append(_settled(_folded(id_, chunks, losses)))
    return Loaded(tuple(messages), (*losses, *decoder.losses))


def _told(decoder: MastraStreamDecoder, events: Sequence[Json]) -> Iterator[tuple[str, Chunk]]:
    for number, event in enumerate(events):
        yield from ((f"$[{number}]", chunk) for chunk in decoder.feed(event))
    yield from ((f"$[{len(events)}]", chunk) for chunk in decoder.finish())


def _by_message(told: Sequence[tuple[str, Chunk]]) -> Iterator[tuple[str, list[tuple[str, Chunk]]]]:
    """The chunks of each message, with its id."""
    group: list[tuple[str, Chunk]] = []
    id_ = ""
    for path, chunk in told:
        if isinstance(chunk, MessageStart):
            if group:
                yield id_, group
            group, id_ = [], chunk.message_id or "message-1"
        group.append((path, chunk))
    if group:
        yield id_, group


def _folded(id_: str, chunks: Sequence[tuple[str, Chunk]], losses: list[Loss]) -> AssistantMessage:
    accumulator = Accumulator(id=id_, lenient=True)
    for path, chunk in chunks:
        troubles = len(accumulator.diagnostics)
        accumulator.feed(chunk)
        if len(accumulator.diagnostics) > troubles:
            losses.append(Loss.of(path, to_json(chunk), accumulator.diagnostics[-1].what))
    return accumulator.finish()


def _settled(message: AssistantMessage) -> AssistantMessage:
    """The message with what it consumed in its place, and a mark if it is the router's alone."""
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
    """The content with the calls of a network's run beside its messages, as stored ones have them."""
    network = content.network_execution
    if network is None or network.final_result is None or not network.final_result.messages:
        return content
    result = replace(network.final_result, tool_calls=calls_in(network.final_result.messages))
    return replace(content, network_execution=replace(network, final_result=result))
