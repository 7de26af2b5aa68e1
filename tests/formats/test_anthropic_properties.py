"""Properties of Anthropic streams: any stream accumulates, and blocks round-trip."""

from collections.abc import Sequence
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from partita.formats.anthropic.stream import AnthropicDecoder
from partita.formats.losses import content_losses
from partita.types.chunks import Chunk
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array, is_object, loads
from partita.types.messages import AssistantMessage, Message, UserMessage
from partita.types.parts import TextPart
from partita.types.tool_results import expand
from tests.decoding import accumulated, decode_all
from tests.formats.anthropic_samples import build_request
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
    return decode_all(AnthropicDecoder(), events)


def blocks_of(stream: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the blocks of a stream, accumulated by a minimal reference implementation."""
    blocks: dict[int, JsonObject] = {}
    for event in stream:
        if event["type"] == "content_block_start":
            blocks[event["index"]] = dict(event["content_block"])
        elif event["type"] == "content_block_delta":
            apply_delta(blocks[event["index"]], event["delta"])
    for block in blocks.values():
        words = block.pop("partial_json", "")
        if words:
            block["input"] = loads(words)
    return list(blocks.values())


def apply_delta(block: JsonObject, delta: JsonObject) -> None:
    match delta["type"]:
        case "input_json_delta":
            block["partial_json"] = block.get("partial_json", "") + delta["partial_json"]
        case "citations_delta":
            block.setdefault("citations", []).append(delta["citation"])
        case "text_delta":
            block["text"] += delta["text"]
        case "thinking_delta":
            block["thinking"] += delta["thinking"]
        case _:
            block |= {key: item for key, item in delta.items() if key != "type"}


def body_of(stream: Sequence[JsonObject]) -> JsonObject:
    """Return the response body that is equal to a stream."""
    body = {**stream[0]["message"], "content": blocks_of(stream)}
    for event in stream:
        if event["type"] == "message_delta":
            body |= event["delta"]
            body["usage"] = {**body["usage"], **event["usage"]}
    return body


@each_row("stream", STREAMS.values(), ids=STREAMS)
def test_a_body_and_its_stream_give_the_same_message(stream: list[JsonObject]) -> None:
    streamed, whole = accumulated(decode(stream)), accumulated(AnthropicDecoder().read_body(body_of(stream)))
    assert _without_raw_inputs(whole) == _without_raw_inputs(streamed)


def _without_raw_inputs(value: AssistantMessage) -> Json:
    """Return the message as JSON without raw inputs, which a body does not have."""
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


@each_row("apart", [False, True], ids=["outputs in calls", "separate outputs"])
@each_row("stream", STREAMS.values(), ids=STREAMS)
def test_response_blocks_round_trip(stream: list[JsonObject], apart: bool) -> None:
    view: list[Message] = [UserMessage(id="user", content="Tide?"), accumulated(decode(stream))]
    request = build_request(expand(view) if apart else view, model="claude-test", settings=SERVED)
    answers = [turn["content"] for turn in request.payload["messages"] if turn["role"] == "assistant"]
    assert answers == [blocks_of(stream)]
    assert not [loss for loss in content_losses(request.losses) if loss.severity != "repaired"]


# Damaged streams


@given(stream=st.sampled_from(list(STREAMS.values())), data=st.data())
def test_a_damaged_event_affects_only_its_own_block(stream: list[JsonObject], data: st.DataObject) -> None:
    """The texts of all other blocks are complete."""
    index = data.draw(st.integers(0, len(stream) - 1))
    touched = stream[index].get("index")
    message = accumulated(decode([*stream[:index], data.draw(json_values(2)), *stream[index + 1 :]]))
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
def test_deeply_nested_inputs_are_read_or_kept_as_text(depth: int) -> None:
    opened: JsonObject = {"type": "tool_use", "id": "c", "name": "n", "input": {}}
    piece = {"type": "input_json_delta", "partial_json": f'{{"a": {nested(depth)}}}'}
    events: list[Json] = [
        STREAMS["thinking-then-call"][0],
        {"type": "content_block_start", "index": 0, "content_block": opened},
        {"type": "content_block_delta", "index": 0, "delta": piece},
        {"type": "content_block_stop", "index": 0},
        *STREAMS["thinking-then-call"][-2:],
    ]
    assert len(accumulated(decode(events)).parts) == 2
