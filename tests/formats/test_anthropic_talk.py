"""The messages API, read and written: what came comes back, and what does not is told."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import ConversionError, PartitaError
from partita.formats.anthropic.format import FORMAT, RESPONSE
from partita.formats.format import Dumped, Loaded, Request
from partita.testing.full_conversation import full_conversation
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import (
    ContentOutput,
    ErrorTextOutput,
    FilePart,
    ImagePart,
    JsonOutput,
    ReasoningPart,
    SourceUrlPart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolState,
)
from tests import canonical
from tests.leaves import Path, changed, leaves
from tests.sampling import picked
from tests.tables import each_row

from .anthropic_talks import (
    ANSWER_BLOCKS,
    BODY,
    CACHE,
    ERROR,
    REQUEST,
    STREAM,
    TALKS,
    assistant,
    result,
    text,
    use,
    user,
)


def load(payload: Json) -> Loaded:
    assert FORMAT.load is not None
    return FORMAT.load(payload)


def dump(messages: Sequence[Message], request: Request | None = None) -> Dumped:
    assert FORMAT.dump is not None
    return FORMAT.dump(messages, request)


def load_answer(payload: Json) -> Loaded:
    assert RESPONSE.load is not None
    return RESPONSE.load(payload)


def dump_answer(messages: Sequence[Message]) -> Dumped:
    assert RESPONSE.dump is not None
    return RESPONSE.dump(messages)


@cache
def message_adapter() -> Any:
    from anthropic.types.beta import BetaMessageParam
    from pydantic import TypeAdapter

    return TypeAdapter[Any](BetaMessageParam)


def same(payload: Json) -> Json:
    """A payload without members that say nothing."""
    if is_object(payload):
        return {key: same(item) for key, item in payload.items() if item is not None}
    return [same(item) for item in payload] if is_array(payload) else payload


def checked(value: Any) -> Any:
    """A validated value, looked at to its end: the types are lazy."""
    if is_object(value):
        return {key: checked(item) for key, item in value.items()}
    if isinstance(value, str | int | float | bool | None):
        return value
    return [checked(item) for item in value]


def told(losses: Dumped | Loaded) -> list[tuple[str, str]]:
    return [(loss.severity, loss.path) for loss in losses.losses]


# Requests


@each_row("turns", TALKS.values(), ids=TALKS)
def test_messages_come_back_as_they_were(turns: list[JsonObject]) -> None:
    loaded = load(turns)
    dumped = dump(loaded.messages)
    if not turns or turns[0]["role"] == "user":
        assert same(dumped.payload) == {"messages": same(turns)}
    assert not loaded.losses
    assert not dumped.losses


def test_a_request_comes_back_as_it_was() -> None:
    loaded = load(REQUEST)
    assert loaded.request is not None
    assert [tool.name for tool in loaded.request.tools] == ["tide", "bare"]
    assert loaded.request.settings["tools"] == [REQUEST["tools"][0]]
    assert loaded.request.settings["model"] == "claude-test"
    asked = dump(loaded.messages, loaded.request)
    assert same(asked.payload) == same(REQUEST)
    assert not loaded.losses
    assert not asked.losses


def test_the_types_of_the_package_take_what_is_written() -> None:
    for messages in [*(load(turns).messages for turns in TALKS.values()), full_conversation()]:
        turns = dump(messages).payload["messages"]
        known = [turn for turn in turns if not any(is_new(block) for block in turn["content"])]
        for turn in known:
            checked(message_adapter().validate_python(same(turn)))


def is_new(block: Json) -> bool:
    """Whether a block is one that the package cannot know."""
    if not is_object(block):
        return False
    names = {block.get("id"), block.get("tool_use_id")}
    return block["type"] == "hologram" or bool(names & {"s4", "elsewhere"})


def test_steps_and_their_results_are_one_message() -> None:
    question, answer, thanks = load(TALKS["steps"]).messages
    assert (question.id, answer.id, thanks.id) == ("message-1", "message-2", "message-7")
    match answer.parts:
        case (
            TextPart("I look."),
            ToolCallPart(output=TextOutput("06:04"), state="output-available"),
            StepStartPart(),
            ToolCallPart(input={"port": "Oban"}, output=ContentOutput((TextPart("late"), ImagePart()))),
            StepStartPart(),
            TextPart("Six."),
        ):
            pass
        case _:
            pytest.fail(f"{answer.parts}")


def test_blocks_are_read_as_what_they_are() -> None:
    (message,) = load([user(*TALKS["every block of the user"][0]["content"][:8])]).messages
    kinds = [type(part) for part in message.parts]
    assert kinds == [TextPart, ImagePart, ImagePart, FilePart, FilePart, FilePart, FilePart, FilePart]
    *_, pdf, words, link, held = message.parts
    assert isinstance(pdf, FilePart)
    assert (pdf.url, pdf.media_type, pdf.filename) == (
        "data:application/pdf;base64,JVBE",
        "application/pdf",
        "Tables",
    )
    assert isinstance(words, FilePart)
    assert words.url.startswith("data:text/plain;base64,")
    assert isinstance(link, FilePart)
    assert link.url == "https://tides.example/t.pdf"
    assert isinstance(held, FilePart)
    assert held.provider_reference == {"anthropic": "file_tables"}


def test_results_that_failed_are_errors() -> None:
    _, answer = load(TALKS["errors in blocks"]).messages
    states = [part.state for part in answer.parts if isinstance(part, ToolCallPart)]
    assert states == ["output-error", "output-error"]
    (_, last) = answer.parts
    assert isinstance(last, ToolCallPart)
    assert last.output == ErrorTextOutput("no")


ODD: Final[dict[str, tuple[list[JsonObject], list[tuple[str, str]]]]] = {
    "results behind words": (
        [user("?"), assistant(use("c")), user(text("Well"), result("c"))],
        [("changed", "$[2].content")],
    ),
    "results in two turns": (
        [user("?"), assistant(use("c"), use("d")), user(result("c")), user(result("d"))],
        [("changed", "$[2]"), ("changed", "$[3]")],
    ),
    "a result of no call": (
        [user("?"), assistant("Six."), user(result("c"))],
        [("changed", "$[2]")],
    ),
    "members of a turn of results": (
        [user("?"), assistant(use("c")), {**user(result("c")), "note": 1}],
        [("lost", "$[2].note")],
    ),
}


@each_row(("turns", "losses"), ODD.values(), ids=ODD)
def test_what_stands_where_the_api_does_not_want_it_is_told(
    turns: list[JsonObject], losses: list[tuple[str, str]]
) -> None:
    assert told(load(turns)) == losses


BAD: Final[dict[str, tuple[Json, str]]] = {
    "a number": (7, "$"),
    "an object of nothing": ({}, "$"),
    "messages that are none": ({"messages": 7}, "$.messages"),
    "a message that is none": ([user("?"), 7], "$[1]"),
    "a role": ([{"role": "tool", "content": ""}], "$[0].role"),
    "no content": ({"messages": [{"role": "user"}]}, "$.messages[0]"),
    "a block that is none": ([user(text("a"), 7)], "$[0].content[1]"),  # type: ignore[arg-type]
    "a block without type": ([user(text("a"), {"text": "b"})], "$[0].content[1].type"),
    "a call without a name": ([assistant({"type": "tool_use", "id": "c"})], "$[0].content[0]"),
    "a result of nothing": ([user({"type": "tool_result"})], "$[0].content[0].tool_use_id"),
    "a result that is a number": ([user(result("c", 7))], "$[0].content[0].content"),
    "instructions": ({"messages": [], "system": 7}, "$.system"),
}


@each_row(("payload", "where"), BAD.values(), ids=BAD)
def test_what_is_no_payload_is_refused_with_its_place(payload: Json, where: str) -> None:
    with pytest.raises(ConversionError) as raised:
        load(payload)
    assert raised.value.where == where
    assert raised.value.hint


# Repairs


def call(output: ToolOutput | None = TextOutput("6"), state: ToolState = "output-available") -> ToolCallPart:  # noqa: B008 # values never change
    return ToolCallPart("c", "tide", state, {}, output=output)


def said(*parts: Any, id: str = "message-1") -> AssistantMessage:
    return AssistantMessage(id=id, content=parts)


def asked(words: str = "?", id: str = "message-1") -> UserMessage:
    return UserMessage(id=id, content=words)


REPAIRS: Final[dict[str, tuple[list[Message], list[tuple[str, str]]]]] = {
    "a talk that the model begins": ([said(TextPart("Hello"), id="message-2")], [("repaired", "$")]),
    "neighbours": (
        [asked(), asked(id="b")],
        [("repaired", "$[1]"), ("changed", "$[1].id")],
    ),
    "instructions later on": (
        [asked(), SystemMessage(id="system", content="Be brief.")],
        [("repaired", "$[1]")],
    ),
    "instructions in two messages": (
        [SystemMessage(id="system", content="a"), SystemMessage(id="s", content="b"), asked()],
        [("repaired", "$[1]"), ("changed", "$[1].id")],
    ),
    "a call without an answer": (
        [asked(), said(call(output=None, state="input-available"), id="message-2")],
        [("repaired", "$[1].content.parts[0].output")],
    ),
    "a call that was cut": (
        [asked(), said(TextPart("a"), call(output=None, state="input-streaming"), id="message-2")],
        [("lost", "$[1].content.parts[1]")],
    ),
    "words behind a call": (
        [asked(), said(call(), TextPart("a"), id="message-2")],
        [("repaired", "$[1]")],
    ),
    "an id and a name": (
        [
            asked(),
            said(ToolCallPart("c:1", "a.b", "output-available", {}, output=TextOutput("6")), id="message-2"),
        ],
        [("repaired", "$[1].content.parts[0].id"), ("repaired", "$[1].content.parts[0].name")],
    ),
    "an output in JSON": (
        [asked(), said(call(output=JsonOutput({"at": 6})), id="message-2")],
        [("changed", "$[1].content.parts[0].output")],
    ),
    "the result has no call right before it": (
        [asked(), ToolMessage(id="t", content=[])],
        [("lost", "$[1]")],
    ),
    "white space at the end": (
        [asked(), said(TextPart("a "), id="message-2")],
        [("repaired", "$[1].content.parts[0]")],
    ),
    "a step after a message of its own": (
        [asked(), said(call(), id="message-2"), said(TextPart("Six."), id="b")],
        [("changed", "$[2]"), ("changed", "$[2].id")],
    ),
    "thoughts of nobody": (
        [asked(), said(ReasoningPart("hm"), TextPart("a"), id="message-2")],
        [("lost", "$[1].content.parts[0]")],
    ),
    "nothing": ([], []),
}


@each_row(("messages", "losses"), REPAIRS.values(), ids=REPAIRS)
def test_repairs_are_told(messages: list[Message], losses: list[tuple[str, str]]) -> None:
    assert told(dump(messages)) == losses


def test_marks_of_a_cache_are_four_at_most_and_never_on_thoughts() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s", "cache_control": CACHE}
    marked = [text(str(number), cache_control=CACHE) for number in range(5)]
    loaded = load([user(*marked), assistant(thought)])
    dumped = dump(loaded.messages)
    first, *rest = dumped.payload["messages"][0]["content"]
    assert "cache_control" not in first
    assert rest == marked[1:]
    assert "cache_control" not in dumped.payload["messages"][1]["content"][0]
    assert [loss.what for loss in dumped.losses] == [dumps({"cache_control": CACHE}).decode()] * 2
    assert loaded == load([user(*marked), assistant(thought)])


def test_server_tools_that_must_be_declared_are_left_out_of_a_request_without_them() -> None:
    blocks: list[JsonObject] = [
        {"type": "server_tool_use", "id": "s", "name": "advisor", "input": {}},
        {
            "type": "advisor_tool_result",
            "tool_use_id": "s",
            "content": {"type": "advisor_result", "text": "a"},
        },
    ]
    loaded = load([user("?"), assistant(*blocks, text("Six."))])
    settings: JsonObject = {"model": "m", "max_tokens": 9}
    assert told(dump(loaded.messages, Request((), settings))) == [("lost", "$[1].content.parts[0]")]
    declared = {**settings, "tools": [{"type": "advisor_20260301", "name": "advisor"}]}
    assert not dump(loaded.messages, Request((), declared)).losses


def test_a_request_gets_the_length_that_the_api_insists_on() -> None:
    request = dump([asked()], Request((), {"model": "m"}))
    assert request.payload["max_tokens"] == 8192
    assert told(request) == [("repaired", "$.max_tokens")]


# Answers


def test_an_answer_comes_back_as_it_was() -> None:
    from anthropic.types.beta import BetaMessage

    loaded = load(BODY)
    (answer,) = loaded.messages
    assert answer.id == "msg_1"
    assert any(isinstance(part, SourceUrlPart) for part in answer.parts)
    dumped = dump_answer(loaded.messages)
    assert same(dumped.payload) == same(BODY)
    assert not dumped.losses
    known = {**dumped.payload, "content": [block for block in ANSWER_BLOCKS if not is_new(block)]}
    BetaMessage.model_validate(known)


def test_a_stream_says_what_its_body_says() -> None:
    loaded = load(STREAM)
    body = dump_answer(loaded.messages).payload
    assert body["content"] == [
        {"type": "thinking", "thinking": "The tables know.", "signature": "sig=="},
        text("At six.", citations=[*ANSWER_BLOCKS[13]["citations"]]),
        {"type": "compaction", "content": "They met."},
        use("t1", port="Oban"),
    ]
    assert body["usage"] == {"input_tokens": 12, "output_tokens": 9, "cache_read_input_tokens": 0}
    assert body["container"] == {"id": "box"}
    assert {loss.severity for loss in loaded.losses} == {"minor"}


def test_an_error_comes_back_as_it_was() -> None:
    loaded = load(ERROR)
    dumped = dump_answer(loaded.messages)
    assert dumped.payload == ERROR
    assert not dumped.losses


def test_an_answer_of_another_provider_is_told_in_anthropics_words() -> None:
    from anthropic.types.beta import BetaMessage

    metadata = {
        "model": "gpt",
        "responseId": "r",
        "finishReason": "stop",
        "rawFinishReason": "completed",
        "usage": {"inputTokens": 10, "cachedInputTokens": 4, "outputTokens": 3},
    }
    content = AssistantContent(parts=(TextPart("Six."),), metadata=metadata)
    dumped = dump_answer([asked(), AssistantMessage(id="r", content=content)])
    assert dumped.payload == {
        "id": "r",
        "type": "message",
        "role": "assistant",
        "model": "gpt",
        "content": [text("Six.")],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 6, "output_tokens": 3, "cache_read_input_tokens": 4},
    }
    BetaMessage.model_validate(dumped.payload)
    assert told(dumped) == [
        ("lost", "$[0]"),
        ("changed", "$[1].content.metadata.rawFinishReason"),
    ]


def test_an_answer_may_hold_texts_that_say_nothing() -> None:
    body = {**BODY, "content": [text("\n\n"), use("c"), text("")]}
    dumped = dump_answer(load(body).messages)
    assert same(dumped.payload) == same(body)
    assert not dumped.losses


def test_only_the_last_step_is_the_answer() -> None:
    answer = said(call(), StepStartPart(), TextPart("Six."), id="a")
    dumped = dump_answer([answer])
    assert dumped.payload["content"] == [text("Six.")]
    assert ("lost", "$[0].content.parts[0]") in told(dumped)


# Nothing is lost in silence


def silent(
    payload: Json, read: Callable[[Json], Loaded], write: Callable[[Loaded], Dumped]
) -> Iterator[tuple[str, Path]]:
    """Leaves whose change shows neither in messages nor in losses, or not in what is written again."""
    loaded = read(payload)
    written = write(loaded)
    for path in picked(list(leaves(payload)), 90):
        try:
            other = read(changed(payload, path))
            again = write(other)
        except PartitaError:
            continue
        if other == loaded:
            yield "read", path
        elif (again, other.losses) == (written, loaded.losses):
            yield "written", path


PAYLOADS: Final[dict[str, tuple[Json, Callable[[Json], Loaded], Callable[[Loaded], Dumped]]]] = {
    **{name: (turns, load, lambda loaded: dump(loaded.messages)) for name, turns in TALKS.items()},
    "a request": (REQUEST, load, lambda loaded: dump(loaded.messages, loaded.request or Request())),
    "a body": (BODY, load_answer, lambda loaded: dump_answer(loaded.messages)),
    "a stream": (STREAM, load_answer, lambda loaded: dump_answer(loaded.messages)),
    "an error": (ERROR, load_answer, lambda loaded: dump_answer(loaded.messages)),
}


@each_row(("payload", "read", "write"), PAYLOADS.values(), ids=PAYLOADS)
def test_every_leaf_is_read_and_written_or_told(
    payload: Json, read: Callable[[Json], Loaded], write: Callable[[Loaded], Dumped]
) -> None:
    assert list(silent(payload, read, write)) == []


@given(messages=st.lists(canonical.messages(canonical.BROKEN_STRINGS), max_size=3))
def test_any_messages_can_be_written_and_read_again(messages: list[Message]) -> None:
    written = dump(messages)
    loaded = load(written.payload)
    assert dump(loaded.messages).payload == written.payload or loaded.losses
    dump(messages, Request())
    load_answer(dump_answer(messages).payload)
