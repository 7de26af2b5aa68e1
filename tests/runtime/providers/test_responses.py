"""Provider services read the responses of a real server through the packages of the vendors."""

import gzip

from partita.formats.call_decoder import CALL, CALL_END, facts_of, is_marker
from partita.formats.registry import get_format
from partita.types.chunks import ChunkEvent
from partita.types.json import JsonObject, indented, is_object
from partita.types.messages import text_of
from tests.runtime.scripted_server import JSON, ScriptedResponse
from tests.tables import each_row

from .families import FAMILIES, Family
from .service_calls import ask_server, chunks, completion, fold, is_complete, raw

RESPONSES: dict[str, JsonObject] = {
    "at once": {},
    "slowly": {"piece": 97},
    "of a known length": {"framing": "length"},
    "until the connection closes": {"framing": "close"},
    "with a wrong content type": {"content_type": JSON},
    "with an unrelated content type": {"content_type": "application/octet-stream"},
}


@each_row("settings", RESPONSES.values(), ids=RESPONSES)
@each_row("family", FAMILIES.values(), ids=FAMILIES)
async def test_a_response_is_read_completely(family: Family, settings: JsonObject) -> None:
    events = await ask_server(family, ScriptedResponse(body=family.body, **settings))
    last = completion(events)
    assert is_complete(fold(chunks(events)))
    assert raw(events) == family.body
    assert last.agent_type == family.service("http://localhost").name
    assert is_object(last.agent_result)
    assert last.agent_result["finishReason"] == "tool-calls"
    assert last.usage is not None
    assert (last.usage.input_tokens, last.usage.output_tokens) == (9, 7)


@each_row("family", FAMILIES.values(), ids=FAMILIES)
async def test_the_chunks_are_those_of_the_decoder_of_the_format(family: Family) -> None:
    decoder = get_format(family.format_name).decoder
    assert decoder is not None
    reading = decoder()
    expected = [chunk for event in family.events for chunk in reading.feed(event)] + reading.finish()
    assert chunks(await ask_server(family, ScriptedResponse(body=family.body))) == expected


@each_row("family", FAMILIES.values(), ids=FAMILIES)
async def test_the_markers_of_a_call_allow_decoding_it_again(family: Family) -> None:
    events = await ask_server(family, ScriptedResponse(body=family.body))
    first, last = events[0], events[-2]
    assert isinstance(first, ChunkEvent)
    assert isinstance(last, ChunkEvent)
    assert is_marker(first.chunk, CALL)
    assert is_marker(last.chunk, CALL_END)
    facts = facts_of(first.chunk)
    assert (facts["format"], facts["framing"], facts["model"]) == (family.format_name, "sse", "m-1")


async def test_an_array_instead_of_events_is_read_as_it_arrives() -> None:
    family = FAMILIES["gemini"]
    records = [event for event in family.body.split(b"\n\n") if event]
    body = b"[" + b",\r\n".join(record.removeprefix(b"data: ") for record in records) + b"\r\n]\r\n"
    events = await ask_server(family, ScriptedResponse(body=body, content_type=JSON, piece=31))
    completion(events)
    assert is_complete(fold(chunks(events)))
    assert raw(events) == body


COMPLETE: dict[str, JsonObject] = {
    "openai-chat": {
        "id": "chat-1",
        "object": "chat.completion",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Rain."}}
        ],
    },
    "openai-responses": {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "output": [
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Rain.", "annotations": []}],
            }
        ],
    },
    "anthropic": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "Rain."}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    "gemini": {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "Rain."}]}, "finishReason": "STOP"}]
    },
}


@each_row("content_type", [JSON, "text/event-stream"])
@each_row("name", FAMILIES)
async def test_a_response_that_is_not_streamed_is_read(name: str, content_type: str) -> None:
    body = indented(COMPLETE[name])
    events = await ask_server(
        FAMILIES[name], ScriptedResponse(body=body, content_type=content_type, piece=40)
    )
    completion(events)
    assert text_of(fold(chunks(events))) == "Rain."
    assert raw(events) == body


async def test_a_compressed_response_is_read() -> None:
    family = FAMILIES["anthropic"]
    events = await ask_server(
        family, ScriptedResponse(body=gzip.compress(family.body), headers={"content-encoding": "gzip"})
    )
    completion(events)
    assert raw(events) == family.body
