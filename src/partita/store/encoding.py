"""Values as the JSON text that is stored. A value that would not be read back is refused, with its path."""

import math
from collections.abc import Mapping
from typing import Any, NoReturn, cast

import msgspec
from msgspec import UNSET

from partita.errors import DecodeError, StoreError
from partita.types.codec import Codec, encode
from partita.types.json import Json, dumps, kind_of, loads
from partita.types.messages import AssistantContent, Content, SystemContent, ToolContent, UserContent
from partita.types.parts import UnknownPart
from partita.types.value import EXTRA_NAME, Extra, Value, wire_names

CONTENTS: dict[str, Codec[Any]] = {
    "system": Codec(SystemContent),
    "user": Codec(UserContent),
    "assistant": Codec(AssistantContent),
    "tool": Codec(ToolContent),
}
"""How the content of a role is read."""


def encode_content(role: str, content: Content) -> str:
    """The JSON text of a message's content. It is read once, so that nothing unreadable is ever stored."""
    path = "$.content"
    try:
        text = encode(content).decode()
        found = CONTENTS[role].decode(text)
    except DecodeError as error:
        refuse_not_json(content, path)
        raise StoreError(
            f"the role {role!r} cannot have this content: {error.what}",
            where=path + error.where.removeprefix("$"),
            hint=error.hint,
        ) from None
    except TypeError:
        refuse_not_json(content, path)
        raise
    if found != content:
        refuse_not_json(content, path)
    return text


def encode_json(value: Json, path: str) -> str:
    """The JSON text of a value that has no type of its own, such as metadata."""
    try:
        text = dumps(value).decode()
    except TypeError:
        refuse_not_json(value, path)
        raise
    if loads(text) != value:
        refuse_not_json(value, path)
    return text


def refuse_not_json(value: object, path: str) -> None:
    """Raise an error for the first value that JSON has no notation for."""
    match value:
        case None | str() | int():
            pass
        case float():
            if not math.isfinite(value):
                _refuse(f"{value} has no notation in JSON", path, "store None, or the text of the number")
        case UnknownPart():
            refuse_not_json(value.raw, path)
        case Value():
            _refuse_in_fields(value, path)
        case list() | tuple():
            for index, item in enumerate(cast("list[object]", value)):
                refuse_not_json(item, f"{path}[{index}]")
        case dict() | Extra():
            for key, item in cast("Mapping[object, object]", value).items():
                if not isinstance(key, str):
                    _refuse(f"the key {key!r:.80} is not a string", path, "JSON objects have string keys")
                refuse_not_json(item, f"{path}.{key}")
        case _:
            _refuse(
                f"{kind_of(value)} has no notation in JSON",
                path,
                "store text, numbers, booleans, None, lists and dicts",
            )


def _refuse_in_fields(value: Value, path: str) -> None:
    for field in msgspec.structs.fields(type(value)):
        item = getattr(value, field.name)
        if item is not UNSET and field.encode_name != EXTRA_NAME:
            refuse_not_json(item, f"{path}.{field.encode_name}")
    own = wire_names(type(value))
    for key, item in (value.extra or {}).items():
        if key in own:
            _refuse(
                f"`extra` has a field {key!r}, and so has {type(value).__name__}",
                f"{path}.{key}",
                "set the field itself",
            )
        refuse_not_json(item, f"{path}.{key}")


def _refuse(what: str, path: str, hint: str) -> NoReturn:
    raise StoreError(what, where=path, hint=hint)
