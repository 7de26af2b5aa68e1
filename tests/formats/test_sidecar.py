"""The sidecar carries values that a format cannot represent, and restores them exactly."""

from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from partita.formats.conversion import convert, read
from partita.formats.core.sidecar import STALE
from partita.formats.format import Slot
from partita.formats.registry import all_formats, get_format
from partita.testing.full_conversation import full_conversation
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_array
from partita.types.json_diff import apply_patch, json_patch
from partita.types.messages import Message
from tests import canonical
from tests.formats.laws.apis import HISTORIES
from tests.sampling import FULL, sampled
from tests.strategies_json import json_values
from tests.tables import Failures, each_row

WITH_SIDECAR = sorted(name for name, one in all_formats().items() if one.slot and one.load and one.dump)


@each_row("name", WITH_SIDECAR)
def test_a_full_conversation_round_trips_exactly(name: str) -> None:
    messages_json = to_json(full_conversation())
    there = convert(messages_json, "canonical", name, carry=True)
    back = convert(there.payload, name, "canonical")
    assert back.payload == messages_json
    assert there.lossless
    assert not convert(messages_json, "canonical", name).lossless


@settings(max_examples=200 if FULL else 5)
@given(messages=st.lists(canonical.messages(), min_size=1, max_size=3, unique_by=lambda one: one.id))
def test_any_messages_round_trip_exactly_or_losses_are_reported(messages: list[Message]) -> None:
    messages_json = to_json(messages)
    failures = Failures(len(WITH_SIDECAR))
    for name in WITH_SIDECAR:
        with failures.of(name):
            there = convert(messages_json, "canonical", name, carry=True)
            back = convert(there.payload, name, "canonical")
            assert back.payload == messages_json or there.losses
    failures.report()


@each_row("name", WITH_SIDECAR)
def test_messages_that_were_added_later_are_read(name: str) -> None:
    messages_json, more = (
        to_json(full_conversation()),
        [{"id": "new", "role": "user", "content": "And how old?"}],
    )
    there = convert(messages_json, "canonical", name, carry=True).payload
    added = convert(more, "canonical", name).payload
    if not (is_array(there) and is_array(added)):
        return  # not a list of messages
    back = read([*there, *added], get_format(name)).messages
    assert to_json(back[: len(messages_json)]) == messages_json
    assert [part.text for part in back[-1].parts] == ["And how old?"]  # type: ignore[union-attr]


@each_row("source", HISTORIES)
@each_row("name", sampled(WITH_SIDECAR, 3))
def test_a_request_to_a_model_round_trips_exactly(name: str, source: str) -> None:
    there = convert(HISTORIES[source], source, name, carry=True)
    assert there.lossless
    assert convert(there.payload, name, source).payload == HISTORIES[source]


def test_stale_values_of_an_edited_message_are_reported() -> None:
    messages_json = to_json(full_conversation())
    there = convert(messages_json, "canonical", "ui", carry=True).payload
    there[1]["parts"][0]["text"] = "Something else."
    loaded = read(there, get_format("ui"))
    assert [loss.why for loss in loaded.losses if loss.why == STALE]
    assert loaded.messages[1].parts[0].text == "Something else."  # type: ignore[union-attr]


def test_an_unknown_version_of_the_sidecar_is_reported() -> None:
    message: Json = {"id": "m", "role": "user", "parts": [], "metadata": {"partita": {"version": 9}}}
    loaded = read([message], get_format("ui"))
    assert len(loaded.messages) == 1
    assert "version" in loaded.losses[0].what


@settings(max_examples=100 if FULL else 3)
@given(rest=st.dictionaries(st.text(max_size=5), json_values(), max_size=3))
def test_a_slot_returns_the_stored_value_and_the_original_payload(rest: dict[str, Json]) -> None:
    failures = Failures(len(WITH_SIDECAR))
    for name in WITH_SIDECAR:
        with failures.of(name):
            slot = get_format(name).slot
            assert isinstance(slot, Slot)
            payload = written_conversation(name)
            assert slot.take(slot.put(payload, rest)) == (payload, rest)
    failures.report()


@cache
def written_conversation(name: str) -> Json:
    dump = get_format(name).dump
    assert dump is not None
    return dump(full_conversation()).payload


@given(before=json_values(), after=json_values())
def test_a_patch_converts_the_first_value_into_the_second(before: Json, after: Json) -> None:
    patch = json_patch(before, after)
    assert (before if patch is None else apply_patch(before, patch)) == after


def test_a_patch_is_in_the_json_patch_format() -> None:
    before, after = {"a/b": [1, 2, 3], "c": True, "d": 0}, {"a/b": [1, 4, 5, 3], "c": 1, "e": None}
    assert json_patch(before, after) == [
        {"op": "remove", "path": "/a~1b/1"},
        {"op": "add", "path": "/a~1b/1", "value": 4},
        {"op": "add", "path": "/a~1b/2", "value": 5},
        {"op": "replace", "path": "/c", "value": 1},
        {"op": "remove", "path": "/d"},
        {"op": "add", "path": "/e", "value": None},
    ]
    assert json_patch(before, {"d": 0, "c": True, "a/b": [1, 2, 3]}) is None


VERSION_1: JsonObject = {
    "conversations": [{"from": "human", "value": "How high?"}, {"from": "gpt", "value": "High."}],
    "partita": {
        "version": 1,
        "spans": [
            {
                "of": ["df6eed3888778cac"],
                "patch": {
                    "at": {
                        "0": {
                            "of": {
                                "id": {"is": "u"},
                                "threadId": {"is": "t"},
                                "content": {
                                    "of": {
                                        "parts": {
                                            "at": {
                                                "0": {"of": {"providerMetadata": {"is": {"x": {"a": 1}}}}}
                                            },
                                            "more": [{"type": "data", "name": "n", "data": [1]}],
                                        }
                                    }
                                },
                            }
                        }
                    }
                },
            },
            {
                "of": ["1faaef4da076dbab"],
                "patch": {"at": {"0": {"of": {"id": {"is": "a"}, "parentId": {"is": "u"}}}}},
            },
        ],
    },
}


def test_sidecars_of_version_1_are_read() -> None:
    back = convert(VERSION_1, "sharegpt", "canonical")
    assert back.lossless
    assert (
        back.payload
        == convert(
            [
                {
                    "id": "u",
                    "role": "user",
                    "threadId": "t",
                    "content": [
                        {"type": "text", "text": "How high?", "providerMetadata": {"x": {"a": 1}}},
                        {"type": "data", "name": "n", "data": [1]},
                    ],
                },
                {"id": "a", "role": "assistant", "parentId": "u", "content": "High."},
            ],
            "canonical",
            "canonical",
        ).payload
    )
