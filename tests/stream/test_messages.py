"""A stream with several start chunks contains several messages."""

import pytest

from partita import (
    Accumulator,
    AssistantMessage,
    StreamError,
    TextPart,
    ToolCallPart,
    UserMessage,
    accumulate,
)
from partita.chunks import (
    Chunk,
    DataChunk,
    ErrorChunk,
    MessageFinish,
    MessageStart,
    NetworkExecutionEnd,
    NetworkExecutionStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolOutputAvailable,
)
from partita.stream import MessagesAccumulator, accumulate_messages
from partita.types import NetworkResult, text_of


def text_chunks(text: str, block: str = "t") -> list[Chunk]:
    return [TextStart(block), TextDelta(block, text), TextEnd(block)]


def texts(messages: tuple[AssistantMessage, ...]) -> list[tuple[str, str]]:
    return [(message.id, text_of(message)) for message in messages]


def test_every_message_of_a_stream_is_returned() -> None:
    stream = [
        *(MessageStart("a"), *text_chunks("one"), MessageFinish()),
        *(MessageStart("b"), *text_chunks("two")),  # no finish: the last message is returned nevertheless
        *(MessageStart("c"), *text_chunks("three"), MessageFinish()),
    ]
    assert texts(accumulate_messages(stream)) == [("a", "one"), ("b", "two"), ("c", "three")]


def test_a_start_with_a_known_id_continues_the_message() -> None:
    stream = [
        *(MessageStart("a"), TextStart("t"), TextDelta("t", "one")),
        *(MessageStart("b"), *text_chunks("two")),
        *(MessageStart("a"), TextDelta("t", " more"), TextEnd("t")),
    ]
    assert texts(accumulate_messages(stream)) == [("a", "one more"), ("b", "two")]


def test_the_first_start_sets_the_id_of_the_message() -> None:
    mark = DataChunk("data-mark", 1, transient=True)
    assert texts(accumulate_messages([mark, MessageStart("a"), *text_chunks("one")], id="made-up")) == [
        ("a", "one")
    ]
    assert texts(accumulate_messages(text_chunks("one"), id="made-up")) == [("made-up", "one")]


def test_messages_outside_the_stream_are_continued() -> None:
    call = ToolCallPart(id="c", name="look", state="input-available", input={})
    known = {
        "a": AssistantMessage(id="a", content=[TextPart("one"), call]),
        "u": UserMessage(id="u", content="x"),
    }
    accumulator = MessagesAccumulator(id="x", known=known)
    accumulator.feed(MessageStart("a"))
    accumulator.feed(ToolOutputAvailable("c", 5))
    (message,) = accumulator.finish()
    assert [type(part) for part in message.parts] == [TextPart, ToolCallPart]
    with pytest.raises(StreamError, match="id of a user message"):
        MessagesAccumulator(known=known).feed(MessageStart("u"))
    lenient = MessagesAccumulator(known=known, lenient=True)
    assert not lenient.feed(MessageStart("u"))
    assert "id of a user message" in lenient.diagnostics[0].what


def test_error_paths_count_chunks_over_the_whole_stream() -> None:
    accumulator = MessagesAccumulator(lenient=True)
    for chunk in (
        MessageStart("a"),
        *text_chunks("one"),
        MessageStart("b"),
        TextDelta("gone", "x"),
        ErrorChunk("e"),
    ):
        accumulator.feed(chunk)
    assert [one.chunk for one in accumulator.diagnostics] == [5]
    assert accumulator.errors == ("e",)
    with pytest.raises(StreamError, match="at chunk 1"):
        accumulate_messages([MessageStart("b"), TextDelta("gone", "x")])


def test_a_checkpoint_can_be_resumed_anywhere() -> None:
    stream = [
        *(MessageStart("a"), TextStart("t"), TextDelta("t", "one"), ErrorChunk("late")),
        *(MessageStart("b"), ToolInputAvailable("c", "look", {}), MessageFinish()),
        *(MessageStart("a"), TextDelta("t", " more"), TextEnd("t")),
        *(MessageStart("d"), MessageFinish()),
    ]
    whole = MessagesAccumulator()
    for chunk in stream:
        whole.feed(chunk)
    for cut in range(len(stream)):
        first, second = MessagesAccumulator(), MessagesAccumulator()
        for chunk in stream[:cut]:
            first.feed(chunk)
        second.restore(first.checkpoint())
        for chunk in stream[cut:]:
            second.feed(chunk)
        assert (second.snapshot(), second.errors, second.fed) == (whole.snapshot(), whole.errors, whole.fed)


def test_a_second_network_execution_is_refused() -> None:
    first = NetworkExecutionStart("agent", "writer", "it writes", {"prompt": "go"}, 1)
    second = NetworkExecutionStart("agent", "critic", "it reads", {"prompt": "look"}, 2)
    strict = Accumulator()
    for chunk in (first, NetworkExecutionEnd(NetworkResult("done")), first):
        strict.feed(chunk)
    with pytest.raises(StreamError, match=r"second network-execution-start.*'critic'"):
        strict.feed(second)
    lenient = Accumulator(lenient=True)
    for chunk in (first, NetworkExecutionEnd(NetworkResult("done")), second):
        lenient.feed(chunk)
    assert "second network-execution-start" in lenient.diagnostics[0].what
    for message in (strict.finish(), lenient.finish()):
        execution = message.content.network_execution
        assert execution is not None
        assert (execution.primitive_id, execution.final_result) == ("writer", NetworkResult("done"))


def test_accumulate_refuses_a_stream_with_several_messages() -> None:
    stream: list[Chunk] = [MessageStart("one"), MessageFinish("stop"), MessageStart("two")]
    with pytest.raises(StreamError, match=r"2 messages.*accumulate_messages"):
        accumulate(stream)
    assert accumulate(stream[:2]).id == "one"
    assert accumulate([]).parts == ()
