"""What every value is: frozen, equal by content, short to print, and it holds on to what it does not know."""

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


def test_a_value_cannot_be_changed() -> None:
    part: Any = TextPart("a")
    with pytest.raises(AttributeError):
        part.text = "b"


def test_same_content_is_the_same_value() -> None:
    assert TextPart("a", extra=Extra({"x": 1})) == TextPart("a", extra=Extra({"x": 1}))
    assert TextPart("a", extra=Extra({"x": 1})) != TextPart("a")
    assert DataPart("n", None) != DataPart("n")


def test_only_what_differs_from_the_default_is_shown() -> None:
    assert repr(TextPart("a")) == "TextPart(text='a')"
    assert repr(TextPart("a", extra=Extra({"x": 1}))) == "TextPart(text='a', extra=Extra({'x': 1}))"


def test_the_fields_of_a_kind_come_by_place_and_what_all_kinds_share_by_name() -> None:
    assert ToolCallPart("c", "n", "input-available", {}).input == {}
    make: Any = TextPart
    with pytest.raises(TypeError):
        make("a", None, None, Extra())


@given(messages() | chunks())
def test_values_can_be_copied_and_sent_to_another_process(value: Message | Value) -> None:
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
def test_an_unknown_value_still_tells_its_type(kind: type[UnknownPart] | type[UnknownChunk]) -> None:
    assert kind(raw=Extra({"type": "hologram"})).type == "hologram"
    assert kind(raw=Extra()).type == ""


def test_a_data_chunk_has_a_name_and_must_say_that_it_is_data() -> None:
    assert DataChunk("data-weather").name == "weather"
    with pytest.raises(DecodeError, match="data-weather"):
        DataChunk("weather")
