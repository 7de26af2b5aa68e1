"""Whose metadata is whose: what one server signed means nothing to another."""

from typing import Final

from partita.types.json import JsonObject, is_object
from partita.types.parts import ForeignPart

from .dialects import OPENAI, Dialect

CHAT: Final = "openai-chat"


def own_of(metadata: JsonObject | None, dialect: Dialect) -> JsonObject | None:
    """What the server itself said of a part; nothing if another did."""
    if not metadata:
        return None
    space = metadata.get(dialect.namespace)
    return space if is_object(space) else None


def format_of(dialect: Dialect) -> str:
    """The name of the format in which a server speaks."""
    return CHAT if dialect.namespace == OPENAI.namespace else f"{CHAT}-{dialect.namespace}"


def own_item(part: object, dialect: Dialect) -> JsonObject | None:
    """What a foreign part keeps, if it is one and came from this server."""
    if not isinstance(part, ForeignPart) or part.format != format_of(dialect):
        return None
    return part.value if is_object(part.value) else None
