"""Events of an Anthropic stream → parts of a message: one small stream a rule."""

from collections.abc import Sequence
from typing import Final

from partita.formats.anthropic.stream import AnthropicDecoder
from partita.stream.accumulator import Accumulator
from partita.types.chunks import Chunk, DataChunk, ErrorChunk, type_of
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage
from tests.tables import each_row

START: Final[JsonObject] = {
    "type": "message_start",
    "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test", "content": []},
}
STOP: Final[list[Json]] = [
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
    {"type": "message_stop"},
]


def begun(index: int, **block: Json) -> JsonObject:
    return {"type": "content_block_start", "index": index, "content_block": block}


def piece(index: int, kind: str, **fields: Json) -> JsonObject:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def stopped(index: int) -> JsonObject:
    return {"type": "content_block_stop", "index": index}


def decode(events: Sequence[Json], *known_calls: str) -> list[Chunk]:
    decoder = AnthropicDecoder(known_calls)
    return [*(chunk for event in events for chunk in decoder.feed(event)), *decoder.finish()]


def fold(chunks: Sequence[Chunk]) -> AssistantMessage:
    accumulator = Accumulator(id="message")
    for chunk in chunks:
        accumulator.feed(chunk)
    return accumulator.snapshot()


def parts(events: Sequence[Json]) -> list[Json]:
    """The parts behind the beginning of the step."""
    return [to_json(part) for part in fold(decode([START, *events, *STOP])).parts[1:]]


def text(words: str, **fields: Json) -> JsonObject:
    return {"type": "text", "text": words, "state": "done", **fields}


PAGE: Final[JsonObject] = {
    "type": "web_search_result_location",
    "url": "https://tides.example/",
    "title": "Tides",
    "cited_text": "HW 06:04",
    "encrypted_index": "aWR4",
}
LINE: Final[JsonObject] = {"type": "page_location", "document_index": 3, "document_title": "Almanac"}
SHEET: Final[JsonObject] = {"type": "search_result_location", "source": "Harbour rules", "title": None}

CASES: Final[dict[str, tuple[list[Json], list[Json]]]] = {
    "a text is its pieces, joined": (
        [begun(0, type="text", text=""), piece(0, "text_delta", text="a"), piece(0, "text_delta", text="b")],
        [text("ab")],
    ),
    "a text may have words from the beginning": (
        [begun(0, type="text", text="a"), piece(0, "text_delta", text="b"), stopped(0)],
        [text("ab")],
    ),
    "a field nobody knows stays with its text": (
        [begun(0, type="text", text="a", mood="calm", note=None), stopped(0)],
        [text("a", providerMetadata={"anthropic": {"fields": {"mood": "calm", "note": None}}})],
    ),
    "thoughts keep their signature": (
        [
            begun(0, type="thinking", thinking="", signature=""),
            piece(0, "thinking_delta", thinking="hm"),
            piece(0, "signature_delta", signature="c2ln"),
            stopped(0),
        ],
        [
            {
                "type": "reasoning",
                "text": "hm",
                "id": "0",
                "state": "done",
                "providerMetadata": {"anthropic": {"signature": "c2ln"}},
            }
        ],
    ),
    "a signature may come without thoughts, beside fields nobody knows": (
        [begun(0, type="thinking", thinking="", signature="c2ln", depth=2), stopped(0)],
        [
            {
                "type": "reasoning",
                "text": "",
                "id": "0",
                "state": "done",
                "providerMetadata": {"anthropic": {"signature": "c2ln", "fields": {"depth": 2}}},
            }
        ],
    ),
    "hidden thoughts are whole when they begin": (
        [begun(0, type="redacted_thinking", data="aGlk"), stopped(0)],
        [
            {
                "type": "reasoning",
                "text": "",
                "id": "0",
                "state": "done",
                "providerMetadata": {"anthropic": {"redactedData": "aGlk"}},
            }
        ],
    ),
    "a call without pieces has an empty input": (
        [
            begun(0, type="tool_use", id="c", name="now", input={}),
            piece(0, "input_json_delta", partial_json=""),
            stopped(0),
        ],
        [
            {
                "type": "tool-call",
                "id": "c",
                "name": "now",
                "state": "input-available",
                "input": {},
                "callProviderMetadata": {"anthropic": {"rawInput": ""}},
            }
        ],
    ),
    "a call keeps who made it and how its input was written": (
        [
            begun(0, type="tool_use", id="c", name="tide", input={}, caller={"type": "code", "tool_id": "s"}),
            piece(0, "input_json_delta", partial_json='{"a": '),
            piece(0, "input_json_delta", partial_json="1}"),
            stopped(0),
        ],
        [
            {
                "type": "tool-call",
                "id": "c",
                "name": "tide",
                "state": "input-available",
                "input": {"a": 1},
                "callProviderMetadata": {
                    "anthropic": {"caller": {"type": "code", "toolId": "s"}, "rawInput": '{"a": 1}'}
                },
            }
        ],
    ),
    "an input that is no JSON is told as an error": (
        [
            begun(0, type="tool_use", id="c", name="tide", input={}),
            piece(0, "input_json_delta", partial_json='{"a": oops}'),
            stopped(0),
        ],
        [
            {
                "type": "tool-call",
                "id": "c",
                "name": "tide",
                "state": "output-error",
                "input": '{"a": oops}',
                "output": {
                    "type": "error-text",
                    "value": "the input is not JSON: invalid JSON: Expecting value "
                    "(at line 1, column 7); hint: check for a cut or a typo",
                },
            }
        ],
    ),
    "a web page that is cited and was found earlier is a source in the end": (
        [
            begun(0, type="text", text="", citations=[]),
            piece(0, "citations_delta", citation=PAGE),
            piece(0, "text_delta", text="At six"),
            stopped(0),
            begun(1, type="text", text="."),
            stopped(1),
        ],
        [
            text(
                "At six",
                citations=[
                    {
                        "source": {
                            "sourceType": "url",
                            "id": "https://tides.example/",
                            "url": "https://tides.example/",
                            "title": "Tides",
                            "providerMetadata": {"anthropic": PAGE},
                            "type": "source",
                        },
                        "citedText": "HW 06:04",
                    }
                ],
                providerMetadata={"anthropic": {"citations": [PAGE]}},
            ),
            text("."),
            {
                "type": "source-url",
                "sourceId": "msg_1-cited-0",
                "url": "https://tides.example/",
                "title": "Tides",
                "providerMetadata": {"anthropic": {"citedText": "HW 06:04", "encryptedIndex": "aWR4"}},
            },
        ],
    ),
    "documents of the request are cited by number, others by name": (
        [begun(0, type="text", text="so", citations=[LINE, SHEET, {"type": "unheard-of"}]), stopped(0)],
        [
            text(
                "so",
                citations=[
                    {
                        "source": {
                            "sourceType": "document",
                            "id": "3",
                            "mediaType": "application/pdf",
                            "title": "Almanac",
                            "providerMetadata": {"anthropic": LINE},
                            "type": "source",
                        }
                    },
                    {
                        "source": {
                            "sourceType": "document",
                            "id": "Harbour rules",
                            "mediaType": "text/plain",
                            "title": "Harbour rules",
                            "providerMetadata": {"anthropic": SHEET},
                            "type": "source",
                        }
                    },
                ],
                providerMetadata={"anthropic": {"citations": [LINE, SHEET, {"type": "unheard-of"}]}},
            )
        ],
    ),
    "a block of a new kind is kept whole, with its pieces": (
        [begun(0, type="vision", seen=1), piece(0, "glance", at="x"), stopped(0)],
        [
            {
                "type": "custom",
                "kind": "anthropic.vision",
                "providerMetadata": {
                    "anthropic": {"type": "vision", "seen": 1, "deltas": [{"type": "glance", "at": "x"}]}
                },
            }
        ],
    ),
    "a result whose call is in an earlier answer is content of its own": (
        [begun(0, type="bash_code_execution_tool_result", tool_use_id="gone", content={"a": 1}), stopped(0)],
        [
            {
                "type": "custom",
                "kind": "anthropic.bash_code_execution_tool_result",
                "providerMetadata": {
                    "anthropic": {
                        "type": "bash_code_execution_tool_result",
                        "tool_use_id": "gone",
                        "content": {"a": 1},
                    }
                },
            }
        ],
    ),
    "texts and thoughts stay in the order they came in": (
        [
            *(begun(0, type="text", text="one"), stopped(0)),
            *(begun(1, type="thinking", thinking="two"), stopped(1)),
            *(begun(2, type="text", text="three"), stopped(2)),
        ],
        [text("one"), {"type": "reasoning", "text": "two", "id": "1", "state": "done"}, text("three")],
    ),
    "a block that begins where one is open ends it": (
        [begun(0, type="text", text="one"), begun(0, type="text", text="two")],
        [text("one"), text("two")],
    ),
}


@each_row(("events", "expected"), CASES.values(), ids=CASES)
def test_blocks(events: list[Json], expected: list[Json]) -> None:
    assert parts(events) == expected


PUZZLES: Final[dict[str, Json]] = {
    "no object": 7,
    "no type": {"index": 0},
    "a type that is no text": {"type": ["message_stop"]},
    "a new type": {"type": "applause", "loud": True},
    "a message that is none": {"type": "message_start", "message": None},
    "a piece of no block": piece(9, "text_delta", text="?"),
    "a piece of the wrong kind": piece(0, "input_json_delta", partial_json="{}"),
    "a piece without words": piece(0, "text_delta", text=None),
    "an end of no block": stopped(9),
    "an index that is none": {"type": "content_block_stop", "index": True},
    "a call without a name": begun(1, type="tool_use", id="c"),
    "a block without a type": begun(1, text="?"),
    "a delta without one": {"type": "message_delta", "usage": {"output_tokens": 9}},
}


@each_row("event", PUZZLES.values(), ids=PUZZLES)
def test_what_is_not_understood_is_kept_and_the_rest_goes_on(event: Json) -> None:
    events = [START, begun(0, type="text", text="a"), event, piece(0, "text_delta", text="b"), *STOP]
    chunks = decode(events)
    assert [chunk for chunk in chunks if isinstance(chunk, DataChunk)] == [
        DataChunk("data-anthropic-unknown", event)
    ]
    assert to_json(fold(chunks).parts[1])["text"] == "ab"


def test_what_comes_after_the_end_is_kept() -> None:
    late = begun(5, type="text", text="late")
    assert decode([START, *STOP, {"type": "ping"}, late])[-1] == DataChunk("data-anthropic-unknown", late)


def test_a_record_that_is_no_json_is_reported_and_kept() -> None:
    chunks = decode([START, "{broken", begun(0, type="text", text="a"), stopped(0), *STOP])
    assert chunks[2:4] == [
        ErrorChunk("unparsable record"),
        DataChunk("data-anthropic-unknown", "{broken"),
    ]
    said: Json = fold(chunks).content.metadata
    assert (said["finishReason"], said["errors"]) == ("stop", ["unparsable record"])
    assert "complete" not in said


def test_a_message_that_is_whole_when_it_begins() -> None:
    block = {"type": "tool_use", "id": "c", "name": "roll", "input": {"dice": 2}}
    whole = {**START["message"], "content": [block], "stop_reason": "tool_use"}
    chunks = decode([{"type": "message_start", "message": whole}, {"type": "message_stop"}])
    assert [type_of(chunk) for chunk in chunks] == [
        *("start", "start-step", "tool-input-start", "tool-input-delta", "tool-input-available"),
        *("finish-step", "finish"),
    ]
    said: Json = fold(chunks).content.metadata
    assert said["finishReason"] == "tool-calls"


def test_the_same_beginning_again_changes_nothing() -> None:
    told = [begun(0, type="text", text="a"), stopped(0), *STOP]
    assert decode([START, START, *told]) == decode([START, *told])


def test_another_message_while_one_is_open_replaces_it() -> None:
    other = {"type": "message_start", "message": {**START["message"], "id": "msg_2"}}
    first = [begun(0, type="text", text="one"), begun(1, type="tool_use", id="c", name="n", input={})]
    message = fold(decode([START, *first, other, begun(0, type="text", text="two"), stopped(0), *STOP]))
    assert [to_json(part) for part in message.parts[1:]] == [text("two")]
    said: Json = message.content.metadata
    assert (said["responseId"], said["anthropic"]) == ("msg_2", {"replaced": ["msg_1"]})


def test_a_late_result_goes_to_its_call_when_the_message_holds_it() -> None:
    late = begun(0, type="advisor_tool_result", tool_use_id="s", content={"type": "advisor_result"})
    chunks = decode([START, late, stopped(0), *STOP], "s")
    assert "tool-output-available" in [type_of(chunk) for chunk in chunks]


def test_a_second_result_does_not_replace_the_first() -> None:
    call = begun(0, type="server_tool_use", id="s", name="advisor", input={})
    results = [
        begun(
            index, type="advisor_tool_result", tool_use_id="s", content={"type": "advisor_result", "n": index}
        )
        for index in (1, 2)
    ]
    one, two = parts([call, stopped(0), *results])
    assert one["output"]["value"]["n"] == 1
    assert two["providerMetadata"]["anthropic"]["content"]["n"] == 2
