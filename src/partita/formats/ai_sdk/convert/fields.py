"""Members of the input on their way to the output, and a record of those that never got there."""

from msgspec import UNSET

from partita.errors import ConversionError
from partita.types.json import Json, is_array, is_object, kind_of

from .values import is_nullish


class Fields:
    """One object of the input. `take` a member that goes into the output, `peek` at one that does not.

    An absent member is `UNSET`. What is not an object has no members, as in JavaScript.
    """

    __slots__ = ("value", "where")

    def __init__(self, value: Json, where: str) -> None:
        self.value = value
        self.where = where

    def peek(self, key: str) -> Json:
        """The member, which only decides something."""
        return self.value.get(key, UNSET) if is_object(self.value) else UNSET

    def take(self, key: str) -> Json:
        """The member, which goes into the output as it is."""
        self.carry(key)
        return self.peek(key)

    def take_first(self, *keys: str) -> Json:
        """The first of these members that is neither absent nor `null`."""
        for key in keys:
            if not is_nullish(self.peek(key)):
                return self.take(key)
        return UNSET

    def carry(self, *keys: str) -> None:
        """Note that the output tells these members."""

    def lose(self, key: str, why: str) -> None:
        """Note why the output does not tell this member."""

    def drop(self, why: str) -> None:
        """Note why the output tells nothing of the whole object."""

    def inside(self, key: str) -> "Fields":
        """The object that a member is."""
        return Fields(self.peek(key), f"{self.where}.{key}")

    def items(self, key: str) -> "list[Fields]":
        """The items of the array that a member must be."""
        return [Fields(item, where) for item, where in self._places(key)]

    def _places(self, key: str) -> list[tuple[Json, str]]:
        value = self.peek(key)
        where = f"{self.where}.{key}"
        if not is_array(value):
            found = "missing" if value is UNSET else f"{kind_of(value)}, not array"
            raise ConversionError(f"{key} is {found}", where=where, hint=f"send {key} as an array")
        return [(item, f"{where}[{index}]") for index, item in enumerate(value)]


class TrackedFields(Fields):
    """Fields that remember what became of each member."""

    __slots__ = ("carried", "children", "dropped", "reasons")

    def __init__(self, value: Json, where: str) -> None:
        super().__init__(value, where)
        self.carried: set[str] = set()
        self.reasons: dict[str, str] = {}
        self.dropped: str | None = None
        self.children: dict[str, list[TrackedFields]] = {}

    def carry(self, *keys: str) -> None:
        """Remember that the output tells these members."""
        self.carried.update(keys)

    def lose(self, key: str, why: str) -> None:
        """Remember why the output does not tell this member."""
        self.reasons[key] = why

    def drop(self, why: str) -> None:
        """Remember why the output tells nothing of the whole object."""
        self.dropped = why

    def inside(self, key: str) -> Fields:
        """The object that a member is, the same one every time."""
        place = f"{self.where}.{key}"
        return self.children.setdefault(key, [TrackedFields(self.peek(key), place)])[0]

    def items(self, key: str) -> list[Fields]:
        """The items of the array that a member must be."""
        self.children[key] = [TrackedFields(item, where) for item, where in self._places(key)]
        return list(self.children[key])
