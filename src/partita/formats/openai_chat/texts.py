"""Texts as the content of a message: one string, or a list where the server takes one."""

from typing import Final

from partita.formats.losses import Loss
from partita.types.json import JsonObject

from .dialects import Dialect

JOINED: Final = "the server takes text as one string"


def text_content(texts: list[str], path: str, dialect: Dialect, losses: list[Loss]) -> str | list[JsonObject]:
    """What `texts` say."""
    if len(texts) <= 1:
        return "".join(texts)
    if dialect.lists_of_text:
        return [{"type": "text", "text": text} for text in texts]
    losses.append(Loss(path, "where one text ends", JOINED))
    return "\n".join(texts)
