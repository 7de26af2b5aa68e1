"""A title for a thread: the first words that a user said in it."""

from collections.abc import Iterable
from typing import Final

from partita.types.json import Json, is_array, is_object
from partita.types.messages import Message, UserMessage, text_of

LONGEST: Final = 60
"""How many characters a title has at most."""


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


def first_words(text: str) -> str:
    """The beginning of a text, on one line, cut between words."""
    line = " ".join(text.split())
    if len(line) <= LONGEST:
        return line
    cut = line[: LONGEST - 1]
    whole = cut.rpartition(" ")[0] if " " in cut and line[LONGEST - 1] != " " else cut
    return f"{whole.rstrip(' ,;:.')}…"
