"""UI messages of AI SDK 5 to 7 ↔ canonical messages."""

from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from partita.errors import ConversionError, PartitaError
from partita.formats.ai_sdk.ui import format as ui
from partita.formats.format import Dumped, Loaded
from partita.formats.registry import get_format
from partita.stream.state import Version
from partita.types.codec import read_message, to_json
from partita.types.json import Json, JsonObject, loads
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    NetworkExecution,
    NetworkResult,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    text_of,
)
from partita.types.parts import (
    Approval,
    ContentOutput,
    CustomPart,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningPart,
    StepStartPart,
    TextOutput,
    TextPart,
    ToolOutput,
    ToolResultPart,
    UnknownPart,
)
from partita.types.tool_results import state_after
from partita.types.value import Extra
from tests import canonical, strategies
from tests.leaves import changes
from tests.tables import each_row

VERSIONS: tuple[Version, ...] = (5, 6, 7)


def load(payload: Json) -> Loaded:
    read = get_format("ai-sdk-ui-v7").load
    assert read is not None
    return read(payload)


def dump(messages: Sequence[Message], version: Version = 7) -> Dumped:
    return ui.dump(messages, version, repair=False)


PARTS: dict[str, tuple[JsonObject, object]] = {
    "text": ({"type": "text", "text": "hi", "state": "done"}, TextPart("hi", "done")),
    "reasoning": (
        {"type": "reasoning", "text": "hm", "id": "r", "providerMetadata": {"p": {"signature": "s"}}},
        ReasoningPart("hm", "r", provider_metadata={"p": {"signature": "s"}}),
    ),
    "data": ({"type": "data-weather", "id": "d", "data": None}, DataPart("weather", None, "d")),
    "step-start": ({"type": "step-start"}, StepStartPart()),
    "static tool": (
        {"type": "tool-get-time", "toolCallId": "c", "state": "output-available", "input": {}, "output": "1"},
        ToolCallPart("c", "get-time", "output-available", {}, output=TextOutput("1")),
    ),
    "dynamic tool": (
        {
            "type": "dynamic-tool",
            "toolName": "w",
            "toolCallId": "c",
            "state": "output-error",
            "input": None,
            "errorText": "no",
        },
        ToolCallPart("c", "w", "output-error", None, dynamic=True, output=ErrorTextOutput("no")),
    ),
    "a removed tool": (
        {
            "type": "dynamic-tool",
            "dynamic": False,
            "toolName": "w",
            "toolCallId": "c",
            "state": "input-available",
        },
        ToolCallPart("c", "w", "input-available", dynamic=True, unavailable=True),
    ),
    "approval": (
        {
            "type": "tool-w",
            "toolCallId": "c",
            "state": "approval-responded",
            "input": 1,
            "approval": {"id": "ap", "approved": True, "inputSchemaInput": None},
        },
        ToolCallPart(
            "c", "w", "approval-responded", 1, approval=Approval("ap", True, input_schema_input=None)
        ),
    ),
    "an output with a pending approval": (
        {"type": "tool-w", "toolCallId": "c", "state": "approval-requested", "input": 1, "output": [2]},
        ToolCallPart("c", "w", "approval-requested", 1, output=JsonOutput([2])),
    ),
    "unknown members": (
        {"type": "text", "text": "hi", "mood": "good"},
        TextPart("hi", extra=Extra({"mood": "good"})),
    ),
    "a member whose name has another canonical meaning": (
        {"type": "data-w", "data": 1, "name": "x"},
        DataPart("w", 1, extra=Extra({"foreign:name": "x"})),
    ),
    "unknown types": ({"type": "hologram", "x": 1}, UnknownPart(Extra({"type": "hologram", "x": 1}))),
    "parts that fit no type": (
        {"type": "text", "text": 5},
        ForeignPart("ai-sdk-ui", {"type": "text", "text": 5}),
    ),
    "a type of Partita": ({"type": "image"}, ForeignPart("ai-sdk-ui", {"type": "image"})),
}


@each_row(("raw", "part"), PARTS.values(), ids=PARTS)
def test_a_part_is_read_and_written_back(raw: JsonObject, part: object) -> None:
    payload = [{"id": "m", "role": "assistant", "parts": [raw]}]
    loaded = load(payload)
    assert loaded.lossless
    assert loaded.messages[0].parts == (part,)
    dumped = dump(loaded.messages)
    assert dumped.lossless
    assert dumped.payload == payload


def test_a_part_that_does_not_fit_its_role_is_kept() -> None:
    raw: JsonObject = {"type": "tool-w", "toolCallId": "c", "state": "input-available"}
    payload = [{"id": "m", "role": "user", "parts": [raw]}]
    loaded = load(payload)
    assert loaded.messages[0].parts == (ForeignPart("ai-sdk-ui", raw),)
    assert dump(loaded.messages).payload == payload


def call(output: ToolOutput) -> list[Message]:
    return [
        AssistantMessage(id="m", content=[ToolCallPart("c", "w", state_after(output), {}, output=output)])
    ]


REPORTED: dict[str, tuple[list[Message], str]] = {
    "creation time": (
        [read_message({"role": "user", "id": "u", "content": "x", "createdAt": "2026-01-01T00:00:00Z"})],
        "createdAt",
    ),
    "thread id": ([UserMessage(id="u", content="x", thread_id="t")], "threadId"),
    "a JSON string": (call(JsonOutput("x")), "output"),
    "a JSON error": (call(ErrorJsonOutput({"code": 5})), "output"),
    "a content output": (call(ContentOutput((TextPart("x"),))), "output"),
    "an interrupted call": (call(InterruptedOutput("timeout")), "output"),
    "a denial": (call(ExecutionDeniedOutput("no")), "output"),
    "an image": ([UserMessage(id="u", content=[ImagePart("https://x.test/a.png")])], ".type"),
    "a result without a call": (
        [ToolMessage(id="t", content=[ToolResultPart("c", "w", TextOutput("x"))])],
        "$[0]",
    ),
    "a result without a call, in a sub-agent": (
        [
            AssistantMessage(
                id="m",
                content=[
                    ToolCallPart(
                        "c",
                        "task",
                        "input-available",
                        children=(ToolMessage(id="t", content=[ToolResultPart("x", "w", TextOutput("y"))]),),
                    )
                ],
            )
        ],
        "children[0]",
    ),
}


@each_row(("messages", "path"), REPORTED.values(), ids=REPORTED)
def test_members_without_a_ui_equivalent_are_reported(messages: list[Message], path: str) -> None:
    losses = dump(messages).losses
    assert len(losses) == 1
    assert path in losses[0].path
    assert losses[0].why


def test_a_network_execution_becomes_a_dynamic_tool_and_round_trips() -> None:
    child = AssistantMessage(id="c", content="found it")
    network = NetworkExecution(
        "agent", "finder", "it finds", {"q": 1}, NetworkResult("ok", messages=(child,)), 2
    )
    message = AssistantMessage(id="m", content=AssistantContent(parts=(), network_execution=network))
    dumped = dump([message])
    part = dumped.payload[0]["parts"][0]
    assert (part["type"], part["toolName"], part["output"]) == ("dynamic-tool", "agent", "ok")
    assert part["childMessages"][0]["parts"] == [{"type": "text", "text": "found it"}]
    assert dumped.lossless
    assert load(dumped.payload).messages == (message,)


def test_messages_of_a_sub_agent_round_trip() -> None:
    child = UserMessage(id="u", content="go")
    part = ToolCallPart("c", "task", "input-available", {}, children=(child,))
    message = AssistantMessage(id="m", content=[part])
    dumped = dump([message])
    assert dumped.lossless
    assert load(dumped.payload).messages == (message,)


OLDER_VERSIONS: dict[str, tuple[Version, ToolCallPart | CustomPart, JsonObject | None]] = {
    "no custom parts in 6": (6, CustomPart("p.k"), None),
    "no approvals in 5": (
        5,
        ToolCallPart("c", "w", "approval-requested", 1, approval=Approval("ap")),
        {"type": "tool-w", "toolCallId": "c", "state": "input-available", "input": 1},
    ),
    "no denials in 5": (
        5,
        ToolCallPart("c", "w", "output-denied", 1, approval=Approval("ap", False, "no")),
        {"type": "tool-w", "toolCallId": "c", "state": "output-error", "input": 1, "errorText": "no"},
    ),
}


@each_row(("version", "part", "expected"), OLDER_VERSIONS.values(), ids=OLDER_VERSIONS)
def test_older_versions_get_their_closest_equivalent(
    version: Version, part: ToolCallPart | CustomPart, expected: JsonObject | None
) -> None:
    dumped = dump([AssistantMessage(id="m", content=[part])], version)
    assert dumped.payload[0]["parts"] == ([expected] if expected else [])
    assert dumped.losses


def test_an_approval_of_a_denied_call_is_reported() -> None:
    """Each one is reported, also where approvals of other calls are lost in the same conversion."""
    denied = ExecutionDeniedOutput("no")
    output = TextOutput("ok")
    calls = [
        ToolCallPart("a", "w", "output-available", 1, output=output, approval=Approval("ap", True)),
        ToolCallPart("b", "w", "output-denied", 1, output=denied, approval=Approval("bp", True, "no")),
    ]
    reported = {loss.path: loss.what for loss in dump([AssistantMessage(id="m", content=calls)], 5).losses}
    assert loads(reported["$[0].content.parts[1].approval"])["approved"] is True


BROKEN: dict[str, tuple[Json, str]] = {
    "not an object": ([5], "$[0]"),
    "no role": ([{"id": "m", "parts": []}], "$[0].role"),
    "an unknown role": ([{"id": "m", "role": "bot", "parts": []}], "$[0].role"),
    "no parts": ([{"id": "m", "role": "user"}], "$[0].parts"),
    "an id that is a number": ([{"id": 5, "role": "user", "parts": []}], "$[0].id"),
    "a single message": ({"role": "user", "parts": 5}, "$.parts"),
}


@each_row(("payload", "where"), BROKEN.values(), ids=BROKEN)
def test_a_broken_message_is_refused_with_its_path(payload: Json, where: str) -> None:
    with pytest.raises(ConversionError) as raised:
        load(payload)
    assert raised.value.where == where
    assert raised.value.hint


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_ui_messages_round_trip(version: Version, data: st.DataObject) -> None:
    payload = data.draw(strategies.ui_messages(version, valid=True))
    loaded = load(payload)
    dumped = dump(loaded.messages)
    assert dumped.lossless
    if loaded.lossless:
        assert dumped.payload == payload
    assert load(dumped.payload).messages == loaded.messages


@given(messages=st.lists(canonical.messages(), max_size=3))
def test_canonical_messages_round_trip_unless_a_loss_is_reported(messages: list[Message]) -> None:
    dumped = dump(messages)
    if dumped.lossless:
        assert list(load(dumped.payload).messages) == [without_repeated_text(message) for message in messages]


def without_repeated_text(message: Message) -> Message:
    """Return the message without a content string that repeats the text of its parts."""
    plain = to_json(message)
    if plain["content"].get("content") == text_of(message):
        del plain["content"]["content"]
    return read_message(plain)


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_every_leaf_is_written_or_reported(version: Version, data: st.DataObject) -> None:
    plain = to_json(data.draw(canonical.messages()))
    _, other = data.draw(changes(plain))
    try:
        before, after = read_message(plain), read_message(other)
    except PartitaError:
        return
    assume(before != after)
    assert dump([before], version) != dump([after], version)


@given(data=st.data())
def test_every_leaf_is_read_or_reported(data: st.DataObject) -> None:
    payload = data.draw(strategies.ui_messages(7))
    _, other = data.draw(changes(payload))
    try:
        assert load(payload) != load(other)
    except PartitaError:
        return


@given(payload=strategies.json_values(8))
def test_any_json_is_loaded_or_refused(payload: Json) -> None:
    try:
        loaded = load(payload)
    except PartitaError:
        return
    assert dump(loaded.messages).payload is not None
