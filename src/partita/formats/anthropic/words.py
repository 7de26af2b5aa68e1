"""Names: the namespace of our metadata, and keys that are spelled one way on the wire and another in it.

Metadata and outputs are spelled as the AI SDK spells them. Every spelling can be undone, for what a server
tool gave must go back to the API as it came.
"""

from collections.abc import Collection, Mapping
from typing import Final

from partita.types.json import Json, JsonObject, is_object

ANTHROPIC: Final = "anthropic"
"""The namespace of provider metadata."""

FIELDS: Final = "fields"
"""Where fields of a block stand that nothing here has a name for, spelled as on the wire."""

INDEX: Final = "index"
"""The place of a block in its answer: calls of server tools and their results may be interleaved."""

CALLER: Final[Mapping[str, str]] = {"tool_id": "toolId"}
"""What asked for a call: the model itself, or code that it wrote."""


def renamed(value: Json, names: Mapping[str, str]) -> Json:
    """An object with keys of `names` replaced; any other value as it is."""
    if not is_object(value):
        return value
    return {names.get(key, key): item for key, item in value.items()}


def turned(names: Mapping[str, str]) -> dict[str, str]:
    """The other way round."""
    return {name: key for key, name in names.items()}


def rest_of(block: JsonObject, known: Collection[str]) -> JsonObject:
    """Metadata for the fields of a block besides those known; a null says nothing."""
    rest = {key: item for key, item in block.items() if key not in known and item is not None}
    return {FIELDS: rest} if rest else {}


def own_of(metadata: JsonObject | None) -> JsonObject | None:
    """What metadata says in our namespace; `None` when the part is another provider's."""
    own = (metadata or {}).get(ANTHROPIC)
    return own if is_object(own) else None


def fields_of(own: JsonObject) -> JsonObject:
    """What `rest_of` put aside."""
    fields = own.get(FIELDS)
    return fields if is_object(fields) else {}


def text_of(value: Json) -> str | None:
    """A value that is a text and not empty."""
    return value if isinstance(value, str) and value else None
