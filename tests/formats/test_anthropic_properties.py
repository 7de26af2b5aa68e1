"""Whatever an Anthropic stream brings, and wherever it stops: it folds, and goes back as it came."""

from collections.abc import Sequence
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from partita.formats.anthropic.stream import AnthropicDecoder
from partita.formats.losses import content_losses
from partita.stream.accumulator import Accumulator
from partita.types.chunks import Chunk
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object, loads
from partita.types.messages import AssistantMessage, Message, UserMessage
from partita.types.parts import TextPart
from partita.types.tool_results import expand
from tests.formats.anthropic_talks import build_request
from tests.recordings import FIXTURES
from tests.strategies import json_values
from tests.tables import each_row

BROKEN: Final = ("anthropic-cut-in-call", "anthropic-overloaded")
STREAMS: Final[dict[str, list[JsonObject]]] = {
    path.stem: [loads(line) for line in path.read_bytes().splitlines()]
    for path in sorted((FIXTURES / "providers" / "anthropic").glob("*.jsonl"))
    if path.stem not in BROKEN
}

SERVED: Final[JsonObject] = {"tools": [{"name": "advisor"}, {"name": "tool_search_tool_regex"}]}


def decode(events: Sequence[Json]) -> list[Chunk]:
    decoder = AnthropicDecoder()
    return [*(chunk for event in events for chunk in decoder.feed(event)), *decoder.finish()]


def fold(chunks: Sequence[Chunk]) -> AssistantMessage:
    """The message, by an accumulator that forgives nothing."""
    accumulator = Accumulator(id="message")
    for chunk in chunks:
        accumulator.feed(chunk)
    assert not accumulator.diagnostics
    return accumulator.snapshot()


def blocks_of(stream: Sequence[JsonObject]) -> list[JsonObject]:
    """The blocks of a stream, put together in the plainest way."""
    blocks: dict[int, JsonObject] = {}
    for event in stream:
        if event["type"] == "content_block_start":
            blocks[event["index"]] = dict(event["content_block"])
        elif event["type"] == "content_block_delta":
            grow(blocks[event["index"]], event["delta"])
    for block in blocks.values():
        words = block.pop("words", "")
        if words:
            block["input"] = loads(words)
    return list(blocks.values())


def grow(block: JsonObject, delta: JsonObject) -> None:
    match delta["type"]:
        case "input_json_delta":
            block["words"] = block.get("words", "") + delta["partial_json"]
        case "citations_delta":
            block.setdefault("citations", []).append(delta["citation"])
        case "text_delta":
            block["text"] += delta["text"]
        case "thinking_delta":
            block["thinking"] += delta["thinking"]
        case _:
            block |= {key: item for key, item in delta.items() if key != "type"}


def body_of(stream: Sequence[JsonObject]) -> JsonObject:
    """The whole answer that a stream amounts to."""
    body = {**stream[0]["message"], "content": blocks_of(stream)}
    for event in stream:
        if event["type"] == "message_delta":
            body |= event["delta"]
            body["usage"] = {**body["usage"], **event["usage"]}
    return body


@each_row("stream", STREAMS.values(), ids=STREAMS)
def test_a_body_says_what_its_stream_says(stream: list[JsonObject]) -> None:
    streamed, whole = fold(decode(stream)), fold(AnthropicDecoder().read_body(body_of(stream)))
    assert _unspelled(whole) == _unspelled(streamed)


def _unspelled(value: AssistantMessage) -> Json:
    """A message as JSON, without the words in which inputs were written: a body has none."""
    plain: Json = to_json(value)
    stack: list[Json] = [plain]
    while stack:
        item = stack.pop()
        if is_object(item):
            own: Json = item.get("callProviderMetadata", {}).get("anthropic", {})
            own.pop("rawInput", None)
            if not own:
                item.pop("callProviderMetadata", None)
        stack += item.values() if is_object(item) else item if is_array(item) else []
    return plain


@each_row("apart", [False, True], ids=["outputs in calls", "outputs apart"])
@each_row("stream", STREAMS.values(), ids=STREAMS)
def test_an_answer_goes_back_as_it_came(stream: list[JsonObject], apart: bool) -> None:
    view: list[Message] = [UserMessage(id="user", content="Tide?"), fold(decode(stream))]
    request = build_request(expand(view) if apart else view, model="claude-test", settings=SERVED)
    answers = [turn["content"] for turn in request.payload["messages"] if turn["role"] == "assistant"]
    assert answers == [blocks_of(stream)]
    assert not [loss for loss in content_losses(request.losses) if loss.severity != "repaired"]


# Damaged streams


@given(stream=st.sampled_from(list(STREAMS.values())), data=st.data())
def test_a_damaged_event_in_a_whole_stream_loses_no_other_block(
    stream: list[JsonObject], data: st.DataObject
) -> None:
    """The text of a block that was not touched is there, whatever became of the others."""
    index = data.draw(st.integers(0, len(stream) - 1))
    touched = stream[index].get("index")
    message = fold(decode([*stream[:index], data.draw(json_values(2)), *stream[index + 1 :]]))
    words = [part.text for part in message.parts if isinstance(part, TextPart)]
    expected = [
        block["text"]
        for place, block in enumerate(blocks_of(stream))
        if block["type"] == "text" and place != touched
    ]
    assert set(expected) <= set(words)


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@each_row("depth", [50, 500, 900, 990, 1100, 5000])
def test_deep_inputs_are_told_one_way_or_another(depth: int) -> None:
    opened: JsonObject = {"type": "tool_use", "id": "c", "name": "n", "input": {}}
    piece = {"type": "input_json_delta", "partial_json": f'{{"a": {nested(depth)}}}'}
    events: list[Json] = [
        STREAMS["thinking-then-call"][0],
        {"type": "content_block_start", "index": 0, "content_block": opened},
        {"type": "content_block_delta", "index": 0, "delta": piece},
        {"type": "content_block_stop", "index": 0},
        *STREAMS["thinking-then-call"][-2:],
    ]
    assert len(fold(decode(events)).parts) == 2
