"""JSON Schemas accept what is written, and refuse what the codec refuses."""

import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any, get_args

import jsonschema_rs
import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from partita.errors import DecodeError
from partita.types.chunks import AgentStreamEvent, Chunk, DataChunk, UnknownChunk
from partita.types.codec import Codec, encode, to_json
from partita.types.json import Json, JsonObject, is_array, is_object, loads
from partita.types.legacy import LegacyMessage
from partita.types.messages import AssistantMessage, Message, Part, UserMessage
from partita.types.parts import TextPart, ToolOutput, UnknownPart
from partita.types.schema import (
    DIALECT,
    UNIONS,
    json_schema,
    public_components,
    public_values,
    reachable,
    references,
    schema_components,
)
from partita.types.threads import Run, Thread
from partita.types.usage import Usage
from partita.types.value import EXTRA_NAME
from tests.canonical import KNOWN, junk_fields, values_of
from tests.sampling import picked
from tests.tables import each_row

VALUES = {value.__name__: value for value in public_values()}
ROOTS: dict[str, Any] = {
    "Message": Message,
    "Part": Part,
    "Chunk": Chunk,
    "ToolOutput": ToolOutput,
    "AgentStreamEvent": AgentStreamEvent,
    "Thread": Thread,
    "Run": Run,
}
READABLE: dict[str, Any] = {
    member.__name__: root for root in ROOTS.values() for member in get_args(root) or (root,)
}
"""Values that are read on their own, with the type they are read as."""


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # legacy messages are drawn here too
        yield


@cache
def validator(type_: Any) -> Any:
    schema = of_components(type_.__name__) if type_ in PUBLIC else json_schema(type_)
    return jsonschema_rs.validator_for(schema, validate_formats=True)


PUBLIC = set(public_values())


def of_components(name: str) -> JsonObject:
    """Return the schema of a public value; a test below checks that `json_schema` returns the same."""
    needed = reachable({"$ref": name}, public_components())
    definitions = {one: schema for one, schema in all_components().items() if one in needed}
    return {"$schema": DIALECT, "$ref": f"#/$defs/{name}", "$defs": definitions}


@cache
def all_components() -> dict[str, JsonObject]:
    return schema_components()


@each_row("name", picked(list(VALUES), 12))
def test_the_schema_of_a_value_consists_of_the_components(name: str) -> None:
    assert json_schema(VALUES[name]) == of_components(name)


def is_valid(type_: Any, value: Json) -> bool:
    return bool(validator(type_).is_valid(value))


def is_read(type_: Any, value: Json) -> bool:
    try:
        Codec[Any](type_).read(value)
    except DecodeError:
        return False
    return True


@pytest.mark.parametrize("name", VALUES)
@settings(max_examples=8)
@given(data=st.data())
def test_written_values_are_valid_and_no_required_field_may_be_missing(
    name: str, data: st.DataObject
) -> None:
    value: JsonObject = loads(encode(data.draw(values_of(VALUES[name]))))
    assert list(validator(VALUES[name]).iter_errors(value)) == []
    for field in public_components()[name]["required"] if name in READABLE else ():
        assert not is_valid(VALUES[name], {key: item for key, item in value.items() if key != field})


@pytest.mark.parametrize("root", ROOTS.values(), ids=ROOTS)
@given(data=st.data())
def test_unknown_fields_are_accepted_anywhere(root: Any, data: st.DataObject) -> None:
    value = data.draw(junk_fields(to_json(data.draw(values_of(root, KNOWN)))))
    assert is_valid(root, value)


@pytest.mark.parametrize("root", ROOTS.values(), ids=ROOTS)
@given(data=st.data())
def test_schema_and_codec_agree_on_damaged_data(root: Any, data: st.DataObject) -> None:
    """One known field gets another value: both accept the result, or both refuse it."""
    value = to_json(data.draw(values_of(root, KNOWN)))
    holder = data.draw(st.sampled_from(list(objects(value))))
    assume(holder)
    holder[data.draw(st.sampled_from(sorted(holder)))] = data.draw(DAMAGED_VALUES)
    assert is_valid(root, value) == is_read(root, value)


DAMAGED_VALUES = st.sampled_from(
    [None, True, 7, "", "text", "2026-01-02T03:04:05Z", [], {}, ["a"], {"a": 1}, 0.5]
)


def objects(value: Json) -> Iterator[JsonObject]:
    if is_object(value):
        yield value
        for item in value.values():
            yield from objects(item)
    elif is_array(value):
        for item in value:
            yield from objects(item)


REFUSED: dict[str, tuple[Any, Json]] = {
    "a role that does not exist": (Message, {"role": "robot", "id": "1", "content": "x"}),
    "a message without a role": (Message, {"id": "1", "content": "x"}),
    "a part in the wrong role": (
        Message,
        {"role": "user", "id": "1", "content": [{"type": "step-start"}]},
    ),
    "a known part without its field, though unknown parts are open": (Part, {"type": "text"}),
    "a known chunk without its field": (Chunk, {"type": "text-delta", "id": "1"}),
    "a part without a type": (Part, {"text": "x"}),
    "a type that is not a string": (Part, {"type": 5}),
    "a time without a zone": (Thread, {"id": "1", "createdAt": "2026-01-02"}),
    "the internal tag of data chunks": (DataChunk, {"type": "__data__", "name": "x"}),
    "a data chunk is not unknown": (UnknownChunk, {"type": "data-x"}),
    "a known part is not unknown": (UnknownPart, {"type": "text", "text": "x"}),
    "a child that is not a message": (
        AssistantMessage,
        {
            "role": "assistant",
            "id": "1",
            "content": [
                {"type": "tool-call", "id": "c", "name": "n", "state": "input-available", "children": [{}]}
            ],
        },
    ),
}


@each_row(("type_", "value"), REFUSED.values(), ids=REFUSED)
def test_invalid_values_are_refused(type_: Any, value: Json) -> None:
    assert not is_valid(type_, value)


ACCEPTED: dict[str, tuple[Any, Json]] = {
    "a string for content": (Message, {"role": "user", "id": "1", "content": "x"}),
    "parts for content": (
        UserMessage,
        {"role": "user", "id": "1", "content": [{"type": "text", "text": "x"}]},
    ),
    "an unknown part": (Message, {"role": "user", "id": "1", "content": [{"type": "hologram", "x": [1]}]}),
    "an unknown chunk": (Chunk, {"type": "hologram-delta"}),
    "a data chunk with a field called name": (Chunk, {"type": "data-x", "name": 5}),
    "a legacy message": (
        LegacyMessage,
        {"id": "1", "role": "user", "content": "x", "timestamp": "2026-01-02T03:04:05Z"},
    ),
}


@each_row(("type_", "value"), ACCEPTED.values(), ids=ACCEPTED)
def test_valid_values_are_accepted(type_: Any, value: Json) -> None:
    assert is_valid(type_, value)


def test_open_tags_are_described_by_their_pattern() -> None:
    components = schema_components()
    data = components["DataChunk"]
    assert data["properties"]["type"] == {"type": "string", "pattern": "^data-"}
    assert set(data["properties"]) == {"type", "data", "id", "transient"}
    assert data["required"] == ["type"]
    for name in ("UnknownPart", "UnknownChunk"):
        assert set(components[name]["properties"]) == {"type"}
        assert components[name]["properties"]["type"]["type"] == "string"


@each_row("name", schema_components())
def test_each_component_is_a_complete_schema(name: str) -> None:
    component = all_components()[name]
    assert jsonschema_rs.meta.is_valid({"$schema": DIALECT, **component})
    assert component["title"] == name
    assert component["description"].endswith((".", "?"))
    assert EXTRA_NAME not in str(component)
    assert "__unknown__" not in str(component)
    assert all(node.get("additionalProperties") is not False for node in objects(component))
    assert not any("_" in field for field in component.get("properties", ()))


def test_every_union_has_a_name_and_is_referenced_by_it() -> None:
    components = schema_components()
    assert components["Message"]["anyOf"] == [
        {"$ref": f"#/$defs/{name}"}
        for name in ("SystemMessage", "UserMessage", "AssistantMessage", "ToolMessage")
    ]
    assert components["ToolCallPart"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Message"}
    assert components["ChunkEvent"]["properties"]["chunk"] == {"$ref": "#/$defs/Chunk"}
    assert components.keys() >= UNIONS.keys()


def test_only_a_closed_union_has_a_discriminator() -> None:
    """The discriminator of an open union would have to list unknown tags."""
    components = schema_components("#/components/schemas/{name}")
    assert components["Message"]["discriminator"] == {
        "propertyName": "role",
        "mapping": {
            "system": "#/components/schemas/SystemMessage",
            "user": "#/components/schemas/UserMessage",
            "assistant": "#/components/schemas/AssistantMessage",
            "tool": "#/components/schemas/ToolMessage",
        },
    }
    assert "discriminator" not in components["Part"]
    assert "discriminator" not in components["Chunk"]


def test_components_accept_any_reference_template() -> None:
    components = schema_components("#/components/schemas/{name}")
    found = {reference for component in components.values() for reference in references(component)}
    assert found <= {f"#/components/schemas/{name}" for name in components}
    assert "#/components/schemas/Message" in found


def test_components_are_created_for_each_call() -> None:
    schema_components()["TextPart"]["properties"].clear()
    assert schema_components()["TextPart"]["properties"]


def test_a_schema_contains_exactly_the_components_it_refers_to() -> None:
    assert json_schema(Usage)["$defs"].keys() == {"Usage"}
    assert json_schema(TextPart)["$defs"].keys() == {
        "TextPart",
        "Citation",
        "UrlCitationSource",
        "DocumentCitationSource",
    }
    assert json_schema(int) == {"$schema": DIALECT, "type": "integer"}


class Conversation(msgspec.Struct):
    """A type of an application."""

    messages: list[Message]


def test_a_type_of_an_application_may_contain_our_values() -> None:
    schema = json_schema(Conversation)
    assert schema["$defs"]["Conversation"]["properties"]["messages"]["items"] == {"$ref": "#/$defs/Message"}
    assert is_valid(Conversation, {"messages": [{"role": "user", "id": "1", "content": "x"}]})
    assert not is_valid(Conversation, {"messages": [{"role": "user"}]})


def test_a_legacy_message_is_marked_as_deprecated() -> None:
    assert [name for name, schema in schema_components().items() if "deprecated" in schema] == [
        "LegacyMessage"
    ]
