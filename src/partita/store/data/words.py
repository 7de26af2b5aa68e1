"""Whether a change loses words: every string and number that was there is looked for in what is there now.

Names of types and states may change; what was said, called, given and answered may not.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from partita.errors import DecodeError
from partita.formats.losses import Loss
from partita.types.json import Json, dumps, is_array, is_object, loads

VOCABULARY = frozenset({"type", "state", "role", "sourceType", "format", "step"})
"""Members whose values are words of a format, not of a person, an agent or a tool."""

_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[-+:.\dZ]*$")

SPOKEN = ("text", "reasoning")
BORDER = "\x00"


def lost_words(before: Json, after: Json, losses: Iterable[Loss] = ()) -> list[str]:
    """The strings and numbers of a value that are nowhere in another, but for losses that are told."""
    now = set(_strings(after))
    missing = [text for text in dict.fromkeys(_strings(before)) if text not in now]
    if not missing:
        return []
    whole = BORDER.join([*now, *_joined(after), *(loss.what for loss in losses)])
    return [text for text in missing if text not in whole]


def _strings(value: Json) -> Iterator[str]:
    """Every string and number in a value, those inside JSON that is kept as text included."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            inner = _parsed(item)
            if inner is None:
                yield _moment(item)
            else:
                waiting.append(inner)
        elif is_array(item):
            waiting.extend(item)
        elif is_object(item):
            waiting.extend(inner for name, inner in item.items() if name not in VOCABULARY)
        elif isinstance(item, int | float) and not isinstance(item, bool):
            yield dumps(item).decode()


def _moment(text: str) -> str:
    """A time in the one way we write it; any other text as it is."""
    if not _TIME.match(text):
        return text
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat()


def _parsed(text: str) -> Json:
    """The object, array or string that a text is; `None` when it is words."""
    if text[:1] not in ("{", "[", '"'):
        return None
    try:
        return loads(text)
    except DecodeError:
        return None


def _joined(value: Json) -> Iterator[str]:
    """The texts of every list of parts as one: some formats repeat them so beside the parts."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if is_object(item):
            waiting.extend(item.values())
        elif is_array(item):
            waiting.extend(item)
            for type_ in SPOKEN:
                texts = [
                    part["text"]
                    for part in item
                    if is_object(part) and part.get("type") == type_ and isinstance(part.get("text"), str)
                ]
                if len(texts) > 1:
                    yield from ("".join(texts), "\n".join(texts))
