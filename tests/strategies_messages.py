"""Lists of UI messages: every kind of part, every state of a tool call, valid and slightly broken."""

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import TypeAlias

from hypothesis import strategies as st

from partita.types.json import Json, JsonObject, is_array, is_object

from .strategies_chunks import Track, Writer
from .strategies_fields import (
    CALL_IDS,
    DATA_IDS,
    DATA_NAMES,
    MEDIA_TYPES,
    MESSAGE_IDS,
    TOOL_NAMES,
    URLS,
    Fields,
    citations,
    input_texts,
    steering_parts,
)
from .strategies_json import json_objects, json_values, provider_metadata, records, texts

# Absolute URLs that a URL parser normalizes.
UNNORMALIZED_URLS = (
    *(
        "HTTPS://EXAMPLE.com/a b",
        "https://exämple.com/ü?ö#ä",
        "https://example.com",
        "https://example.com:443/x",
    ),
    *("http://[::1]/a", "https://a.b/%7e/../c", "data:,x y", "file:///C|/x", "blob:sha256:00", "x:y"),
)
BAD_URLS = ("", "not a url", "/relative", "//host/x", "https://", "https://exa mple.com/", "aGk=")

_STATE: Fields = {"state": st.sampled_from(("streaming", "done"))}
_METADATA: Fields = {"providerMetadata": provider_metadata()}


def _part(kind: str, required: Fields, optional: Fields | None = None) -> st.SearchStrategy[JsonObject]:
    return records({"type": st.just(kind), **required}, optional, bare=True)


@cache
def text_parts() -> st.SearchStrategy[JsonObject]:
    """Text, with citations that only release 7 has."""
    return _part("text", {"text": texts()}, {**_STATE, **_METADATA, "citations": citations()})


@cache
def file_parts() -> st.SearchStrategy[JsonObject]:
    """Files, some with unusual URLs."""
    required: Fields = {
        "url": st.sampled_from((*URLS, *URLS, *UNNORMALIZED_URLS)),
        "mediaType": st.sampled_from(MEDIA_TYPES),
    }
    reference = st.sampled_from(({}, {"openai": "file-1"}))
    return _part("file", required, {**_METADATA, "filename": texts(), "providerReference": reference})


@cache
def data_parts() -> st.SearchStrategy[JsonObject]:
    """Data of an application."""
    kinds = [
        _part(f"data-{name}", {"data": json_values()}, {"id": st.sampled_from(DATA_IDS)})
        for name in DATA_NAMES
    ]
    return st.one_of(kinds)


@cache
def _other_parts(version: int) -> st.SearchStrategy[JsonObject]:
    urls, media_types = st.sampled_from(URLS), st.sampled_from(MEDIA_TYPES)
    document: Fields = {"sourceId": st.just("s2"), "mediaType": media_types, "title": texts()}
    kinds = [
        _part("step-start", {}),
        _part("reasoning", {"text": texts()}, {**_STATE, **_METADATA, "id": st.just("r1")}),
        _part("source-url", {"sourceId": st.just("s1"), "url": urls}, {**_METADATA, "title": texts()}),
        _part("source-document", document, {**_METADATA, "filename": texts()}),
    ]
    if version == 7:
        kinds += [
            _part("reasoning-file", {"url": urls, "mediaType": media_types}, _METADATA),
            _part("custom", {"kind": st.sampled_from(("openai.thing", "no dot"))}, _METADATA),
            _part("steering-message", {"id": st.just("user-1"), "parts": steering_parts()}),
        ]
    return st.one_of(kinds)


# Tool parts. Required and optional fields by state.

_APPROVAL: Fields = {
    "requestReason": texts(),
    "isAutomatic": st.booleans(),
    "descriptor": json_values(2),
    "signature": texts(),
    "inputSchemaInput": json_values(2),
}
_INPUT: Fields = {"input": json_objects() | json_values()}
_RESULT: Fields = {"resultProviderMetadata": provider_metadata()}
_COMMON: Fields = {
    "title": texts(),
    "toolMetadata": json_objects(2),
    "providerExecuted": st.booleans(),
    "callProviderMetadata": provider_metadata(),
}


def _approval(call_id: str, approved: st.SearchStrategy[bool] | None) -> st.SearchStrategy[JsonObject]:
    answer: Fields = {} if approved is None else {"approved": approved}
    reason: Fields = {} if approved is None else {"reason": texts()}
    fixed: Fields = {"id": st.just(f"approval-{call_id}"), **answer}
    return records(fixed, {**_APPROVAL, **reason})


def _state_fields(call_id: str) -> dict[str, tuple[Fields, Fields]]:
    granted: Fields = {"approval": _approval(call_id, st.just(True))}
    encoding = st.sampled_from(("json", "text"))
    return {
        "input-streaming": ({}, {**_INPUT, "rawInput": input_texts(), "inputEncoding": encoding}),
        "input-available": (_INPUT, {}),
        "output-available": (
            {**_INPUT, "output": json_values()},
            {**_RESULT, **granted, "preliminary": st.booleans()},
        ),
        "output-error": ({"errorText": texts()}, {**_RESULT, **granted, **_INPUT, "rawInput": json_values()}),
        "approval-requested": ({**_INPUT, "approval": _approval(call_id, None)}, {}),
        "approval-responded": ({**_INPUT, "approval": _approval(call_id, st.booleans())}, {}),
        "output-denied": ({**_INPUT, "approval": _approval(call_id, st.just(False))}, {}),
    }


STATES = tuple(_state_fields(""))
OLD_STATES = STATES[:4]  # release 5 has no approvals


@cache
def tool_parts(version: int) -> st.SearchStrategy[JsonObject]:
    """Tool calls, static and dynamic, in every state of the release."""
    states = OLD_STATES if version == 5 else STATES
    static = [
        _tool_part(f"tool-{name}", call_id, {}, {}, states)
        for name, call_id in zip(TOOL_NAMES, CALL_IDS, strict=True)
    ]
    names: Fields = {"toolName": st.sampled_from(TOOL_NAMES)}
    unavailable: Fields = {"dynamic": st.just(False)}
    return st.one_of([*static, _tool_part("dynamic-tool", CALL_IDS[0], names, unavailable, states)])


def _tool_part(
    kind: str, call_id: str, required: Fields, optional: Fields, states: tuple[str, ...]
) -> st.SearchStrategy[JsonObject]:
    fields = _state_fields(call_id)
    base: Fields = {"toolCallId": st.just(call_id), **required}
    return st.one_of(
        [
            _part(
                kind,
                {**base, "state": st.just(state), **fields[state][0]},
                {**_COMMON, **optional, **fields[state][1]},
            )
            for state in states
        ]
    )


# Messages


@cache
def _messages(version: int) -> st.SearchStrategy[JsonObject]:
    user_parts = text_parts() | file_parts() | data_parts()
    answered = st.one_of(tool_parts(version), tool_parts(version), user_parts, _other_parts(version))
    parts = {
        "system": st.lists(text_parts() | data_parts(), min_size=1, max_size=2),
        "user": st.lists(user_parts, min_size=1, max_size=3),
        "assistant": st.lists(answered, max_size=5),
    }
    return st.one_of([_message(role, parts[role]) for role in ("user", "assistant", "assistant", "system")])


def _message(role: str, parts: st.SearchStrategy[list[JsonObject]]) -> st.SearchStrategy[JsonObject]:
    fixed: Fields = {"id": st.sampled_from(MESSAGE_IDS), "role": st.just(role), "parts": parts}
    return records(fixed, {"metadata": json_objects() | json_values(2)})


@cache
def ui_messages(version: int, *, valid: bool | None = None) -> st.SearchStrategy[Json]:
    """Lists of messages that a release accepts, or such lists with a few errors, or both."""
    messages = st.lists(_messages(version), min_size=1, max_size=3)
    match valid:
        case True:
            return messages
        case False:
            return _broken_messages(version)
        case None:
            return messages | _broken_messages(version)


@st.composite
def continued_message(draw: st.DrawFn, version: int) -> JsonObject:
    """A message for a stream to continue: a mostly unfinished assistant message, or a user message."""
    message = deepcopy(draw(_messages(version).filter(lambda message: message["role"] != "system")))
    if "metadata" in message:
        message["metadata"] = draw(json_objects())  # merging into a scalar is a TypeError
    return message


@st.composite
def continued_streams(draw: st.DrawFn, version: int) -> tuple[JsonObject, Track]:
    """A message and a valid stream that continues it and its open calls."""
    message = draw(continued_message(version))
    writer = Writer(draw, version, message["id"])
    if message["role"] == "assistant":
        _defer_calls(draw, writer, message["parts"])
    return message, writer.stream(max_steps=2)


def _defer_calls(draw: st.DrawFn, writer: Writer, parts: Track) -> None:
    steps = [index for index, part in enumerate(parts) if part["type"] == "step-start"]
    for index, part in enumerate(parts):
        if "toolCallId" not in part:
            continue
        call_id, in_last_step = part["toolCallId"], index > max(steps, default=-1)
        match part["state"]:
            case "input-streaming" if in_last_step:
                writer.defer(writer.input_deltas(call_id, draw(input_texts())))
            case "approval-requested" | "approval-responded" if writer.version == 7:
                approval: JsonObject = {"approvalId": part["approval"]["id"], "approved": draw(st.booleans())}
                writer.defer([{"type": "tool-approval-response", **approval}])
            case _:
                writer.defer(writer.outcome(call_id, {"dynamic": part["type"] == "dynamic-tool"}))


# Broken messages

INVALID: tuple[Json, ...] = (None, True, 0, "", "x", [], ["x"], {}, {"x": 1}, {"x": {"y": 1}})
ROLES = ("tool", "data", "function", "", None, 1)
PART_TYPES = (
    "tool",
    "tool-",
    "dynamic-tool",
    "tool-invocation",
    "source",
    "image",
    "data",
    "Text",
    "",
    None,
    1,
)
FORBIDDEN_FIELDS = ("approval", "output", "errorText", "state", "input", "toolName", "dynamic", "preliminary")
NOT_MESSAGES: tuple[Json, ...] = (None, {}, "x", 1, [], [None], [[]], ["x"], [{}])
ONLY_IN_7: tuple[JsonObject, ...] = (
    {"type": "custom", "kind": "a.b"},
    {"type": "reasoning-file", "mediaType": "image/png", "url": URLS[0]},
    {"type": "steering-message", "id": "user-1", "parts": []},
)


def _copies(values: tuple[Json, ...]) -> st.SearchStrategy[Json]:
    """A copy of one of the values, which can be changed without changing the table."""
    return st.sampled_from(values).map(deepcopy)


Break: TypeAlias = Callable[[st.DrawFn, JsonObject], None]


@st.composite
def _broken_messages(draw: st.DrawFn, version: int) -> Json:
    if draw(st.integers(0, 15)) == 15:
        return draw(_copies(NOT_MESSAGES))
    messages: list[JsonObject] = deepcopy(draw(ui_messages(version, valid=True)))
    for _ in range(draw(st.integers(1, 2))):
        message = draw(st.sampled_from(messages))
        parts = message.get("parts")
        if is_array(parts) and parts and draw(st.integers(0, 3)) > 0:
            _break_part(draw, parts)
        else:
            draw(st.sampled_from(BREAK_MESSAGE))(draw, message)
    return messages


def _break_part(draw: st.DrawFn, parts: list[Json]) -> None:
    place = draw(st.integers(0, len(parts) - 1))
    if not is_object(parts[place]) or draw(st.integers(0, 7)) == 7:
        parts[place] = draw(_copies((*INVALID, *ONLY_IN_7)))
    else:
        draw(st.sampled_from(BREAK_PART))(draw, parts[place])


def _drop_field(draw: st.DrawFn, value: JsonObject) -> None:
    if value:
        del value[draw(st.sampled_from(sorted(value)))]


def _spoil_field(draw: st.DrawFn, value: JsonObject) -> None:
    if value:
        value[draw(st.sampled_from(sorted(value)))] = draw(_copies(INVALID))


def _add_field(draw: st.DrawFn, value: JsonObject) -> None:
    value[draw(st.sampled_from(("extra", "content", "createdAt")))] = draw(json_values(2))


def _spoil_role(draw: st.DrawFn, message: JsonObject) -> None:
    message["role"] = draw(st.sampled_from(ROLES))


def _empty_parts(_: st.DrawFn, message: JsonObject) -> None:
    message["parts"] = []


def _spoil_type(draw: st.DrawFn, part: JsonObject) -> None:
    part["type"] = draw(st.sampled_from(PART_TYPES))


def _spoil_state(draw: st.DrawFn, part: JsonObject) -> None:
    part["state"] = draw(st.sampled_from((*STATES, "partial-call", "done", "")))


def _spoil_url(draw: st.DrawFn, part: JsonObject) -> None:
    part["url"] = draw(st.sampled_from(BAD_URLS))


def _add_forbidden(draw: st.DrawFn, part: JsonObject) -> None:
    """Add a field that is not allowed in the state of the part."""
    part[draw(st.sampled_from(FORBIDDEN_FIELDS))] = draw(_copies(INVALID))


BREAK_MESSAGE: tuple[Break, ...] = (_drop_field, _spoil_field, _add_field, _spoil_role, _empty_parts)
BREAK_PART: tuple[Break, ...] = (
    _drop_field,
    _spoil_field,
    _add_field,
    _spoil_type,
    _spoil_state,
    _spoil_url,
    _add_forbidden,
)
