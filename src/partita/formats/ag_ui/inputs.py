"""The words that the input of a call is told in."""

from msgspec import UNSET, UnsetType

from partita.errors import DecodeError
from partita.types.json import Json, loads


def parsed(words: str) -> tuple[Json | UnsetType, bool]:
    """The input that the words of a call are, and whether they are one; none at all mean an empty object."""
    try:
        return (loads(words) if words.strip() else {}), True
    except DecodeError:
        return UNSET, False


def says(words: str, value: Json | UnsetType) -> bool:
    """Whether the words of an input say the same as its value; words of a text say themselves."""
    if value is UNSET or words == value:
        return value is not UNSET
    try:
        return bool(loads(words) == value)
    except DecodeError:
        return False
