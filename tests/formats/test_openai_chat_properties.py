"""What holds for any answer of Chat Completions, however it is cut, mutated or mangled."""

from copy import deepcopy
from functools import cache
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from partita.formats.openai_chat.dialects import DIALECTS
from partita.formats.openai_chat.format import dump
from partita.formats.openai_chat.stream import ChatDecoder
from partita.types.codec import encode, to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import AssistantMessage, Message, UserMessage
from tests.formats.test_openai_chat_stream import PARTS, body, decoded, folded, piece, record
from tests.strategies_json import cuts, json_values, texts

KEYS = (
    *("choices", "delta", "message", "index", "id", "finish_reason", "usage", "error", "x_groq", "object"),
    *("content", "refusal", "reasoning", "reasoning_content", "reasoning_details", "tool_calls", "function"),
    *("name", "arguments", "custom", "input", "executed_tools", "type", "text", "thinking", "signature"),
    *("output", "audio", "data", "images", "image_url", "annotations", "url_citation", "url", "citations"),
    *("logprobs", "extra_content", "prompt_tokens", "completion_tokens", "function_call", "detail"),
)
WORDS = (
    "text",
    "thinking",
    "refusal",
    "image_url",
    "url_citation",
    "reasoning.text",
    "chat.completion",
    "stop",
)


@cache
def mangled() -> st.SearchStrategy[Json]:
    """Values that have the API's names in all the wrong places."""
    leaves = st.sampled_from(WORDS) | json_values(2) | st.integers(-2, 2) | st.integers(2**60, 2**70)

    def containers(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
        return st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)

    return st.recursive(leaves, containers, max_leaves=12)


@cache
def choices() -> st.SearchStrategy[JsonObject]:
    """Records with a choice that has the API's fields, of any kind."""
    fields = st.dictionaries(st.sampled_from(KEYS), mangled(), max_size=4)
    return fields.map(record) | fields.map(lambda fields: {"choices": [fields]})


@given(st.lists(mangled() | choices() | texts(), max_size=6), st.booleans())
def test_nothing_fails_and_everything_folds(events: list[Json], ends: bool) -> None:
    events = [*events, record(finish="stop")] if ends else events
    message = folded(decoded(events))
    assert encode(message)


@st.composite
def damaged_streams(draw: st.DrawFn) -> list[Json]:
    """A stream of the tables with values in it replaced by others."""
    events: list[Json] = deepcopy(draw(st.sampled_from([records for records, _ in PARTS.values()])))
    for _ in range(draw(st.integers(1, 3))):
        holder: Json = events
        while True:
            keys: list[Json] = sorted(holder) if is_object(holder) else list(range(len(holder)))
            key = draw(st.sampled_from(keys))
            if (
                not (is_object(holder[key]) or is_array(holder[key]))
                or not holder[key]
                or draw(st.booleans())
            ):
                break
            holder = holder[key]
        holder[key] = draw(mangled())
    return events


@given(damaged_streams())
def test_a_damaged_stream_is_read_to_its_end(events: list[Json]) -> None:
    assert encode(folded(decoded([*events, record(finish="stop")])))


@given(mangled() | choices())
def test_any_body_is_read(value: Json) -> None:
    assert encode(folded(ChatDecoder().read_body(value)))


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
