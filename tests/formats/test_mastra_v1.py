"""Mastra V1 messages → canonical messages."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from partita.errors import ConversionError, PartitaError
from partita.formats.mastra.network import structured
from partita.types.codec import decode_message, encode, to_json
from partita.types.json import Json, JsonObject, dumps
from partita.types.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import (
    ErrorTextOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    JsonOutput,
    ReasoningPart,
    TextOutput,
    TextPart,
    ToolResultPart,
)
from partita.types.tool_results import expand
from partita.types.value import Extra
from tests import strategies
from tests.formats.mastra_messages import dump_v1 as dump
from tests.formats.mastra_messages import load_v1 as load
from tests.leaves import changes
from tests.tables import each_row

PNG = "data:image/png;base64,iVBO"


def v1_message(role: str, content: Json, **members: Json) -> JsonObject:
    return {"id": "m", "role": role, "content": content, **members}


def call(id_: str = "c", **members: Json) -> JsonObject:
    return {"type": "tool-call", "toolCallId": id_, "toolName": "w", "args": {"a": 1}, **members}


def result(id_: str = "c", **members: Json) -> JsonObject:
    return {"type": "tool-result", "toolCallId": id_, "toolName": "w", "result": {"b": 2}, **members}


def load_one(payload: Json) -> Message:
    loaded = load(payload)
    assert loaded.lossless
    (message,) = loaded.messages
    return message


CONTENTS: dict[str, tuple[str, Json, list[Any]]] = {
    "a user text": ("user", "hi", [TextPart("hi")]),
    "an assistant text": ("assistant", "hi", [TextPart("hi")]),
    "instructions": ("system", "be kind", [TextPart("be kind")]),
    "a system message with parts": (
        "system",
        [{"type": "text", "text": "be kind", "x": 1}, 5],
        [TextPart("be kind", extra=Extra({"x": 1})), ForeignPart("mastra", 5)],
    ),
    "user parts": (
        "user",
        [
            {"type": "text", "text": "see"},
            {"type": "image", "image": PNG},
            {"type": "file", "mimeType": "image/png", "data": PNG},
        ],
        [TextPart("see"), ImagePart(PNG), FilePart(PNG, "image/png")],
    ),
    "reasoning": (
        "assistant",
        [
            {"type": "reasoning", "text": "hm", "signature": "s="},
            {"type": "redacted-reasoning", "data": "r="},
        ],
        [
            ReasoningPart("hm", provider_metadata={"anthropic": {"signature": "s="}}),
            ReasoningPart("", provider_metadata={"anthropic": {"redactedData": "r="}}),
        ],
    ),
    "a call": ("assistant", [call()], [ToolCallPart("c", "w", "input-available", {"a": 1})]),
    "a result without a call": (
        "tool",
        [result(result="ok")],
        [ToolResultPart("c", "w", TextOutput("ok"))],
    ),
    "a text of a tool": ("tool", "ok", [ForeignPart("mastra", "ok")]),
    "nothing": ("user", None, [ForeignPart("mastra", None)]),
    "an invalid content": ("assistant", {"text": "hi"}, [ForeignPart("mastra", {"text": "hi"})]),
}
TYPES: dict[str, type[Message]] = {
    "system": SystemMessage,
    "user": UserMessage,
    "assistant": AssistantMessage,
    "tool": ToolMessage,
}


@each_row(("role", "content", "parts"), CONTENTS.values(), ids=CONTENTS)
def test_content_becomes_parts(role: str, content: Json, parts: list[Any]) -> None:
    message = load_one(v1_message(role, content))
    assert isinstance(message, TYPES[role])
    assert list(message.parts) == parts


def test_a_message_keeps_its_other_members() -> None:
    raw = v1_message("user", "hi", threadId="t", resourceId="r", createdAt="2025-04-01T08:00:00.000Z")
    raw |= {"type": "text", "toolCallIds": ["c"], "providerOptions": {"p": {"q": 1}}}
    message = load_one(raw)
    assert (message.id, message.thread_id, message.resource_id) == ("m", "t", "r")
    assert message.created_at == datetime(2025, 4, 1, 8, tzinfo=UTC)
    assert message.content.content == "hi"
    assert message.content.provider_metadata == {"p": {"q": 1}}
    assert message.extra == Extra({"toolCallIds": ["c"]})


@each_row(
    ("role", "content", "type_"),
    [("user", "hi", "text"), ("assistant", [call()], "tool-call"), ("tool", [result()], "tool-result")],
)
def test_a_type_is_kept_if_it_does_not_follow_from_the_content(role: str, content: Json, type_: str) -> None:
    assert load_one(v1_message(role, content, type=type_)).extra is None
    assert load_one(v1_message(role, content, type="odd")).extra == Extra({"foreign:type": "odd"})


def test_results_are_merged_into_their_calls_and_separated_again() -> None:
    payload = [
        v1_message("user", "?") | {"id": "a"},
        v1_message("assistant", [call("c1"), call("c2")], createdAt="2025-04-01T08:00:00.000Z") | {"id": "b"},
        v1_message("tool", [result("c1"), result("c2", result="no", isError=True)], threadId="t")
        | {"id": "c"},
        v1_message("assistant", "Done.") | {"id": "b__split-1"},
    ]
    loaded = load(payload)
    assert loaded.lossless
    assert [message.id for message in loaded.messages] == ["a", "b", "b__split-1"]
    outputs = [part.output for part in loaded.messages[1].parts if isinstance(part, ToolCallPart)]
    assert outputs == [JsonOutput({"b": 2}), ErrorTextOutput("no")]
    apart = expand(loaded.messages)
    assert [message.id for message in apart] == ["a", "b", "c", "b__split-1"]
    assert apart[2].thread_id == "t"


def test_a_misplaced_result_is_reported() -> None:
    loaded = load(
        [v1_message("assistant", [call()]), v1_message("user", "well?"), v1_message("tool", [result()])]
    )
    assert len(loaded.messages) == 2
    assert next(loss.path for loss in loaded.losses) == "$[2]"


def test_losses_of_a_part_have_its_path() -> None:
    old = {"experimental_providerMetadata": {"openai": {"a": 1}}}
    loaded = load([v1_message("user", "hi"), v1_message("tool", [result(**old)])])
    assert [loss.path for loss in loaded.losses] == ["$[1].content[0].experimental_providerMetadata"]


def test_a_text_column_may_hold_parts() -> None:
    column = dumps([call()]).decode()
    message = load_one(v1_message("assistant", column, thread_id="t", type="tool-call"))
    assert message.parts == (ToolCallPart("c", "w", "input-available", {"a": 1}),)
    assert message.extra is None


@each_row("content", ["[1]", "[", "[] or not", '["a"]'])
def test_text_that_starts_like_a_list_stays_text(content: str) -> None:
    assert load_one(v1_message("user", content, thread_id="t")).parts == (TextPart(content),)


def test_a_string_outside_a_table_is_text() -> None:
    content = dumps([call()]).decode()
    assert load_one(v1_message("assistant", content)).parts == (TextPart(content),)


def test_a_signal_becomes_an_event() -> None:
    message = load_one(v1_message("signal", "hey", type="state"))
    assert isinstance(message, SystemMessage)
    assert (message.type, message.internal, message.parts) == ("event", True, (TextPart("hey"),))
    assert message.extra == Extra({"foreign:type": "state", "foreign:role": "signal"})


@each_row("content", ["hey", [{"type": "text", "text": "hey"}]])
def test_a_signal_of_a_user_becomes_a_user_message(content: Json) -> None:
    payload = [v1_message("signal", content, type="user")]
    loaded = load(payload)
    (message,) = loaded.messages
    assert isinstance(message, UserMessage)
    assert (message.type, message.internal, message.parts) == ("text", False, (TextPart("hey"),))
    assert dump(loaded.messages).payload == payload


def test_networks_are_read() -> None:
    network = {"isNetwork": True, "primitiveType": "agent", "primitiveId": "a", "finalResult": {"text": "hi"}}
    message = load_one(v1_message("assistant", dumps(network).decode()))
    assert isinstance(message, AssistantMessage)
    assert message.content.network_execution is not None
    assert (message.parts, message.content.content) == ((), None)


REFUSED: dict[str, tuple[Json, str]] = {
    "not a message": ([5], "$[0]"),
    "an unknown role": (v1_message("judge", "hi"), "$.role"),
    "no content": ({"id": "m", "role": "user"}, "$"),
    "V2": (v1_message("user", {"format": 2, "parts": []}), "$.content"),
}


@each_row(("payload", "where"), REFUSED.values(), ids=REFUSED)
def test_invalid_messages_are_refused_with_their_path(payload: Json, where: str) -> None:
    with pytest.raises(ConversionError) as caught:
        load(payload)
    assert caught.value.where == where
    assert caught.value.hint


# --- properties ------------------------------------------------------------------------------------------


@st.composite
def v1_messages(draw: st.DrawFn) -> JsonObject:
    """A V1 message."""
    role, content, _ = draw(st.sampled_from(list(CONTENTS.values())))
    around: dict[str, st.SearchStrategy[Json]] = {
        "id": st.sampled_from(["m", "n"]),
        "threadId": st.just("t"),
        "thread_id": st.just("u"),
        "createdAt": st.sampled_from(["2025-04-01T08:00:00.000Z", "2025-04-01", 1743494400000]),
        "type": st.sampled_from(["text", "tool-call", "tool-result"]),
        "toolCallIds": st.just(["c"]),
        "experimental_providerMetadata": strategies.provider_metadata(),
    }
    return {"role": role, "content": content, **draw(st.fixed_dictionaries({}, optional=around))}


@given(payload=st.lists(v1_messages(), max_size=4))
def test_any_stored_message_is_loaded(payload: list[JsonObject]) -> None:
    for message in load(payload).messages:
        assert structured(message) is None
        assert decode_message(encode(message)) == message


@given(data=st.data())
def test_every_leaf_is_read_or_reported(data: st.DataObject) -> None:
    payload = data.draw(st.lists(v1_messages(), min_size=1, max_size=3))
    _, other = data.draw(changes(payload))
    assume(dumps(payload) != dumps(other))  # a large number plus one may be the same number
    try:
        before, after = load(payload), load(other)
    except PartitaError:
        return
    assert (dumps(to_json(before.messages)), before.losses) != (dumps(to_json(after.messages)), after.losses)
