"""Properties of model messages of AI SDK 4 to 7 and canonical messages."""

import copy
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from partita.errors import ConversionError
from partita.formats.ai_sdk.convert import convert_to_model_messages
from partita.formats.ai_sdk.model.format import dump, load
from partita.formats.ai_sdk.ui import format as ui
from partita.types.codec import read_message, to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import Message, SystemMessage, ToolMessage, derive_type, text_of
from partita.types.parts import SteeringMessagePart
from tests import canonical
from tests.strategies import ui_messages
from tests.strategies_model import URLS, VALUES, model_messages
from tests.tables import each_row

VERSIONS = (4, 5, 6, 7)


@pytest.mark.parametrize("version", [5, 6, 7])
@given(data=st.data())
def test_ui_messages_become_what_the_sdk_converts_them_to(version: Any, data: st.DataObject) -> None:
    try:
        messages = ui.load(data.draw(ui_messages(version))).messages
    except ConversionError:
        reject()
    # Versions 5 and 6 have no steering messages: the SDK drops them, `dump` writes them as user messages.
    steering = [part for one in messages for part in one.parts if isinstance(part, SteeringMessagePart)]
    assume(version == 7 or not steering)
    try:
        converted = convert_to_model_messages(
            ui.dump(messages, version, repair=False).payload, version=version
        )
    except ConversionError:
        assert dump(messages, version).losses  # what the SDK refuses is dropped and reported
    else:
        assert dump(messages, version).payload == converted


INPUTS: list[Json] = ["null", None, "", "{}", '{"a', {}, [], 7, {"a": 1}]


@each_row("version", [5, 6, 7])
@each_row("state", ["input-streaming", "output-error"])
@each_row("kind", [{"type": "tool-x"}, {"type": "dynamic-tool", "toolName": "x"}])
def test_a_call_with_two_inputs_is_converted_as_by_the_sdk(
    version: Any, state: str, kind: JsonObject
) -> None:
    ended = {"errorText": "no rain"} if state == "output-error" else {}
    for raw, given_ in itertools.product([None, *INPUTS], INPUTS):
        part = {**kind, "toolCallId": "c", "state": state, "rawInput": raw, "input": given_, **ended}
        payload: list[JsonObject] = [{"id": "m1", "role": "assistant", "parts": [part]}]
        dumped = dump(ui.load(payload).messages, version)
        assert dumped.payload == convert_to_model_messages(payload, version=version), part
        if raw is not None and given_ is not None:  # only one of them is written
            paths = [loss.path for loss in dumped.losses]
            assert any(path.startswith("$[0].content.parts[0]") for path in paths), part


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_differences_after_a_round_trip_are_reported_by_dump(version: int, data: st.DataObject) -> None:
    # The texts of a system message are joined.
    message = data.draw(
        _canonical_messages(version).filter(lambda message: not isinstance(message, SystemMessage))
    )
    dumped = dump([message], version)
    reported = [loss.path for loss in dumped.losses]
    again = load(dumped.payload, version).messages
    if "$[0]" in reported:
        assert dumped.payload == []
        return
    assert len(again) == 1
    assert list(_missing(_without_parts(message), to_json(again[0]), "$[0]", reported)) == []
    arrived = [(path, part) for path, part in _parts(message) if path not in reported]
    read = _parts(again[0])
    if to_json(message)["content"].get("networkExecution") is not None:
        read.pop()  # drawn as a call
    assert len(read) == len(arrived)
    for (path, before), (_, after) in zip(arrived, read, strict=True):
        assert list(_missing(before, after, path, reported)) == []


def _without_parts(message: Message) -> JsonObject:
    """Return the members of a message besides its parts, without a type and a text that follow from them."""
    plain: JsonObject = to_json(message)
    del plain["content"]["parts"]
    if message.content.content == text_of(message):
        plain["content"].pop("content", None)
    if message.type == ("tool" if isinstance(message, ToolMessage) else derive_type(message.parts)):
        del plain["type"]
    return plain


def _parts(message: Message) -> list[tuple[str, JsonObject]]:
    """Return the parts with their paths, except step starts."""
    parts: list[JsonObject] = to_json(message)["content"]["parts"]
    paths = ((f"$[0].content.parts[{index}]", part) for index, part in enumerate(parts))
    return [(path, part) for path, part in paths if part["type"] != "step-start"]


def _missing(before: Json, after: Json, path: str, reported: Sequence[str]) -> Iterator[str]:
    """Return the leaves that differ and that no loss reports."""
    if path in reported or before == after:
        return
    if is_object(before) and before.get("approval") is not None:
        # A state follows from the approval, or is lost with it.
        before = {key: item for key, item in before.items() if key != "state"}
    if is_object(before) and is_object(after) and before.get("type") == "image" != after.get("type"):
        # The name of an image becomes the name of a file, and the type is reported.
        before = {key: item for key, item in before.items() if (key, item) != ("name", after.get("filename"))}
    if path.endswith(".resultMessage") and after is None and f"{path}.id" in reported:
        return  # the tool message of the result is not kept
    if path.endswith(".resultMessage.content.content") and before == "":
        return  # it repeats the parts, and there are none
    if is_object(before) and is_object(after):
        for key, item in before.items():
            yield from _missing(item, after.get(key), f"{path}.{key}", reported)
    elif is_array(before) and is_array(after) and len(before) == len(after):
        for index, (item, other) in enumerate(zip(before, after, strict=True)):
            yield from _missing(item, other, f"{path}[{index}]", reported)
    else:
        yield path


@st.composite
def _canonical_messages(draw: DrawFn, version: int) -> Message:
    """Canonical messages whose files have content, without steering messages."""
    plain = to_json(draw(canonical.messages()))
    steering = "steering-message"
    plain["content"]["parts"] = [part for part in plain["content"]["parts"] if part.get("type") != steering]
    urls = draw(st.lists(URLS, min_size=1, max_size=3))
    for index, part in enumerate(_objects(plain)):
        if part.get("type") in ("file", "image", "reasoning-file"):
            part["url"] = urls[index % len(urls)]
        if part.get("state") == "input-streaming":
            part.pop("approval", None)  # a response to a request that is not sent
            part["state"] = "input-available" if version == 5 else "input-streaming"
        if part.get("input") is None:
            part.pop("rawInput", None)  # it is written as the input
    return read_message(plain)


def _objects(value: Json) -> Iterator[JsonObject]:
    if is_object(value):
        yield value
    items = value.values() if is_object(value) else value if is_array(value) else ()
    for item in items:
        yield from _objects(item)


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_reordered_or_broken_messages_round_trip_or_are_reported(version: int, data: st.DataObject) -> None:
    payload = data.draw(_damaged(version))
    try:
        loaded = load(payload, version)
        dumped = dump(loaded.messages, version)
    except ConversionError:
        return
    assert dumped.payload == payload or loaded.losses or dumped.losses


@st.composite
def _damaged(draw: DrawFn, version: int) -> Json:
    """Messages of a version, shuffled, mixed with those of another, or with broken values."""
    payload = draw(model_messages(version))
    if draw(st.booleans()):
        payload = copy.deepcopy(payload + draw(model_messages(draw(st.sampled_from(VERSIONS)))))
    if draw(st.booleans()):
        payload = draw(st.permutations(payload))
    for message in payload:
        if is_array(message["content"]) and draw(st.booleans()):
            message["content"] = draw(st.permutations(message["content"]))
    places = list(_places(payload))
    for holder, key in draw(st.lists(st.sampled_from(places), max_size=2)) if places else ():
        holder[key] = draw(VALUES)
    return payload


def _places(value: Json) -> Iterator[tuple[Any, Any]]:
    """Return every place in a JSON value: the container and the key."""
    for key, item in value.items() if is_object(value) else enumerate(value):
        yield value, key
        if is_object(item) or is_array(item):
            yield from _places(item)
