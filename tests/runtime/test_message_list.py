"""`MessageList`: reads messages and streams of any format, and writes any view."""

import pytest

from partita import (
    AssistantMessage,
    ConflictError,
    FormatError,
    InterruptedOutput,
    JsonOutput,
    Message,
    NotFoundError,
    SourceUrlPart,
    StreamError,
    TextOutput,
    TextPart,
    ToolCallPart,
    ToolMessage,
    ToolOutput,
    ToolResultPart,
    UserMessage,
)
from partita.agents import MessageList
from partita.chunks import (
    Chunk,
    MessageFinish,
    MessageStart,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolInputAvailable,
    ToolInputStart,
    ToolOutputAvailable,
)
from partita.types import text_of
from partita.types.json import JsonObject

UI = [
    {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Is it raining?"}]},
    {"id": "a1", "role": "assistant", "parts": [{"type": "text", "text": "No.", "state": "done"}]},
]


def test_a_text_becomes_a_user_message() -> None:
    messages = MessageList()
    (hello,) = messages.add("Hello")
    assert hello == UserMessage(id=hello.id, content="Hello")
    assert messages.add("Again", id="mine")[0].id == "mine"


def test_the_format_of_a_payload_is_detected() -> None:
    messages = MessageList()
    added = messages.add(UI)
    assert [message.id for message in added] == ["u1", "a1"]
    assert messages.to("ai-sdk-ui-v7").payload == UI
    assert messages.ui() == UI


def test_a_message_with_a_known_id_replaces_the_stored_one() -> None:
    messages = MessageList([UserMessage(id="u", content="one"), UserMessage(id="v", content="two")])
    messages.add(UserMessage(id="u", content="three"))
    assert [message.content.parts for message in messages] == [(TextPart("three"),), (TextPart("two"),)]


def test_a_stream_extends_the_last_message() -> None:
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


def test_a_cut_message_is_closed() -> None:
    messages = MessageList()
    messages.feed(MessageStart("a"))
    messages.feed(ToolInputStart("c", "look"))
    ended = messages.end()
    assert ended is not None
    call = ended.parts[0]
    assert isinstance(call, ToolCallPart)
    assert isinstance(call.output, InterruptedOutput)
    assert messages.end() is None


def test_the_model_view_reports_its_repairs() -> None:
    call = ToolCallPart(id="c", name="look", state="input-available", input={})
    messages = MessageList([AssistantMessage(id="a", content=[call])])
    view = messages.model()
    assert [repair.why for repair in view.repairs] == ["the call never got a result"]
    completed = ToolCallPart(
        id="c", name="look", state="output-available", input={}, output=TextOutput("seen")
    )
    messages.add(AssistantMessage(id="a", content=[completed]))
    assert messages.model().repairs == ()


def test_unsupported_formats_are_errors() -> None:
    messages = MessageList()
    with pytest.raises(FormatError, match="cannot detect the format"):
        messages.add({"nothing": "known"})
    with pytest.raises(FormatError, match="is a stream"):
        messages.add([], format="ai-sdk-chunks")
    with pytest.raises(FormatError, match="does not stream"):
        messages.feed({}, format="canonical")
    with pytest.raises(FormatError, match="can be read but not written"):
        messages.to("cherry")


# Streams that continue messages, and streams with several


def text_chunks(text: str, block: str = "t") -> list[Chunk]:
    return [TextStart(block), TextDelta(block, text), TextEnd(block)]


def feed(messages: MessageList, *chunks: Chunk) -> MessageList:
    for chunk in chunks:
        messages.feed(chunk)
    return messages


def texts(messages: MessageList) -> list[tuple[str, str]]:
    return [(message.id, text_of(message)) for message in messages]


def waiting(id: str = "a", call_id: str = "c") -> AssistantMessage:
    call = ToolCallPart(id=call_id, name="look", state="input-available", input={})
    return AssistantMessage(id=id, content=[TextPart("Let me look."), call])


def outputs(messages: MessageList) -> list[ToolOutput | None]:
    return [part.output for message in messages for part in message.parts if isinstance(part, ToolCallPart)]


def model_outputs(messages: MessageList) -> list[ToolOutput]:
    view = messages.model().messages
    return [part.output for one in view for part in one.parts if isinstance(part, ToolResultPart)]


def test_every_message_of_a_stream_is_added() -> None:
    messages = MessageList()
    feed(
        messages,
        MessageStart("a"),
        *text_chunks("one"),
        MessageFinish(),
        MessageStart("b"),
        *text_chunks("two"),
    )
    ended = messages.end()
    assert ended is not None
    assert ended.id == "b"
    assert texts(messages) == [("a", "one"), ("b", "two")]


def test_a_start_continues_the_message_that_has_its_id() -> None:
    messages = MessageList(
        [AssistantMessage(id="a", content=[TextPart("One.")]), UserMessage(id="u", content="?")]
    )
    feed(messages, MessageStart("a"), *text_chunks(" Two."))
    assert texts(messages) == [("a", "One. Two."), ("u", "?")]
    messages.end()
    assert texts(messages) == [("a", "One. Two."), ("u", "?")]
    messages.feed(TextStart("t"), id="a")
    assert [message.id for message in messages] == ["a", "u"]


def test_a_waiting_call_gets_its_output() -> None:
    messages = feed(MessageList([waiting()]), MessageStart("a"), ToolOutputAvailable("c", 5), MessageFinish())
    assert outputs(messages) == [JsonOutput(5)]
    assert model_outputs(messages) == [JsonOutput(5)]
    assert text_of(messages.messages[0]) == "Let me look."


def test_a_streamed_message_cannot_have_the_id_of_a_user_message() -> None:
    messages = MessageList([UserMessage(id="u", content="?")])
    with pytest.raises(StreamError, match="id of a user message"):
        messages.feed(MessageStart("u"))
    assert texts(messages) == [("u", "?")]


def test_a_generated_id_does_not_replace_a_message() -> None:
    messages = MessageList([UserMessage(id="message-2", content="real")])
    messages.add("new")
    feed(messages, *text_chunks("answer"))
    messages.end()
    assert [text for _, text in texts(messages)] == ["real", "new", "answer"]
    messages.add(UserMessage(id="message-1", content="mine"))
    assert [text for _, text in texts(messages)] == ["real", "new", "answer", "mine"]
    assert len({message.id for message in messages}) == 4


def test_payloads_without_ids_do_not_replace_each_other() -> None:
    messages = MessageList()
    for text in ("yes", "no", "yes"):
        messages.add([{"role": "user", "content": text}], format="openai-chat")
    assert [text for _, text in texts(messages)] == ["yes", "no", "yes"]


def test_a_message_that_is_being_streamed_cannot_be_replaced_or_removed() -> None:
    messages = feed(MessageList(), MessageStart("a"), *text_chunks("one"))
    with pytest.raises(ConflictError, match="being streamed"):
        messages.add(AssistantMessage(id="a", content="other"))
    with pytest.raises(ConflictError, match="being streamed"):
        messages.remove("a")
    messages.add("meanwhile", id="u")
    feed(messages, *text_chunks(" two", "s"), MessageFinish())
    messages.add("later", id="v")  # the answer is complete
    assert texts(messages) == [("a", "one two"), ("u", "meanwhile"), ("v", "later")]


# Late results


RESULT = ToolMessage(id="r", content=[ToolResultPart("c", "look", TextOutput("rain"))])


def test_a_late_result_is_merged_into_its_call() -> None:
    call = ToolInputAvailable("c", "look", {})
    stored = MessageList([waiting(), UserMessage(id="u", content="Well?")])
    streaming = feed(MessageList(), MessageStart("a"), call)
    finished = feed(MessageList(), MessageStart("a"), call, MessageFinish("tool-calls"))
    finished.end()
    cut = feed(MessageList(), MessageStart("a"), call)
    cut.end()
    assert outputs(finished) == [None]
    assert outputs(cut) == [InterruptedOutput("lost")]
    for messages in (stored, streaming, finished, cut):
        messages.add(RESULT)
        assert outputs(messages) == [TextOutput("rain")]
        assert model_outputs(messages) == [TextOutput("rain")]
        assert not any(isinstance(message, ToolMessage) for message in messages)
        messages.add(ToolMessage(id="again", content=[ToolResultPart("c", "look", TextOutput("sun"))]))
        assert model_outputs(messages) == [TextOutput("rain")]


def test_a_late_result_may_have_any_format() -> None:
    messages = MessageList([waiting(), UserMessage(id="u", content="Well?")])
    messages.add([{"role": "tool", "tool_call_id": "c", "content": "rain"}], format="openai-chat")
    assert model_outputs(messages) == [TextOutput("rain")]
    messages = MessageList([waiting(), UserMessage(id="u", content="Well?")])
    messages.feed({"type": "tool-output-available", "toolCallId": "c", "output": "rain"})
    assert [message.id for message in messages] == ["a", "u"]
    assert model_outputs(messages) == [TextOutput("rain")]


def test_an_approval_response_is_applied_to_its_call() -> None:
    messages = MessageList()
    feed(messages, MessageStart("a"), ToolInputAvailable("c", "look", {}), ToolApprovalRequest("q", "c"))
    feed(messages, MessageFinish())
    messages.end()
    feed(messages, ToolApprovalResponse("q", approved=True), ToolOutputAvailable("c", "rain"))
    assert [message.id for message in messages] == ["a"]
    assert model_outputs(messages) == [TextOutput("rain")]


def test_a_repeated_call_has_one_output_in_the_model_view() -> None:
    done = ToolCallPart(id="c", name="look", state="output-available", input={}, output=TextOutput("rain"))
    messages = MessageList([AssistantMessage(id="a", content=[waiting().parts[1], done])])
    assert model_outputs(messages) == [TextOutput("rain")]


# Saving


def test_new_and_changed_messages_are_drained_once() -> None:
    messages = MessageList([UserMessage(id="old", content="kept"), waiting()])
    assert messages.drain() == ()
    messages.add("Well?", id="u")
    messages.add("It is March.", id="note", source="context")
    messages.feed(ToolOutputAvailable("c", 5))
    feed(messages, MessageFinish())
    assert [message.id for message in messages.unsaved()] == ["a", "u"]
    assert [message.id for message in messages.drain()] == ["a", "u"]
    assert messages.drain() == ()
    messages.add(UserMessage(id="u", content="Well?"))
    assert messages.drain() == ()
    messages.add(UserMessage(id="u", content="Well!"))
    assert [message.id for message in messages.drain()] == ["u"]


def drained(messages: MessageList, at: str) -> list[Message]:
    return list(messages.drain(at))  # type: ignore[arg-type] # `at` is one of the three literals


def test_a_streamed_message_is_drained_by_part_step_or_message() -> None:
    chunks: list[Chunk] = [
        *(MessageStart("a"), StepStart(), *text_chunks("one"), TextStart("open"), TextDelta("open", "t")),
        *(
            TextDelta("open", "wo"),
            TextEnd("open"),
            StepFinish(),
            StepStart(),
            *text_chunks("three"),
            MessageFinish(),
        ),
    ]
    flushed: dict[str, list[str]] = {}
    for at in ("part", "step", "message"):
        messages = MessageList()
        flushed[at] = []
        for chunk in chunks:
            messages.feed(chunk)
            flushed[at] += [text_of(message) for message in drained(messages, at) if text_of(message)]
    assert flushed == {
        "part": ["one", "onetwo", "onetwo", "onetwothree"],  # the third has the start of the second step
        "step": ["onetwo", "onetwothree"],
        "message": ["onetwothree"],
    }


def test_parts_of_a_full_stream_update_the_list() -> None:
    messages = MessageList([UserMessage(id="u", content="?")])
    for part in (
        {"type": "start"},
        {"type": "text-start", "id": "t"},
        {"type": "text-delta", "id": "t", "text": "Rain."},
        {"type": "source", "sourceType": "url", "id": "s", "url": "https://example.com"},
        {"type": "raw", "rawValue": 1},
        {"type": "error", "error": "overloaded"},
    ):
        messages.update_from_stream_part(part, version=6)
    messages.end()
    message = messages.messages[-1]
    assert message.parts == (TextPart("Rain.", "done"), SourceUrlPart("s", "https://example.com"))
    assert [loss.path for loss in messages.losses] == ["$[4].rawValue"]
    assert messages.errors == ["overloaded"]


def test_views_contain_all_sources_or_one() -> None:
    messages = MessageList([UserMessage(id="old", content="Hello")])
    messages.add("Well?", id="u")
    messages.add("It is March.", id="note", source="context")
    feed(messages, MessageStart("a"), *text_chunks("Yes."))
    ids = {
        source: [one.id for one in messages.canonical(source)] for source in ("memory", "input", "response")
    }  # type: ignore[arg-type] # sources
    assert ids == {"memory": ["old"], "input": ["u"], "response": ["a"]}
    assert [one["id"] for one in messages.ui(source="response")] == ["a"]
    assert [one.id for one in messages.model(source="input").messages] == ["u"]
    assert len(messages.to("openai-chat", source="memory").payload) == 1
    assert [one.id for one in messages.canonical()] == ["old", "u", "note", "a"]


def test_messages_are_removed_by_id() -> None:
    messages = MessageList([UserMessage(id="u", content="Hello"), waiting()])
    with pytest.raises(NotFoundError, match="'nobody'"):
        messages.remove("u", "nobody")
    assert [message.id for message in messages.remove("u")] == ["u"]
    assert [message.id for message in messages] == ["a"]
    assert messages.drain() == ()


def test_a_late_result_does_not_end_the_message_that_is_being_streamed() -> None:
    messages = MessageList(
        [AssistantMessage(id="m1", content=[ToolCallPart("c", "f", "input-available", {})])]
    )
    start, begin, one, *end = (MessageStart("m2"), *text_chunks("one"))
    feed(messages, start, begin, one, ToolOutputAvailable("c", 1), *end)
    messages.end()
    first, second = messages.messages
    states = [part.state for part in first.parts if isinstance(part, ToolCallPart)]
    assert (states, text_of(second)) == (["output-available"], "one")
