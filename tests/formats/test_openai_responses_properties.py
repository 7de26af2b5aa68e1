"""Properties of Responses streams: any stream accumulates and can be sent back."""

from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from partita.formats.model_view import model_view
from partita.formats.openai_responses.stream import ResponsesDecoder
from partita.types.json import JsonObject
from partita.types.messages import UserMessage
from tests.decoding import accumulated
from tests.formats.openai_responses_requests import build_request
from tests.formats.openai_responses_samples import (
    decode,
    function,
    message,
    output_text,
    parts,
    reasoning,
    refusal,
    response,
    stream_of,
)
from tests.formats.test_openai_responses_items import ITEMS
from tests.formats.test_openai_responses_request import RESPONSE_ITEMS

EXAMPLES: Final = [*RESPONSE_ITEMS, *(item for items, _ in ITEMS.values() for item in items)]
TEXTS: Final = st.text(max_size=12)


@st.composite
def messages(draw: st.DrawFn) -> JsonObject:
    contents = st.lists(st.builds(output_text, TEXTS) | st.builds(refusal, TEXTS), min_size=1, max_size=3)
    return message(*draw(contents))


@st.composite
def reasonings(draw: st.DrawFn) -> JsonObject:
    summary = draw(st.lists(TEXTS.filter(bool), max_size=3))
    return reasoning(*summary, encrypted_content=draw(st.none() | TEXTS))


CALLS: Final = st.builds(function, st.sampled_from(("", "{}", '{"a": 1}', '{"a":"é"}', "{a", "[]", "null")))


@st.composite
def responses(draw: st.DrawFn) -> JsonObject:
    """Responses whose items have distinct ids."""
    items = draw(st.lists(messages() | reasonings() | CALLS | st.sampled_from(EXAMPLES), max_size=5))
    named = [
        {**item, "id": f"{item['id']}_{place}"}
        | ({"call_id": f"call_{place}"} if item["type"] == "function_call" else {})
        for place, item in enumerate(items)
    ]
    return response(*named, status=draw(st.sampled_from(("completed", "incomplete", "failed"))))


@given(responses())
def test_a_body_and_its_stream_give_the_same_message(whole: JsonObject) -> None:
    assert accumulated(ResponsesDecoder().read_body(whole)) == accumulated(decode(stream_of(whole)))


@given(responses())
def test_every_response_can_be_sent_back(whole: JsonObject) -> None:
    """Calls and outputs are pairs, and encrypted reasoning is unchanged."""
    answer = accumulated(decode(stream_of(whole)))
    view = model_view([UserMessage(id="u", content="Tide?"), answer]).messages
    items = build_request(view, model="tide-1").payload["input"]
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    outputs = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    assert sorted(calls) == sorted(outputs)
    given_ = {item["id"]: item for item in whole["output"] if item["type"] == "reasoning"}
    for item in items:
        if item.get("type") == "reasoning":
            assert item.get("encrypted_content") == (given_[item["id"]].get("encrypted_content") or None)


def test_a_long_stream_gives_a_linear_number_of_chunks() -> None:
    """Many summaries in one item: each part starts and ends once."""
    count = 400
    chunks = decode(stream_of(response(reasoning(*["Moon"] * count))))
    assert len(parts(chunks)) == count
    assert len(chunks) < 6 * count
