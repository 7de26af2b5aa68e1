"""The conversation with all features is complete, and formats are measured with it."""

from collections.abc import Iterator
from typing import Any, TypeGuard, get_args

import msgspec
import pytest

from partita.errors import FormatError
from partita.formats.format import Dumped, Format, Loaded
from partita.formats.registry import all_formats, get_format
from partita.testing.features import FEATURES, Feature, measure
from partita.testing.full_conversation import full_conversation
from partita.types.codec import read_message, to_json
from partita.types.json import Json, dumps
from partita.types.messages import Message, Part, SystemContent, ToolContent, ToolMessage
from partita.types.parts import DocumentCitationSource, ToolOutput, ToolResultPart, UnknownPart
from partita.types.tool_results import fold
from partita.types.value import EXTRA_NAME, Value
from tests.tables import each_row

EXCLUDED = {SystemContent, ToolContent, ToolMessage, ToolResultPart, UnknownPart, DocumentCitationSource}
"""Types whose content is covered by others: results are in their calls, and citations have one source."""

WRITABLE = [name for name, one in all_formats().items() if one.dump and one.load]


def walk(value: Any) -> Iterator[Value]:
    """A value and all values in it, at any depth."""
    if isinstance(value, Value):
        yield value
        for field in msgspec.structs.fields(value):
            yield from walk(getattr(value, field.name))
    elif is_several(value):
        for inner in value:
            yield from walk(inner)


def is_several(value: object) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def declared(type_: type[Value], name: str) -> str:
    """A field with the class that declares it: a field of all parts is needed once only."""
    values = [base for base in type_.__mro__ if issubclass(base, Value)]
    first = [base for base in values if name in base.__struct_fields__][-1]
    return f"{first.__name__}.{name}"


def test_every_field_of_every_value_is_used() -> None:
    values = list(walk(full_conversation()))
    used = {
        declared(type(value), field.name)
        for value in values
        for field in msgspec.structs.fields(value)
        if field.required or getattr(value, field.name) not in (field.default, None, msgspec.UNSET)
    }
    wanted = {
        declared(type_, field.name)
        for type_ in {type(value) for value in values} - EXCLUDED
        for field in msgspec.structs.fields(type_)
        if field.encode_name != EXTRA_NAME
    }
    assert sorted(wanted - used) == []


def test_every_type_that_a_message_can_contain_is_in_it() -> None:
    found = {type(value) for value in walk(full_conversation())}
    members = {*get_args(Part), *get_args(Message), *get_args(ToolOutput)}
    assert members - found <= EXCLUDED


def test_it_survives_a_round_trip_and_folding() -> None:
    messages = full_conversation()
    payload: Any = to_json(messages)
    assert tuple(read_message(one) for one in payload) == messages
    assert fold(messages) == list(messages)


@each_row("feature", FEATURES, ids=lambda one: f"{one.group}: {one.name}")
def test_every_feature_is_found_by_its_getter_and_marker(feature: Feature) -> None:
    payload: Any = to_json(full_conversation())
    assert feature.get(payload) is not None
    assert feature.marker in dumps(payload).decode()
    assert feature.get([]) is None


def test_features_have_unique_names() -> None:
    assert len({(one.group, one.name) for one in FEATURES}) == len(FEATURES)


def test_the_canonical_format_keeps_everything() -> None:
    assert set(measure(get_format("canonical")).outcomes.values()) == {"kept"}


@each_row("name", WRITABLE)
def test_a_format_is_lossless_only_if_it_keeps_everything(name: str) -> None:
    measured = measure(get_format(name))
    assert measured.dumped.lossless == (set(measured.outcomes.values()) == {"kept"})


def dump_texts(messages: Any) -> Dumped:
    return Dumped([part["text"].upper() for message in to_json(messages) for part in texts(message)])


def texts(message: Any) -> list[Any]:
    return [part for part in message["content"]["parts"] if part["type"] == "text"]


def load_texts(payload: Json) -> Loaded:
    return Loaded((read_message({"role": "assistant", "id": "x", "content": " ".join(payload).lower()}),))


def test_changed_and_lost_features_are_distinguished() -> None:
    outcomes = measure(Format("texts", "only texts", load_texts, dump_texts)).outcomes
    by_name = {f"{one.group}: {one.name}": outcome for one, outcome in outcomes.items()}
    assert by_name["Text and reasoning: reasoning"] == "lost"
    assert by_name["Messages: system prompt"] == "changed"
    assert "kept" not in by_name.values()


def test_a_read_only_format_cannot_be_measured() -> None:
    with pytest.raises(FormatError, match="cherry cannot be written"):
        measure(get_format("cherry"))


def test_a_write_only_format_is_measured_by_its_output() -> None:
    def dump_lines(messages: Any) -> Dumped:
        return Dumped("\n".join(part["text"] for message in to_json(messages) for part in texts(message)))

    outcomes = measure(Format("lines", "only written", None, dump_lines)).outcomes
    by_name = {f"{one.group}: {one.name}": outcome for one, outcome in outcomes.items()}
    assert by_name["Text and reasoning: text"] == "changed"
    assert by_name["Text and reasoning: reasoning"] == "lost"
    assert "kept" not in by_name.values()


def test_missing_features_are_not_measured() -> None:
    measured = measure(get_format("canonical"), full_conversation()[:1])
    assert {one.name for one in measured.outcomes} >= {"system prompt"}
    assert "reasoning" not in {one.name for one in measured.outcomes}
