"""Parts of UI messages of AI SDK 5, 6 and 7 ↔ canonical parts.

Canonical parts have the same members under the same names, so most parts are the same JSON and the canonical
types are the wire types here (`ai_sdk.versions` lists what versions do not have). The differences:

- A call is `tool-NAME` or `dynamic-tool`, has a plain `output` or an `errorText`, and `childMessages`.
- Data of the application is `data-NAME`.
- An image is a file.

Unknown members are kept in `extra`. A part that does not fit is kept whole in a `ForeignPart`.

Source: https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message and `packages/ai/src/ui/ui-messages.ts` in
https://github.com/vercel/ai.
"""

from collections.abc import Callable, Container, Mapping
from functools import cache
from typing import Any, Final, assert_never

from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.formats.ai_sdk.versions import PARTS, newer_members
from partita.formats.core.files import ANY_IMAGE
from partita.stream.state import Version
from partita.stream.targets import DENIED, Target
from partita.types.codec import Codec, encode, to_json
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantPart, Message, Part, SystemPart, ToolCallPart, UserPart
from partita.types.parts import (
    Approval,
    ContentOutput,
    DataPart,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningFilePart,
    TextOutput,
    ToolOutput,
    ToolState,
    UnknownPart,
    interruption_text,
)
from partita.types.value import FOREIGN, keep_fields, wire_names

NAME: Final = "ai-sdk-ui"
"""The format of parts that are kept whole."""

DATA: Final = "data-"
TOOL: Final = "tool-"
DYNAMIC: Final = "dynamic-tool"

CODECS: Final[Mapping[str, Codec[Any]]] = {
    "system": Codec(SystemPart),
    "user": Codec(UserPart),
    "assistant": Codec(AssistantPart),
}
"""The parts that a message may have, by role."""

_CALL: Final[Codec[ToolCallPart]] = Codec(ToolCallPart)
_DATA: Final[Codec[DataPart]] = Codec(DataPart)

CANONICAL_TYPES: Final = frozenset({"image", "data", "foreign"})
"""Types of canonical parts that the AI SDK does not have."""


# Calls. The members of a part in each state: https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message

SAME: Final = frozenset(
    {
        "state",
        "input",
        "rawInput",
        "inputEncoding",
        "approval",
        "title",
        "providerExecuted",
        "preliminary",
        "callProviderMetadata",
        "resultProviderMetadata",
        "toolMetadata",
        "providerMetadata",
    }
)
"""Members of a call that have the same name in a canonical call."""

_READ: Final = SAME | {"type", "toolCallId", "output", "errorText", "childMessages"}
"""Members of a call that are read. All others are kept."""


def read_part(raw: Json, role: str, read_child: Callable[[Json, int], Message]) -> Any:
    """Read a part. `read_child` reads one of the messages of a sub-agent.

    A part that the role cannot have, or that does not fit its type, is kept whole.
    """
    kind: Json = raw.get("type") if is_object(raw) else None
    if not isinstance(kind, str) or kind in CANONICAL_TYPES:
        return ForeignPart(NAME, raw)
    try:
        if kind == DYNAMIC or kind.startswith(TOOL):
            return _read_call(raw, kind, read_child) if role == "assistant" else ForeignPart(NAME, raw)
        return _read_data(raw, kind) if kind.startswith(DATA) else CODECS[role].read(raw)
    except (DecodeError, ConversionError):
        return ForeignPart(NAME, raw)


def _read_call(raw: JsonObject, kind: str, read_child: Callable[[Json, int], Message]) -> ToolCallPart:
    is_dynamic = kind == DYNAMIC
    call: JsonObject = {"id": raw.get("toolCallId")}
    call["name"] = raw.get("toolName") if is_dynamic else kind[len(TOOL) :]
    rest: JsonObject = {}
    for name, value in raw.items():
        if name in SAME:
            call[name] = value
        elif name not in _READ and not (is_dynamic and name == "toolName"):
            rest[name] = value
    if "state" not in raw:
        call["state"] = _implied_state(raw)
    if is_dynamic:
        call["dynamic"] = True
        if rest.get("dynamic") is False:
            call["unavailable"] = not rest.pop("dynamic")
    _read_output(raw, call, rest)
    children: Json = raw.get("childMessages", [])
    if not is_array(children):
        rest["childMessages"], children = children, []
    part = _CALL.read(call)
    if children:
        part = replace(part, children=tuple(read_child(one, index) for index, one in enumerate(children)))
    return replace(part, extra=keep_fields(rest, ToolCallPart)) if rest else part


def _implied_state(raw: JsonObject) -> ToolState:
    """Return the state of a call that has none."""
    if isinstance(raw.get("errorText"), str):
        return "output-error"
    return "output-available" if "output" in raw else "input-available"


def _read_output(raw: JsonObject, call: JsonObject, rest: JsonObject) -> None:
    """Read the output of a call. If it has a value and an error, one of them is kept as an unknown member."""
    value, error = raw.get("output"), raw.get("errorText")
    is_failed = isinstance(error, str) and ("output" not in raw or raw.get("state") == "output-error")
    if is_failed:
        call["output"] = {"type": "error-text", "value": error}
    elif "output" in raw:
        call["output"] = {"type": "text" if isinstance(value, str) else "json", "value": value}
    if is_failed and "output" in raw:
        rest["output"] = value
    elif not is_failed and "errorText" in raw:
        rest["errorText"] = error


def _read_data(raw: JsonObject, kind: str) -> DataPart:
    known = {name: value for name, value in raw.items() if name in ("id", "data")}
    rest = {name: value for name, value in raw.items() if name not in ("type", "id", "data")}
    if is_object(rest.get("providerMetadata")):
        known["providerMetadata"] = rest.pop("providerMetadata")
    part = _DATA.read({**known, "name": kind[len(DATA) :]})
    return replace(part, extra=keep_fields(rest, DataPart)) if rest else part


# Writing


def is_written(part: Part, version: Version) -> bool:
    """Whether a version has a part for this canonical part."""
    if type(part) is ForeignPart:
        return part.format == NAME
    return type(part) not in _newer_parts(version)


@cache
def _newer_parts(version: Version) -> frozenset[type[Any]]:
    """Return the types of parts that a version lacks. Files of reasoning are written as files."""
    newer = {type_ for type_, since in PARTS.items() if not Target(version).knows(since)}
    return frozenset(newer - {ReasoningFilePart})


def write_part(part: Part, plain: JsonObject, version: Version) -> Json:
    """Write a part that `is_written`, without the messages of a sub-agent.

    `plain`: the part as JSON, which is changed.
    """
    if isinstance(part, ForeignPart):
        return part.value
    if isinstance(part, UnknownPart):
        return plain
    raw = plain
    write = _WRITERS.get(type(part))
    if write is not None:
        raw = write(part, raw)
    elif part.extra:
        raw = _with_extra(raw, wire_names(type(part)))
    return raw if version == 7 else _downgraded(part, raw, version)


def _with_extra(raw: JsonObject, known: Container[str]) -> JsonObject:
    """Return a part in which kept members have their original names."""
    extra = {name: value for name, value in raw.items() if name.startswith(FOREIGN)}
    written = {name: value for name, value in raw.items() if name not in extra}
    for name, value in extra.items():
        own = name.removeprefix(FOREIGN)
        if own not in known:
            written.setdefault(own, value)
    return written


def _write_call(part: ToolCallPart, plain: JsonObject) -> JsonObject:
    written: JsonObject = (
        {"type": DYNAMIC, "toolName": part.name} if part.dynamic else {"type": TOOL + part.name}
    )
    written["toolCallId"] = part.id
    for name, value in plain.items():
        if name in SAME:
            written[name] = value
    if part.unavailable and part.dynamic:
        written["dynamic"] = False
    if part.output is not None:
        written |= _write_output(part, part.output)
    if part.extra:
        extra = {name: value for name, value in part.extra.items() if name not in written}
        written = _with_extra({**written, **extra}, SAME)
    return written


def _write_output(part: ToolCallPart, output: ToolOutput) -> JsonObject:
    match output:
        case TextOutput() | JsonOutput():
            return {"output": output.value}
        case ContentOutput():
            return {"output": to_json(replace(output, provider_metadata=None, extra=None))}
        case ErrorTextOutput():
            return {"errorText": output.value}
        case ErrorJsonOutput():
            return {"state": "output-error", "errorText": encode(output.value).decode()}
        case InterruptedOutput():
            return {"state": "output-error", "errorText": interruption_text(output)}
        case ExecutionDeniedOutput():
            return {"state": "output-denied", "approval": _denial(part, output.reason)}
        case _:
            assert_never(output)


def _denial(part: ToolCallPart, reason: str | None) -> JsonObject:
    """Return the approval of a denied call. A call without an approval request gets one."""
    approval: JsonObject = to_json(part.approval) if part.approval else {"id": part.id}
    if reason is not None:
        approval.setdefault("reason", reason)
    return {**approval, "approved": False}


def _write_data(part: DataPart, plain: JsonObject) -> JsonObject:
    written = {name: value for name, value in plain.items() if name != "name"}
    written["type"] = DATA + part.name
    return _with_extra(written, wire_names(DataPart) - {"name"}) if part.extra else written


def _write_image(part: ImagePart, plain: JsonObject) -> JsonObject:
    written = {"filename" if name == "name" else name: value for name, value in plain.items()}
    written |= {"type": "file", "mediaType": part.media_type or ANY_IMAGE}
    return _with_extra(written, wire_names(FilePart)) if part.extra else written


_WRITERS: Final[Mapping[type[Any], Callable[[Any, JsonObject], JsonObject]]] = {
    ToolCallPart: _write_call,
    DataPart: _write_data,
    ImagePart: _write_image,
}


# Versions 5 and 6

STATES_OF_5: Final[Mapping[str, str]] = {
    "approval-requested": "input-available",
    "approval-responded": "input-available",
    "output-denied": "output-error",
}
"""States of calls that version 5 does not have, and the states that it has for them."""


def _downgraded(part: Part, raw: JsonObject, version: Version) -> JsonObject:
    """Return a part of version 7 without the members that an older version does not have."""
    if isinstance(part, ToolCallPart):
        return _downgraded_call(raw, version)
    raw = _without(raw, newer_members(type(part), version))
    return {**raw, "type": "file"} if isinstance(part, ReasoningFilePart) else raw


def _downgraded_call(raw: JsonObject, version: Version) -> JsonObject:
    approval: Json = raw.get("approval")
    if version == 6:
        if is_object(approval):
            raw["approval"] = _without(approval, newer_members(Approval, version))
        return raw
    state = raw["state"]
    if state == "output-denied":
        reason: Json = approval.get("reason") if is_object(approval) else None
        raw["errorText"] = reason if isinstance(reason, str) else DENIED
    raw["state"] = STATES_OF_5.get(state, state)
    return _without(raw, ("approval",))


def _without(raw: JsonObject, names: Container[str]) -> JsonObject:
    return {name: value for name, value in raw.items() if name not in names}
