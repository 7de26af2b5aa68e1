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

FORM: Final = "content"
"""Where it is said that a content was a string, or that words of an error were blocks."""

STRING: Final = "string"
BLOCKS: Final = "blocks"

APART: Final = "apart"
"""Marks a message that was a turn of its own although its neighbour has the same role."""

PLACE: Final = "place"
MESSAGES: Final = "messages"
"""The place of instructions that stood among the messages, and not before them."""

RESULT_TYPE: Final = "resultType"
"""Where the type of a result stands that does not follow from the name of its call."""

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


def noted(own: JsonObject) -> JsonObject | None:
    """Provider metadata with what is said in our namespace, if anything is."""
    return {ANTHROPIC: own} if own else None


def own_of(metadata: JsonObject | None) -> JsonObject | None:
    """What metadata says in our namespace; `None` when the part is another provider's."""
    if not metadata:
        return None
    own = metadata.get(ANTHROPIC)
    return own if is_object(own) else None


def fields_of(own: JsonObject) -> JsonObject:
    """What `rest_of` put aside. The type of a block is never among it, whatever the metadata hold."""
    fields = own.get(FIELDS)
    return {name: value for name, value in fields.items() if name != "type"} if is_object(fields) else {}


def beside_text(own: JsonObject) -> JsonObject:
    """What stands beside the words of a text: what they cite, and members that have no name here."""
    cited: JsonObject = {"citations": own["citations"]} if own.get("citations") else {}
    return {**cited, **fields_of(own)}


def text_of(value: Json) -> str | None:
    """A value that is a text and not empty."""
    return value if isinstance(value, str) and value else None
