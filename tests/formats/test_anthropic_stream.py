"""Events of an Anthropic stream → parts of a message."""

from collections.abc import Sequence
from typing import Final

from partita.formats.anthropic.stream import AnthropicDecoder
from partita.types.chunks import Chunk, DataChunk, ErrorChunk, type_of
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject
from tests.decoding import accumulated, decode_all
from tests.tables import each_row

START: Final[JsonObject] = {
    "type": "message_start",
    "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test", "content": []},
}
STOP: Final[list[Json]] = [
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
    {"type": "message_stop"},
]


def block_start(index: int, **block: Json) -> JsonObject:
    return {"type": "content_block_start", "index": index, "content_block": block}


def block_delta(index: int, kind: str, **fields: Json) -> JsonObject:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def block_stop(index: int) -> JsonObject:
    return {"type": "content_block_stop", "index": index}


def decode(events: Sequence[Json], *known_calls: str) -> list[Chunk]:
    return decode_all(AnthropicDecoder(known_calls), events)


def parts(events: Sequence[Json]) -> list[Json]:
    """Return the parts after the step start."""
    return [to_json(part) for part in accumulated(decode([START, *events, *STOP])).parts[1:]]


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
    "text deltas are joined": (
        [
            block_start(0, type="text", text=""),
            block_delta(0, "text_delta", text="a"),
            block_delta(0, "text_delta", text="b"),
        ],
        [text("ab")],
    ),
    "a block start may contain text": (
        [block_start(0, type="text", text="a"), block_delta(0, "text_delta", text="b"), block_stop(0)],
        [text("ab")],
    ),
    "an unknown member is kept in its text": (
        [block_start(0, type="text", text="a", mood="calm", note=None), block_stop(0)],
        [text("a", providerMetadata={"anthropic": {"fields": {"mood": "calm", "note": None}}})],
    ),
    "reasoning keeps its signature": (
        [
            block_start(0, type="thinking", thinking="", signature=""),
            block_delta(0, "thinking_delta", thinking="hm"),
            block_delta(0, "signature_delta", signature="c2ln"),
            block_stop(0),
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
    "a signature without reasoning, and unknown members": (
        [block_start(0, type="thinking", thinking="", signature="c2ln", depth=2), block_stop(0)],
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
    "redacted reasoning is complete in its block start": (
        [block_start(0, type="redacted_thinking", data="aGlk"), block_stop(0)],
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
    "a call without deltas has an empty input": (
        [
            block_start(0, type="tool_use", id="c", name="now", input={}),
            block_delta(0, "input_json_delta", partial_json=""),
            block_stop(0),
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
    "a call keeps its caller and its raw input": (
        [
            block_start(
                0, type="tool_use", id="c", name="tide", input={}, caller={"type": "code", "tool_id": "s"}
            ),
            block_delta(0, "input_json_delta", partial_json='{"a": '),
            block_delta(0, "input_json_delta", partial_json="1}"),
            block_stop(0),
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
    "an input that is not JSON is an error": (
        [
            block_start(0, type="tool_use", id="c", name="tide", input={}),
            block_delta(0, "input_json_delta", partial_json='{"a": oops}'),
            block_stop(0),
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
    "a cited page that was found earlier becomes a source": (
        [
            block_start(0, type="text", text="", citations=[]),
            block_delta(0, "citations_delta", citation=PAGE),
            block_delta(0, "text_delta", text="At six"),
            block_stop(0),
            block_start(1, type="text", text="."),
            block_stop(1),
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
    "documents are cited by index, search results by name": (
        [
            block_start(0, type="text", text="so", citations=[LINE, SHEET, {"type": "unheard-of"}]),
            block_stop(0),
        ],
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
    "an unknown block is kept with its deltas": (
        [block_start(0, type="vision", seen=1), block_delta(0, "glance", at="x"), block_stop(0)],
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
    "a result of a call in an earlier response is a custom part": (
        [
            block_start(0, type="bash_code_execution_tool_result", tool_use_id="gone", content={"a": 1}),
            block_stop(0),
        ],
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
    "texts and reasoning keep their order": (
        [
            *(block_start(0, type="text", text="one"), block_stop(0)),
            *(block_start(1, type="thinking", thinking="two"), block_stop(1)),
            *(block_start(2, type="text", text="three"), block_stop(2)),
        ],
        [text("one"), {"type": "reasoning", "text": "two", "id": "1", "state": "done"}, text("three")],
    ),
    "a block start closes an open block of the same index": (
        [block_start(0, type="text", text="one"), block_start(0, type="text", text="two")],
        [text("one"), text("two")],
    ),
}


@each_row(("events", "expected"), CASES.values(), ids=CASES)
def test_blocks_become_parts(events: list[Json], expected: list[Json]) -> None:
    assert parts(events) == expected


UNKNOWN: Final[dict[str, Json]] = {
    "not an object": 7,
    "no type": {"index": 0},
    "a type that is not a string": {"type": ["message_stop"]},
    "an unknown type": {"type": "applause", "loud": True},
    "a message that is not an object": {"type": "message_start", "message": None},
    "a delta without a block": block_delta(9, "text_delta", text="?"),
    "a delta of the wrong type": block_delta(0, "input_json_delta", partial_json="{}"),
    "a delta without text": block_delta(0, "text_delta", text=None),
    "a block stop without a block": block_stop(9),
    "an index that is not a number": {"type": "content_block_stop", "index": True},
    "a call without a name": block_start(1, type="tool_use", id="c"),
    "a block without a type": block_start(1, text="?"),
    "a message delta without a delta": {"type": "message_delta", "usage": {"output_tokens": 9}},
}


@each_row("event", UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_events_are_kept_and_the_stream_continues(event: Json) -> None:
    events = [
        START,
        block_start(0, type="text", text="a"),
        event,
        block_delta(0, "text_delta", text="b"),
        *STOP,
    ]
    chunks = decode(events)
    assert [chunk for chunk in chunks if isinstance(chunk, DataChunk)] == [
        DataChunk("data-anthropic-unknown", event)
    ]
    assert to_json(accumulated(chunks).parts[1])["text"] == "ab"


def test_events_after_the_end_are_kept() -> None:
    late = block_start(5, type="text", text="late")
    assert decode([START, *STOP, {"type": "ping"}, late])[-1] == DataChunk("data-anthropic-unknown", late)


def test_a_line_that_is_not_json_is_reported_and_kept() -> None:
    chunks = decode([START, "{broken", block_start(0, type="text", text="a"), block_stop(0), *STOP])
    assert chunks[2:4] == [
        ErrorChunk("unparsable record"),
        DataChunk("data-anthropic-unknown", "{broken"),
    ]
    metadata: Json = accumulated(chunks).content.metadata
    assert (metadata["finishReason"], metadata["errors"]) == ("stop", ["unparsable record"])
    assert "complete" not in metadata


def test_a_message_start_may_contain_the_complete_message() -> None:
    block = {"type": "tool_use", "id": "c", "name": "roll", "input": {"dice": 2}}
    whole = {**START["message"], "content": [block], "stop_reason": "tool_use"}
    chunks = decode([{"type": "message_start", "message": whole}, {"type": "message_stop"}])
    assert [type_of(chunk) for chunk in chunks] == [
        *("start", "start-step", "tool-input-start", "tool-input-delta", "tool-input-available"),
        *("finish-step", "finish"),
    ]
    metadata: Json = accumulated(chunks).content.metadata
    assert metadata["finishReason"] == "tool-calls"


def test_a_repeated_message_start_changes_nothing() -> None:
    events = [block_start(0, type="text", text="a"), block_stop(0), *STOP]
    assert decode([START, START, *events]) == decode([START, *events])


def test_another_message_start_replaces_the_open_message() -> None:
    other = {"type": "message_start", "message": {**START["message"], "id": "msg_2"}}
    first = [
        block_start(0, type="text", text="one"),
        block_start(1, type="tool_use", id="c", name="n", input={}),
    ]
    message = accumulated(
        decode([START, *first, other, block_start(0, type="text", text="two"), block_stop(0), *STOP])
    )
    assert [to_json(part) for part in message.parts[1:]] == [text("two")]
    metadata: Json = message.content.metadata
    assert (metadata["responseId"], metadata["anthropic"]) == ("msg_2", {"replaced": ["msg_1"]})


def test_a_late_result_goes_to_its_known_call() -> None:
    late = block_start(0, type="advisor_tool_result", tool_use_id="s", content={"type": "advisor_result"})
    chunks = decode([START, late, block_stop(0), *STOP], "s")
    assert "tool-output-available" in [type_of(chunk) for chunk in chunks]


def test_a_second_result_does_not_replace_the_first() -> None:
    call = block_start(0, type="server_tool_use", id="s", name="advisor", input={})
    results = [
        block_start(
            index, type="advisor_tool_result", tool_use_id="s", content={"type": "advisor_result", "n": index}
        )
        for index in (1, 2)
    ]
    one, two = parts([call, block_stop(0), *results])
    assert one["output"]["value"]["n"] == 1
    assert two["providerMetadata"]["anthropic"]["content"]["n"] == 2
