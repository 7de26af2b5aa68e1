"""Looking into JSON that may be anything."""

from typing import Final

from partita.errors import DecodeError
from partita.types.json import Json, JsonObject, dumps, is_array, is_object

NAMESPACE: Final = "google"
"""The provider's name in provider metadata, as the AI SDK has it."""

SIGNATURE: Final = "thoughtSignature"
CALL_ID: Final = "callId"
"""Where the id that the provider itself gave a call stands in the metadata: invented ones are not sent."""

TOOL_TYPE: Final = "serverToolType"
THOUGHT: Final = "thought"
UNTYPED: Final = "untyped"
"""Says of a file that nobody told its media type: the one it has here is made up."""

FORMAT: Final = "gemini"
CUSTOM: Final = "google.part"
"""What a part that nobody understands is called, for as long as it is on its way to be written."""

RESPONSE: Final = "response"
"""Where the words of an answer of a tool keep the object that they were read from."""

ROLE: Final = "role"
NAME: Final = "name"
"""Where an answer of a tool keeps a role or a name that is not the usual one."""

AROUND: Final = "content"
"""Where a message keeps what its content said besides its role and its parts."""

APART: Final = "apart"
"""Says of a message that it is a content of its own, behind another of the same role."""


def text_at(value: Json, key: str) -> str | None:
    """The text under a key, if there is one that is not empty."""
    text = value.get(key) if is_object(value) else None
    return text if isinstance(text, str) and text else None


def object_at(value: Json, key: str) -> JsonObject:
    """The object under a key; an empty one, if there is none."""
    inner = value.get(key) if is_object(value) else None
    return inner if is_object(inner) else {}


def items_at(value: Json, key: str) -> list[Json]:
    """The items of the array under a key; none, if there is no array."""
    inner = value.get(key) if is_object(value) else None
    return inner if is_array(inner) else []


def count_at(value: Json, key: str) -> int | None:
    """The whole number under a key, if there is one."""
    number = value.get(key) if is_object(value) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def marks_of(part: JsonObject, *content: str) -> JsonObject:
    """What a part says beside its content, to be kept with it: its signature, and whatever else."""
    return {
        key: value
        for key, value in part.items()
        if key not in content and value is not None and (key != THOUGHT or value is True)
    }


def more_of(held: JsonObject, name: str, *known: str) -> JsonObject:
    """What the object that a part holds says beyond what is known, under the name of the object."""
    more = {key: value for key, value in held.items() if key not in known and value is not None}
    return {name: more} if more else {}


def written(value: Json) -> str | None:
    """The JSON text of a value; `None` when it is nested too deeply to be written."""
    try:
        return dumps(value).decode()
    except DecodeError:
        return None
