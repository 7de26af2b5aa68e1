"""The start and the end of a turn: metadata, usage, finish reasons, errors."""

from partita.formats.claude_code.stream import ClaudeStreamDecoder
from partita.types.chunks import (
    ErrorChunk,
    MessageAbort,
    MessageFinish,
    MessageMetadata,
    MessageStart,
    StepReset,
)
from partita.types.json import Json, JsonObject
from tests.formats.claude_turns import (
    BAKE,
    assistant_event,
    decode,
    folded,
    init,
    message_end,
    message_start,
    result,
    streamed_text,
    system,
    text,
    user_event,
)
from tests.tables import each_row


def test_the_init_event_becomes_metadata() -> None:
    chunks = ClaudeStreamDecoder("m").feed(init(skills=["baking"]))
    assert chunks == [
        MessageStart(
            "m",
            {
                "claudeCode": {
                    "sessionId": "session-1",
                    "cwd": "/kitchen",
                    "tools": ["Oven"],
                    "version": "2.1.0",
                    "init": {"skills": ["baking"]},
                },
                "model": "claude-baker",
            },
        )
    ]


def test_a_late_init_event_is_metadata() -> None:
    first, second = ClaudeStreamDecoder(), init()
    assert first.feed(system("hook_started"))[0] == MessageStart()
    assert isinstance(first.feed(second)[0], MessageMetadata)


def test_the_result_has_the_usage_and_cost_of_the_turn() -> None:
    more: JsonObject = {"terminal_reason": "completed", "structured_output": [1], "new_field": 7}
    *_, end = decode([assistant_event("m1", text("Hello.")), result(result="Hello.", **more)])
    assert isinstance(end, MessageFinish)
    metadata: Json = end.message_metadata
    assert metadata["usage"] == {
        "inputTokens": 130,
        "outputTokens": 7,
        "totalTokens": 137,
        "cachedInputTokens": 100,
        "cacheWriteTokens": 20,
        "raw": {
            "input_tokens": 10,
            "output_tokens": 7,
            "cache_read_input_tokens": 100,
            "cache_creation_input_tokens": 20,
        },
    }
    assert metadata["claudeCode"] == {
        "sessionId": "session-1",
        "subtype": "success",
        "stopReason": "end_turn",
        "terminalReason": "completed",
        "totalCostUsd": 0.5,
        "numTurns": 1,
        "permissionDenials": [],
        "structuredOutput": [1],
        "new_field": 7,
    }


def test_every_response_keeps_its_usage_and_stop_reason() -> None:
    first = {"output_tokens": 1, "input_tokens": 5}
    events = [
        message_start("m1", usage=first),
        *message_end("tool_use"),
        assistant_event("m2", text("x"), request_id="req"),
        result(),
    ]
    metadata: Json = folded(events).content.metadata
    assert metadata["claudeCode"]["responses"] == {
        "m1": {
            "model": "claude-baker",
            "usage": {"output_tokens": 9, "input_tokens": 5},
            "stopReason": "tool_use",
        },
        "m2": {"model": "claude-baker", "requestId": "req"},
    }


def test_the_time_to_the_first_token_is_kept() -> None:
    metadata: Json = folded([message_start("m1") | {"ttft_ms": 250}, *message_end()]).content.metadata
    assert metadata["claudeCode"]["responses"]["m1"]["ttftMs"] == 250


def test_a_smaller_count_of_output_does_not_replace_a_greater_one() -> None:
    usage = {"output_tokens": 2}
    events = [message_start("m1"), *message_end(), assistant_event("m1", text("x"))]
    events[-1]["message"]["usage"] = usage
    metadata: Json = folded(events).content.metadata
    assert metadata["claudeCode"]["responses"]["m1"]["usage"] == {"output_tokens": 9}


REASONS: dict[str, tuple[JsonObject, str]] = {
    "end_turn": (result(), "stop"),
    "stop_sequence": (result(stop_reason="stop_sequence"), "stop"),
    "no reason": (result(stop_reason=None), "stop"),
    "max_tokens": (result(stop_reason="max_tokens"), "length"),
    "tool_use": (result(stop_reason="tool_use"), "tool-calls"),
    "refusal": (result(stop_reason="refusal"), "content-filter"),
    "an unknown reason": (result(stop_reason="tired"), "other"),
    "a reason that is not text": (result(stop_reason=[]), "other"),
    "too many turns": (result("error_max_turns", is_error=True), "length"),
    "too much money": (result("error_max_budget_usd", is_error=True), "error"),
    "a failure": (result("error_during_execution", is_error=True), "error"),
    "an API error that calls itself a success": (result(is_error=True), "error"),
    "a stop by the user": (result(terminal_reason="aborted_streaming"), "other"),
}


@each_row(("event", "reason"), REASONS.values(), ids=REASONS)
def test_the_finish_reason(event: JsonObject, reason: str) -> None:
    *_, end = decode([assistant_event("m1", text("Hello.")), event])
    assert isinstance(end, MessageFinish)
    assert end.finish_reason == reason


def test_without_a_stop_reason_that_of_the_last_response_is_used() -> None:
    *_, end = decode(
        [
            message_start("m1"),
            *streamed_text(0, "text", "Hal"),
            *message_end("max_tokens"),
            result(stop_reason=None),
        ]
    )
    assert isinstance(end, MessageFinish)
    assert end.finish_reason == "length"


def test_a_repeated_result_ends_the_turn_once() -> None:
    end = result()
    chunks = decode([assistant_event("m1", text("Hello.")), end, end])
    assert [type(chunk) for chunk in chunks].count(MessageFinish) == 1


def test_synthetic_texts_do_not_change_the_model() -> None:
    added = assistant_event("x", text("API Error: 529"))
    added["message"]["model"] = "<synthetic>"
    metadata: Json = folded([message_start("m1"), *streamed_text(0, "text", "Hal"), added]).content.metadata
    assert metadata["model"] == metadata["claudeCode"]["responses"]["m1"]["model"] == "claude-baker"


ERRORS: dict[str, tuple[JsonObject, list[str]]] = {
    "the text of the result": (result("error_during_execution", errors=["burnt", "cold"]), ["burnt", "cold"]),
    "the text of the response": (result(is_error=True, result="API Error: 529"), ["API Error: 529"]),
    "the reason": (result("error_x", errors=[], terminal_reason="prompt_too_long"), ["prompt_too_long"]),
    "the kind": (result("error_during_execution"), ["error_during_execution"]),
    "nothing": (result("", is_error=True), ["unknown error"]),
    "no error": (result(), []),
    "a stop by the user is not an error": (
        result("error_during_execution", errors=["x"], terminal_reason="aborted_tools"),
        [],
    ),
}


@each_row(("event", "errors"), ERRORS.values(), ids=ERRORS)
def test_a_failed_turn_has_its_errors(event: JsonObject, errors: list[str]) -> None:
    chunks = decode([event])
    assert [chunk.error_text for chunk in chunks if isinstance(chunk, ErrorChunk)] == errors
    assert isinstance(chunks[-1], MessageFinish)


def test_a_turn_that_the_user_stopped_is_aborted() -> None:
    events = [
        assistant_event("m1", text("Hal")),
        user_event(text("[Request interrupted by user]")),
        result("error_during_execution"),
    ]
    *_, abort, end = decode(events)
    assert abort == MessageAbort("interrupted")
    assert isinstance(end, MessageFinish)


def test_an_interrupted_response_is_retracted() -> None:
    events = [message_start("m1"), *streamed_text(0, "text", "Half"), message_start("m2")]
    assert decode(events, finish=False)[-1] == StepReset()


def test_a_stream_without_events_has_no_chunks() -> None:
    assert ClaudeStreamDecoder().finish() == []


def test_a_turn_that_has_ended_has_nothing_to_close() -> None:
    decoder = ClaudeStreamDecoder()
    for event in [assistant_event("m1", BAKE), result()]:
        decoder.feed(event)
    assert decoder.finish() == []
