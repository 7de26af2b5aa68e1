"""Chunks → a Chat Completions stream, read by our decoder and validated by the official types."""

from typing import Any

from hypothesis import given

from partita.formats.openai_chat.encoder import ChatEncoder, completion_of
from partita.formats.openai_chat.stream import ChatDecoder
from partita.formats.registry import get_format
from partita.stream.accumulator import accumulate
from partita.types.chunks import (
    Chunk,
    DataChunk,
    ErrorChunk,
    MessageAbort,
    MessageFinish,
    MessageStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    SourceUrlChunk,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputStart,
    ToolOutputAvailable,
)
from partita.types.codec import read_chunk
from partita.types.messages import ToolCallPart, text_of
from tests.strategies import chunk_streams
from tests.tables import each_row

HELLO = (TextStart("0"), TextDelta("0", "Good "), TextDelta("0", "evening."), TextEnd("0"))
STREAMED = (
    ToolInputStart("c1", "map"),
    ToolInputDelta("c1", '{"x":'),
    ToolInputDelta("c1", "1}"),
    ToolInputAvailable("c1", "map", {"x": 1}),
)


def encode_chunks(*chunks: Chunk, **how: Any) -> tuple[list[Any], ChatEncoder]:
    from openai.types.chat import ChatCompletionChunk

    encoder = ChatEncoder(model="keeper", created=7, **how)
    events = [event for chunk in chunks for event in encoder.feed(chunk)] + encoder.finish()
    for event in events:
        if "error" not in event:
            ChatCompletionChunk.model_validate(event)
    return events, encoder


def complete_body(*chunks: Chunk, **how: Any) -> Any:
    from openai.types.chat import ChatCompletion

    body = completion_of(encode_chunks(*chunks, **how)[0])
    ChatCompletion.model_validate(body)
    return body


def test_texts_reasoning_and_a_finish() -> None:
    thought = (ReasoningStart("r"), ReasoningDelta("r", "Hm."), ReasoningEnd("r"))
    usage = {"inputTokens": 3, "outputTokens": 5, "reasoningTokens": 1}
    end = MessageFinish("stop", {"finishReason": "stop", "usage": usage})
    events, encoder = encode_chunks(MessageStart("m1"), StepStart(), *thought, *HELLO, StepFinish(), end)
    deltas = [choice["delta"] for event in events for choice in event["choices"]]
    assert deltas == [
        {"role": "assistant", "content": ""},
        {"reasoning_content": "Hm."},
        {"content": "Good "},
        {"content": "evening."},
        {},
    ]
    assert events[-2]["choices"][0]["finish_reason"] == "stop"
    assert events[-1]["usage"]["total_tokens"] == 8
    assert {event["id"] for event in events} == {"chatcmpl-m1"}
    assert encoder.losses == []


def test_an_encoded_stream_is_decoded_again() -> None:
    chunks = (MessageStart("m1"), StepStart(), *HELLO, *STREAMED, StepFinish(), MessageFinish("tool-calls"))
    events, _ = encode_chunks(*chunks)
    decoder = ChatDecoder()
    message = accumulate([chunk for event in events for chunk in decoder.feed(event)] + decoder.finish())
    assert text_of(message) == "Good evening."
    (call,) = [part for part in message.parts if isinstance(part, ToolCallPart)]
    assert (call.id, call.name, call.input) == ("c1", "map", {"x": 1})


def test_calls_are_streamed_by_index() -> None:
    events, _ = encode_chunks(
        MessageStart("m1"), *STREAMED, ToolInputAvailable("c2", "map", {}), MessageFinish()
    )
    pieces = [
        piece for event in events for c in event["choices"] for piece in c["delta"].get("tool_calls", ())
    ]
    assert [(piece["index"], piece["function"]["arguments"]) for piece in pieces] == [
        (0, ""),
        (0, '{"x":'),
        (0, "1}"),
        (1, ""),
        (1, "{}"),
    ]
    assert events[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_calls_that_the_server_runs_are_not_sent_to_the_client() -> None:
    own = (ToolInputAvailable("c0", "look_up", {}), ToolOutputAvailable("c0", "found"))
    more = (TextStart("0"), TextDelta("0", "Found."), TextEnd("0"))
    body = complete_body(MessageStart("m1"), StepStart(), *HELLO, *own, StepStart(), *more, live=("map",))
    (choice,) = body["choices"]
    assert choice["message"]["content"] == "Good evening.\n\nFound."
    assert "tool_calls" not in choice["message"]
    assert choice["finish_reason"] == "stop"


def test_a_withheld_call_is_sent_if_it_stays_open() -> None:
    body = complete_body(MessageStart("m1"), ToolInputAvailable("c0", "ask", {"a": 1}), live=())
    (choice,) = body["choices"]
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "ask", "arguments": '{"a":1}'}
    assert choice["finish_reason"] == "tool_calls"


def test_refusals_and_sources() -> None:
    refusal = TextStart("0", {"openai": {"refusal": True}})
    source = SourceUrlChunk("s", "https://example.com", "A page")
    body = complete_body(MessageStart("m1"), refusal, TextDelta("0", "No."), source)
    message = body["choices"][0]["message"]
    assert (message["refusal"], message["content"]) == ("No.", None)
    assert message["annotations"][0]["url_citation"]["url"] == "https://example.com"


def test_an_error_ends_the_stream() -> None:
    events, _ = encode_chunks(MessageStart("m1"), *HELLO, ErrorChunk("dark"))
    assert events[-1]["error"]["message"] == "dark"
    assert completion_of(events) == {"error": events[-1]["error"]}


def test_losses_are_reported() -> None:
    _, encoder = encode_chunks(
        MessageStart("m1", {"rating": 5}),
        TextStart("0", {"google": {"thoughtSignature": "s"}}),
        TextDelta("0", "x"),
        DataChunk("data-weather", {"wind": 7}),
        ToolOutputAvailable("c9", {"a": 1}),
        MessageAbort("enough"),
        MessageFinish("other", {"usage": {"inputTokens": 1}}),
        usage=False,
    )
    assert [(loss.path, loss.severity) for loss in encoder.losses] == [
        ("$[0].messageMetadata", "lost"),
        ("$[1].providerMetadata", "lost"),
        ("$[3]", "lost"),
        ("$[4]", "lost"),
        ("$[5]", "changed"),
        ("$[5].reason", "lost"),
        ("$[7].finishReason", "changed"),
        ("$[7].messageMetadata.usage", "minor"),
    ]


@given(stream=chunk_streams(7))
def test_any_chunks_are_encoded(stream: list[Any]) -> None:
    from openai.types.chat import ChatCompletion

    events, _ = encode_chunks(*map(read_chunk, stream))
    body = completion_of(events)
    if "error" not in body:
        ChatCompletion.model_validate(body)


@each_row("name", ["openai-chat", "openai-chat-vllm", "ag-ui", "ai-sdk-chunks"])
def test_formats_with_an_encoder_write_streams(name: str) -> None:
    make = get_format(name).encoder
    assert make is not None
    encoder = make()
    assert encoder.feed(MessageStart("m1"))
    encoder.finish()
    assert list(encoder.losses) == []


def test_ai_sdk_chunks_are_written_unchanged() -> None:
    make = get_format("ai-sdk-chunks").encoder
    assert make is not None
    assert [read_chunk(event) for chunk in HELLO for event in make().feed(chunk)] == list(HELLO)
