"""Canonical messages → UI messages of AI SDK 4.

What `v4_load` read comes back as it was. Added, where it was not there: an id, `content`, `parts` and
the mirrors of parts that version 4 itself keeps (`toolInvocations`, `reasoning`); the `step` of a call
and the `step-start` of a step; the one `detail` of a reasoning without; a guessed `contentType`. A data
URL in a file part becomes bare base64.

Version 4 has no failed, denied, interrupted or approved calls: they become results. Parts it does not
know stand among the annotations, as version 7 writes them; other files than those an assistant made stand
among the attachments. Lost: what stands around a message but its time, metadata but `annotations`, and
the members of parts that version 4 does not know. All of it is reported. A network execution is shown as
a call with its result; the rest of it is lost.
"""

from collections.abc import Iterator, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from partita.formats.bare import is_bare_message
from partita.formats.format import Dumped
from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.fold import fold
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import (
    AssistantMessage,
    Message,
    Part,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
    derive_type,
)
from partita.types.parts import (
    ReasoningPart,
    StepStartPart,
    TextPart,
)
from partita.types.value import unkept

from .aside import put
from .display import displayed
from .dump import AROUND
from .network import network_tool_call
from .v4_parts import PartWriter
from .v4_shape import DATA, NO_PLACE, mirrors, read_time, type_of, written_time


def dump(messages: Sequence[Message]) -> Dumped:
    """Messages as the list that `useChat` of version 4 takes."""
    losses: list[Loss] = []
    payload: list[JsonObject] = []
    for index, message in enumerate(fold(messages)):
        shown = displayed(message, f"$[{index}]", losses)
        if isinstance(shown, ToolMessage):
            losses.append(Loss.of(f"$[{index}]", to_json(shown), "its results belong to no call here"))
        else:
            payload.append(dump_message(shown, f"$[{index}]", losses))
    return Dumped(payload, tuple(losses))


def dump_message(
    message: SystemMessage | UserMessage | AssistantMessage, path: str, losses: list[Loss]
) -> JsonObject:
    """One message, with what it loses."""
    content = message.content
    if not is_bare_message(message):
        losses.extend(_losses_around(message, path))
    aside = unkept(message.extra)
    result: JsonObject = {"id": message.id, "role": _role_of(message, aside)}
    writer = PartWriter(result["role"], losses)
    for index, part in enumerate(content.parts):
        if not writer.add_bare(part):
            writer.add(part, f"{path}.content.parts[{index}]")
    losses.extend(_unmarked_steps(content.parts, f"{path}.content.parts"))
    if isinstance(message, AssistantMessage) and message.content.network_execution is not None:
        call = network_tool_call(message.id, message.content.network_execution)
        writer.add_shown(replace(call, dynamic=False, children=(), tool_metadata=None))
    if message.created_at is not None:
        known = read_time(aside.get("createdAt")) == message.created_at
        result["createdAt"] = aside.pop("createdAt") if known else written_time(message.created_at)
    result["content"] = _spoken(writer.parts) if content.content is None else content.content
    result |= {name: aside.pop(name, mirror) for name, mirror in mirrors(writer.parts).items()}
    annotations = _dump_metadata(message, f"{path}.content", losses)
    if writer.annotations or annotations is not None:
        result["annotations"] = [*(annotations or ()), *writer.annotations]
    if writer.attachments:
        result["experimental_attachments"] = writer.attachments
    if writer.data is not UNSET:
        result[DATA] = writer.data
    result["parts"] = writer.parts
    if aside:
        put(result, aside, path, losses)
    return result


def _role_of(message: Message, aside: JsonObject) -> str:
    if isinstance(message, AssistantMessage) and aside.get("role") == DATA:
        return str(aside.pop("role"))
    return str(message.__struct_config__.tag)


def _losses_around(message: Message, path: str) -> Iterator[Loss]:
    content = message.content
    plain: JsonObject = to_json(replace(message, content=replace(content, parts=()), extra=None))  # pyright: ignore[reportArgumentType] # each role takes its own content
    for key, why in AROUND.items():
        if key in plain and key != "createdAt":
            yield Loss.of(f"{path}.{key}", plain[key], why)
    for key, value in plain["content"].items():
        if key not in ("format", "parts", "content", "metadata"):
            yield Loss.of(f"{path}.content.{key}", value, NO_PLACE)
    if message.type != derive_type(content.parts):
        yield Loss(f"{path}.type", message.type, "UI messages have no kinds")


def _dump_metadata(message: Message, path: str, losses: list[Loss]) -> list[Json] | None:
    """The annotations, if the metadata has any. Nothing else of it has a place."""
    metadata = message.content.metadata
    if metadata is UNSET:
        return None
    path = f"{path}.metadata"
    if not is_object(metadata) or not metadata:
        losses.append(Loss.of(path, metadata, NO_PLACE))
        return None
    rest = dict(metadata)
    annotations = rest.pop("annotations") if is_array(metadata.get("annotations")) else None
    losses.extend(Loss.of(f"{path}.{key}", value, NO_PLACE) for key, value in rest.items())
    return annotations


def _spoken(parts: Sequence[Json]) -> str:
    texts = [part.get("text") for part in parts if type_of(part) == "text"]
    return "".join([text for text in texts if isinstance(text, str)])


def _unmarked_steps(parts: Sequence[Part], path: str) -> Iterator[Loss]:
    """Words after a call, in a message without steps: version 4 takes them for a step of their own."""
    called = False
    if StepStartPart in map(type, parts):
        return
    for index, part in enumerate(parts):
        if isinstance(part, ToolCallPart):
            called = True
        elif called and isinstance(part, TextPart | ReasoningPart):
            yield Loss(f"{path}[{index}]", "its step", "words after a call begin a new step in version 4")
            called = False
