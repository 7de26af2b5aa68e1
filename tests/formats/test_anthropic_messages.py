"""The Anthropic Messages API: requests and responses round-trip, and losses are reported."""

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

from .anthropic_samples import (
    BODY,
    CACHE,
    CONVERSATIONS,
    ERROR,
    REQUEST,
    RESPONSE_BLOCKS,
    STREAM,
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


def load_response(payload: Json) -> Loaded:
    assert RESPONSE.load is not None
    return RESPONSE.load(payload)


def dump_response(messages: Sequence[Message]) -> Dumped:
    assert RESPONSE.dump is not None
    return RESPONSE.dump(messages)


@cache
def message_adapter() -> Any:
    from anthropic.types.beta import BetaMessageParam
    from pydantic import TypeAdapter

    return TypeAdapter[Any](BetaMessageParam)


def without_nulls(payload: Json) -> Json:
    """Return the payload without members that are null."""
    if is_object(payload):
        return {key: without_nulls(item) for key, item in payload.items() if item is not None}
    return [without_nulls(item) for item in payload] if is_array(payload) else payload


def fully_validated(value: Any) -> Any:
    """Return a validated value with its lazy members evaluated."""
    if is_object(value):
        return {key: fully_validated(item) for key, item in value.items()}
    if isinstance(value, str | int | float | bool | None):
        return value
    return [fully_validated(item) for item in value]


def reported(losses: Dumped | Loaded) -> list[tuple[str, str]]:
    return [(loss.severity, loss.path) for loss in losses.losses]


# Requests


@each_row("turns", CONVERSATIONS.values(), ids=CONVERSATIONS)
def test_messages_round_trip(turns: list[JsonObject]) -> None:
    loaded = load(turns)
    dumped = dump(loaded.messages)
    if not turns or turns[0]["role"] == "user":
        assert without_nulls(dumped.payload) == {"messages": without_nulls(turns)}
    assert not loaded.losses
    assert not dumped.losses


def test_a_request_round_trips() -> None:
    loaded = load(REQUEST)
    assert loaded.request is not None
    assert [tool.name for tool in loaded.request.tools] == ["tide", "bare"]
    assert loaded.request.settings["tools"] == [REQUEST["tools"][0]]
    assert loaded.request.settings["model"] == "claude-test"
    user_message = dump(loaded.messages, loaded.request)
    assert without_nulls(user_message.payload) == without_nulls(REQUEST)
    assert not loaded.losses
    assert not user_message.losses


def test_written_messages_fit_the_types_of_the_official_package() -> None:
    for messages in [*(load(turns).messages for turns in CONVERSATIONS.values()), full_conversation()]:
        turns = dump(messages).payload["messages"]
        known = [turn for turn in turns if not any(is_new(block) for block in turn["content"])]
        for turn in known:
            fully_validated(message_adapter().validate_python(without_nulls(turn)))


def is_new(block: Json) -> bool:
    """Return whether a block is unknown to the package."""
    if not is_object(block):
        return False
    names = {block.get("id"), block.get("tool_use_id")}
    return block["type"] == "hologram" or bool(names & {"s4", "elsewhere"})


def test_steps_and_their_results_become_one_message() -> None:
    question, answer, thanks = load(CONVERSATIONS["steps"]).messages
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


def test_blocks_become_their_canonical_parts() -> None:
    (message,) = load([user(*CONVERSATIONS["every block of the user"][0]["content"][:8])]).messages
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


def test_failed_results_become_errors() -> None:
    _, answer = load(CONVERSATIONS["errors in blocks"]).messages
    states = [part.state for part in answer.parts if isinstance(part, ToolCallPart)]
    assert states == ["output-error", "output-error"]
    (_, last) = answer.parts
    assert isinstance(last, ToolCallPart)
    assert last.output == ErrorTextOutput("no")


MISPLACED: Final[dict[str, tuple[list[JsonObject], list[tuple[str, str]]]]] = {
    "results after a text": (
        [user("?"), assistant(use("c")), user(text("Well"), result("c"))],
        [("changed", "$[2].content")],
    ),
    "results in two turns": (
        [user("?"), assistant(use("c"), use("d")), user(result("c")), user(result("d"))],
        [("changed", "$[2]"), ("changed", "$[3]")],
    ),
    "a result without a call": (
        [user("?"), assistant("Six."), user(result("c"))],
        [("changed", "$[2]")],
    ),
    "members of a message of results": (
        [user("?"), assistant(use("c")), {**user(result("c")), "note": 1}],
        [("lost", "$[2].note")],
    ),
}


@each_row(("turns", "losses"), MISPLACED.values(), ids=MISPLACED)
def test_misplaced_results_are_reported(turns: list[JsonObject], losses: list[tuple[str, str]]) -> None:
    assert reported(load(turns)) == losses


BAD: Final[dict[str, tuple[Json, str]]] = {
    "a number": (7, "$"),
    "an empty object": ({}, "$"),
    "messages that are not a list": ({"messages": 7}, "$.messages"),
    "a message that is not an object": ([user("?"), 7], "$[1]"),
    "an unknown role": ([{"role": "tool", "content": ""}], "$[0].role"),
    "no content": ({"messages": [{"role": "user"}]}, "$.messages[0]"),
    "a block that is not an object": ([user(text("a"), 7)], "$[0].content[1]"),  # type: ignore[arg-type]
    "a block without type": ([user(text("a"), {"text": "b"})], "$[0].content[1].type"),
    "a call without a name": ([assistant({"type": "tool_use", "id": "c"})], "$[0].content[0]"),
    "a result without a call id": ([user({"type": "tool_result"})], "$[0].content[0].tool_use_id"),
    "a result that is a number": ([user(result("c", 7))], "$[0].content[0].content"),
    "instructions": ({"messages": [], "system": 7}, "$.system"),
}


@each_row(("payload", "where"), BAD.values(), ids=BAD)
def test_invalid_payloads_are_refused_with_their_path(payload: Json, where: str) -> None:
    with pytest.raises(ConversionError) as raised:
        load(payload)
    assert raised.value.where == where
    assert raised.value.hint


# Repairs


def call(output: ToolOutput | None = TextOutput("6"), state: ToolState = "output-available") -> ToolCallPart:  # noqa: B008 # values never change
    return ToolCallPart("c", "tide", state, {}, output=output)


def assistant_message(*parts: Any, id: str = "message-1") -> AssistantMessage:
    return AssistantMessage(id=id, content=parts)


def user_message(words: str = "?", id: str = "message-1") -> UserMessage:
    return UserMessage(id=id, content=words)


REPAIRS: Final[dict[str, tuple[list[Message], list[tuple[str, str]]]]] = {
    "a conversation that begins with the assistant": (
        [assistant_message(TextPart("Hello"), id="message-2")],
        [("repaired", "$")],
    ),
    "neighbours": (
        [user_message(), user_message(id="b")],
        [("repaired", "$[1]"), ("changed", "$[1].id")],
    ),
    "a later system message": (
        [user_message(), SystemMessage(id="system", content="Be brief.")],
        [("repaired", "$[1]")],
    ),
    "two system messages": (
        [SystemMessage(id="system", content="a"), SystemMessage(id="s", content="b"), user_message()],
        [("repaired", "$[1]"), ("changed", "$[1].id")],
    ),
    "a call without a result": (
        [user_message(), assistant_message(call(output=None, state="input-available"), id="message-2")],
        [("repaired", "$[1].content.parts[0].output")],
    ),
    "an interrupted call": (
        [
            user_message(),
            assistant_message(TextPart("a"), call(output=None, state="input-streaming"), id="message-2"),
        ],
        [("lost", "$[1].content.parts[1]")],
    ),
    "a text after a call": (
        [user_message(), assistant_message(call(), TextPart("a"), id="message-2")],
        [("repaired", "$[1]")],
    ),
    "an invalid id and name": (
        [
            user_message(),
            assistant_message(
                ToolCallPart("c:1", "a.b", "output-available", {}, output=TextOutput("6")), id="message-2"
            ),
        ],
        [("repaired", "$[1].content.parts[0].id"), ("repaired", "$[1].content.parts[0].name")],
    ),
    "a JSON output": (
        [user_message(), assistant_message(call(output=JsonOutput({"at": 6})), id="message-2")],
        [("changed", "$[1].content.parts[0].output")],
    ),
    "a result without a call": (
        [user_message(), ToolMessage(id="t", content=[])],
        [("lost", "$[1]")],
    ),
    "trailing white space": (
        [user_message(), assistant_message(TextPart("a "), id="message-2")],
        [("repaired", "$[1].content.parts[0]")],
    ),
    "a step in a separate message": (
        [
            user_message(),
            assistant_message(call(), id="message-2"),
            assistant_message(TextPart("Six."), id="b"),
        ],
        [("changed", "$[2]"), ("changed", "$[2].id")],
    ),
    "unsigned reasoning": (
        [user_message(), assistant_message(ReasoningPart("hm"), TextPart("a"), id="message-2")],
        [("lost", "$[1].content.parts[0]")],
    ),
    "nothing": ([], []),
}


@each_row(("messages", "losses"), REPAIRS.values(), ids=REPAIRS)
def test_repairs_are_reported(messages: list[Message], losses: list[tuple[str, str]]) -> None:
    assert reported(dump(messages)) == losses


def test_at_most_four_cache_marks_are_written_and_none_on_reasoning() -> None:
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


def test_undeclared_server_tools_are_dropped_from_a_request() -> None:
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
    assert reported(dump(loaded.messages, Request((), settings))) == [("lost", "$[1].content.parts[0]")]
    declared = {**settings, "tools": [{"type": "advisor_20260301", "name": "advisor"}]}
    assert not dump(loaded.messages, Request((), declared)).losses


def test_a_request_gets_the_required_max_tokens() -> None:
    request = dump([user_message()], Request((), {"model": "m"}))
    assert request.payload["max_tokens"] == 8192
    assert reported(request) == [("repaired", "$.max_tokens")]


# Responses


def test_a_response_round_trips() -> None:
    from anthropic.types.beta import BetaMessage

    loaded = load(BODY)
    (answer,) = loaded.messages
    assert answer.id == "msg_1"
    assert any(isinstance(part, SourceUrlPart) for part in answer.parts)
    dumped = dump_response(loaded.messages)
    assert without_nulls(dumped.payload) == without_nulls(BODY)
    assert not dumped.losses
    known = {**dumped.payload, "content": [block for block in RESPONSE_BLOCKS if not is_new(block)]}
    BetaMessage.model_validate(known)


def test_a_stream_gives_the_body_of_the_same_response() -> None:
    loaded = load(STREAM)
    body = dump_response(loaded.messages).payload
    assert body["content"] == [
        {"type": "thinking", "thinking": "The tables know.", "signature": "sig=="},
        text("At six.", citations=[*RESPONSE_BLOCKS[13]["citations"]]),
        {"type": "compaction", "content": "They met."},
        use("t1", port="Oban"),
    ]
    assert body["usage"] == {"input_tokens": 12, "output_tokens": 9, "cache_read_input_tokens": 0}
    assert body["container"] == {"id": "box"}
    assert {loss.severity for loss in loaded.losses} == {"minor"}


def test_an_error_round_trips() -> None:
    loaded = load(ERROR)
    dumped = dump_response(loaded.messages)
    assert dumped.payload == ERROR
    assert not dumped.losses


def test_a_response_of_another_provider_is_written_as_an_anthropic_response() -> None:
    from anthropic.types.beta import BetaMessage

    metadata = {
        "model": "gpt",
        "responseId": "r",
        "finishReason": "stop",
        "rawFinishReason": "completed",
        "usage": {"inputTokens": 10, "cachedInputTokens": 4, "outputTokens": 3},
    }
    content = AssistantContent(parts=(TextPart("Six."),), metadata=metadata)
    dumped = dump_response([user_message(), AssistantMessage(id="r", content=content)])
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
    assert reported(dumped) == [
        ("lost", "$[0]"),
        ("changed", "$[1].content.metadata.rawFinishReason"),
    ]


def test_empty_texts_of_a_response_round_trip() -> None:
    body = {**BODY, "content": [text("\n\n"), use("c"), text("")]}
    dumped = dump_response(load(body).messages)
    assert without_nulls(dumped.payload) == without_nulls(body)
    assert not dumped.losses


def test_only_the_last_step_is_written_as_the_response() -> None:
    answer = assistant_message(call(), StepStartPart(), TextPart("Six."), id="a")
    dumped = dump_response([answer])
    assert dumped.payload["content"] == [text("Six.")]
    assert ("lost", "$[0].content.parts[0]") in reported(dumped)


# Losses


def unreported_leaves(
    payload: Json, read: Callable[[Json], Loaded], write: Callable[[Loaded], Dumped]
) -> Iterator[tuple[str, Path]]:
    """Return the leaves whose change is not in the messages, the losses or the written payload."""
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
    **{name: (turns, load, lambda loaded: dump(loaded.messages)) for name, turns in CONVERSATIONS.items()},
    "a request": (REQUEST, load, lambda loaded: dump(loaded.messages, loaded.request or Request())),
    "a body": (BODY, load_response, lambda loaded: dump_response(loaded.messages)),
    "a stream": (STREAM, load_response, lambda loaded: dump_response(loaded.messages)),
    "an error": (ERROR, load_response, lambda loaded: dump_response(loaded.messages)),
}


@each_row(("payload", "read", "write"), PAYLOADS.values(), ids=PAYLOADS)
def test_every_leaf_is_read_and_written_or_reported(
    payload: Json, read: Callable[[Json], Loaded], write: Callable[[Loaded], Dumped]
) -> None:
    assert list(unreported_leaves(payload, read, write)) == []


@given(messages=st.lists(canonical.messages(canonical.BROKEN_STRINGS), max_size=3))
def test_any_messages_round_trip(messages: list[Message]) -> None:
    written = dump(messages)
    loaded = load(written.payload)
    assert dump(loaded.messages).payload == written.payload or loaded.losses
    dump(messages, Request())
    load_response(dump_response(messages).payload)
