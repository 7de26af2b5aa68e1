"""A message list takes anything, and gives any view."""

import pytest

from partita.errors import FormatError
from partita.runtime.message_list import MessageList
from partita.types.chunks import MessageStart, StepStart, TextDelta, TextEnd, TextStart, ToolInputStart
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, ToolCallPart, UserMessage
from partita.types.parts import TextPart
from partita.types.tools import InterruptedOutput, TextOutput

UI = [
    {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Is it raining?"}]},
    {"id": "a1", "role": "assistant", "parts": [{"type": "text", "text": "No.", "state": "done"}]},
]


def test_words_are_the_users() -> None:
    messages = MessageList()
    assert messages.add("Hello") == (UserMessage(id="message-1", content="Hello"),)
    assert messages.add("Again", id="mine")[0].id == "mine"


def test_a_payload_is_read_in_whatever_format_it_is() -> None:
    messages = MessageList()
    added = messages.add(UI)
    assert [message.id for message in added] == ["u1", "a1"]
    assert messages.to("ai-sdk-ui-v7").payload == UI
    assert messages.ui() == UI


def test_what_is_added_again_takes_its_place() -> None:
    messages = MessageList([UserMessage(id="u", content="one"), UserMessage(id="v", content="two")])
    messages.add(UserMessage(id="u", content="three"))
    assert [message.content.parts for message in messages] == [(TextPart("three"),), (TextPart("two"),)]


def test_a_stream_grows_the_last_message() -> None:
    messages = MessageList([UserMessage(id="u", content="Hi")])
    for chunk in (MessageStart("a"), StepStart(), TextStart("0"), TextDelta("0", "Hel")):
        messages.feed(chunk)
    growing = messages.messages[-1]
    assert isinstance(growing.content.parts[-1], TextPart)
    assert growing.content.parts[-1].text == "Hel"
    messages.feed({"type": "text-delta", "id": "0", "delta": "lo"})
    messages.feed(TextEnd("0"))
    ended = messages.end()
    assert ended is not None
    assert ended.id == "a"
    assert len(messages) == 2


def test_events_of_a_provider_are_decoded() -> None:
    messages = MessageList()
    events: list[JsonObject] = [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage": {}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Rain."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]
    for event in events:
        messages.feed(event, format="anthropic", id="answer")
    ended = messages.end()
    assert ended is not None
    assert [part.text for part in ended.parts if isinstance(part, TextPart)] == ["Rain."]


def test_an_answer_that_breaks_off_is_closed() -> None:
    messages = MessageList()
    messages.feed(MessageStart("a"))
    messages.feed(ToolInputStart("c", "look"))
    ended = messages.end()
    assert ended is not None
    call = ended.parts[0]
    assert isinstance(call, ToolCallPart)
    assert isinstance(call.output, InterruptedOutput)
    assert messages.end() is None


def test_the_models_view_says_what_was_mended() -> None:
    call = ToolCallPart(id="c", name="look", state="input-available", input={})
    messages = MessageList([AssistantMessage(id="a", content=[call])])
    view = messages.model()
    assert [repair.why for repair in view.repairs] == ["the call never got an answer"]
    answered = ToolCallPart(
        id="c", name="look", state="output-available", input={}, output=TextOutput("seen")
    )
    messages.add(AssistantMessage(id="a", content=[answered]))
    assert messages.model().repairs == ()


def test_what_cannot_be_done_is_said() -> None:
    messages = MessageList()
    with pytest.raises(FormatError, match="cannot tell which format"):
        messages.add({"nothing": "known"})
    with pytest.raises(FormatError, match="is a stream"):
        messages.add([], format="ai-sdk-chunks")
    with pytest.raises(FormatError, match="does not stream"):
        messages.feed({}, format="canonical")
    with pytest.raises(FormatError, match="can be read but not written"):
        messages.to("cherry")
