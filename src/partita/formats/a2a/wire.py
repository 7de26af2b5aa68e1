"""Wire types of the Agent2Agent protocol, version 1.0, and the conversion of older forms to 1.0.

Source: https://github.com/a2aproject/A2A/blob/main/specification/a2a.proto
"""

from typing import Any, Final

from msgspec import UNSET, UnsetType

from partita.errors import ConversionError
from partita.formats.core.wire import Codec, Wire, always
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of

NAME: Final = "a2a"
"""The format, its namespace in provider metadata, and the name of data without one."""

USER: Final = "ROLE_USER"
AGENT: Final = "ROLE_AGENT"

OLD_ROLES: Final = {"user": USER, "agent": AGENT}
OLD_FILE_MEMBERS: Final = {"bytes": "raw", "uri": "url", "mimeType": "mediaType", "name": "filename"}
"""Before 1.0: https://github.com/a2aproject/A2A/blob/v0.3.0/types/src/types.ts"""


class Part(Wire, rename="camel"):
    """A part: exactly one of the first four members is set."""

    text: str | UnsetType = UNSET
    raw: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    data: Any = UNSET
    media_type: str | UnsetType = UNSET
    filename: str | UnsetType = UNSET
    metadata: JsonObject | UnsetType = UNSET


class Message(Wire, rename="camel"):
    """A message."""

    role: str
    message_id: str | UnsetType = UNSET
    context_id: str | UnsetType = UNSET
    task_id: str | UnsetType = UNSET
    parts: tuple[Any, ...] = always(())
    """Parts are read one by one: an unknown part is kept as it is."""
    metadata: Any = UNSET


PART: Final[Codec[Part]] = Codec(Part)
MESSAGE: Final[Codec[Message]] = Codec(Message)


def is_old(raw: JsonObject) -> bool:
    """Whether a message is in an older form than that of protocol 1.0."""
    parts = raw.get("parts", ())
    return "kind" in raw or raw["role"] in OLD_ROLES or any(one.get("kind") for one in parts)


def new_message(raw: JsonObject) -> JsonObject:
    """Return a message with the members of 1.0, except for its parts."""
    role = raw.get("role")
    if isinstance(role, str) and role in OLD_ROLES:
        raw = raw | {"role": OLD_ROLES[role]}
    is_named = raw.get("kind") == "message"
    return {name: raw[name] for name in raw if name != "kind"} if is_named else raw


def new_part(raw: JsonObject) -> JsonObject:
    """Return a part with the members of 1.0."""
    kind, file = raw.get("kind", raw.get("type")), raw.get("file")
    if kind is None:
        return raw
    others = {name: value for name, value in raw.items() if name not in ("kind", "type")}
    if kind == "file" and is_object(file):
        inner = {OLD_FILE_MEMBERS.get(name, name): value for name, value in file.items()}
        return inner | {name: value for name, value in others.items() if name != "file"}
    return others if kind in ("text", "data") and kind in raw else raw


def parts_of(raw: JsonObject, path: str) -> list[Any]:
    """Return the parts of a message or an artifact."""
    parts: Json = raw.get("parts", [])
    if not is_array(parts):
        what = f"the parts are {kind_of(parts)}"
        raise ConversionError(what, where=f"{path}.parts", hint="make them an array of parts")
    for number, part in enumerate(parts):
        if not isinstance(part, dict):
            where = f"{path}.parts[{number}]"
            raise ConversionError(f"a part is {kind_of(part)}", where=where, hint="make it an object")
    return parts
