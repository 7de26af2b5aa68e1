"""Whatever a Responses stream brings, and wherever it stops: it folds, and goes back as it came."""

from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from partita.formats.model_view import model_view
from partita.formats.openai_responses.stream import ResponsesDecoder
from partita.types.json import JsonObject
from partita.types.messages import UserMessage
from tests.decoding import accumulated
from tests.formats.openai_responses_answers import (
    decode,
    function,
    message,
    parts,
    reasoning,
    refusal,
    response,
    streamed,
    words,
)
from tests.formats.openai_responses_requests import build_request
from tests.formats.test_openai_responses_items import ITEMS
from tests.formats.test_openai_responses_request import ANSWER

EXAMPLES: Final = [*ANSWER, *(item for items, _ in ITEMS.values() for item in items)]
TEXTS: Final = st.text(max_size=12)


@st.composite
def messages(draw: st.DrawFn) -> JsonObject:
    contents = st.lists(st.builds(words, TEXTS) | st.builds(refusal, TEXTS), min_size=1, max_size=3)
    return message(*draw(contents))


@st.composite
def reasonings(draw: st.DrawFn) -> JsonObject:
    summary = draw(st.lists(TEXTS.filter(bool), max_size=3))
    return reasoning(*summary, encrypted_content=draw(st.none() | TEXTS))


CALLS: Final = st.builds(function, st.sampled_from(("", "{}", '{"a": 1}', '{"a":"é"}', "{a", "[]", "null")))


@st.composite
def responses(draw: st.DrawFn) -> JsonObject:
    """Responses whose items have ids of their own."""
    items = draw(st.lists(messages() | reasonings() | CALLS | st.sampled_from(EXAMPLES), max_size=5))
    named = [
        {**item, "id": f"{item['id']}_{place}"}
        | ({"call_id": f"call_{place}"} if item["type"] == "function_call" else {})
        for place, item in enumerate(items)
    ]
    return response(*named, status=draw(st.sampled_from(("completed", "incomplete", "failed"))))


@given(responses())
def test_a_body_says_what_its_stream_says(whole: JsonObject) -> None:
    assert accumulated(ResponsesDecoder().read_body(whole)) == accumulated(decode(streamed(whole)))


@given(responses())
def test_every_answer_can_be_sent_back(whole: JsonObject) -> None:
    """Calls and their outputs are pairs, and reasoning that can be read there goes back byte for byte."""
    answer = accumulated(decode(streamed(whole)))
    view = model_view([UserMessage(id="u", content="Tide?"), answer]).messages
    items = build_request(view, model="tide-1").payload["input"]
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    outputs = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    assert sorted(calls) == sorted(outputs)
    given_ = {item["id"]: item for item in whole["output"] if item["type"] == "reasoning"}
    for item in items:
        if item.get("type") == "reasoning":
            assert item.get("encrypted_content") == (given_[item["id"]].get("encrypted_content") or None)


def test_parts_of_a_long_stream_cost_what_they_are() -> None:
    """Many summaries in one item: each part is begun and ended once."""
    count = 400
    chunks = decode(streamed(response(reasoning(*["Moon"] * count))))
    assert len(parts(chunks)) == count
    assert len(chunks) < 6 * count
