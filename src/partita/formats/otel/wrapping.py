"""What messages are recorded in: attributes of a span or an event, a bare list, events of their own."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from partita.errors import ConversionError, DecodeError
from partita.formats.format import ToolSpec
from partita.formats.framework.members import checked_array, checked_object, present
from partita.types.json import Json, JsonObject, is_array, is_object, loads

NAME: Final = "otel-genai"
"""The namespace of what these conventions alone know, in provider metadata."""

INPUT: Final = "gen_ai.input.messages"
OUTPUT: Final = "gen_ai.output.messages"
SYSTEM: Final = "gen_ai.system_instructions"
TOOLS: Final = "gen_ai.tool.definitions"
CONVERSATION: Final = "gen_ai.conversation.id"
CARRIED: Final = "partita.carried"
HINT: Final = (
    "give gen_ai.input.messages and the like, a list of {role, parts}, or events such as gen_ai.choice"
)

EVENTS: Final[Mapping[str, str]] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}
"""The role of each event that is a message."""

USAGE: Final[Mapping[str, str]] = {
    "gen_ai.usage.input_tokens": "input_tokens",
    "gen_ai.usage.output_tokens": "output_tokens",
    "gen_ai.usage.cache_read.input_tokens": "cached_input_tokens",
    "gen_ai.usage.cache_creation.input_tokens": "cache_write_tokens",
    "gen_ai.usage.reasoning.output_tokens": "reasoning_tokens",
}
"""Attributes that count tokens, and what usage calls them."""


class Wrapped(NamedTuple):
    """What a payload records, taken out of its wrapping."""

    system: list[Any]
    messages: list[tuple[JsonObject, str, bool]]
    """Each message, where it stands, and whether the model made it."""
    attributes: JsonObject
    form: str | None = None
    """How it was wrapped, if not as attributes that hold objects."""


def unwrapped(payload: Json) -> Wrapped:
    """The messages of a payload."""
    if is_object(payload):
        if is_object(payload.get("attributes")) and not is_event(payload):
            return _spanned(payload)
        if is_event(payload):
            return Wrapped([], [_event(payload, "$")], {}, "events")
        if "role" in payload:
            return Wrapped([], [(_message(payload, "$"), "$", False)], {}, "list")
        return _attributes(payload, "$")
    raws = checked_array(payload, "$", "a recording", HINT)
    if any(is_event(raw) for raw in raws):
        events = [_event(raw, f"$[{index}]") for index, raw in enumerate(raws)]
        return Wrapped([], events, {}, "events")
    return Wrapped([], _messages(raws, "$", False), {}, "list")


def _spanned(payload: JsonObject) -> Wrapped:
    found = _attributes(payload["attributes"], "$.attributes")
    rest = {key: value for key, value in payload.items() if key != "attributes"}
    return found._replace(attributes={**found.attributes, **({"span": rest} if rest else {})})


def _attributes(raw: JsonObject, path: str) -> Wrapped:
    if not {INPUT, OUTPUT, SYSTEM} & set(raw):
        raise ConversionError("attributes without messages", where=path, hint=HINT)
    lists = {name: _list(raw[name], f"{path}.{name}") for name in (SYSTEM, INPUT, OUTPUT) if name in raw}
    texts = [isinstance(raw[name], str) for name in lists]
    rest = {key: value for key, value in raw.items() if key not in lists}
    for name, value in rest.items():
        if name == TOOLS and isinstance(value, str):
            rest[name] = _list(value, f"{path}.{name}")
    given = _messages(lists.get(INPUT, []), f"{path}.{INPUT}", False)
    made = _messages(lists.get(OUTPUT, []), f"{path}.{OUTPUT}", True)
    form = "strings" if any(texts) else None
    return Wrapped(lists.get(SYSTEM, []), [*given, *made], rest, form)


def _list(value: Json, path: str) -> list[Any]:
    if isinstance(value, str):
        try:
            value = loads(value)
        except DecodeError as error:
            raise ConversionError(error.what, where=path, hint="give an array, or the JSON of one") from None
    return checked_array(value, path, "the value of this attribute", HINT)


def _messages(raws: list[Any], path: str, is_made: bool) -> list[tuple[JsonObject, str, bool]]:
    places = [f"{path}[{index}]" for index in range(len(raws))]
    return [(_message(raw, where), where, is_made) for raw, where in zip(raws, places, strict=True)]


def _message(raw: Json, path: str) -> JsonObject:
    """A message that has a role and parts."""
    message = checked_object(raw, path, "a message", HINT)
    if not isinstance(message.get("role"), str):
        raise ConversionError("a message without a role", where=f"{path}.role", hint=HINT)
    checked_array(message.get("parts"), f"{path}.parts", "the parts of a message", HINT)
    return message


def is_event(raw: Json) -> bool:
    """Whether something is an event that is a message."""
    return is_object(raw) and _event_name(raw) in EVENTS


def _event_name(raw: JsonObject) -> str:
    attributes = raw.get("attributes")
    inner = attributes.get("event.name") if is_object(attributes) else None
    found = [raw.get("event.name"), raw.get("event_name"), raw.get("name"), inner]
    return next((name for name in found if isinstance(name, str) and name in EVENTS), "")


def _event(raw: Json, path: str) -> tuple[JsonObject, str, bool]:
    """A message of an event that is one."""
    event = checked_object(raw, path, "an event", HINT)
    name = _event_name(event)
    if name not in EVENTS:
        raise ConversionError("an event that is no message", where=path, hint=HINT)
    body = event.get("body", {})
    rest = {key: value for key, value in event.items() if key != "body"}
    inner: JsonObject = dict(checked_object(body, f"{path}.body", "the body of an event", HINT))
    around: JsonObject = {}
    if name == "gen_ai.choice" and is_object(inner.get("message")):
        around = {key: value for key, value in inner.items() if key != "message"}
        inner = dict(inner["message"])
    role = inner.pop("role", EVENTS[name])
    message: JsonObject = {"role": role if isinstance(role, str) else EVENTS[name], "parts": []}
    if not isinstance(role, str):
        inner["role_"] = role
    parts: list[Json] = message["parts"]
    content = inner.pop("content", None)
    if role == "tool":
        parts.append({"type": "tool_call_response", **present(id=inner.pop("id", None)), "response": content})
    elif content is not None:
        parts += _contents(content)
    parts += _calls(inner)
    message |= around
    kept = {**inner, "event": rest}
    return {**message, "event": kept}, path, name == "gen_ai.choice"


def _contents(content: Json) -> list[Json]:
    if is_array(content):
        return [
            one if is_object(one) and "type" in one else {"type": "text", "content": one} for one in content
        ]
    return [{"type": "text", "content": content}]


def _calls(body: JsonObject) -> list[Json]:
    calls = body.get("tool_calls")
    if not is_array(calls) or not all(_is_call(call) for call in calls):
        return []
    body.pop("tool_calls")
    return [
        {
            "type": "tool_call",
            **{key: value for key, value in call.items() if key not in {"function", "type"}},
            **({} if call.get("type", "function") == "function" else {"kind": call["type"]}),
            "name": call["function"]["name"],
            **{key: value for key, value in call["function"].items() if key != "name"},
        }
        for call in calls
    ]


def _is_call(call: Json) -> bool:
    function = call.get("function") if is_object(call) else None
    return is_object(function) and isinstance(function.get("name"), str)


def read_tools(attributes: JsonObject) -> tuple[ToolSpec, ...]:
    """The tools that attributes define, taken out of them if all are plain functions."""
    raws = attributes.get(TOOLS)
    if not is_array(raws) or not all(_is_plain(raw) for raw in raws):
        return ()
    del attributes[TOOLS]
    return tuple(ToolSpec(raw["name"], raw.get("description"), raw.get("parameters")) for raw in raws)


def _is_plain(raw: Json) -> bool:
    if not is_object(raw) or set(raw) - {"type", "name", "description", "parameters"}:
        return False
    described = raw.get("description")
    is_right = isinstance(raw.get("name"), str) and (described is None or isinstance(described, str))
    return is_right and raw.get("type") == "function" and is_object(raw.get("parameters", {}))


def write_tools(tools: tuple[ToolSpec, ...]) -> JsonObject:
    """Tools as an attribute."""
    definitions = [
        {
            "type": "function",
            "name": tool.name,
            **present(description=tool.description, parameters=tool.input_schema),
        }
        for tool in tools
    ]
    return {TOOLS: definitions} if definitions else {}


def put(payload: Json, extra: JsonObject) -> Json:
    """The payload with an object beside the messages, or on the first of them."""
    if is_object(payload):
        return {**payload, CARRIED: extra}
    if is_array(payload) and payload and is_object(payload[0]):
        return [{**payload[0], CARRIED: extra}, *payload[1:]]
    return payload


def take(payload: Json) -> tuple[Json, JsonObject | None]:
    """The payload without what `put` put there, and that."""
    holder = payload[0] if is_array(payload) and payload else payload
    if not is_object(holder) or not is_object(holder.get(CARRIED)):
        return payload, None
    rest = {key: value for key, value in holder.items() if key != CARRIED}
    return ([rest, *payload[1:]] if is_array(payload) else rest), holder[CARRIED]


def implied() -> Mapping[str, frozenset[Any]]:
    """What a reader of such messages has understood once it has read the rest."""
    types = {
        *("text", "reasoning", "thinking", "tool_call", "tool_call_response", "server_tool_call"),
        *("server_tool_call_response", "blob", "uri", "file", "compaction", "function"),
    }
    return {
        "type": frozenset(types),
        "modality": frozenset({"image", "audio", "video", "document"}),
        "role": frozenset({"system", "user", "assistant", "tool"}),
        "name": frozenset(EVENTS),
        "event.name": frozenset(EVENTS),
        "event_name": frozenset(EVENTS),
        **{name: frozenset(range(10)) for name in USAGE},
    }
