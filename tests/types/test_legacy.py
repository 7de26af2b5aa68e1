"""Legacy messages are read with a warning and converted to messages by role, without losses."""

import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from partita.errors import DecodeError
from partita.types.codec import encode, read_message, to_json
from partita.types.json import Json, JsonObject, loads, walk
from partita.types.legacy import (
    LegacyImage,
    LegacyMessage,
    LegacyText,
    LegacyToolCall,
    decode_legacy,
    read_legacy,
    upgrade,
)
from partita.types.messages import AssistantMessage, ToolCallPart, UserMessage
from tests.canonical import json_values, texts, values_of
from tests.tables import each_row

TIME = "2025-03-04T05:06:07.089Z"
MOMENT = datetime(2025, 3, 4, 5, 6, 7, 89000, tzinfo=UTC)
IMAGE = {"type": "image", "data": "iVBORw0KGgo=", "mediaType": "image/png", "name": "dot"}


@contextmanager
def quietly() -> Generator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def old(role: str, content: Json, **fields: Json) -> JsonObject:
    return {"id": "m1", "role": role, "content": content, "timestamp": TIME, **fields}


def upgraded(legacy: JsonObject) -> JsonObject:
    with quietly():
        result: JsonObject = to_json(upgrade(read_legacy(legacy)))
    return result


PARTS: dict[str, tuple[str, Json, JsonObject]] = {
    "a string": ("user", "hi", {"type": "text", "text": "hi"}),
    "text": ("system", {"type": "text", "text": "hi"}, {"type": "text", "text": "hi"}),
    "an unknown field of a content": (
        "user",
        {"type": "text", "text": "hi", "lang": "en"},
        {"type": "text", "text": "hi", "lang": "en"},
    ),
    "an unknown field with the name of a current field": (
        "user",
        {"type": "text", "text": "hi", "state": 7},
        {"type": "text", "text": "hi", "foreign:state": 7},
    ),
    "base64 becomes a data url": (
        "user",
        IMAGE,
        {
            "type": "image",
            "url": "data:image/png;base64,iVBORw0KGgo=",
            "mediaType": "image/png",
            "name": "dot",
        },
    ),
    "a url stays": (
        "assistant",
        {**IMAGE, "data": "https://example.org/a.png"},
        {"type": "image", "url": "https://example.org/a.png", "mediaType": "image/png", "name": "dot"},
    ),
    "a data url stays": (
        "user",
        {"type": "file", "data": "data:text/plain,hi", "mediaType": "text/plain", "filename": "a.txt"},
        {"type": "file", "url": "data:text/plain,hi", "mediaType": "text/plain", "filename": "a.txt"},
    ),
    "base64 with line breaks": (
        "user",
        {"type": "file", "data": "aGk\nhIQ==\n", "mediaType": "text/plain"},
        {"type": "file", "url": "data:text/plain;base64,aGk\nhIQ==\n", "mediaType": "text/plain"},
    ),
    "a path is not base64": (
        "user",
        {"type": "file", "data": "/files/a.txt", "mediaType": "text/plain"},
        {"type": "file", "url": "/files/a.txt", "mediaType": "text/plain"},
    ),
    "thinking": (
        "assistant",
        {"type": "thinking", "reasoning": "hm", "tokenCount": 4},
        {"type": "reasoning", "text": "hm", "tokenCount": 4},
    ),
    "a tool call": (
        "assistant",
        {"type": "tool-call", "id": "c", "name": "look", "input": {"at": "sky"}},
        {
            "type": "tool-call",
            "id": "c",
            "name": "look",
            "state": "input-available",
            "input": {"at": "sky"},
        },
    ),
    "an unknown type": ("tool", {"type": "hologram", "x": 1}, {"type": "hologram", "x": 1}),
}


@each_row(("role", "content", "part"), PARTS.values(), ids=PARTS)
def test_content_becomes_one_part(role: str, content: Json, part: JsonObject) -> None:
    message = upgraded(old(role, content))
    assert message["role"] == role
    assert message["content"] == {"format": 2, "parts": [part]}


OUTPUTS: dict[str, tuple[Json, JsonObject]] = {
    "typed text": ({"type": "text", "value": "ok"}, {"type": "text", "value": "ok"}),
    "a typed error": ({"type": "error-json", "value": [1]}, {"type": "error-json", "value": [1]}),
    "denied": ({"type": "execution-denied"}, {"type": "execution-denied"}),
    "legacy items of a content": (
        {"type": "content", "value": [{"type": "text", "text": "a", "n": 1}, IMAGE], "more": 2},
        {
            "type": "content",
            "value": [
                {"type": "text", "text": "a", "n": 1},
                {
                    "type": "image",
                    "url": "data:image/png;base64,iVBORw0KGgo=",
                    "mediaType": "image/png",
                    "name": "dot",
                },
            ],
            "more": 2,
        },
    ),
    "current items of a content": (
        {"type": "content", "value": [{"type": "image", "url": "https://example.org/a.png"}]},
        {"type": "content", "value": [{"type": "image", "url": "https://example.org/a.png"}]},
    ),
    "plain text of older data": ("ok", {"type": "text", "value": "ok"}),
    "any JSON of older data": ({"rows": [1]}, {"type": "json", "value": {"rows": [1]}}),
    "null": (None, {"type": "json", "value": None}),
    "JSON that only looks typed": (
        {"type": "text", "body": "x"},
        {"type": "json", "value": {"type": "text", "body": "x"}},
    ),
}


@each_row(("output", "expected"), OUTPUTS.values(), ids=OUTPUTS)
def test_a_tool_result_becomes_a_tool_message(output: Json, expected: JsonObject) -> None:
    content = {"type": "tool-result", "id": "c", "name": "look", "output": output}
    message = upgraded(old("tool", content))
    assert message["role"] == "tool"
    assert message["type"] == "tool"
    assert message["content"]["parts"] == [
        {"type": "tool-result", "id": "c", "name": "look", "output": expected}
    ]


def test_an_assistant_with_a_tool_result_becomes_a_tool_message_too() -> None:
    content = {"type": "tool-result", "id": "c", "name": "look", "output": "ok"}
    message = upgraded(old("assistant", content))
    assert (message["role"], message["foreign:role"]) == ("tool", "assistant")


USAGES: dict[str, tuple[JsonObject, JsonObject]] = {
    "short names": (
        {"input": 3, "output": 4, "total": 7},
        {"inputTokens": 3, "outputTokens": 4, "totalTokens": 7},
    ),
    "current names": (
        {"inputTokens": 3, "cachedInputTokens": 1},
        {"inputTokens": 3, "cachedInputTokens": 1},
    ),
    "older names": (
        {"promptTokens": 3, "completionTokens": 4},
        {"inputTokens": 3, "outputTokens": 4},
    ),
    "an unknown name": ({"input": 3, "cost": 0.1}, {"inputTokens": 3, "cost": 0.1}),
    "two names for one count": (
        {"input": 3, "promptTokens": 5},
        {"inputTokens": 3, "promptTokens": 5},
    ),
    "not a count": ({"outputTokens": "many"}, {"foreign:outputTokens": "many"}),
    "nothing": ({}, {}),
}


@each_row(("usage", "expected"), USAGES.values(), ids=USAGES)
def test_usage_of_an_assistant_is_read(usage: JsonObject, expected: JsonObject) -> None:
    assert upgraded(old("assistant", "x", usage=usage))["content"]["usage"] == expected


def test_usage_of_other_roles_is_kept() -> None:
    assert upgraded(old("user", "x", usage={"input": 3}))["usage"] == {"input": 3}


def test_members_of_a_message_are_converted() -> None:
    message = upgraded(old("user", "x", parentId="m0", mood="fine", seq="first"))
    assert message == {
        "role": "user",
        "id": "m1",
        "type": "text",
        "createdAt": "2025-03-04T05:06:07.089000Z",
        "parentId": "m0",
        "content": {"format": 2, "parts": [{"type": "text", "text": "x"}]},
        "mood": "fine",
        "foreign:seq": "first",
    }


ILLEGAL: dict[str, tuple[str, Json, str]] = {
    "a call by a user": (
        "user",
        {"type": "tool-call", "id": "c", "name": "n", "input": {}},
        "user message 'm1' holds tool-call (at $.content); "
        "hint: the role user holds text, an image or a file: correct the role or the content",
    ),
    "a result by a user": (
        "user",
        {"type": "tool-result", "id": "c", "name": "n", "output": "x"},
        "user message 'm1' holds tool-result",
    ),
    "thinking by a user": (
        "user",
        {"type": "thinking", "reasoning": "x"},
        "user message 'm1' holds thinking",
    ),
    "an image by the system": ("system", IMAGE, "system message 'm1' holds image"),
    "a text by a tool": ("tool", "x", "tool message 'm1' holds text"),
}


@each_row(("role", "content", "text"), ILLEGAL.values(), ids=ILLEGAL)
def test_content_that_a_role_may_not_have_is_refused(role: str, content: Json, text: str) -> None:
    with quietly():
        legacy = read_legacy(old(role, content))
    with pytest.raises(DecodeError) as caught:
        upgrade(legacy)
    assert str(caught.value).startswith(text)


UNREADABLE: dict[str, tuple[JsonObject, str]] = {
    "not a time": ({"id": "1", "role": "user", "content": "x"}, "missing field `timestamp`"),
    "a time without a zone": (old("user", "x") | {"timestamp": "2025-03-04"}, "expected time with a zone"),
    "a role that does not exist": (old("robot", "x"), "expected 'system' or 'user'"),
    "two contents": (old("user", [{"type": "text", "text": "x"}]), "expected object or string, found array"),
    "a current type": (
        old("assistant", {"type": "reasoning", "text": "x"}),
        "'reasoning' is not allowed here",
    ),
    "a content without its field": (old("user", {"type": "text"}), "missing field `text` (at $.content)"),
}


@each_row(("value", "text"), UNREADABLE.values(), ids=UNREADABLE)
def test_invalid_messages_are_refused(value: JsonObject, text: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_legacy(value)
    assert text in str(caught.value)


WAYS: dict[str, Callable[[], LegacyMessage]] = {
    "made": lambda: LegacyMessage(id="m1", role="user", content="x", timestamp=MOMENT),
    "read": lambda: read_legacy(old("user", "x")),
    "decoded": lambda: decode_legacy(
        b'{"id":"m1","role":"user","content":"x","timestamp":"%s"}' % TIME.encode()
    ),
}


@each_row("way", WAYS.values(), ids=WAYS)
def test_every_legacy_message_warns_at_the_line_that_created_it(way: Callable[[], LegacyMessage]) -> None:
    match = r"removed in version 1\.0: use SystemMessage, UserMessage.*upgrade\(\)"
    with pytest.warns(DeprecationWarning, match=match) as caught:
        message = way()
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with quietly():
        assert message == LegacyMessage(id="m1", role="user", content="x", timestamp=MOMENT)


def test_a_legacy_message_with_unknown_fields_warns_once() -> None:
    with pytest.warns(DeprecationWarning, match="LegacyMessage") as caught:
        read_legacy(old("user", "x", mood="fine"))
    assert len(caught) == 1


def test_the_names_are_deprecated_for_type_checkers() -> None:
    for name in (LegacyMessage, decode_legacy, read_legacy, upgrade):
        assert "Removed in version 1.0" in name.__deprecated__  # type: ignore[union-attr] # set by @deprecated


def test_upgrading_does_not_warn_again() -> None:
    with quietly():
        legacy = read_legacy(old("user", "x"))
    assert isinstance(upgrade(legacy), UserMessage)


def test_a_legacy_message_can_be_constructed() -> None:
    with quietly():
        legacy = LegacyMessage(
            id="m1",
            role="assistant",
            content=LegacyToolCall(id="c", name="look", input={"at": "sky"}),
            timestamp=MOMENT.astimezone(timezone(timedelta(hours=2))),
        )
    message = upgrade(legacy)
    assert isinstance(message, AssistantMessage)
    assert message.created_at == MOMENT
    assert message.parts == (ToolCallPart(id="c", name="look", state="input-available", input={"at": "sky"}),)


@st.composite
def legacy_messages(draw: st.DrawFn) -> JsonObject:
    """Stored legacy messages, with unknown fields at every level and outputs of any version."""
    with quietly():
        message: JsonObject = to_json(draw(values_of(LegacyMessage)))
    content = message["content"]
    if draw(st.booleans()) and isinstance(content, dict) and content["type"] == "tool-result":
        items = [LegacyText(text=draw(texts())), LegacyImage(data=draw(texts()), media_type="image/png")]
        content["output"] = {"type": "content", "value": to_json(items)}
    message["usage"] = draw(st.dictionaries(st.sampled_from(USAGE_KEYS), COUNTS, max_size=4))
    names = st.sampled_from(["role", "type", "seq", "state", "x"])
    return draw(st.dictionaries(names, json_values(), max_size=2)) | message


USAGE_KEYS = ["input", "output", "total", "promptTokens", "inputTokens", "raw", "cost"]
COUNTS = st.integers(0, 9) | st.floats(0, 1) | st.none() | st.text(max_size=3) | st.booleans()


@given(legacy_messages())
def test_every_leaf_is_kept(legacy: JsonObject) -> None:
    """Each leaf is found unchanged, or at the end of a data URL."""
    with quietly():
        read = read_legacy(legacy)
    assume(is_legal(read))
    message = upgrade(read)
    found = [leaf for _, leaf in walk(loads(encode(message)))]
    for path, leaf in walk(legacy):
        if path == "$.timestamp" or (path, leaf) == ("$.content.type", "thinking"):
            continue
        assert place_of(leaf, found) is not None, path
        del found[place_of(leaf, found) or 0]
    assert message.created_at == datetime.fromisoformat(legacy["timestamp"])
    assert read_message(to_json(message)) == message


def is_legal(legacy: LegacyMessage) -> bool:
    try:
        upgrade(legacy)
    except DecodeError:
        return False
    return True


def place_of(leaf: Json, found: list[Json]) -> int | None:
    """Return the index of a leaf or of a data URL that ends with it. Unlike in Python, 1 is not true."""
    same = (place for place, other in enumerate(found) if type(leaf) is type(other) and leaf == other)
    urls = (place for place, other in enumerate(found) if is_data_url_of(leaf, other))
    return next(same, next(urls, None))


def is_data_url_of(data: Json, url: Json) -> bool:
    return isinstance(data, str) and isinstance(url, str) and url.startswith("data:") and url.endswith(data)
