"""Texts as the content of a message: one string, or a list where the server takes one."""

from collections.abc import Sequence
from typing import Final

from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_object

from .dialects import Dialect
from .notes import CONTENT, FIELDS

JOINED: Final = "the server takes text as one string"


def text_content(texts: list[str], path: str, dialect: Dialect, losses: list[Loss]) -> str | list[JsonObject]:
    """What `texts` say."""
    if len(texts) <= 1:
        return "".join(texts)
    if dialect.lists_of_text:
        return [{"type": "text", "text": text} for text in texts]
    losses.append(Loss(path, "where one text ends", JOINED, "changed"))
    return "\n".join(texts)


def text_item(text: str, own: JsonObject | None) -> JsonObject:
    """A text as an item of a list, with what came with it."""
    return {"type": "text", "text": text, **fields_in(own)}


def fields_in(own: JsonObject | None) -> JsonObject:
    """The members that are kept to go back as they came."""
    if not own:
        return {}
    kept = own.get(FIELDS)
    return kept if is_object(kept) else {}


def is_plain(items: Sequence[JsonObject]) -> bool:
    """Whether items are nothing but text."""
    return all(item.get("type") == "text" and len(item) == 2 for item in items)


def in_form(content: Json, notes: JsonObject | None) -> JsonObject:
    """The content of a message as its member, in the form it came in if it says nothing."""
    if content or not notes:
        return {"content": content}
    match notes.get(CONTENT):
        case "absent":
            return {}
        case "null":
            return {"content": None}
        case "list":
            return {"content": []}
        case "empty":
            return {"content": ""}
        case _:
            return {"content": content}
