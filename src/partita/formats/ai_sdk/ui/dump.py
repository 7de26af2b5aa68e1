"""Canonical messages → UI messages of AI SDK 5, 6 or 7.

Lost: what stands around a message (thread, times, owner, usage), results without their call, and in
older versions what they do not know. All of it is reported. Payloads with a display transform are
replaced by what it lets pages see: see `display`.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from partita.formats.bare import is_bare, is_bare_message
from partita.formats.format import Dumped
from partita.formats.losses import Loss
from partita.stream.rules import Version
from partita.types.codec import to_json
from partita.types.fold import fold
from partita.types.json import Json, JsonObject
from partita.types.messages import (
    AssistantMessage,
    Message,
    Part,
    ToolCallPart,
    ToolMessage,
    derive_type,
    text_of,
)
from partita.types.parts import (
    DataPart,
    FilePart,
    ForeignPart,
    ImagePart,
    ReasoningPart,
    StepStartPart,
    TextPart,
    UnknownPart,
)
from partita.types.value import unkept, wire_names

from .aside import put
from .display import displayed
from .downgrade import downgrade
from .network import network_tool_call
from .tools import FORMAT, dump_bare_tool, dump_tool

AROUND: Mapping[str, str] = {
    "threadId": "UI messages do not name their thread",
    "createdAt": "UI messages have no time; put it in the metadata",
    "resourceId": "UI messages do not name their owner",
    "parentId": "UI messages form one line, without branches",
    "runId": "UI messages do not name their run",
    "seq": "UI messages are in order by their place in the list",
    "internal": "UI messages are all shown",
}
"""Fields around the content that have no place in a UI message, and why."""


def dump(messages: Sequence[Message], version: Version = 7) -> Dumped:
    """Messages as the list that `useChat` takes."""
    losses: list[Loss] = []
    shown = [displayed(message, f"$[{index}]", losses) for index, message in enumerate(fold(messages))]
    return Dumped(_dump_folded(shown, "$", losses, version), tuple(losses))


def _dump_all(
    messages: Sequence[Message], path: str, losses: list[Loss], version: Version
) -> list[JsonObject]:
    return _dump_folded(fold(messages), path, losses, version)


def _dump_folded(
    messages: Sequence[Message], path: str, losses: list[Loss], version: Version
) -> list[JsonObject]:
    written: list[JsonObject] = []
    for index, message in enumerate(messages):
        where = f"{path}[{index}]"
        if isinstance(message, ToolMessage):
            losses.append(Loss.of(where, to_json(message), "its results belong to no call here"))
        else:
            written.append(dump_message(message, where, losses, version))
    return written


def dump_message(message: Message, path: str, losses: list[Loss], version: Version) -> JsonObject:
    """One message, with what it loses."""
    if is_bare_message(message):
        return {
            "id": message.id,
            "role": message.__struct_config__.tag,
            "parts": _dump_parts(message.parts, path, losses, version),
        }
    content = message.content
    plain: JsonObject = to_json(replace(message, content=replace(content, parts=())))  # pyright: ignore[reportArgumentType] # each role takes its own content
    losses.extend(Loss.of(f"{path}.{key}", plain[key], why) for key, why in AROUND.items() if key in plain)
    losses.extend(_content_losses(message, plain["content"], f"{path}.content"))
    if message.type != derive_type(content.parts):
        losses.append(Loss(f"{path}.type", message.type, "UI messages have no types"))
    result: JsonObject = {"id": message.id, "role": plain["role"]}
    if "metadata" in plain["content"]:
        result["metadata"] = plain["content"]["metadata"]
    result["parts"] = _dump_parts(content.parts, path, losses, version)
    if isinstance(message, AssistantMessage) and message.content.network_execution is not None:
        call = network_tool_call(message.id, message.content.network_execution)
        # Before calls that wait for the client: it continues once all calls of the last step are answered,
        # and this one never is. Nothing is lost: its metadata holds all.
        place = 0 if any(isinstance(part, ToolCallPart) for part in content.parts) else len(result["parts"])
        result["parts"].insert(place, dump_part(call, path, [], version))
    put(result, unkept(message.extra), path, losses)
    return result


def _content_losses(message: Message, content: JsonObject, path: str) -> list[Loss]:
    carried = {"parts", "format", "metadata", "networkExecution"}
    if message.content.content == text_of(message):
        carried.add("content")  # a convenience: the parts say the same
    return [
        Loss.of(f"{path}.{key}", value, "UI messages carry parts and metadata alone")
        for key, value in content.items()
        if key not in carried
    ]


def _dump_parts(parts: Sequence[Part], path: str, losses: list[Loss], version: Version) -> list[Json]:
    written: list[Json] = []
    for index, part in enumerate(parts):
        raw = dump_bare(part)
        if raw is None:
            raw = dump_part(part, f"{path}.content.parts[{index}]", losses, version)
        if raw is not None:
            written.append(raw)
    return written


def dump_bare(part: Part) -> JsonObject | None:
    """A part that is the same in all versions: words and no more, a call with its result; else `None`."""
    if isinstance(part, ToolCallPart):
        return dump_bare_tool(part)
    if not is_bare(part):
        return None
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    if isinstance(part, ReasoningPart):
        return {"type": "reasoning", "text": part.text}
    return {"type": "step-start"} if isinstance(part, StepStartPart) else None


def dump_part(part: Part, path: str, losses: list[Loss], version: Version) -> Json:
    """One part, or `None` when the version has nothing like it."""
    match part:
        case ToolCallPart():
            result: Json = dump_tool(part, path, losses)
            if part.children:
                children = _dump_all(part.children, f"{path}.children", losses, version)
                if children:
                    result["childMessages"] = children
        case DataPart():
            result = _dump_data(part, path, losses)
        case ImagePart():
            result = _dump_image(part, path, losses)
        case ForeignPart(format=format_, value=value):
            if format_ != FORMAT:
                losses.append(Loss.of(path, to_json(part), "it has no form in UI messages"))
                return None
            return value
        case UnknownPart():
            return to_json(part)
        case _:
            result = to_json(replace(part, extra=None))
            put(result, unkept(part.extra), path, losses, wire_names(type(part)))
    return downgrade(result, version, path, losses)


def _dump_data(part: DataPart, path: str, losses: list[Loss]) -> JsonObject:
    plain: JsonObject = to_json(replace(part, extra=None))
    del plain["name"]
    plain["type"] = f"data-{part.name}"
    put(plain, unkept(part.extra), path, losses, wire_names(DataPart) - {"name"})
    return plain


def _dump_image(part: ImagePart, path: str, losses: list[Loss]) -> JsonObject:
    losses.append(Loss(f"{path}.type", "image", "UI messages keep images as files"))
    plain: JsonObject = to_json(replace(part, extra=None))
    if "name" in plain:
        plain["filename"] = plain.pop("name")
    plain |= {"type": "file", "mediaType": part.media_type or "image/*"}
    put(plain, unkept(part.extra), path, losses, wire_names(FilePart))
    return plain
