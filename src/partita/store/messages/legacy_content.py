"""Content in the formats of other systems, as SQL or a restored backup may have written it into a row.

Mastra stores parts of the AI SDK 4 in content of format 2. Other tables hold content of the AI SDK 4, plain
text, or JSON in a string. Such rows can be read; `partita migrate` rewrites them.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from partita.errors import DecodeError, PartitaError
from partita.formats.ai_sdk.model import format as model
from partita.formats.ai_sdk.ui_v4 import format as v4
from partita.formats.core.wire import conversion_errors
from partita.formats.format import Loaded
from partita.formats.losses import UNREAD, Loss, json_losses
from partita.formats.mastra.parts import read_part, write_as_read
from partita.formats.mastra.v2 import read_content, write_content_back
from partita.store.encoding import CONTENTS
from partita.types.codec import Codec
from partita.types.json import Json, JsonObject, is_array, is_object, loads
from partita.types.messages import (
    AssistantContent,
    AssistantPart,
    Content,
    SystemContent,
    SystemPart,
    ToolContent,
    ToolPart,
    UserContent,
    UserPart,
)
from partita.types.parts import ForeignPart, TextPart
from partita.types.value import keep_fields, kept_fields

Shape: TypeAlias = Literal["current", "plain text", "string", "version 4", "damaged"]
"""`string`: a whole content, as JSON inside a JSON string."""

DAMAGED: Final = "damaged"
"""The format of a foreign part that holds what cannot be read."""

TYPES: Mapping[str, type[Any]] = {
    "system": SystemContent,
    "user": UserContent,
    "assistant": AssistantContent,
    "tool": ToolContent,
}
PARTS: Mapping[str, Codec[Any]] = {
    "system": Codec(SystemPart),
    "user": Codec(UserPart),
    "assistant": Codec(AssistantPart),
    "tool": Codec(ToolPart),
}
FORMAT = 2

MESSAGE_MEMBERS = ("id", "role", "createdAt")
"""Members of a message that was stored as its own content."""

V4_MEMBERS = frozenset({"parts", "content", "toolInvocations", "reasoning", "experimental_attachments"})
"""Content of version 4 has at least one of these. Any other object is text that happens to be JSON."""

V4_PARTS: Mapping[str, frozenset[str]] = {
    "user": frozenset({"file"}),
    "assistant": frozenset({"file", "reasoning", "source", "tool-invocation"}),
}
"""By role: the types of parts that version 4 writes differently."""

OWN_PARTS = ("tool-call", "tool-result", "data", "foreign", "image", "steering-message")
"""Types of parts that only we write."""

_STARTS_LIKE_CONTENT = re.compile(
    r'\s*(\{\s*"(format|parts|content|metadata|toolInvocations|reasoning)"|\[\s*\{\s*"type")'
)
"""Text that starts so and cannot be parsed was cut off; other text that cannot be parsed is plain text."""


class Upgraded(NamedTuple):
    """Content in the current format, the shape that it had, and what could not be carried over."""

    content: Content
    shape: Shape
    losses: tuple[Loss, ...] = ()


def upgrade(role: str, text: str) -> Upgraded:
    """The content of a row in the current format. Damaged text is kept whole."""
    try:
        value: Json = loads(text)
    except PartitaError:
        return _damaged(role, text) if _STARTS_LIKE_CONTENT.match(text) else _plain(role, text)
    try:
        return _in_string(role, value) if isinstance(value, str) else _read(role, value, text)
    except PartitaError:
        return _damaged(role, text)


def _read(role: str, value: Json, text: str) -> Upgraded:
    if _are_parts(value):
        return _loaded(model.load([{"role": role, "content": value}], 4), role, {})
    if not is_object(value) or not ("format" in value or not V4_MEMBERS.isdisjoint(value)):
        return _plain(role, text)
    if "format" not in value:
        around = {key: value[key] for key in MESSAGE_MEMBERS if key in value}
        bare = {key: item for key, item in value.items() if key not in MESSAGE_MEMBERS}
        return _loaded(v4.load([{**bare, "id": "", "role": role}]), role, around)
    return _format_2(role, value)


def _in_string(role: str, text: str) -> Upgraded:
    """A JSON string: a whole content that was encoded twice, or plain text."""
    try:
        value: Json = loads(text)
    except PartitaError:
        return _plain(role, text)
    if not _are_parts(value) and not (is_object(value) and value.get("format") == FORMAT):
        return _plain(role, text)
    found = _read(role, value, text)
    return found if found.shape == "damaged" else found._replace(shape="string")


def _are_parts(value: Json) -> bool:
    return is_array(value) and all(is_object(item) and isinstance(item.get("type"), str) for item in value)


def _plain(role: str, text: str) -> Upgraded:
    """Plain text: one part, marked as reconstructed."""
    metadata: JsonObject = {"reconstructed": True}
    part = TextPart(text) if role != "tool" else ForeignPart(format="text", value=text)
    return Upgraded(TYPES[role](parts=(part,), metadata=metadata), "plain text")


def _loaded(loaded: Loaded, role: str, around: JsonObject) -> Upgraded:
    """The content of a message that a format has read, and the members around it."""
    message = loaded.messages[0]
    content, aside = message.content, {**kept_fields(message.extra), **around}
    if aside:
        content = replace(content, extra=keep_fields({**kept_fields(content.extra), **aside}, TYPES[role]))
    return Upgraded(content, "version 4", loaded.losses)


def _damaged(role: str, text: str) -> Upgraded:
    content: Content = TYPES[role](parts=(ForeignPart(format=DAMAGED, value=text),))
    return Upgraded(content, "damaged")


# Content of format 2: current, or with parts of version 4 among ours, or with parts that cannot be read.


def _format_2(role: str, value: JsonObject) -> Upgraded:
    if not _has_v4_parts(value, role):
        try:
            return Upgraded(CONTENTS[role].read(value), "current")
        except PartitaError:
            if value.get("format") != FORMAT:
                raise
    losses: list[Loss] = []
    content = _upgrade_parts(value, role, losses)
    broken = any(isinstance(part, ForeignPart) and part.format == DAMAGED for part in content.parts)
    return Upgraded(content, "damaged" if broken else "version 4", tuple(losses))


def _has_v4_parts(content: JsonObject, role: str) -> bool:
    parts: Json = content.get("parts")
    if role not in V4_PARTS or not is_array(parts):
        return False
    attachments: Json = content.get("experimental_attachments")
    has_attachments = is_array(attachments) and any(map(_is_attachment, attachments))
    outside_parts = not parts and bool(content.get("toolInvocations") or content.get("reasoning"))
    return has_attachments or outside_parts or any(_is_v4_part(part, role) for part in parts)


def _is_attachment(item: Json) -> bool:
    return is_object(item) and isinstance(item.get("url"), str)


def _is_v4_part(part: Json, role: str) -> bool:
    type_ = part.get("type") if is_object(part) else None
    if type_ not in V4_PARTS.get(role, ()):
        return False
    if type_ == "reasoning":
        return "text" not in part or "details" in part
    return type_ != "file" or "mimeType" in part or "data" in part


def _upgrade_parts(content: JsonObject, role: str, losses: list[Loss]) -> Content:
    """The content with current parts. A part that cannot be read is kept as it is."""
    with conversion_errors():
        if role in V4_PARTS and not _has_own_members(content):
            read = read_content(content, role)
            losses.extend(json_losses(content, write_content_back(read, ""), "$", UNREAD))
            return read.content
        whole: Content = CONTENTS[role].read({**content, "parts": []})
        raws: Json = content.get("parts")
        if not is_array(raws):
            raise DecodeError("a content without parts", where="$.parts", hint="restore it from a backup")
        parts = [part for index, raw in enumerate(raws) for part in _read_part(raw, role, index, losses)]
        return replace(whole, parts=tuple(parts))  # pyright: ignore[reportArgumentType] # parts of its role


def _has_own_members(content: JsonObject) -> bool:
    parts: Json = content.get("parts")
    raws = parts if is_array(parts) else []
    own = any(is_object(part) and part.get("type") in OWN_PARTS for part in raws)
    network: Json = content.get("networkExecution")
    return own or "usage" in content or (is_object(network) and "isNetwork" not in network)


def _read_part(raw: Json, role: str, index: int, losses: list[Loss]) -> list[Any]:
    if _is_v4_part(raw, role):
        read = read_part(raw, role)
        losses.extend(json_losses(raw, write_as_read(read, raw), f"$.parts[{index}]", UNREAD))
        return list(read)
    try:
        return [PARTS[role].read(raw)]
    except DecodeError:
        return [ForeignPart(format=DAMAGED, value=raw)]
