"""UI messages of AI SDK 5, 6 and 7 → canonical messages. Nothing is lost but `null` for "absent".

The three versions differ in what they may hold, not in how it is written, so one loader reads them all.
A part that fits nowhere is kept whole as a `ForeignPart`; members without a name here go to `extra`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.formats.format import Loaded
from partita.formats.losses import Loss
from partita.stream.encoder import NETWORK_KEY
from partita.types.codec import Codec
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    NetworkExecution,
    SystemContent,
    SystemMessage,
    SystemPart,
    ToolCallPart,
    UserContent,
    UserMessage,
    UserPart,
)
from partita.types.parts import DataPart, ForeignPart, ReasoningPart, StepStartPart, TextPart
from partita.types.value import kept

from .tools import FORMAT, load_bare_tool, load_tool

ROLES: Mapping[str, tuple[type[Message], type[Any], Codec[Any]]] = {
    "system": (SystemMessage, SystemContent, Codec(SystemPart)),
    "user": (UserMessage, UserContent, Codec(UserPart)),
    "assistant": (AssistantMessage, AssistantContent, Codec(AssistantPart)),
}

OWN = frozenset({"id", "role", "parts", "metadata"})
"""Members of a UI message that have a canonical form."""

WORDS = frozenset({"text", "reasoning"})
"""Parts that are words."""

NULLABLE = frozenset({"input", "output", "rawInput", "data", "metadata"})
"""Members whose `null` is a value."""

OURS_ALONE = frozenset({"image", "data", "foreign"})
"""Canonical part types that mean nothing to the AI SDK."""

IMPLIED = "a tool part has a state: it gets the one that its result implies"

_NETWORK: Codec[NetworkExecution] = Codec(NetworkExecution)


def load(payload: Json) -> Loaded:
    """UI messages, one or a list of them, as canonical messages."""
    losses: list[Loss] = []
    raws = payload if is_array(payload) else [payload]
    root = "$" if is_array(payload) else ""
    messages = [
        load_message(raw, f"{root}[{index}]" if root else "$", losses, index)
        for index, raw in enumerate(raws)
    ]
    return Loaded(tuple(messages), tuple(losses))


def load_message(raw: Json, path: str, losses: list[Loss], index: int = 0) -> Message:
    """One UI message as a canonical one."""
    if not is_object(raw):
        raise ConversionError(
            f"a UI message is an object, found {kind_of(raw)}", where=path, hint="give {id, role, parts}"
        )
    role = raw.get("role")
    if not isinstance(role, str) or role not in ROLES:
        raise ConversionError(
            f"unknown role {role!r}", where=f"{path}.role", hint="use system, user or assistant"
        )
    if not is_array(raw.get("parts")):
        raise ConversionError(
            "a UI message has a list of parts",
            where=f"{path}.parts",
            hint="messages of version 4 may have none: load them as ai-sdk-ui-v4",
        )
    message_type, content_type, _ = ROLES[role]
    content = content_type(**_load_content(raw, role, path, losses))
    id_ = _id_of(raw, path, index)
    if raw.keys() <= OWN:
        return message_type(id=id_, content=content)
    rest = {key: value for key, value in raw.items() if key not in OWN}
    return message_type(id=id_, content=content, extra=kept(rest, message_type))


def _id_of(raw: JsonObject, path: str, index: int) -> str:
    id_ = raw.get("id")
    if id_ is not None and not isinstance(id_, str):
        raise ConversionError(f"id is {kind_of(id_)}", where=f"{path}.id", hint="make it a string")
    return f"message-{index + 1}" if id_ is None else id_


def _load_content(raw: JsonObject, role: str, path: str, losses: list[Loss]) -> JsonObject:
    parts: list[Json] = raw["parts"]
    network = _network_place(parts) if role == "assistant" else None
    loaded = [
        load_bare(part, role) or load_part(part, role, f"{path}.parts[{place}]", losses)
        for place, part in enumerate(parts)
        if place != network
    ]
    content: JsonObject = {"parts": tuple(loaded)}
    if network is not None:
        content["network_execution"] = _NETWORK.read(parts[network]["toolMetadata"][NETWORK_KEY])
    if "metadata" in raw:
        content["metadata"] = raw["metadata"]
    return content


def _network_place(parts: Sequence[Json]) -> int | None:
    """The place of the part that stands for a network execution, which `dump` has marked."""
    for place, part in enumerate(parts):
        if is_object(part) and part.get("type") == "dynamic-tool":
            mark = part.get("toolMetadata")
            if is_object(mark) and NETWORK_KEY in mark:
                return place
    return None


def load_bare(raw: Json, role: str) -> TextPart | ReasoningPart | StepStartPart | ToolCallPart | None:
    """A part that is words and no more, or a call with its result; `None` when it is anything else."""
    type_: Json = raw.get("type") if is_object(raw) else None
    if not isinstance(type_, str):
        return None
    if len(raw) == 2 and type_ in WORDS and isinstance(raw.get("text"), str):
        if type_ == "text":
            return TextPart(raw["text"])
        return ReasoningPart(raw["text"]) if role == "assistant" else None
    if role != "assistant":
        return None
    if type_ == "step-start":
        return StepStartPart() if len(raw) == 1 else None
    return load_bare_tool(raw, type_)


def load_part(raw: Json, role: str, path: str, losses: list[Loss]) -> Any:
    """One UI part as a canonical part that may stand in that role."""
    type_ = raw.get("type") if is_object(raw) else None
    try:
        if not is_object(raw) or not isinstance(type_, str) or type_ in OURS_ALONE:
            return ForeignPart(FORMAT, raw)
        if type_.startswith("data-"):
            part: Any = _load_data(raw, type_)
        elif type_ == "dynamic-tool" or type_.startswith("tool-"):
            part = _load_call(raw, role, path, losses)
        else:
            part = ROLES[role][2].read(raw)
    except (DecodeError, ConversionError):
        return ForeignPart(FORMAT, raw)
    losses.extend(_nulls(raw, path))
    return part


def _load_call(raw: JsonObject, role: str, path: str, losses: list[Loss]) -> ToolCallPart | ForeignPart:
    if role != "assistant":
        return ForeignPart(FORMAT, raw)
    part = load_tool(raw)
    if "state" not in raw:
        losses.append(Loss(f"{path}.state", "no state", IMPLIED, "repaired"))
    children = raw.get("childMessages")
    if not is_array(children):
        return part
    messages = (
        load_message(child, f"{path}.childMessages[{index}]", losses, index)
        for index, child in enumerate(children)
    )
    return replace(part, children=tuple(messages))


def _nulls(raw: JsonObject, path: str) -> list[Loss]:
    return [
        Loss(f"{path}.{key}", "null", "an absent member means the same and is written instead")
        for key, value in raw.items()
        if value is None and key not in NULLABLE
    ]


def _load_data(raw: JsonObject, type_: str) -> DataPart | ForeignPart:
    id_ = raw.get("id")
    if id_ is not None and not isinstance(id_, str):
        return ForeignPart(FORMAT, raw)
    rest = {key: value for key, value in raw.items() if key not in ("type", "id", "data")}
    fields: JsonObject = {"data": raw["data"]} if "data" in raw else {}
    if is_object(rest.get("providerMetadata")):
        fields["provider_metadata"] = rest.pop("providerMetadata")
    return DataPart(type_.removeprefix("data-"), id=id_, extra=kept(rest, DataPart), **fields)
