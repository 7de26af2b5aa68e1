"""Containers of recorded messages: attributes of a span or a log record, lists of messages, and events.

This module does not depend on canonical messages: it reads messages of the conventions from their containers,
and writes them back.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from partita.errors import ConversionError, DecodeError
from partita.formats.core.tools import Tools
from partita.formats.core.wire import read_wire, residue
from partita.formats.format import Request, ToolSpec
from partita.formats.losses import json_losses
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, kind_of, loads

from . import wire
from .wire import EVENT, INPUT, INSTRUCTIONS, MESSAGE, NAME, OUTPUT, SYSTEM, TOOLS

HINT: Final = (
    "give gen_ai.input.messages and the like, a list of {role, parts}, or events such as gen_ai.choice"
)
SPAN: Final = "span"
"""The setting of a request with the members of a span other than its attributes."""

CARRIED: Final = "partita.carried"
LISTS: Final = (SYSTEM, INPUT, OUTPUT)

# Forms of payloads other than attributes with arrays
LIST: Final = "list"
TEXTS: Final = "strings"
EVENTS: Final = "events"

CHOICE: Final = "gen_ai.choice"
EVENT_ROLES: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    CHOICE: "assistant",
}
"""The role of the message in an event, by the name of the event."""

EVENT_NAMES: Final = {role: name for name, role in EVENT_ROLES.items() if name != CHOICE}


class Recorded(NamedTuple):
    """A message, its path, and whether it is in the output. `event`: the residue of its event."""

    message: wire.Message
    path: str
    is_output: bool
    event: JsonObject | None = None


class Recording(NamedTuple):
    """The contents of a payload."""

    messages: Sequence[Recorded]
    form: str | None = None
    instructions: Sequence[Any] = ()
    attributes: Mapping[str, Any] = {}  # never changed


def read_recording(payload: Json) -> Recording:
    """Return the messages and the attributes of a payload."""
    if is_object(payload):
        if _event_name(payload) is not None:
            return Recording([_read_event(payload, "$")], EVENTS)
        if is_object(payload.get("attributes")):
            found = _read_attributes(payload["attributes"], "$.attributes")
            span = {name: value for name, value in payload.items() if name != "attributes"}
            return found._replace(attributes={**found.attributes, SPAN: span})
        if "role" in payload:
            return Recording([Recorded(read_wire(MESSAGE, payload, "$", HINT), "$", False)], LIST)
        return _read_attributes(payload, "$")
    if not is_array(payload):
        raise ConversionError(
            f"a recording is an array or an object, found {kind_of(payload)}", where="$", hint=HINT
        )
    if any(_event_name(raw) is not None for raw in payload):
        return Recording([_read_event(raw, f"$[{at}]") for at, raw in enumerate(payload)], EVENTS)
    return Recording(_read_messages(payload, "$", is_output=False), LIST)


def _read_messages(raws: Sequence[Json], path: str, *, is_output: bool) -> list[Recorded]:
    return [
        Recorded(read_wire(MESSAGE, raw, f"{path}[{at}]", HINT), f"{path}[{at}]", is_output)
        for at, raw in enumerate(raws)
    ]


def _read_attributes(raw: JsonObject, path: str) -> Recording:
    if raw.keys().isdisjoint(LISTS):
        raise ConversionError("attributes without messages", where=path, hint=HINT)
    lists = {name: _array(raw[name], f"{path}.{name}") for name in LISTS if name in raw}
    inputs = _read_messages(lists.get(INPUT, []), f"{path}.{INPUT}", is_output=False)
    outputs = _read_messages(lists.get(OUTPUT, []), f"{path}.{OUTPUT}", is_output=True)
    instructions = read_wire(INSTRUCTIONS, lists.get(SYSTEM, []), f"{path}.{SYSTEM}", HINT)
    # An empty list has no messages to write back: it is kept as a setting
    rest = {
        name: value
        for name, value in raw.items()
        if name not in lists or (not lists[name] and (name != INPUT or outputs))
    }
    if isinstance(rest.get(TOOLS), str):
        rest[TOOLS] = _array(rest[TOOLS], f"{path}.{TOOLS}")
    # Where span attributes cannot be structured, the conventions allow JSON texts:
    # https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-spans.md
    has_texts = any(isinstance(raw[name], str) for name in lists)
    return Recording([*inputs, *outputs], TEXTS if has_texts else None, instructions, rest)


def _array(value: Json, path: str) -> list[Any]:
    if isinstance(value, str):
        try:
            value = loads(value)
        except DecodeError as error:
            raise ConversionError(error.what, where=path, hint="give an array, or the JSON of one") from None
    if not is_array(value):
        raise ConversionError(f"an array was expected, found {kind_of(value)}", where=path, hint=HINT)
    return value


def with_texts_of(payload: JsonObject, written: JsonObject) -> JsonObject:
    """Return the written payload with the JSON texts of the original where they contain the same values."""
    if is_object(payload.get("attributes")):
        attributes = with_texts_of(payload["attributes"], written.get("attributes", {}))
        return {**written, "attributes": attributes}
    texts = {name: payload[name] for name in (*LISTS, TOOLS) if isinstance(payload.get(name), str)}
    same = {
        name: text
        for name, text in texts.items()
        if name in written and not any(json_losses(_array(text, name), _array(written[name], name), "$", ""))
    }
    return written | same


def write_lists(lists: JsonObject, form: str | None) -> JsonObject:
    """Return attributes that are lists, as JSON texts if they were recorded so."""
    if form != TEXTS:
        return lists
    return {name: dumps(value).decode() for name, value in lists.items()}


# Requests


def _read_tool(tool: wire.ToolDefinition) -> ToolSpec:
    return ToolSpec(tool.name, tool.description or None, tool.parameters or None)


def _write_tool(spec: ToolSpec) -> wire.ToolDefinition:
    about: Any = {"description": spec.description, "parameters": spec.input_schema}
    given = {name: value for name, value in about.items() if value is not None}
    return wire.ToolDefinition(name=spec.name, **given)


DEFINITIONS: Final = Tools(NAME, wire.TOOL, _read_tool, _write_tool)


def read_request(attributes: JsonObject) -> Request | None:
    """Return the tools and the attributes. Tools that are not functions remain an attribute."""
    raws = attributes.get(TOOLS)
    if not is_array(raws):
        return Request((), attributes) if attributes else None
    tools, others = DEFINITIONS.read(raws)
    rest = {name: value for name, value in attributes.items() if name != TOOLS}
    return Request(tools, {**rest, TOOLS: others} if others or not raws else rest)


def add_request(payload: Json, request: Request) -> JsonObject:
    """Return a payload with the tools and the attributes of a request."""
    attributes: JsonObject = payload if is_object(payload) else {INPUT: payload}
    attributes = {
        **{name: one for name, one in request.settings.items() if name not in attributes},
        **attributes,
    }
    others = attributes.get(TOOLS)
    if request.tools:
        attributes[TOOLS] = DEFINITIONS.write(request.tools, others if is_array(others) else [])
    span = attributes.pop(SPAN, None)
    if is_object(span):
        return {**span, "attributes": attributes}
    return attributes if span is None else {**attributes, SPAN: span}


# Events


def _event_name(raw: Json) -> str | None:
    """Return the name of an event that is a message. Logs have it in different places."""
    if not is_object(raw):
        return None
    attributes = raw.get("attributes")
    inner = attributes.get("event.name") if is_object(attributes) else None
    found = (raw.get("event.name"), raw.get("event_name"), raw.get("name"), inner)
    return next((name for name in found if isinstance(name, str) and name in EVENT_ROLES), None)


def _read_event(raw: Json, path: str) -> Recorded:
    name = _event_name(raw)
    body: Json = raw.get("body", {}) if is_object(raw) else None
    if name is None:
        raise ConversionError("an event that is not a message", where=path, hint=HINT)
    if not is_object(body):
        raise ConversionError(f"the body of an event is {kind_of(body)}", where=f"{path}.body", hint=HINT)
    is_output = name == CHOICE
    members, inner = {}, dict(body)
    if is_output and is_object(body.get("message")):
        members = {key: value for key, value in body.items() if key != "message"}
        inner = dict(body["message"])
    role = inner.pop("role", None)
    role = role if isinstance(role, str) else EVENT_ROLES[name]
    parts: list[Json] = []
    if role == "tool":
        id_ = {"id": inner.pop("id")} if inner.get("id") is not None else {}
        parts = [{"type": "tool_call_response", **id_, "response": inner.pop("content", None)}]
    elif inner.get("content") is not None:
        parts = _read_content(inner.pop("content"))
    calls = inner.get("tool_calls")
    if is_array(calls) and all(map(_is_call, calls)):
        parts += map(_read_call, inner.pop("tool_calls"))
    message: JsonObject = {**inner, **members, "role": role, "parts": parts}
    kept = residue(write_event(message, is_output=is_output), EVENT.read(raw))
    return Recorded(read_wire(MESSAGE, message, path, HINT), path, is_output, kept)


def write_event(message: JsonObject, *, is_output: bool) -> wire.Event:
    """Return a message as an event."""
    role, parts = message["role"], message["parts"]
    members = {name: value for name, value in message.items() if name not in ("role", "parts")}
    calls = [part for part in parts if part.get("type") == "tool_call"]
    others = [part for part in parts if part.get("type") != "tool_call"]
    inner: JsonObject = {} if role in EVENT_NAMES else {"role": role}
    if role == "tool" and len(others) == 1 and "response" in others[0]:
        inner |= {"content": others[0]["response"]}
        inner |= {"id": others[0]["id"]} if "id" in others[0] else {}
    elif others:
        inner["content"] = _write_content(others)
    if calls:
        inner["tool_calls"] = [_write_call(call) for call in calls]
    if is_output:
        return wire.Event(name=CHOICE, body={**members, "message": inner})
    return wire.Event(name=EVENT_NAMES.get(role, EVENT_NAMES["user"]), body={**members, **inner})


def _read_content(content: Json) -> list[Json]:
    """Return content as parts. The conventions allow any value: a text, parts, or other JSON."""
    items = content if is_array(content) else [content]
    return [
        one if is_object(one) and isinstance(one.get("type"), str) else {"type": "text", "content": one}
        for one in items
    ]


def _write_content(parts: Sequence[JsonObject]) -> Json:
    items = [part["content"] if part.keys() == {"type", "content"} else part for part in parts]
    return items[0] if len(items) == 1 and isinstance(items[0], str) else items


def _is_call(call: Json) -> bool:
    function = call.get("function") if is_object(call) else None
    return is_object(function) and isinstance(function.get("name"), str)


def _read_call(call: JsonObject) -> JsonObject:
    """Return a call of Chat Completions as a part."""
    members = {name: value for name, value in call.items() if name not in ("type", "function")}
    return {**members, **call["function"], "type": "tool_call"}


def _write_call(part: JsonObject) -> JsonObject:
    members = {name: value for name, value in part.items() if name not in ("type", "name", "arguments")}
    function = {name: part[name] for name in ("name", "arguments") if name in part}
    return {**members, "type": "function", "function": function}


# The sidecar


def put(payload: Json, extra: JsonObject) -> Json:
    """Return the payload with an object among the attributes, or in the first message."""
    if is_object(payload):
        return {**payload, CARRIED: extra}
    if is_array(payload) and payload and is_object(payload[0]):
        return [{**payload[0], CARRIED: extra}, *payload[1:]]
    return payload


def take(payload: Json) -> tuple[Json, JsonObject | None]:
    """Return the payload without the object that `put` added, and that object."""
    holder = payload[0] if is_array(payload) and payload else payload
    if not is_object(holder) or not is_object(holder.get(CARRIED)):
        return payload, None
    rest = {key: value for key, value in holder.items() if key != CARRIED}
    return ([rest, *payload[1:]] if is_array(payload) else rest), holder[CARRIED]
