"""Events that are not texts of the model become data: transient, kept, or unknown."""

from partita.formats.claude_code.stream import ClaudeStreamDecoder
from partita.types.chunks import DataChunk
from partita.types.json import Json, JsonObject
from tests.formats.claude_turns import (
    approval_response,
    assistant_event,
    block_delta,
    block_start,
    decode,
    message_start,
    result,
    stream_event,
    system,
    text,
    user_event,
)
from tests.tables import each_row

PASSING: dict[str, JsonObject] = {
    "data-claude-status": system("status", status="requesting"),
    "data-claude-api-retry": system("api_retry", attempt=2),
    "data-claude-thinking-tokens": system("thinking_tokens", estimated_tokens=3),
    "data-claude-session-state-changed": system("session_state_changed", state="idle"),
    "data-claude-tool-progress": {"type": "tool_progress", "tool_use_id": "bake"},
    "data-claude-rate-limit-event": {"type": "rate_limit_event"},
    "data-claude-control-request": {"type": "control_request", "request": {"subtype": "initialize"}},
    "data-claude-control-response": approval_response("unknown"),
    "data-claude-control-cancel-request": {"type": "control_cancel_request", "request_id": "r"},
    "data-claude-user-replay": user_event(text("bake"), isReplay=True),
    "data-claude-prompt": {"type": "user", "message": {"role": "user", "content": "bake"}},
}
LASTING: dict[str, JsonObject] = {
    "data-claude-compact-boundary": system("compact_boundary", compact_metadata={"pre_tokens": 9}),
    "data-claude-status": system("status", compact_error="too long"),
    "data-claude-task-notification": system("task_notification", task_id="t", status="completed"),
    "data-claude-hook-response": system("hook_response", stdout="x"),
    "data-claude-local-command-output": system("local_command_output", content="x"),
    "data-claude-model-refusal-no-fallback": system("model_refusal_no_fallback"),
    "data-claude-tool-use-summary": {"type": "tool_use_summary", "summary": "x"},
    "data-claude-conversation-reset": {"type": "conversation_reset", "trigger": "x"},
    "data-claude-interrupted": user_event(text("[Request interrupted by user for tool use]")),
    "data-claude-synthetic": user_event(text("x"), isMeta=True),
}


@each_row(("type_", "event"), PASSING.items(), ids=PASSING)
def test_state_events_are_transient(type_: str, event: JsonObject) -> None:
    assert ClaudeStreamDecoder().feed(event)[1:] == [DataChunk(type_, event, transient=True)]


@each_row(("type_", "event"), LASTING.items(), ids=LASTING)
def test_notices_are_kept(type_: str, event: JsonObject) -> None:
    assert ClaudeStreamDecoder().feed(event)[1:] == [DataChunk(type_, event)]


UNKNOWN: dict[str, Json] = {
    "no object": [1],
    "nothing": None,
    "no type": {},
    "an unknown type": {"type": "smell"},
    "a type that is not text": {"type": {}},
    "an unknown subtype": system("smell"),
    "a subtype that is not text": {"type": "system", "subtype": []},
    "an unknown event": stream_event("smell"),
    "an event that is not an object": {"type": "stream_event"},
    "a start without a message": stream_event("message_start"),
    "a block without an index": stream_event("content_block_start", content_block=text("")),
    "a delta without a kind": stream_event("content_block_delta", index=0, delta={}),
    "an input delta without a call": block_delta(0, "input_json", "{}"),
    "a signature without a block": block_delta(0, "signature", "S"),
    "an end without a response": stream_event("message_delta", delta={"stop_reason": "end_turn"}),
    "a response without content": {"type": "assistant", "message": {"id": "m1"}},
    "a response without a message": {"type": "assistant"},
    "a user message without content": {"type": "user", "message": {}},
}


@each_row("event", UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_events_are_kept_unchanged(event: Json) -> None:
    assert ClaudeStreamDecoder().feed(event)[1:] == [DataChunk("data-claude-unknown", event)]


DELTAS: dict[str, JsonObject] = {
    "thoughts": block_delta(0, "thinking", "Hm."),
    "an input": block_delta(0, "input_json", "{}"),
    "an unknown delta": block_delta(0, "smell", "bread"),
}


@each_row("event", DELTAS.values(), ids=DELTAS)
def test_a_delta_of_another_kind_than_its_block_is_kept_unchanged(event: JsonObject) -> None:
    decoder = ClaudeStreamDecoder()
    for known in [message_start("m1"), block_start(0, text(""))]:
        decoder.feed(known)
    assert decoder.feed(event) == [DataChunk("data-claude-unknown", event)]


def test_an_error_during_a_response_is_data() -> None:
    event = stream_event("error", error={"type": "overloaded_error"})
    assert ClaudeStreamDecoder().feed(event)[1:] == [DataChunk("data-claude-api-error", event["event"])]


def test_an_error_of_the_api_in_a_response_is_data() -> None:
    event = assistant_event("m1", text("API Error: 529"), error="overloaded")
    *_, data = decode([event], finish=False)
    assert data == DataChunk("data-claude-error", event)


def test_keep_alive_events_are_ignored() -> None:
    decoder = ClaudeStreamDecoder()
    assert decoder.feed({"type": "keep_alive"}) == []
    assert decoder.feed(stream_event("ping")) == []


def test_a_notice_after_the_end_does_not_reopen_the_message() -> None:
    decoder = ClaudeStreamDecoder()
    decoder.feed(result())
    event: JsonObject = {"type": "prompt_suggestion", "suggestion": "eat"}
    assert decoder.feed(event) == [DataChunk("data-claude-prompt-suggestion", event, transient=True)]
