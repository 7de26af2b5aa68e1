"""Requests, items, responses and streams of the Responses API → messages."""

from collections.abc import Callable, Iterator
from typing import Final

import pytest

from partita.errors import ConversionError, PartitaError
from partita.formats.format import Dumped, Loaded
from partita.formats.openai_responses.format import dump, load, load_response
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, SystemMessage, ToolCallPart, ToolMessage, UserMessage
from partita.types.parts import (
    Approval,
    ContentOutput,
    CustomPart,
    ErrorTextOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    JsonOutput,
    ReasoningPart,
    SourceUrlPart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolResultPart,
)
from tests.formats.openai_responses_requests import (
    ASSISTANT,
    CALLS,
    HOSTED,
    ITEMS,
    OUTPUTS,
    PICTURE,
    REQUEST,
    RESPONSE,
    USER,
    written,
    written_response,
)
from tests.formats.openai_responses_samples import added, created, done, event, finished, message, output_text
from tests.leaves import changed, leaves
from tests.tables import each_row

HIGH: Final = message(output_text("High"), status="completed")


def load_one(items: list[JsonObject]) -> AssistantMessage:
    (message_,) = load(items).messages
    assert isinstance(message_, AssistantMessage)
    return message_


def calls(items: list[JsonObject]) -> list[ToolCallPart]:
    return [part for part in load_one(items).parts if isinstance(part, ToolCallPart)]


def test_a_request_with_every_item_round_trips() -> None:
    loaded = load(REQUEST)
    dumped = written(loaded)
    assert dumped.payload == REQUEST
    assert loaded.losses == ()
    assert dumped.losses == ()


def test_a_response_with_every_item_round_trips() -> None:
    loaded = load(RESPONSE)
    dumped = written_response(loaded)
    assert dumped.payload == RESPONSE
    assert loaded.losses == ()
    assert dumped.losses == ()
    assert loaded == load_response(RESPONSE)


def small_payloads() -> Iterator[list[JsonObject]]:
    """Return single items, calls with their outputs, and adjacent items."""
    yield from ([item] for item in ITEMS)
    yield from ([call, output] for call, output in zip(CALLS, OUTPUTS, strict=True))
    yield from (HOSTED[place : place + 2] for place in range(len(HOSTED) - 1))


def unreported_leaves(payload: Json, write: Callable[[Loaded], Dumped]) -> Iterator[object]:
    """Return the leaves whose change is not in the messages, or not in the written payload or the losses."""
    before = load(payload)
    written = write(before)
    for path in leaves(payload):
        try:
            after = load(changed(payload, path))
        except PartitaError:
            continue
        rewritten = write(after)
        is_reported = (*after.losses, *rewritten.losses) != (*before.losses, *written.losses)
        if after == before or (rewritten.payload == written.payload and not is_reported):
            yield path


def test_every_leaf_of_an_item_is_read_and_written_or_reported() -> None:
    lost = [path for payload in small_payloads() for path in unreported_leaves(payload, written)]
    assert not lost


def test_every_other_leaf_is_read_and_written_or_reported() -> None:
    assert not [*unreported_leaves({**REQUEST, "input": "Tide?"}, written)]
    assert not [*unreported_leaves({**RESPONSE, "output": [HIGH]}, written_response)]
    assert not [
        *unreported_leaves({"error": {"message": "down", "type": "server", "code": None}}, written_response)
    ]


def test_a_turn_is_one_message_and_its_calls_have_their_outputs() -> None:
    roles = [type(message_) for message_ in load(ITEMS).messages]
    assert roles == [SystemMessage, SystemMessage, UserMessage, UserMessage, AssistantMessage]
    outputs = [call.output for call in calls([*CALLS, *OUTPUTS])]
    assert outputs[:2] == [TextOutput("3 metres"), TextOutput("no JSON")]
    assert isinstance(outputs[2], ContentOutput)
    assert [type(part) for part in outputs[2].value] == [TextPart, ImagePart, FilePart]
    assert outputs[4] == JsonOutput({"image_url": PICTURE})
    assert outputs[7] == ErrorTextOutput("no such file")
    assert calls([*CALLS, *OUTPUTS])[1].raw_input == '{"place": '


def test_a_step_ends_after_outputs() -> None:
    parts = load_one([CALLS[0], OUTPUTS[0], HIGH]).parts
    assert [type(part) for part in parts] == [ToolCallPart, StepStartPart, TextPart]
    assert [type(part) for part in load_one([HIGH, CALLS[0]]).parts] == [TextPart, ToolCallPart]


def test_ids_may_repeat_in_a_turn() -> None:
    first, second = calls([CALLS[0], OUTPUTS[0], CALLS[0], {**OUTPUTS[0], "output": "4 metres"}])
    assert (first.output, second.output) == (TextOutput("3 metres"), TextOutput("4 metres"))


def test_a_misplaced_output_is_moved_and_reported() -> None:
    late = load([CALLS[0], CALLS[3], OUTPUTS[3], OUTPUTS[0]])
    assert [loss.severity for loss in late.losses] == ["changed"]
    far = load([CALLS[0], {"role": "user", "content": "Well?"}, OUTPUTS[0]])
    assert [loss.path for loss in far.losses] == ["$[2]"]
    assert isinstance(far.messages[0].parts[0], ToolCallPart)
    assert far.messages[0].parts[0].output == TextOutput("3 metres")


def test_an_output_for_a_stored_response_stays_a_tool_message() -> None:
    body = {"model": "tide-1", "previous_response_id": "resp_1", "input": [OUTPUTS[0]]}
    loaded = load(body)
    (alone,) = loaded.messages
    assert isinstance(alone, ToolMessage)
    assert isinstance(alone.parts[0], ToolResultPart)
    assert (written(loaded).payload, written(loaded).losses) == (body, ())


def test_instructions_and_text_input_round_trip() -> None:
    body = {"model": "tide-1", "instructions": "Be brief.", "input": "Tide?"}
    loaded = load(body)
    assert [message_.id for message_ in loaded.messages] == ["instructions", "message-1"]
    assert written(loaded).payload == body
    more = dump([*loaded.messages, UserMessage(id="message-2", content="Well?")])
    assert [item["role"] for item in more.payload["input"]] == ["user", "user"]
    assert written(load("Tide?")).payload == {"input": "Tide?"}


def test_a_denial_is_in_the_approval() -> None:
    asked, answered = HOSTED[-3], HOSTED[-2]
    (call,) = calls([asked, answered])
    assert call.approval == Approval(id="mcpr_1", approved=False, reason="no need")
    assert call.state == "approval-responded"
    alone = load_one([answered]).parts[0]
    assert isinstance(alone, CustomPart)


def test_reasoning_of_one_item_stays_one_item() -> None:
    parts = load_one([ASSISTANT[0], HIGH]).parts
    assert [part.text for part in parts if isinstance(part, ReasoningPart)] == ["The moon", "pulls the sea"]
    assert [item["type"] for item in dump([load_one([ASSISTANT[0], HIGH])]).payload["input"]] == [
        "reasoning",
        "message",
    ]


def test_user_content_becomes_parts() -> None:
    parts = load([USER[3]]).messages[0].parts
    kinds = [
        TextPart,
        ImagePart,
        ImagePart,
        FilePart,
        FilePart,
        FilePart,
        FilePart,
        ForeignPart,
        FilePart,
        ForeignPart,
    ]
    assert [type(part) for part in parts] == kinds


def test_two_items_with_the_same_id_stay_two() -> None:
    assert written(load([HIGH, HIGH])).payload == {"input": [HIGH, HIGH]}


def test_a_stream_becomes_a_message_and_its_request() -> None:
    events = [
        created(temperature=0.5),
        added(message(), 0),
        event("output_text.delta", delta="High", item_id="msg_1", content_index=0),
        done(HIGH, 0),
        finished(HIGH, temperature=0.5, tools=RESPONSE["tools"]),
    ]
    loaded = load(events)
    assert loaded == load_response(events)
    (answer,) = loaded.messages
    assert isinstance(answer, AssistantMessage)
    assert [part.text for part in answer.parts if isinstance(part, TextPart)] == ["High"]
    assert loaded.request is not None
    assert [tool.name for tool in loaded.request.tools] == ["tide"]
    assert loaded.request.settings == {"temperature": 0.5}


def test_an_error_becomes_a_message_without_text() -> None:
    body = {"error": {"message": "down", "type": "server_error"}}
    loaded = load(body)
    assert loaded.messages[0].content.metadata == {"finishReason": "error", "errors": ["down"]}
    assert written_response(loaded).payload == body


@each_row(
    ("payload", "where"),
    [
        (3, "$"),
        (None, "$"),
        ({"moon": "full"}, "$"),
        ({"input": 3}, "$.input"),
        ([3], "$[0]"),
        ({"input": [{"moon": "full"}]}, "$.input[0]"),
    ],
)
def test_invalid_payloads_are_refused(payload: Json, where: str) -> None:
    with pytest.raises(ConversionError) as caught:
        load(payload)
    assert caught.value.where == where
    assert caught.value.hint


def test_a_number_is_not_a_response() -> None:
    with pytest.raises(ConversionError, match="number"):
        load_response(3)


def test_nulls_and_empty_members_of_a_body_round_trip() -> None:
    body = {
        **RESPONSE,
        "output": [{**HIGH, "phase": None, "content": [{**output_text("High"), "logprobs": []}]}],
        "max_output_tokens": None,
        "user": None,
        "reasoning": {"effort": None, "summary": None},
        "tools": [],
        "usage": None,
    }
    loaded = load(body)
    assert written_response(loaded).payload == body
    assert loaded.losses == ()


def test_pages_of_a_search_become_sources_once() -> None:
    page = "https://sea.example/tide"
    annotation = {"type": "url_citation", "url": page, "title": "T", "start_index": 0, "end_index": 4}
    action = {"type": "search", "query": "tide", "sources": [{"type": "url", "url": page}]}
    items = [
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": action},
        message(output_text("High", annotation)),
    ]
    parts = load_one(items).parts
    assert [part.url for part in parts if isinstance(part, SourceUrlPart)] == [page]
    assert dump([load_one(items)]).losses == ()
