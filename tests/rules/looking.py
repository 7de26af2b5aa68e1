"""What the rules of several APIs have in common."""

import re
from collections.abc import Iterator

from partita.errors import DecodeError
from partita.types.json import Json, JsonObject, is_array, is_object, loads

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
NAME_64 = re.compile(r"[A-Za-z0-9_-]{1,64}")
NAME_128 = re.compile(r"[A-Za-z0-9_-]{1,128}")


def objects(value: Json) -> list[JsonObject]:
    """The objects of a list."""
    return [item for item in value if is_object(item)] if is_array(value) else []


def not_objects(value: Json, where: str) -> Iterator[str]:
    """What of a list is no object; an empty list and no list are problems too."""
    if not is_array(value) or not value:
        yield f"{where}: no list with something in it"
    elif not all(is_object(item) for item in value):
        yield f"{where}: something that is no object"


def not_arguments(text: Json, where: str) -> Iterator[str]:
    """What is wrong with arguments that are to be an object, written as a text."""
    try:
        value = loads(text) if isinstance(text, str) else None
    except DecodeError:
        value = None
    if not is_object(value):
        yield f"{where}: arguments are no object in a text: {text!r}"
