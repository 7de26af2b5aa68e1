"""What of messages has no place in a session file."""

from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import UNSET
from msgspec.structs import fields

from partita.formats.losses import Loss
from partita.types.codec import to_json
from partita.types.json import Json
from partita.types.value import Value

NO_PLACE: Final = "a session file has no place for it"
WHY: Final[Mapping[str, str]] = {
    "id": "a session file gives its lines names of its own",
    "children": "a sub-agent has a file of its own",
    "internal": "an answer is always shown",
    "citations": "the API takes only its own citations",
}
"""Why a member is lost, where there is more to say."""


class Losses:
    """The losses of one file, told one after the other."""

    def __init__(self) -> None:
        self.told: list[Loss] = []

    def say(self, path: str, value: Json, why: str) -> None:
        """Tell the loss of a JSON value."""
        self.told.append(Loss.of(path, value, why))

    def whole(self, value: Value, path: str, why: str) -> None:
        """Tell that nothing of a part or message arrives."""
        self.say(path, to_json(value), why)

    def rest(self, value: Value, path: str, *carried: str) -> None:
        """Tell which members of a value do not arrive: all that it has but the carried ones."""
        for field, name, default in _fields_of(type(value)):
            found = getattr(value, field)
            if found is None or found is UNSET or found == default or field in carried:
                continue
            if field == "extra":
                self.say(path, dict(found), NO_PLACE)
            else:
                self.say(f"{path}.{name}", to_json(found), WHY.get(name, NO_PLACE))


@cache
def _fields_of(type_: type[Value]) -> tuple[tuple[str, str, object], ...]:
    """The fields of a value, each with its name on the wire and its default."""
    return tuple((field.name, field.encode_name, field.default) for field in fields(type_))
