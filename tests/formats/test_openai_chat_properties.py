"""What holds for any answer of Chat Completions, however it is cut, mutated or mangled."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from partita.formats.openai_chat.dialects import DIALECTS
from partita.formats.openai_chat.format import dump
from partita.formats.openai_chat.stream import ChatDecoder
from partita.types.codec import to_json
from partita.types.json import JsonObject, dumps
from partita.types.messages import AssistantMessage, Message, UserMessage
from tests.formats.test_openai_chat_stream import body, decoded, folded, piece, record
from tests.strategies_json import cuts, json_values, texts


@st.composite
def answers(draw: st.DrawFn) -> JsonObject:
    """The message of a whole answer, in fields that both a body and a stream have."""
    words = texts().filter(bool)
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
    fields = {"reasoning_content": draw(words | st.just("")), "content": draw(words | st.just(""))}
    return {key: value for key, value in {**fields, "tool_calls": calls}.items() if value}


@st.composite
def streams(draw: st.DrawFn, message: JsonObject) -> list[JsonObject]:
    """The records of a stream that says what `message` says."""
    records = [record({"role": "assistant", "content": ""})]
    for key in ("reasoning_content", "content"):
        records += [record({key: words}) for words in draw(cuts(message.get(key, "")))]
    for place, call in enumerate(message.get("tool_calls", ())):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        records.append(record({"tool_calls": [piece(place, "", id=call["id"], name=name)]}))
        records += [record({"tool_calls": [piece(place, words)]}) for words in draw(cuts(arguments))]
    return [*records, record(finish="tool_calls" if message.get("tool_calls") else "stop")]


def content_of(message: AssistantMessage) -> Any:
    said: JsonObject = to_json(message.content)
    return said["parts"], said["metadata"]


@given(st.data())
def test_a_stream_and_a_body_amount_to_the_same(data: st.DataObject) -> None:
    message = data.draw(answers())
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    whole = folded(ChatDecoder().read_body(body(message, finish)))
    streamed = folded(decoded(data.draw(streams(message))))
    assert content_of(streamed) == content_of(whole)


@given(st.data())
def test_a_stream_cut_anywhere_folds_and_says_so(data: st.DataObject) -> None:
    records = data.draw(streams(data.draw(answers())))
    kept = data.draw(st.integers(0, len(records) - 1))
    _, said = content_of(folded(decoded([*records[:kept]])))
    assert (said["finishReason"], said["complete"]) == ("interrupted", False)


@given(st.data(), st.sampled_from(sorted(DIALECTS)))
def test_an_answer_can_be_sent_in_every_dialect(data: st.DataObject, name: str) -> None:
    """Every call has its result behind it, and no message is empty."""
    dialect = DIALECTS[name]
    records = data.draw(streams(data.draw(answers())))
    asked = UserMessage(id="u", content="Hi")
    view: list[Message] = [asked, folded(decoded([*records], dialect.namespace)), asked]
    sent = dump(view, dialect=dialect).payload["messages"]
    calls = [call["id"] for message in sent for call in message.get("tool_calls", ())]
    assert [message["tool_call_id"] for message in sent if message["role"] == "tool"] == calls
    assert all(
        message["content"] or message.get("tool_calls") or message["role"] == "assistant" for message in sent
    )
    assert dumps(sent)
