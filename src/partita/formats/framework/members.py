"""Objects taken apart name by name. What nobody took is kept beside what became of the rest."""

from collections.abc import Mapping
from typing import Any

from partita.errors import ConversionError
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of


class Members:
    """An object, to be taken apart. What is `left` is what nobody took."""

    __slots__ = ("left",)

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.left: JsonObject = dict(raw)

    def text(self, name: str) -> str | None:
        """The text of that name. Anything else stays."""
        value = self.left.get(name)
        if not isinstance(value, str):
            return None
        del self.left[name]
        return value

    def object(self, name: str) -> JsonObject | None:
        """The object of that name. Anything else stays."""
        value = self.left.get(name)
        if not is_object(value):
            return None
        del self.left[name]
        return value

    def any(self, name: str, default: Json = None) -> Json:
        """Whatever has that name."""
        return self.left.pop(name, default)

    def forget(self, silent: Mapping[str, frozenset[Any]]) -> None:
        """Forget members that say nothing: by name, the types whose empty value says no more than absence."""
        types = silent.get
        self.left = {
            name: value for name, value in self.left.items() if value or type(value) not in types(name, ())
        }

    def drop(self, name: str, *defaults: Json) -> None:
        """Forget a member that says no more than its absence would."""
        if name in self.left and any(_is_same(self.left[name], one) for one in defaults):
            del self.left[name]


def _is_same(a: Json, b: Json) -> bool:
    return type(a) is type(b) and bool(a == b)


def present(**members: Json) -> JsonObject:
    """The members that are not `None`."""
    return {name: value for name, value in members.items() if value is not None}


def metadata_of(
    namespace: str, left: Mapping[str, Any], others: JsonObject | None = None
) -> JsonObject | None:
    """Provider metadata that keeps leftovers under a namespace, or none if there are none."""
    if not left and not others:
        return None
    found = dict(others or {})
    if left:
        found[namespace] = dict(left)
    return found or None


def noted(metadata: JsonObject | None, namespace: str) -> JsonObject:
    """What provider metadata holds under a namespace."""
    own = None if metadata is None else metadata.get(namespace)
    return own if is_object(own) else {}


def checked_object(raw: Json, path: str, what: str, hint: str) -> JsonObject:
    """`raw`, if it is an object."""
    if is_object(raw):
        return raw
    raise ConversionError(f"{what} is an object, found {kind_of(raw)}", where=path, hint=hint)


def checked_array(raw: Json, path: str, what: str, hint: str) -> list[Any]:
    """`raw`, if it is an array."""
    if is_array(raw):
        return raw
    raise ConversionError(f"{what} is an array, found {kind_of(raw)}", where=path, hint=hint)
