"""The messages of a request → the model's view of them: what was said, called, and given back."""

from typing import Final, NamedTuple

from partita.errors import ConversionError
from partita.formats.losses import Loss
from partita.formats.openai_chat.dialects import Dialect
from partita.formats.openai_chat.notes import CONTENT, FIELDS, ROLE
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import SystemContent, SystemMessage, UserContent, UserMessage
from partita.types.parts import FilePart, ForeignPart, ImagePart, TextPart
from partita.types.tools import ContentOutput, TextOutput, ToolOutput

from .items import foreign, read_item

ROLES: Final = ("system", "developer", "user", "assistant", "tool", "function")


class Content(NamedTuple):
    """What a message says, and the form it says it in."""

    parts: list[TextPart | ImagePart | FilePart | ForeignPart]
    notes: JsonObject


def checked(raw: Json, path: str) -> JsonObject:
    """A message whose role is known and whose content is one."""
    if not is_object(raw):
        raise ConversionError(
            f"a message is an object, found {kind_of(raw)}", where=path, hint="give {role, content}"
        )
    role, content = raw.get("role"), raw.get("content")
    if role not in ROLES:
        what = f"unknown role {role!r:.40}" if isinstance(role, str) else f"role is {kind_of(role)}"
        raise ConversionError(what, where=f"{path}.role", hint=f"use one of {', '.join(ROLES)}")
    if content is None or isinstance(content, str) or is_array(content):
        return raw
    raise ConversionError(
        f"content is {kind_of(content)}", where=f"{path}.content", hint="make it a string or an array"
    )


def form_of(raw: JsonObject) -> JsonObject:
    """The note of a content that is not one string."""
    content = raw.get("content")
    if isinstance(content, str):
        return {} if content else {CONTENT: "empty"}
    if is_array(content):
        return {CONTENT: "list"}
    return {CONTENT: "null" if "content" in raw else "absent"}


def kept_of(raw: JsonObject, *read: str) -> JsonObject:
    """The note of members that are not understood, to go back with the message."""
    if len(raw) == 2 + len(read) and "content" in raw and all(key in raw for key in read):
        return {}
    rest = {key: value for key, value in raw.items() if key not in ("role", "content") and key not in read}
    return {FIELDS: rest} if rest else {}


def content_of(raw: JsonObject, dialect: Dialect) -> Content:
    """What a user, a tool or the instructions say."""
    content = raw.get("content")
    if isinstance(content, str):
        return Content([TextPart(content)] if content else [], form_of(raw))
    items = content if is_array(content) else []
    return Content([read_item(item, dialect) for item in items], form_of(raw))


def system_message(raw: JsonObject, id_: str, dialect: Dialect) -> SystemMessage:
    """Instructions."""
    said, notes = content_of(raw, dialect)
    # Instructions hold no pictures: those that came are kept as they are.
    items: Json = raw.get("content")
    parts = [
        part if isinstance(part, TextPart | ForeignPart) else foreign(items[index], dialect)
        for index, part in enumerate(said)
    ]
    role = {} if raw["role"] == dialect.system_role else {ROLE: raw["role"]}
    metadata = named(dialect, {**role, **notes, **kept_of(raw)})
    return SystemMessage(id=id_, content=SystemContent(parts=tuple(parts), provider_metadata=metadata))


def user_message(raw: JsonObject, id_: str, dialect: Dialect) -> UserMessage:
    """What a person said."""
    content = raw.get("content")
    if len(raw) == 2 and content and isinstance(content, str):
        return UserMessage(id=id_, content=UserContent(parts=(TextPart(content),)))
    parts, notes = content_of(raw, dialect)
    metadata = named(dialect, {**notes, **kept_of(raw)})
    return UserMessage(id=id_, content=UserContent(parts=tuple(parts), provider_metadata=metadata))


def output_of(raw: JsonObject, dialect: Dialect) -> tuple[ToolOutput, JsonObject]:
    """What a tool gave back, and the form it came in."""
    content = raw.get("content")
    if not is_array(content):
        return (TextOutput(content), {}) if isinstance(content, str) else (TextOutput(""), form_of(raw))
    said, notes = content_of(raw, dialect)
    return ContentOutput(tuple(said)), notes


def named(dialect: Dialect, own: JsonObject) -> JsonObject | None:
    """Metadata under the server's name."""
    return {dialect.namespace: own} if own else None


def misplaced(path: str, id_: str) -> Loss:
    """The loss of a place."""
    return Loss(path, f"the place of the result of {id_}", "a result stands right behind its call", "changed")
