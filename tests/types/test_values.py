"""All values are immutable, compare by content, have a short repr, and keep unknown members."""

import copy
import pickle
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given

from partita.errors import DecodeError
from partita.types.chunks import DataChunk, UnknownChunk
from partita.types.messages import Message, ToolCallPart
from partita.types.parts import DataPart, TextPart, UnknownPart
from partita.types.value import Extra, Value
from tests.canonical import chunks, messages
from tests.tables import each_row


def test_a_value_is_immutable() -> None:
    part: Any = TextPart("a")
    with pytest.raises(AttributeError):
        part.text = "b"


def test_values_with_the_same_content_are_equal() -> None:
    assert TextPart("a", extra=Extra({"x": 1})) == TextPart("a", extra=Extra({"x": 1}))
    assert TextPart("a", extra=Extra({"x": 1})) != TextPart("a")
    assert DataPart("n", None) != DataPart("n")


def test_the_repr_shows_only_members_that_differ_from_the_default() -> None:
    assert repr(TextPart("a")) == "TextPart(text='a')"
    assert repr(TextPart("a", extra=Extra({"x": 1}))) == "TextPart(text='a', extra=Extra({'x': 1}))"


def test_own_fields_are_positional_and_common_fields_are_keyword_only() -> None:
    assert ToolCallPart("c", "n", "input-available", {}).input == {}
    make: Any = TextPart
    with pytest.raises(TypeError):
        make("a", None, None, Extra())


@given(messages() | chunks())
def test_values_can_be_copied_and_pickled(value: Message | Value) -> None:
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy(value) == value
    assert msgspec.structs.replace(value) == value


def test_an_extra_is_a_mapping_that_belongs_to_its_value() -> None:
    fields = {"a": 1, "b": None}
    extra = Extra(fields)
    fields["a"] = 2
    assert isinstance(extra, Mapping)
    assert dict(extra) == {"a": 1, "b": None}
    assert (len(extra), list(extra), extra["b"]) == (2, ["a", "b"], None)
    assert extra == {"a": 1, "b": None}
    assert not Extra()
    with pytest.raises(KeyError):
        extra["c"]


@each_row("kind", [UnknownPart, UnknownChunk])
def test_an_unknown_value_has_its_type(kind: type[UnknownPart] | type[UnknownChunk]) -> None:
    assert kind(raw=Extra({"type": "hologram"})).type == "hologram"
    assert kind(raw=Extra()).type == ""


def test_a_data_chunk_has_a_name_and_a_data_type() -> None:
    assert DataChunk("data-weather").name == "weather"
    with pytest.raises(DecodeError, match="data-weather"):
        DataChunk("weather")
