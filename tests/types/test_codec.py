"""Encoding and decoding of values: unknown members are kept, and invalid values are refused."""

import json
from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from partita.errors import DecodeError
from partita.types import codec
from partita.types.chunks import (
    AgentStreamEvent,
    ChildChunk,
    Chunk,
    ChunkEvent,
    DataChunk,
    TextDelta,
    UnknownChunk,
)
from partita.types.codec import (
    CHUNK,
    EVENT,
    MESSAGE,
    MESSAGES,
    Codec,
    decode,
    decode_chunk,
    decode_message,
    encode,
    read_chunk,
    read_message,
    to_json,
)
from partita.types.json import Json, JsonObject, dumps, loads
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    Part,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)
from partita.types.parts import (
    Citation,
    DataPart,
    ForeignPart,
    JsonOutput,
    ReasoningPart,
    TextOutput,
    TextPart,
    ToolOutput,
    UnknownPart,
)
from partita.types.threads import Run, Thread
from partita.types.usage import Usage
from partita.types.value import Extra, Value
from tests.canonical import (
    ANYTHING,
    BROKEN_STRINGS,
    KNOWN,
    agent_events,
    chunks,
    junk_fields,
    messages,
    runs,
    threads,
    values_of,
)
from tests.sampling import HUGE
from tests.tables import each_row

FAMILIES: tuple[Any, ...] = (Part, ToolOutput, Message, Chunk, AgentStreamEvent)
KINDS: dict[str, tuple[Any, Any]] = {
    kind.__name__: (kind, family) for family in FAMILIES for kind in get_args(family)
} | {kind.__name__: (kind, kind) for kind in (Thread, Run, Usage, Citation)}
"""Every kind of value, with the type it is read as."""

KNOWN_KINDS = {name: kind for name, kind in KINDS.items() if kind[0] not in (UnknownPart, UnknownChunk)}

FEW = settings(max_examples=settings().max_examples // 5)
"""For properties that are checked for each kind."""

ALL = messages() | chunks() | agent_events() | threads() | runs()
WITH_BROKEN_STRINGS = messages(BROKEN_STRINGS) | chunks(BROKEN_STRINGS) | agent_events(BROKEN_STRINGS)


def decoder(type_: Any) -> Callable[[bytes | str], Any]:
    return decode_chunk if type_ is Chunk else Codec[Any](type_).decode


def family_of(value: Value) -> Any:
    return KINDS[type(value).__name__][1]


def same_json(one: Json, other: Json) -> bool:
    """Return whether values are equal except for the order of members; unlike in Python, 1 is not true."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@pytest.mark.parametrize(("kind", "family"), KINDS.values(), ids=KINDS)
@FEW
@given(data=st.data())
def test_every_kind_of_value_round_trips(kind: Any, family: Any, data: st.DataObject) -> None:
    value = data.draw(values_of(kind, ANYTHING))
    text = encode(value)
    assert decoder(family)(text) == value
    assert decoder(family)(text.decode()) == value
    assert Codec[Any](family).read(loads(text)) == value


@given(WITH_BROKEN_STRINGS)
def test_lone_surrogates_round_trip(value: Value) -> None:
    assert decoder(family_of(value))(encode(value)) == value


@given(ALL)
def test_text_and_plain_json_are_equal(value: Value) -> None:
    assert same_json(loads(encode(value)), to_json(value))


@given(st.lists(messages(), max_size=3))
def test_sequences_round_trip(values: list[Message]) -> None:
    assert MESSAGES.decode(encode(values)) == tuple(values)
    assert same_json(to_json(values), [to_json(value) for value in values])


@given(value=ALL, data=st.data())
def test_unknown_members_round_trip_in_place(value: Value, data: st.DataObject) -> None:
    sent = data.draw(junk_fields(to_json(value)))
    assert same_json(loads(encode(decoder(family_of(value))(dumps(sent)))), sent)
    assert same_json(to_json(Codec[Any](family_of(value)).read(sent)), sent)


@pytest.mark.parametrize(("kind", "family"), KNOWN_KINDS.values(), ids=KNOWN_KINDS)
@FEW
@given(data=st.data())
def test_known_data_is_decoded_on_the_fast_path(kind: Any, family: Any, data: st.DataObject) -> None:
    value = data.draw(values_of(kind, KNOWN))
    assume(not _has_inner_data_chunk(value))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codec, "read", _fail)
        patch.setattr(codec, "to_plain", _fail)
        assert decoder(family)(encode(value)) == value


def _has_inner_data_chunk(value: Value) -> bool:
    """The tag of a data chunk depends on its name: only an outermost chunk is decoded on the fast path."""
    while isinstance(value, ChildChunk | ChunkEvent):
        value = value.chunk
        if isinstance(value, DataChunk):
            return True
    return False


def _fail(*_: object) -> None:
    raise AssertionError("known data took the slow path")


def with_text_content(plain: Json) -> Message:
    return decode_message(dumps(plain))


def message(**fields: Json) -> JsonObject:
    return {"id": "m", "role": "assistant", "content": "", **fields}


def with_part(part: Json, role: str = "assistant") -> JsonObject:
    return message(role=role, content={"format": 2, "parts": [part]})


def call(**fields: Json) -> JsonObject:
    return with_part({"type": "tool-call", "id": "c", "name": "n", "state": "input-available", **fields})


UNCHANGED: dict[str, JsonObject] = {
    "an unknown field of a message": message(
        content={"format": 2, "parts": []}, future={"a": [1]}, type="text"
    ),
    "an unknown field of a content": message(content={"format": 2, "parts": [], "x": None}, type="text"),
    "an unknown field of a part": with_part({"type": "text", "text": "", "x": "\ud83d"}) | {"type": "text"},
    "an unknown part": with_part({"type": "hologram", "text": 1, "id": None}) | {"type": "text"},
    "an unknown item of a content output": call(
        output={"type": "content", "value": [{"type": "hologram", "x": 1}]}
    )
    | {"type": "tool"},
    "an unknown part in a child": call(children=[with_part({"type": "hologram"}) | {"type": "text"}])
    | {"type": "tool"},
    "a missing value of any type": call(
        input=None, rawInput=None, output={"type": "json", "value": None, "x": 1}
    )
    | {"type": "tool"},
    "null as metadata": message(content={"format": 2, "parts": [], "metadata": None}, type="text"),
    "null as data": with_part({"type": "data", "name": "n", "data": None}) | {"type": "text"},
    "null as a foreign value": with_part({"type": "foreign", "format": "f", "value": None, "x": 1})
    | {"type": "text"},
}


@each_row("sent", UNCHANGED.values(), ids=UNCHANGED)
def test_messages_round_trip_unchanged(sent: JsonObject) -> None:
    assert same_json(loads(encode(decode_message(dumps(sent)))), sent)
    assert same_json(to_json(read_message(sent)), sent)


UNCHANGED_CHUNKS: dict[str, JsonObject] = {
    "an unknown chunk": {"type": "hologram", "id": 1},
    "data": {"type": "data-weather", "data": None},
    "data with every member": {"type": "data-x", "data": [1], "id": "i", "transient": True},
    "data without a name": {"type": "data-"},
    "data with an unknown field": {"type": "data-x", "data": 1, "name": "not ours"},
    "an unknown field": {"type": "text-delta", "id": "t", "delta": "", "future": None},
    "null as a value": {"type": "start", "messageMetadata": None},
    "a chunk of a child": {"type": "child", "path": ["c"], "chunk": {"type": "data-x", "data": 1}},
    "an unknown chunk of a child": {"type": "child", "path": [], "chunk": {"type": "hologram"}},
}


@each_row("sent", UNCHANGED_CHUNKS.values(), ids=UNCHANGED_CHUNKS)
def test_chunks_round_trip_unchanged(sent: JsonObject) -> None:
    assert same_json(loads(encode(decode_chunk(dumps(sent)))), sent)
    assert same_json(loads(encode(decode_chunk(json.dumps(sent)))), sent)
    assert same_json(to_json(read_chunk(sent)), sent)


WRITTEN: dict[str, tuple[object, JsonObject]] = {
    "absent fields are omitted": (TextPart("a"), {"type": "text", "text": "a"}),
    "null is written where it is a value": (
        ToolCallPart("c", "n", "input-available", input=None),
        {"type": "tool-call", "id": "c", "name": "n", "state": "input-available", "input": None},
    ),
    "an absent input is not null": (
        ToolCallPart("c", "n", "input-streaming"),
        {"type": "tool-call", "id": "c", "name": "n", "state": "input-streaming"},
    ),
    "null data is not absent data": (DataPart("n", None), {"type": "data", "name": "n", "data": None}),
    "absent data": (DataPart("n"), {"type": "data", "name": "n"}),
    "names in camelCase": (
        Usage(input_tokens=1, cached_input_tokens=2),
        {"inputTokens": 1, "cachedInputTokens": 2},
    ),
    "the derived type of a message": (
        UserMessage(id="m", content="hi"),
        {
            "role": "user",
            "id": "m",
            "type": "text",
            "content": {"format": 2, "parts": [{"type": "text", "text": "hi"}]},
        },
    ),
    "a known field takes precedence over an unknown one of the same name": (
        TextPart("a", extra=Extra({"text": "b", "x": 1})),
        {"type": "text", "text": "a", "x": 1},
    ),
    "an unknown part": (UnknownPart(raw=Extra({"type": "x", "y": 1})), {"type": "x", "y": 1}),
    "data by its name": (DataChunk("data-x", {"a": 1}), {"type": "data-x", "data": {"a": 1}}),
}


@each_row(("value", "plain"), WRITTEN.values(), ids=WRITTEN)
def test_values_are_written_without_defaults(value: object, plain: JsonObject) -> None:
    assert same_json(loads(encode(value)), plain)
    assert same_json(to_json(value), plain)


READ: dict[str, tuple[JsonObject, AssistantPart]] = {
    "thinking with its text": ({"type": "thinking", "text": "hm"}, ReasoningPart("hm")),
    "thinking with its former member": ({"type": "thinking", "thinking": "hm"}, ReasoningPart("hm")),
    "thinking with a signature": (
        {"type": "thinking", "thinking": "hm", "signature": "AbC="},
        ReasoningPart("hm", extra=Extra({"signature": "AbC="})),
    ),
    "null where a field is optional": ({"type": "text", "text": "a", "state": None}, TextPart("a")),
    "a foreign part": (
        {"type": "foreign", "format": "f", "value": {"type": "text"}},
        ForeignPart("f", {"type": "text"}),
    ),
}


@each_row(("plain", "part"), READ.values(), ids=READ)
def test_parts_are_read(plain: JsonObject, part: AssistantPart) -> None:
    expected = AssistantMessage(id="m", content=[part])
    assert decode_message(dumps(with_part(plain))) == expected
    assert read_message(with_part(plain)) == expected


CONTENTS: dict[str, tuple[Json, str]] = {
    "a string": ("hi", "text"),
    "a list of parts": ([{"type": "text", "text": "hi"}], "text"),
    "a list with an unknown field": ([{"type": "text", "text": "hi", "x": 1}], "text"),
    "an object": ({"format": 2, "parts": [{"type": "text", "text": "hi"}]}, "text"),
    "an object without a format": ({"parts": [{"type": "text", "text": "hi"}]}, "text"),
}


@each_row("role", ["system", "user", "assistant"])
@each_row(("content", "type_"), CONTENTS.values(), ids=CONTENTS)
def test_content_may_have_a_short_form(role: str, content: Json, type_: str) -> None:
    read = decode_message(dumps(message(role=role, content=content)))
    assert [part.text for part in read.parts if isinstance(part, TextPart)] == ["hi"]
    assert (read.type, read.content.format) == (type_, 2)


ROLE_RULES: dict[str, tuple[str, JsonObject]] = {
    "a call from a user": (
        "user",
        {"type": "tool-call", "id": "c", "name": "n", "state": "input-available"},
    ),
    "a result from an assistant": (
        "assistant",
        {"type": "tool-result", "id": "c", "name": "n", "output": {"type": "text", "value": ""}},
    ),
    "reasoning from a user": ("user", {"type": "reasoning", "text": ""}),
    "reasoning from a system": ("system", {"type": "reasoning", "text": ""}),
    "an image from a system": ("system", {"type": "image", "url": "data:,"}),
    "text from a tool": ("tool", {"type": "text", "text": ""}),
    "a step from a user": ("user", {"type": "step-start"}),
}


@each_row(("role", "part"), ROLE_RULES.values(), ids=ROLE_RULES)
def test_a_part_that_its_role_may_not_have_is_refused(role: str, part: JsonObject) -> None:
    sent = with_part(part, role)
    for read in (read_message, with_text_content):
        with pytest.raises(DecodeError) as caught:
            read(sent)
        assert caught.value.where == "$.content.parts[0].type"
        assert part["type"] in caught.value.found
        assert part["type"] not in caught.value.expected.split(" or ")
        assert "is not allowed here" in caught.value.hint


DEEP = "[" * 10_000 + "]" * 10_000
WRONG: dict[str, tuple[str | bytes, str, str, str]] = {
    "nothing": ("", "line 1, column 1", "", ""),
    "cut short": ('{"id": "m", "ro', "line 1, column 13", "", ""),
    "not UTF-8": (b'{"id": "\xff"}', "byte 8", "", ""),
    "not an object": ("[]", "$", "object", "array"),
    "no role": ('{"id": "m"}', "$.role", "string", "null"),
    "an unknown role": (
        dumps(message(role="robot")),
        "$.role",
        "system or user or assistant or tool",
        "robot",
    ),
    "no id": (b'{"role": "user", "content": ""}', "$", "id", "nothing"),
    "no content": (b'{"role": "user", "id": "m"}', "$", "content", "nothing"),
    "a number for an id": (dumps(message(id=1)), "$.id", "string", "number 1"),
    "a number for content": (dumps(message(content=1)), "$.content", "object or array or string", "number 1"),
    "a text for a count": (dumps(message(seq="one")), "$.seq", "integer or null", "string 'one'"),
    "a fraction for a count": (dumps(message(seq=1.5)), "$.seq", "integer or null", "number 1.5"),
    "an unknown type": (dumps(message(type="video")), "$.type", "'text' or 'tool' or 'event'", "'video'"),
    "another format": (
        dumps(message(content={"format": 3, "parts": []})),
        "$.content.format",
        "2",
        "number 3",
    ),
    "a time without a zone": (
        dumps(message(createdAt="2024-01-01T00:00:00")),
        "$.createdAt",
        "time with a zone or null",
        "2024-01-01T00:00:00",
    ),
    "not a time": (dumps(message(createdAt="soon")), "$.createdAt", "time with a zone or null", "'soon'"),
    "a time outside the range of UTC": (
        dumps(message(createdAt="0001-01-01T00:00:00+01:00")),
        "$.createdAt",
        "years 1 to 9999",
        "0001-01-01T00:00:00+01:00",
    ),
    "text that is null": (
        dumps(with_part({"type": "text", "text": None})),
        "$.content.parts[0].text",
        "string",
        "null",
    ),
    "a part without its text": (dumps(with_part({"type": "text"})), "$.content.parts[0]", "text", "nothing"),
    "a part that is not an object": (dumps(with_part("hi")), "$.content.parts[0]", "object", "string 'hi'"),
    "a part without a type": (dumps(with_part({})), "$.content.parts[0].type", "string", "null"),
    "parts that are not an array": (
        dumps(message(content={"format": 2, "parts": {}})),
        "$.content.parts",
        "array",
        "object",
    ),
    "an unknown state": (
        dumps(call(state="done")),
        "$.content.parts[0].state",
        "'input-streaming'",
        "string 'done'",
    ),
    "an unknown output": (
        dumps(call(output={"type": "video"})),
        "$.content.parts[0].output.type",
        "interrupted",
        "video",
    ),
    "a wrong part of a child": (
        dumps(call(children=[with_part({"type": "step-start"}, "user")])),
        "$.content.parts[0].children[0].content.parts[0].type",
        "text",
        "step-start",
    ),
    "too deep": (f'{{"id": "m", "role": "user", "content": {DEEP}}}', "", "", ""),
    "too deep, in an unknown member": (
        f'{{"id": "m", "role": "user", "content": "\\ud83d", "x": {DEEP}}}',
        "",
        "",
        "",
    ),
}


@each_row(("text", "where", "expected", "found"), WRONG.values(), ids=WRONG)
def test_an_invalid_message_is_refused_with_its_path(
    text: str | bytes, where: str, expected: str, found: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_message(text)
    assert caught.value.what
    assert caught.value.hint
    assert caught.value.where == where
    assert expected in caught.value.expected
    assert found in caught.value.found


WRONG_CHUNKS: dict[str, tuple[Json, str]] = {
    "a delta without its text": ({"type": "text-delta", "id": "t"}, "$"),
    "a delta that is not a text": ({"type": "text-delta", "id": "t", "delta": 1}, "$.delta"),
    "a number for a type": ({"type": 1}, "$.type"),
    "an id of data that is not a string": ({"type": "data-x", "id": 1}, "$.id"),
    "a wrong chunk of a child": ({"type": "child", "path": [], "chunk": {"type": "error"}}, "$.chunk"),
    "a wrong message of a child": (
        {"type": "child-message", "path": [], "message": {"id": "m", "role": "user", "content": 1}},
        "$.message.content",
    ),
}


@each_row(("sent", "where"), WRONG_CHUNKS.values(), ids=WRONG_CHUNKS)
def test_an_invalid_chunk_is_refused_with_its_path(sent: Json, where: str) -> None:
    for read, form in ((decode_chunk, dumps(sent)), (read_chunk, sent)):
        with pytest.raises(DecodeError) as caught:
            read(form)
        assert (caught.value.where, bool(caught.value.expected)) == (where, True)


def test_a_value_nested_too_deeply_is_not_written() -> None:
    deep: Json = []
    for _ in range(10_000):
        deep = [deep]
    for value in (
        JsonOutput(deep),
        TextOutput("", extra=Extra({"x": deep})),
        TextOutput("\ud83d", extra=Extra({"x": deep})),
        UnknownPart(raw=Extra({"type": "x", "y": deep})),
        DataChunk("data-x", deep),
        [JsonOutput(deep), UnknownPart(raw=Extra({"type": "\ud83d"}))],
    ):
        with pytest.raises(DecodeError, match="too deep"):
            encode(value)


def test_sub_agents_nested_too_deeply_are_refused() -> None:
    message: Message = UserMessage(id="m", content="hi")
    for _ in range(10_000):
        message = AssistantMessage(
            id="m", content=[ToolCallPart("c", "n", "input-available", children=(message,))]
        )
    for write in (encode, to_json):
        with pytest.raises(DecodeError, match="too deep"):
            write(message)


def test_a_huge_text_is_read() -> None:
    text = b'{"id":"m","role":"user","content":"' + b"x" * HUGE + b'"}'
    part = decode_message(text).parts[0]
    assert isinstance(part, TextPart)
    assert len(part.text) == HUGE


def test_any_value_is_decoded_by_its_type() -> None:
    assert decode(b'{"id":"t","future":1}', Thread) == Thread(id="t", extra=Extra({"future": 1}))
    assert decode('{"type":"text","value":"v"}', TextOutput) == TextOutput("v")
    assert CHUNK.decode(b'{"type":"text-delta","id":"t","delta":"d"}') == TextDelta("t", "d")
    assert EVENT.read({"type": "chunk", "chunk": {"type": "data-x"}}) == ChunkEvent(DataChunk("data-x"))
    assert MESSAGE.decode(b'{"id":"m","role":"tool","content":[]}') == ToolMessage(id="m", content=[])
