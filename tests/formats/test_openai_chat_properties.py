"""Properties of Chat Completions responses: streams in any chunks, prefixes and dialects."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from partita.formats.openai_chat.dialects import DIALECTS
from partita.formats.openai_chat.format import dump
from partita.formats.openai_chat.stream import ChatDecoder
from partita.types.codec import to_json
from partita.types.json import JsonObject, dumps
from partita.types.messages import AssistantMessage, Message, UserMessage
from tests.decoding import accumulated
from tests.formats.openai_chat_samples import body, call_delta, decoded, record
from tests.strategies_json import cuts, json_values, texts


@st.composite
def response_messages(draw: st.DrawFn) -> JsonObject:
    """The message of a response with members that both a body and a stream have."""
    text_ = texts().filter(bool)
    names = st.sampled_from(("find", "now"))
    inputs = st.dictionaries(st.sampled_from(("q", "n")), json_values(2), max_size=2)
    calls = [
        {
            "id": f"c{place}",
            "type": "function",
            "function": {"name": draw(names), "arguments": dumps(given).decode()},
        }
        for place, given in enumerate(draw(st.lists(inputs, max_size=3)))
    ]
    fields = {"reasoning_content": draw(text_ | st.just("")), "content": draw(text_ | st.just(""))}
    return {key: value for key, value in {**fields, "tool_calls": calls}.items() if value}


@st.composite
def streams(draw: st.DrawFn, message: JsonObject) -> list[JsonObject]:
    """The records of a stream that gives `message`."""
    records = [record({"role": "assistant", "content": ""})]
    for key in ("reasoning_content", "content"):
        records += [record({key: text_}) for text_ in draw(cuts(message.get(key, "")))]
    for place, call in enumerate(message.get("tool_calls", ())):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        records.append(record({"tool_calls": [call_delta(place, "", id=call["id"], name=name)]}))
        records += [record({"tool_calls": [call_delta(place, text_)]}) for text_ in draw(cuts(arguments))]
    return [*records, record(finish="tool_calls" if message.get("tool_calls") else "stop")]


def content_of(message: AssistantMessage) -> Any:
    end: JsonObject = to_json(message.content)
    return end["parts"], end["metadata"]


@given(st.data())
def test_a_stream_gives_the_message_of_its_body(data: st.DataObject) -> None:
    message = data.draw(response_messages())
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    whole = accumulated(ChatDecoder().read_body(body(message, finish)))
    streamed = accumulated(decoded(data.draw(streams(message))))
    assert content_of(streamed) == content_of(whole)


@given(st.data())
def test_every_prefix_of_a_stream_accumulates_and_is_marked_as_interrupted(data: st.DataObject) -> None:
    records = data.draw(streams(data.draw(response_messages())))
    kept = data.draw(st.integers(0, len(records) - 1))
    _, end = content_of(accumulated(decoded([*records[:kept]])))
    assert (end["finishReason"], end["complete"]) == ("interrupted", False)


@given(st.data(), st.sampled_from(sorted(DIALECTS)))
def test_any_response_can_be_sent_in_every_dialect(data: st.DataObject, name: str) -> None:
    """Every call is followed by its result, and no message is empty."""
    dialect = DIALECTS[name]
    records = data.draw(streams(data.draw(response_messages())))
    asked = UserMessage(id="u", content="Hi")
    view: list[Message] = [asked, accumulated(decoded([*records], dialect.namespace)), asked]
    sent = dump(view, dialect=dialect).payload["messages"]
    calls = [call["id"] for message in sent for call in message.get("tool_calls", ())]
    assert [message["tool_call_id"] for message in sent if message["role"] == "tool"] == calls
    assert all(
        message["content"] or message.get("tool_calls") or message["role"] == "assistant" for message in sent
    )
    assert dumps(sent)
