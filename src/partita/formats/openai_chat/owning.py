"""Whose metadata is whose: what one server signed means nothing to another."""

from partita.types.json import JsonObject, is_object

from .dialects import Dialect


def own_of(metadata: JsonObject | None, dialect: Dialect) -> JsonObject | None:
    """What the server itself said of a part; nothing if another did."""
    space = (metadata or {}).get(dialect.namespace)
    return space if is_object(space) else None
