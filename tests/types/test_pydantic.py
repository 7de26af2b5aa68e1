"""Our values in Pydantic models: validated by our codec, with our JSON schemas."""

import subprocess
import sys
from datetime import UTC, datetime
from typing import Any, get_args

import jsonschema_rs
import pytest
from hypothesis import given
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from partita.types.chunks import AgentStreamEvent, Chunk, DataChunk, UnknownChunk
from partita.types.codec import encode, to_json
from partita.types.json import Json, JsonObject, loads
from partita.types.messages import AssistantMessage, Message, Part, ToolCallPart, UserMessage
from partita.types.parts import ReasoningPart, TextOutput, TextPart, ToolOutput, UnknownPart
from partita.types.schema import references, schema_components
from partita.types.threads import Run, Thread
from partita.types.usage import Usage
from partita.types.value import Extra, Value
from tests.canonical import agent_events, chunks, messages, runs, threads, tool_outputs, values_of
from tests.tables import each_row


class Note(BaseModel):
    """A model of an application in a union with our values."""

    note: str


class Chat(BaseModel):
    model_config = ConfigDict(validate_assignment=True)

    messages: list[Message]
    last: Message | None = None
    part: Part | None = None
    chunk: Chunk | None = None
    usage: Usage | None = None
    by_name: dict[str, tuple[TextPart, ...]] = Field(default_factory=dict)
    either: int | Note | Message | None = None


HELLO = UserMessage(id="m1", content="hello")
NESTED = AssistantMessage(
    id="m2",
    created_at=datetime(2026, 1, 2, tzinfo=UTC),
    content=[
        ToolCallPart(
            id="c1",
            name="ask",
            state="output-available",
            input={"q": None},
            output=TextOutput(value="yes"),
            children=(HELLO,),
            extra=Extra({"future": 1}),
        ),
        UnknownPart(raw=Extra({"type": "hologram", "depth": 3})),
    ],
)
CHAT = Chat(
    messages=[HELLO, NESTED],
    last=NESTED,
    part=TextPart(text="a"),
    chunk=DataChunk(type="data-weather", data=[1]),
    usage=Usage(input_tokens=3),
    by_name={"x": (TextPart(text="b"), TextPart(text="c"))},
    either=HELLO,
)

MESSAGE: TypeAdapter[Any] = TypeAdapter(Message)
PART: TypeAdapter[Any] = TypeAdapter(Part)
CHUNK: TypeAdapter[Any] = TypeAdapter(Chunk)


@each_row(
    ("type_", "values"),
    [
        (Message, messages()),
        (Part, values_of(Part)),
        (Chunk, chunks()),
        (ToolOutput, tool_outputs()),
        (AgentStreamEvent, agent_events()),
        (Thread, threads()),
        (Run, runs()),
    ],
    ids=["Message", "Part", "Chunk", "ToolOutput", "AgentStreamEvent", "Thread", "Run"],
)
def test_every_value_round_trips_through_an_adapter(type_: Any, values: Any) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(type_)

    @given(values)
    def check(value: Value) -> None:
        text = encode(value)
        assert adapter.validate_python(loads(text)) == value
        assert adapter.validate_json(text) == value
        assert adapter.dump_python(value, mode="json") == to_json(value)
        assert adapter.validate_json(adapter.dump_json(value)) == value

    check()


def test_an_instance_is_returned_unchanged() -> None:
    assert MESSAGE.validate_python(HELLO) is HELLO
    assert CHAT.messages[1] is NESTED
    CHAT.last = HELLO
    assert CHAT.last is HELLO
    CHAT.last = NESTED


def test_python_mode_keeps_values_and_json_mode_returns_json() -> None:
    assert CHAT.model_dump()["messages"][1] is NESTED
    assert CHAT.model_dump(mode="json")["messages"] == [to_json(HELLO), to_json(NESTED)]
    assert loads(CHAT.model_dump_json())["either"] == to_json(HELLO)


def test_a_model_round_trips() -> None:
    assert Chat.model_validate_json(CHAT.model_dump_json()) == CHAT
    assert Chat.model_validate(CHAT.model_dump(mode="json")) == CHAT
    assert Chat.model_validate(CHAT.model_dump()) == CHAT


def test_values_may_be_inside_plain_data() -> None:
    data = {"role": "user", "id": "m1", "content": [TextPart(text="hello")]}
    assert MESSAGE.validate_python(data) == HELLO


UNIONS: dict[str, tuple[TypeAdapter[Any], JsonObject, type[Value]]] = {
    "the role decides": (MESSAGE, {"role": "user", "id": "1", "content": "x"}, UserMessage),
    "a former name": (PART, {"type": "thinking", "thinking": "hm"}, ReasoningPart),
    "an unknown part": (PART, {"type": "hologram"}, UnknownPart),
    "a data chunk": (CHUNK, {"type": "data-x", "data": 1}, DataChunk),
    "an unknown chunk": (CHUNK, {"type": "hologram-delta"}, UnknownChunk),
}


@each_row(("adapter", "value", "type_"), UNIONS.values(), ids=UNIONS)
def test_a_union_selects_the_same_type_as_our_codec(
    adapter: TypeAdapter[Any], value: JsonObject, type_: type[Value]
) -> None:
    read = adapter.validate_python(value)
    assert type(read) is type_


@each_row("value", [5, Note(note="n"), HELLO], ids=["number", "model", "message"])
def test_a_mixed_union_is_serialized_by_its_member(value: Any) -> None:
    chat = Chat(messages=[], either=value)
    assert Chat.model_validate_json(chat.model_dump_json()).either == value


REFUSED: dict[str, tuple[TypeAdapter[Any], Json, str, str]] = {
    "a field of the wrong type": (
        MESSAGE,
        {"role": "user", "id": 1, "content": "x"},
        "UserMessage",
        "expected string, found number 1 (at $.id)",
    ),
    "a part in the wrong role": (
        MESSAGE,
        {"role": "user", "id": "1", "content": [{"type": "step-start"}]},
        "UserMessage",
        "hint: 'step-start' is not allowed here",
    ),
    "a missing role": (
        MESSAGE,
        {"id": "1", "content": "x"},
        "SystemMessage",
        "expected 'system', found null (at $.role); hint: SystemMessage only accepts 'system'",
    ),
    "a known type is not unknown": (
        PART,
        {"type": "text"},
        "UnknownPart",
        "expected a type that is not known, found 'text' (at $.type)",
    ),
    "a missing field": (PART, {"type": "text"}, "TextPart", "missing field `text` (at $)"),
    "not an object": (CHUNK, "x", "TextDelta", "expected object, found string 'x'"),
    "braces in the data": (CHUNK, {"type": "text-delta", "id": "1", "delta": ["{x}"]}, "TextDelta", "array"),
}


@each_row(("adapter", "value", "member", "text"), REFUSED.values(), ids=REFUSED)
def test_errors_have_our_texts(adapter: TypeAdapter[Any], value: Json, member: str, text: str) -> None:
    with pytest.raises(ValidationError) as caught:
        adapter.validate_python(value)
    (error,) = [error for error in caught.value.errors() if error["loc"] == (member,)]
    assert text in error["msg"]
    assert text in str(caught.value)


def test_a_wrong_tag_has_its_own_error_type() -> None:
    """This error can be found among the many errors of a union."""
    with pytest.raises(ValidationError) as caught:
        CHUNK.validate_python({"type": "text-delta", "id": "1"})
    (error,) = [error for error in caught.value.errors() if error["type"] == "partita_value"]
    assert error["loc"] == ("TextDelta",)
    assert error.get("ctx") == {
        "error": "missing field `delta` (at $); hint: TextDelta needs it",
        "where": "$",
        "hint": "TextDelta needs it",
    }


def test_deep_nesting_is_a_validation_error() -> None:
    message = to_json(NESTED)
    for _ in range(2_000):
        call = {
            "type": "tool-call",
            "id": "c",
            "name": "n",
            "state": "input-available",
            "children": [message],
        }
        message = {"role": "assistant", "id": "1", "content": [call]}
    with pytest.raises(ValidationError, match="nested too deeply"):
        MESSAGE.validate_python(message)


@each_row("mode", ["validation", "serialization"])
def test_the_json_schema_of_a_model_refers_to_our_components(mode: Any) -> None:
    schema = Chat.model_json_schema(mode=mode)
    assert schema["properties"]["messages"]["items"]["anyOf"] == [
        {"$ref": f"#/$defs/{member.__name__}"} for member in get_args(Message)
    ]
    ours = schema_components()
    assert schema["$defs"].keys() - {"Note"} <= ours.keys()
    for name in schema["$defs"].keys() - {"Note"}:
        assert schema["$defs"][name] == ours[name]
    assert {f"#/$defs/{name}" for name in schema["$defs"]} >= set(references(schema))


def test_the_json_schema_of_a_model_accepts_what_the_model_accepts() -> None:
    schema = jsonschema_rs.validator_for(Chat.model_json_schema())
    assert schema.is_valid(CHAT.model_dump(mode="json"))
    assert not schema.is_valid({"messages": [{"role": "user", "id": 1, "content": "x"}]})


def test_references_use_the_template_of_openapi() -> None:
    schema = MESSAGE.json_schema(ref_template="#/components/schemas/{model}")
    definitions = schema["$defs"]
    assert definitions == {
        name: component
        for name, component in schema_components("#/components/schemas/{name}").items()
        if name in definitions
    }
    assert {"AssistantMessage", "ToolCallPart", "Message", "Usage"} <= definitions.keys()


class Message2(Value, tag="message-2"):
    """A value of an application that derives from our base class."""

    inner: Message


def test_a_value_of_an_application_is_supported() -> None:
    adapter: TypeAdapter[Message2] = TypeAdapter(Message2)
    value = Message2(inner=HELLO)
    assert adapter.validate_json(encode(value)) == value
    assert adapter.json_schema()["properties"]["inner"] == {"$ref": "#/$defs/Message"}


class Thread2(BaseModel):
    """A model whose schema has the names of our components."""

    class Message(BaseModel):
        text: str

    own: Message
    ours: AssistantMessage


def test_a_model_with_the_name_of_a_component_is_separate() -> None:
    schema = Thread2.model_json_schema()
    own = schema["properties"]["own"]["$ref"].removeprefix("#/$defs/")
    assert schema["$defs"][own]["properties"].keys() == {"text"}
    read = Thread2.model_validate({"own": {"text": "x"}, "ours": to_json(NESTED)})
    assert read.ours == NESTED


def test_reading_and_writing_does_not_import_pydantic() -> None:
    code = "import sys, partita.types.codec, partita.types.schema; print('pydantic' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"
