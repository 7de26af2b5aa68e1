"""A title for a thread: the first words that a user said in it."""

from collections.abc import Iterable

from partita.store.display_titles import first_words
from partita.types.json import Json, is_array, is_object
from partita.types.messages import Message, UserMessage, text_of


def title_of(messages: Iterable[Message]) -> str:
    """The first words of the first message of a user that has any; empty if there is none."""
    said = (text_of(message) for message in messages if isinstance(message, UserMessage))
    return next((title for text in said if (title := first_words(text))), "")


def title_in(raws: Json) -> str:
    """The same, of messages as a page has them: with `parts`, or with a `content` of parts."""
    for raw in raws if is_array(raws) else []:
        if is_object(raw) and raw.get("role") == "user":
            parts = raw.get("parts", raw.get("content"))
            title = first_words(" ".join(_texts(parts)))
            if title:
                return title
    return ""


def _texts(parts: Json) -> list[str]:
    if isinstance(parts, str):
        return [parts]
    items = parts if is_array(parts) else []
    return [item["text"] for item in items if is_object(item) and isinstance(item.get("text"), str)]
