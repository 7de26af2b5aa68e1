"""Objects of the input, read as JavaScript reads them."""

from msgspec import UNSET

from partita.errors import ConversionError
from partita.types.json import Json, is_array, is_object, kind_of

from .values import is_nullish


class Fields:
    """One object of the input. An absent member is `UNSET`. What is not an object has no members."""

    __slots__ = ("value", "where")

    def __init__(self, value: Json, where: str) -> None:
        self.value = value
        self.where = where

    def get(self, key: str) -> Json:
        """The member."""
        return self.value.get(key, UNSET) if is_object(self.value) else UNSET

    def first(self, *keys: str) -> Json:
        """The first of these members that is neither absent nor `null`."""
        return next((value for value in map(self.get, keys) if not is_nullish(value)), UNSET)

    def inside(self, key: str) -> "Fields":
        """The object that a member is."""
        return Fields(self.get(key), f"{self.where}.{key}")

    def items(self, key: str) -> "list[Fields]":
        """The items of the array that a member must be."""
        return [Fields(item, where) for item, where in self._places(key)]

    def _places(self, key: str) -> list[tuple[Json, str]]:
        value = self.get(key)
        where = f"{self.where}.{key}"
        if not is_array(value):
            found = "missing" if value is UNSET else f"{kind_of(value)}, not array"
            raise ConversionError(f"{key} is {found}", where=where, hint=f"send {key} as an array")
        return [(item, f"{where}[{index}]") for index, item in enumerate(value)]
