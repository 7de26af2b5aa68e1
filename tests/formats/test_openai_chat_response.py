"""Response bodies of Chat Completions, read and written."""

from datetime import UTC, datetime

import pytest

from partita.errors import ConversionError
from partita.formats.openai_chat.format import dump, load
from partita.formats.openai_chat.response import dump_response, load_response
from partita.formats.registry import get_format
from partita.testing.full_conversation import full_conversation
from partita.types.json import JsonObject
from partita.types.messages import AssistantContent, AssistantMessage, ToolCallPart, UserMessage
from partita.types.parts import FilePart, ReasoningPart, SourceUrlPart, StepStartPart, TextOutput, TextPart
from partita.types.usage import Usage
from tests.formats.openai_chat_samples import RESPONSE, STREAM
from tests.tables import each_row


def test_a_body_round_trips() -> None:
    from openai.types.chat import ChatCompletion

    loaded = load(RESPONSE)
    dumped = dump_response(loaded.messages)
    assert dumped.payload == RESPONSE
    assert loaded.losses == ()
    assert dumped.losses == ()
    ChatCompletion.model_validate(dumped.payload)


def test_a_signature_that_a_later_record_replaces_is_reported() -> None:
    details = [{"type": "reasoning.text", "text": text, "signature": f"s-{text}"} for text in ("a", "b")]
    deltas: list[JsonObject] = [{"reasoning_details": [detail]} for detail in details]
    records = [{"id": "c", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    (loss,) = load(records).losses
    assert (loss.path, loss.what) == ("$[0].choices[0].delta.reasoning_details[0].signature", '"s-a"')


def test_padding_of_a_stream_is_a_minor_loss() -> None:
    losses = load(STREAM).losses
    assert {(loss.path.rpartition(".")[2], loss.severity) for loss in losses} == {("obfuscation", "minor")}


def test_a_stream_gives_the_body_of_the_same_response() -> None:
    from openai.types.chat import ChatCompletion

    body = dump_response(load(STREAM).messages).payload
    assert body["choices"][0]["message"] == {
        "role": "assistant",
        "content": "See the chart.",
        "refusal": None,
        "reasoning_content": "It rains.",
        "tool_calls": [
            {
                "id": "call-8",
                "type": "function",
                "function": {"name": "tide", "arguments": '{"port":"Vardø"}'},
            }
        ],
    }
    assert body["choices"][0]["finish_reason"] == "tool_calls"
    assert body["usage"] == {"prompt_tokens": 40, "completion_tokens": 16, "total_tokens": 56}
    ChatCompletion.model_validate(body)


BODIES: dict[str, JsonObject] = {
    "a refusal": {"role": "assistant", "content": None, "refusal": "I may not say."},
    "audio": {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "audio": {"id": "audio-1", "data": "SUQz", "transcript": "Hi.", "expires_at": 9},
    },
    "an image": {
        "role": "assistant",
        "content": "Look.",
        "refusal": None,
        "images": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}, "index": 0}],
    },
    "details": {
        "role": "assistant",
        "content": "Yes.",
        "refusal": None,
        "reasoning": "It rains.",
        "reasoning_details": [{"type": "reasoning.text", "text": "It rains.", "signature": "s1"}],
    },
    "reasoning in the content": {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "It rains."}], "signature": "s1"},
            {"type": "text", "text": "Yes."},
        ],
        "refusal": None,
    },
    "a legacy function call": {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "function_call": {"name": "tide", "arguments": "{}"},
    },
    "tools that the server executed": {
        "role": "assistant",
        "content": "Yes.",
        "refusal": None,
        "executed_tools": [{"index": 0, "type": "search", "arguments": '{"q":"tide"}', "output": "1 m"}],
    },
    "without members of other servers": {"role": "assistant", "content": "Yes."},
    "an item of an unknown type": {
        "role": "assistant",
        "content": [{"type": "text", "text": "Yes."}, {"type": "chart", "data": [1, 2]}],
    },
    "reasoning in two members, with details": {
        "role": "assistant",
        "content": "Yes.",
        "reasoning": "It rains.",
        "reasoning_content": "It rains.",
        "reasoning_details": [{"type": "reasoning.text", "text": "It rains.", "signature": "s1"}],
    },
    "a signature of the text": {
        "role": "assistant",
        "content": "Yes.",
        "refusal": None,
        "extra_content": {"google": {"thought_signature": "s1"}},
    },
}


@each_row("message", BODIES.values(), ids=BODIES)
def test_a_body_of_every_server_round_trips(message: JsonObject) -> None:
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    body = {"id": "c-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    loaded = load(body)
    dumped = dump_response(loaded.messages)
    assert dumped.payload == body
    assert loaded.losses == ()
    assert {loss.severity for loss in dumped.losses} <= {"minor"}


def test_an_item_of_an_unknown_type_is_sent_back() -> None:
    item = {"type": "chart", "data": [1, 2]}
    message = {"role": "assistant", "content": [{"type": "text", "text": "Yes."}, item]}
    body = {**RESPONSE, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    sent = dump(load(body).messages).payload["messages"][0]["content"]
    assert sent == [{"type": "text", "text": "Yes."}, item]


def test_uncited_pages_are_next_to_the_choices() -> None:
    body = {
        **RESPONSE,
        "citations": ["https://example.com/a", {"url": "https://example.com/b", "title": "B"}],
    }
    assert dump_response(load(body).messages).payload["citations"] == body["citations"]


def test_an_error_body_round_trips() -> None:
    failure = {"error": {"message": "no such model", "type": "invalid_request_error", "code": None}}
    assert dump_response(load(failure).messages).payload == failure


def test_the_last_response_of_a_full_conversation_is_valid() -> None:
    from openai.types.chat import ChatCompletion

    dumped = dump_response(full_conversation())
    answer = ChatCompletion.model_validate(dumped.payload)
    assert answer.choices[0].finish_reason == "tool_calls"
    assert {loss.path[:4] for loss in dumped.losses} >= {"$[0]", "$[1]", "$[2]", "$[3]"}


def test_a_response_is_the_last_step_without_results() -> None:
    call = ToolCallPart("a", "tide", "output-available", {}, output=TextOutput("1 m"))
    message = AssistantMessage(
        id="a-1",
        created_at=datetime(2026, 3, 1, tzinfo=UTC),
        content=AssistantContent(
            parts=(
                StepStartPart(),
                call,
                StepStartPart(),
                ReasoningPart("Hm.", provider_metadata={"anthropic": {"signature": "s1"}}),
                TextPart("It is high."),
            ),
            usage=Usage(input_tokens=3, output_tokens=4, cached_input_tokens=1, raw={"input_tokens": 2}),
        ),
    )
    dumped = dump_response([message])
    assert dumped.payload == {
        "id": "a-1",
        "object": "chat.completion",
        "created": 1772323200,
        "model": "",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "It is high.",
                    "refusal": None,
                    "reasoning_content": "Hm.",
                },
                "finish_reason": "stop",
                "logprobs": None,
            }
        ],
        "usage": {
            "prompt_tokens": 3,
            "completion_tokens": 4,
            "total_tokens": 7,
            "prompt_tokens_details": {"cached_tokens": 1},
        },
    }
    assert [(loss.path, loss.severity) for loss in dumped.losses] == [
        ("$[0].content.parts[1]", "lost"),
        ("$[0].content.parts[1].output", "lost"),
        ("$[0].content.metadata.finishReason", "repaired"),
        ("$[0].content.metadata.model", "repaired"),
        ("$[0].content.usage.raw.input_tokens", "lost"),
        ("$[0].content.parts[3].providerMetadata.anthropic", "lost"),
    ]


def test_values_that_a_response_cannot_contain_are_reported() -> None:
    parts = (
        SourceUrlPart("mine", "https://example.com/a"),
        FilePart("https://example.com/a.pdf", "application/pdf"),
        TextPart("Hi."),
    )
    message = AssistantMessage(
        id="a", thread_id="t", created_at=datetime(2026, 3, 1, tzinfo=UTC), content=parts
    )
    dumped = dump_response([message])
    assert dumped.payload["citations"] == ["https://example.com/a"]
    assert [(loss.path, loss.severity) for loss in dumped.losses] == [
        ("$[0].content.metadata.finishReason", "repaired"),
        ("$[0].content.metadata.model", "repaired"),
        ("$[0].threadId", "lost"),
        ("$[0].content.parts[0].sourceId", "changed"),
        ("$[0].content.parts[1]", "lost"),
    ]


def test_a_conversation_without_a_response_gives_a_body_without_choices() -> None:
    dumped = dump_response([UserMessage(id="u", content="Hi")])
    assert dumped.payload["choices"] == []
    assert [loss.path for loss in dumped.losses] == ["$", "$[0]"]
    assert load_response(dumped.payload).messages == ()


def test_a_list_of_messages_is_not_a_response() -> None:
    read = get_format("openai-chat-response").load
    assert read is not None
    with pytest.raises(ConversionError, match="not a response"):
        read({"messages": []})
