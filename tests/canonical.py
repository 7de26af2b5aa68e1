"""Hypothesis strategies for canonical values, derived from their types, so that new fields are included."""

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from msgspec import UnsetType

from partita.types.chunks import (
    DATA_PREFIX,
    AgentStreamEvent,
    ChildChunk,
    ChildMessage,
    Chunk,
    DataChunk,
    UnknownChunk,
)
from partita.types.json import Json, JsonObject, is_array, is_object, join_surrogates
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    MessageBase,
    Part,
    SystemContent,
    SystemPart,
    ToolCallPart,
    ToolContent,
    ToolMessage,
    ToolPart,
    UserContent,
    UserPart,
)
from partita.types.parts import ForeignPart, StepStartPart, ToolOutput, ToolResultPart, UnknownPart
from partita.types.threads import Run, Thread
from partita.types.tool_results import state_after, state_before
from partita.types.value import EXTRA_NAME, Extra, Value
from tests.strategies_json import json_trees, records


@dataclass(frozen=True)
class Options:
    """Options of the drawn values."""

    unknown: bool = True  # unknown fields, unknown and foreign parts, unknown chunks
    surrogates: bool = False  # lone surrogates in strings
    coherent: bool = False  # the state of a call is consistent with its approval and its output
    depth: int = 2  # levels of nested messages or chunks


ANYTHING = Options()
KNOWN = Options(unknown=False)
BROKEN_STRINGS = Options(surrogates=True)
COHERENT = Options(unknown=False, coherent=True)

DEEPER = {"children", "result_message", "network_execution", "final_result", "messages", "tool_calls"}
"""Optional fields that contain messages."""

PARTS: Mapping[str, Any] = {
    "system": SystemPart,
    "user": UserPart,
    "assistant": AssistantPart,
    "tool": ToolPart,
}
WEIGHTS: Mapping[Any, int] = {
    **dict.fromkeys((SystemContent, UserContent, AssistantContent, ToolContent), 4),
    ToolCallPart: 10,
    ToolResultPart: 4,
    StepStartPart: 3,
    AssistantMessage: 3,
}
"""Weights of members of a union: calls are drawn most often."""

CALL_IDS = ("c1", "c2", "c3", "call é")
ZONES = (UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-8)))
UNKNOWN_NAMES = ("future", "x-note", "snake_case", "naïve ключ", "")


def messages(options: Options = ANYTHING) -> SearchStrategy[Message]:
    """Messages of every role."""
    return values_of(Message, options)


def assistant_messages(options: Options = ANYTHING) -> SearchStrategy[AssistantMessage]:
    """Assistant messages, with calls in every state."""
    return values_of(AssistantMessage, options)


def parts(role: str, options: Options = ANYTHING) -> SearchStrategy[Part]:
    """The parts that a role may have."""
    return values_of(PARTS[role], options)


def tool_outputs(options: Options = ANYTHING) -> SearchStrategy[ToolOutput]:
    """The seven kinds of tool output."""
    return values_of(ToolOutput, options)


def chunks(options: Options = ANYTHING) -> SearchStrategy[Chunk]:
    """Every chunk of the stream."""
    return values_of(Chunk, options)


def agent_events(options: Options = ANYTHING) -> SearchStrategy[AgentStreamEvent]:
    """Events of an agent service."""
    return values_of(AgentStreamEvent, options)


def threads(options: Options = ANYTHING) -> SearchStrategy[Thread]:
    """Conversations."""
    return values_of(Thread, options)


def runs(options: Options = ANYTHING) -> SearchStrategy[Run]:
    """Runs."""
    return values_of(Run, options)


@cache
def texts(options: Options = ANYTHING) -> SearchStrategy[str]:
    """Strings in any script, with surrogates joined, because JSON cannot represent adjacent lone ones."""
    if not options.surrogates:
        return st.text(max_size=8)
    return _made(join_surrogates, st.text("a€😀\ud83d\ude00\udfff", max_size=6))


@cache
def json_values(options: Options = ANYTHING) -> SearchStrategy[Json]:
    """Small JSON values."""
    words = texts(options)
    leaves = (
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        words,
    )
    return json_trees(leaves, words, 3, 2)


@cache
def moments() -> SearchStrategy[datetime]:
    """Aware datetimes, not all in UTC."""
    first, last = datetime(1970, 1, 2), datetime(2200, 1, 1)  # noqa: DTZ001 # hypothesis adds the zone
    return st.datetimes(first, last, timezones=st.sampled_from(ZONES))


@st.composite
def junk_fields(draw: DrawFn, value: Json, options: Options = ANYTHING) -> Json:
    """A copy of a JSON value with unknown fields in some of its objects."""

    def with_junk(value: Json) -> Json:
        if is_array(value):
            return [with_junk(item) for item in value]
        if not is_object(value):
            return value
        # File ids by provider are strings under any name, so an unknown field would be an error there.
        copy: JsonObject = {
            key: item if key == "providerReference" else with_junk(item) for key, item in value.items()
        }
        junk = draw(_unknown_fields(options)) if draw(_FLAGS) else {}
        return junk | copy

    return with_junk(value)


_FLAGS = st.booleans()


@cache
def _unknown_fields(options: Options) -> SearchStrategy[JsonObject]:
    return _mappings(st.sampled_from(UNKNOWN_NAMES), json_values(options), 1)


@st.composite
def _mappings(
    draw: DrawFn, keys: SearchStrategy[str], values: SearchStrategy[Any], min_size: int = 0
) -> dict[str, Any]:
    return {draw(keys): draw(values) for _ in range(draw(_SIZES[min_size]))}


_SIZES = (st.integers(0, 2), st.integers(1, 2))
_LENGTHS = st.integers(0, 3)


@st.composite
def _tuples(draw: DrawFn, items: SearchStrategy[Any]) -> tuple[Any, ...]:
    return tuple([draw(items) for _ in range(draw(_LENGTHS))])


@st.composite
def _members_of(draw: DrawFn, members: SearchStrategy[Any], options: Options) -> Any:
    return draw(values_of(draw(members), options))


@st.composite
def _made(draw: DrawFn, make: Callable[[Any], Any], values: SearchStrategy[Any]) -> Any:
    """Return `values.map(make)` in a faster form."""
    return make(draw(values))


@cache
def values_of(type_: Any, options: Options = ANYTHING) -> SearchStrategy[Any]:
    """Values of any type that a field may have."""
    simple: Mapping[Any, SearchStrategy[Any]] = {
        Any: json_values(options),
        str: texts(options),
        int: st.integers(),
        float: st.floats(allow_nan=False, allow_infinity=False),
        bool: st.booleans(),
    }
    if type_ in simple:
        return simple[type_]
    match get_origin(type_):
        case origin if origin is Literal:
            return st.sampled_from(get_args(type_))
        case origin if origin is Annotated:
            return moments()
        case origin if origin in (Union, types.UnionType):
            members = [member for m in _members(type_, options) for member in [m] * WEIGHTS.get(m, 1)]
            return _members_of(st.sampled_from(members), options)
        case origin if origin is tuple:
            return _tuples(values_of(get_args(type_)[0], options))
        case origin if origin is dict:
            return _mappings(texts(options), values_of(get_args(type_)[1], options))
        case _:
            return _values(type_, options)


def _members(type_: Any, options: Options) -> list[Any]:
    """Return the members of a union to draw from, without absence, which is drawn by omitting a field."""
    left_out: set[Any] = {type(None), UnsetType}
    if not options.unknown:
        left_out |= {UnknownPart, UnknownChunk, ForeignPart}
    if options.depth == 0:
        left_out |= {ChildChunk, ChildMessage}
    return [member for member in get_args(type_) if member not in left_out]


def _values(type_: type[Value], options: Options) -> SearchStrategy[Any]:
    if type_ is UnknownPart or type_ is UnknownChunk:
        return _unknown_values(type_, options)
    required: dict[str, SearchStrategy[Any]] = {}
    optional: dict[str, SearchStrategy[Any]] = {}
    for field in msgspec.structs.fields(type_):
        if field.encode_name == EXTRA_NAME:
            if options.unknown:
                optional["extra"] = _made(Extra, _unknown_fields(options))
        elif field.required:
            required[field.name] = _field(field.name, field.type, options)
        elif field.name not in DEEPER or options.depth > 0:
            optional[field.name] = _field(field.name, field.type, options)
    if issubclass(type_, MessageBase):
        required["id"] = st.text("abcé-", min_size=1, max_size=6)
    if type_ is DataChunk:
        required["type"] = texts(options).map(DATA_PREFIX.__add__)
    if type_ in (ToolCallPart, ToolResultPart):
        required["id"] = st.sampled_from(CALL_IDS)
    fields = records(required, optional)
    if type_ is ToolCallPart and options.coherent:
        return _made(lambda drawn: _coherent(ToolCallPart(**drawn)), fields)
    return _made(lambda drawn: type_(**drawn), fields)


def _field(name: str, type_: Any, options: Options) -> SearchStrategy[Any]:
    if name == "result_message":
        return values_of(ToolMessage, replace(options, depth=0)).map(_without_parts)
    if name in DEEPER or name in ("chunk", "message"):
        return values_of(type_, replace(options, depth=max(options.depth - 1, 0)))
    return values_of(type_, options)


def _without_parts(message: ToolMessage) -> ToolMessage:
    return msgspec.structs.replace(message, content=msgspec.structs.replace(message.content, parts=()))


def _coherent(call: ToolCallPart) -> ToolCallPart:
    if call.output is not None:
        return msgspec.structs.replace(call, state=state_after(call.output))
    return msgspec.structs.replace(
        call, state=state_before(call), result_message=None, result_provider_metadata=None
    )


def _unknown_values(type_: type[UnknownPart | UnknownChunk], options: Options) -> SearchStrategy[Any]:
    fields = _mappings(texts(options), json_values(options))
    kinds = st.sampled_from(("future-kind", "Text", "text ", "", "données"))
    drawn = records({"fields": fields, "kind": kinds})
    return _made(lambda one: type_(raw=Extra({**one["fields"], "type": one["kind"]})), drawn)
