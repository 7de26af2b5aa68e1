"""The conversation that has everything has it, and a format is measured by it."""

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

ELSEWHERE = {SystemContent, ToolContent, ToolMessage, ToolResultPart, UnknownPart, DocumentCitationSource}
"""Values that hold what others hold: results stand with their calls, and a source is cited like another."""

WRITABLE = [name for name, one in all_formats().items() if one.dump and one.load]


def held(value: Any) -> Iterator[Value]:
    """A value and all values in it."""
    if isinstance(value, Value):
        yield value
        for field in msgspec.structs.fields(value):
            yield from held(getattr(value, field.name))
    elif is_several(value):
        for inner in value:
            yield from held(inner)


def is_several(value: object) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def declared(type_: type[Value], name: str) -> str:
    """A field by the class that has it first: what all parts have is asked of one."""
    values = [base for base in type_.__mro__ if issubclass(base, Value)]
    first = [base for base in values if name in base.__struct_fields__][-1]
    return f"{first.__name__}.{name}"


def test_every_field_of_every_value_is_used() -> None:
    values = list(held(full_conversation()))
    used = {
        declared(type(value), field.name)
        for value in values
        for field in msgspec.structs.fields(value)
        if field.required or getattr(value, field.name) not in (field.default, None, msgspec.UNSET)
    }
    wanted = {
        declared(type_, field.name)
        for type_ in {type(value) for value in values} - ELSEWHERE
        for field in msgspec.structs.fields(type_)
        if field.encode_name != EXTRA_NAME
    }
    assert sorted(wanted - used) == []


def test_every_value_that_a_message_can_hold_is_in_it() -> None:
    there = {type(value) for value in held(full_conversation())}
    members = {*get_args(Part), *get_args(Message), *get_args(ToolOutput)}
    assert members - there <= ELSEWHERE


def test_it_is_read_back_and_is_the_merged_view() -> None:
    messages = full_conversation()
    said: Any = to_json(messages)
    assert tuple(read_message(one) for one in said) == messages
    assert fold(messages) == list(messages)


@each_row("feature", FEATURES, ids=lambda one: f"{one.group}: {one.name}")
def test_a_feature_is_there_and_known_by_its_sign(feature: Feature) -> None:
    plain: Any = to_json(full_conversation())
    taken = feature.take(plain)
    assert taken is not None
    text = dumps(plain).decode()
    assert feature.sign in text
    assert feature.take([]) is None


def test_features_have_names_of_their_own() -> None:
    assert len({(one.group, one.name) for one in FEATURES}) == len(FEATURES)


def test_our_own_form_keeps_everything() -> None:
    assert set(measure(get_format("canonical")).fates.values()) == {"kept"}


@each_row("name", WRITABLE)
def test_what_is_not_kept_is_told(name: str) -> None:
    measured = measure(get_format(name))
    assert measured.dumped.lossless == (set(measured.fates.values()) == {"kept"})


def dump_texts(messages: Any) -> Dumped:
    return Dumped([part["text"].upper() for message in to_json(messages) for part in texts(message)])


def texts(message: Any) -> list[Any]:
    return [part for part in message["content"]["parts"] if part["type"] == "text"]


def load_texts(payload: Json) -> Loaded:
    return Loaded((read_message({"role": "assistant", "id": "x", "content": " ".join(payload).lower()}),))


def test_what_is_changed_and_what_is_lost_are_told_apart() -> None:
    fates = measure(Format("texts", "only texts", load_texts, dump_texts)).fates
    by_name = {f"{one.group}: {one.name}": fate for one, fate in fates.items()}
    assert by_name["Words and reasoning: reasoning"] == "lost"
    assert by_name["Messages: system prompt"] == "changed"
    assert "kept" not in by_name.values()


def test_a_format_that_is_only_read_cannot_be_measured() -> None:
    with pytest.raises(FormatError, match="cherry is not written"):
        measure(get_format("cherry"))


def test_what_is_only_written_is_measured_by_what_stands_in_it() -> None:
    def dump_aloud(messages: Any) -> Dumped:
        return Dumped("\n".join(part["text"] for message in to_json(messages) for part in texts(message)))

    fates = measure(Format("aloud", "only written", None, dump_aloud)).fates
    by_name = {f"{one.group}: {one.name}": fate for one, fate in fates.items()}
    assert by_name["Words and reasoning: text"] == "changed"
    assert by_name["Words and reasoning: reasoning"] == "lost"
    assert "kept" not in by_name.values()


def test_what_is_not_there_is_not_measured() -> None:
    measured = measure(get_format("canonical"), full_conversation()[:1])
    assert {one.name for one in measured.fates} >= {"system prompt"}
    assert "reasoning" not in {one.name for one in measured.fates}
