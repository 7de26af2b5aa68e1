"""Names: the namespace of our metadata, and what stands in it."""

from collections.abc import Collection
from typing import Final

from partita.types.json import JsonObject, is_object

MCP: Final = "mcp"
"""The namespace of provider metadata, and the format of blocks that are kept whole."""

FIELDS: Final = "fields"
"""Where members stand that nothing here has a name for."""

FORM: Final = "content"
LIST: Final = "list"
"""Marks a content that was a list although it has one block."""

KEPT: Final = "blocks"
"""Where the blocks of a result stand when its output is something else."""


def rest_of(value: JsonObject, known: Collection[str]) -> JsonObject:
    """Metadata for the members of an object besides those known."""
    rest = {key: item for key, item in value.items() if key not in known}
    return {FIELDS: rest} if rest else {}


def noted(own: JsonObject) -> JsonObject | None:
    """Provider metadata with what is said in our namespace, if anything is."""
    return {MCP: own} if own else None


def own_of(metadata: JsonObject | None) -> JsonObject:
    """What metadata says in our namespace."""
    own = metadata.get(MCP) if metadata else None
    return own if is_object(own) else {}


def fields_of(own: JsonObject) -> JsonObject:
    """What `rest_of` put aside."""
    fields = own.get(FIELDS)
    return fields if is_object(fields) else {}
