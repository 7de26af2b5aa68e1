"""Parts of version 4 in a content of format 2, as Mastra has stored them to this day, among parts of ours."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.ai_sdk.model.marks import conversion
from partita.formats.losses import Loss, json_losses
from partita.formats.mastra.parts import read_part, write_as_read
from partita.formats.mastra.v2 import read_content, write_content_again
from partita.formats.reasons import UNREAD
from partita.types.codec import Codec
from partita.types.json import Json, JsonObject, is_array, is_object
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
from partita.types.parts import ForeignPart

DAMAGED = "damaged"
"""The format of a foreign part that holds what cannot be read."""

CODECS: Mapping[str, tuple[Codec[Any], Codec[Any]]] = {
    "system": (Codec(SystemContent), Codec(SystemPart)),
    "user": (Codec(UserContent), Codec(UserPart)),
    "assistant": (Codec(AssistantContent), Codec(AssistantPart)),
    "tool": (Codec(ToolContent), Codec(ToolPart)),
}
"""By role: what reads a content, and what reads one of its parts."""

OLDER: Mapping[str, frozenset[str]] = {
    "user": frozenset({"file"}),
    "assistant": frozenset({"file", "reasoning", "source", "tool-invocation"}),
}
"""By role: types of parts that version 4 writes otherwise than we do."""

OUR_PARTS = ("tool-call", "tool-result", "data", "foreign", "image", "steering-message")
"""Types of parts that nobody but us writes."""


def has_older(content: JsonObject, role: str) -> bool:
    """Whether a content holds anything in the words of version 4 that we say otherwise."""
    parts: Json = content.get("parts")
    if role not in OLDER or not is_array(parts):
        return False
    attachments: Json = content.get("experimental_attachments")
    attached = is_array(attachments) and any(map(_is_attachment, attachments))
    untold = not parts and bool(content.get("toolInvocations") or content.get("reasoning"))
    return attached or untold or any(_is_older(part, role) for part in parts)


def _is_attachment(item: Json) -> bool:
    return is_object(item) and isinstance(item.get("url"), str)


def _is_older(part: Json, role: str) -> bool:
    type_ = part.get("type") if is_object(part) else None
    if type_ not in OLDER.get(role, ()):
        return False
    if type_ == "reasoning":
        return "text" not in part or "details" in part
    return type_ != "file" or "mimeType" in part or "data" in part


def renewed(content: JsonObject, role: str, losses: list[Loss]) -> Content:
    """The content in today's words. What nobody can read is kept as it is, each part for itself."""
    with conversion():
        if role in OLDER and not _has_ours(content):
            read = read_content(content, role)
            losses.extend(json_losses(content, write_content_again(read, ""), "$", UNREAD))
            return read.content
        bare, part = CODECS[role]
        whole: Content = bare.read({**content, "parts": []})
        raws: Json = content.get("parts")
        if not is_array(raws):
            raise DecodeError("a content without parts", where="$.parts", hint="take it from a backup")
        parts = [read for i, raw in enumerate(raws) for read in _read(raw, role, i, part, losses)]
        return replace(whole, parts=tuple(parts))  # pyright: ignore[reportArgumentType] # parts of its role


def _has_ours(content: JsonObject) -> bool:
    parts: Json = content.get("parts")
    raws = parts if is_array(parts) else []
    ours = any(is_object(part) and part.get("type") in OUR_PARTS for part in raws)
    network: Json = content.get("networkExecution")
    return ours or "usage" in content or (is_object(network) and "isNetwork" not in network)


def _read(raw: Json, role: str, place: int, codec: Codec[Any], losses: list[Loss]) -> list[Any]:
    if _is_older(raw, role):
        read = read_part(raw, role)
        losses.extend(json_losses(raw, write_as_read(read, raw), f"$.parts[{place}]", UNREAD))
        return list(read)
    try:
        return [codec.read(raw)]
    except DecodeError:
        return [ForeignPart(format=DAMAGED, value=raw)]
