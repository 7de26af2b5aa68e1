"""Kinds of values as the SDK's schemas know them: each reads a value and collects what is wrong with it.

An optional member may be absent but not `null`. A required member of any kind must be present, even
if only as `null`. An object returns the members it names; the rest is stripped. The rules are those of
zod 4.6, which all three versions accept.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from partita.types.json import Json, JsonObject, is_array, is_object, kind_of

MAX_DEPTH: Final = 700
"""Levels of JSON that the SDK's recursive checks survive; they overflow before the thousandth."""

MAX_SAFE_INTEGER: Final = 2**53 - 1
NOTHING: Final = "nothing"
SHOWN: Final = 40


class Problem(NamedTuple):
    """One thing a schema refuses: where it is, what should be there, and what is."""

    path: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected}, found {self.found}"


@dataclass(slots=True)
class Reading:
    """One pass over a value: the problems found so far, and whether unknown members are kept."""

    lossless: bool = False
    problems: list[Problem] = field(default_factory=list[Problem])

    def refuse(self, path: str, expected: str, found: str) -> None:
        """Add a problem."""
        self.problems.append(Problem(path, expected, found))


class Kind(Protocol):
    """A kind of value. `read` returns the value without what the schema does not name."""

    @property
    def name(self) -> str:
        """What to call it in a problem."""
        ...

    def read(self, value: Json, path: str, reading: Reading) -> Json:
        """The value, stripped; what is wrong with it goes to `reading`."""
        ...


@dataclass(frozen=True, slots=True)
class Plain:
    """A value that is accepted or not, as it is."""

    name: str
    accepts: Callable[[Json], bool]

    def read(self, value: Json, path: str, reading: Reading) -> Json:
        """The value itself."""
        if not self.accepts(value):
            reading.refuse(path, self.name, shown(value))
        return value


@dataclass(frozen=True, slots=True)
class Items:
    """An array, every item of one kind."""

    of: Kind
    name: str = "array"

    def read(self, value: Json, path: str, reading: Reading) -> Json:
        """The items, stripped."""
        if not is_array(value):
            reading.refuse(path, self.name, shown(value))
            return value
        return [self.of.read(item, f"{path}[{index}]", reading) for index, item in enumerate(value)]


@dataclass(frozen=True, slots=True)
class Record:
    """An object with any keys, every value of one kind. The key `__proto__` is stripped unseen."""

    of: Kind
    name: str = "object"

    def read(self, value: Json, path: str, reading: Reading) -> Json:
        """The members, stripped."""
        if not is_object(value):
            reading.refuse(path, self.name, shown(value))
            return value
        return {
            key: item if key == "__proto__" else self.of.read(item, f"{path}.{key}", reading)
            for key, item in value.items()
            if reading.lossless or key != "__proto__"
        }


@dataclass(frozen=True, slots=True)
class JsonTree:
    """Any JSON value, read to the bottom: nested no deeper than `MAX_DEPTH`, without `__proto__`."""

    name: str = "JSON nested less deeply"

    def read(self, value: Json, path: str, reading: Reading) -> Json:
        """The value without the key `__proto__` at any depth."""
        if is_deeper(value, MAX_DEPTH):
            reading.refuse(path, self.name, f"more than {MAX_DEPTH} levels")
            return value
        if reading.lossless or not any(key == "__proto__" for key in keys_of(value)):
            return value
        return rebuild(value, keeps=lambda key: key != "__proto__")


@dataclass(frozen=True, slots=True)
class Members:
    """An object with known members, some of them required."""

    members: Mapping[str, Kind]
    required: frozenset[str]
    name: str = "object"

    def read(self, value: Json, path: str, reading: Reading) -> Json:
        """The known members, stripped; in a lossless reading all members."""
        if not is_object(value):
            reading.refuse(path, self.name, shown(value))
            return value
        known: JsonObject = dict(value) if reading.lossless else {}
        for key, kind in self.members.items():
            if key in value:
                item = value[key]
                if isinstance(kind, Plain) and kind.accepts(item):  # most members: no path is built for these
                    known[key] = item
                else:
                    known[key] = kind.read(item, f"{path}.{key}", reading)
            elif key in self.required:
                reading.refuse(f"{path}.{key}", kind.name, NOTHING)
        return known


@dataclass(frozen=True, slots=True)
class Variants:
    """An object of one of several kinds, chosen by its members."""

    pick: Callable[[JsonObject], Kind | Problem]
    name: str = "object"

    def read(self, value: Json, path: str, reading: Reading) -> Json:
        """The value as its variant reads it."""
        if not is_object(value):
            reading.refuse(path, self.name, shown(value))
            return value
        variant = self.pick(value)
        if isinstance(variant, Problem):
            reading.refuse(f"{path}.{variant.path}", variant.expected, variant.found)
            return value
        return variant.read(value, path, reading)


def one_of(*values: str) -> Plain:
    """One of a few strings."""
    names = ", ".join(f'"{value}"' for value in values)
    return Plain(names if len(values) == 1 else f"one of {names}", lambda value: value in values)


def pick_by(key: str, variants: Mapping[str, Kind]) -> Callable[[JsonObject], Kind | Problem]:
    """Choose the variant named by the string at `key`."""
    expected = f"one of {', '.join(sorted(variants))}"

    def pick(value: JsonObject) -> Kind | Problem:
        tag = value.get(key)
        if isinstance(tag, str) and tag in variants:
            return variants[tag]
        return Problem(key, expected, shown(tag) if key in value else NOTHING)

    return pick


def _is_index(value: Json) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return (isinstance(value, int) or value.is_integer()) and 0 <= value <= MAX_SAFE_INTEGER


STRING: Final = Plain("string", lambda value: isinstance(value, str))
BOOLEAN: Final = Plain("boolean", lambda value: isinstance(value, bool))
TRUE: Final = Plain("true", lambda value: value is True)
FALSE: Final = Plain("false", lambda value: value is False)
INDEX: Final = Plain("integer from 0", _is_index)
ANY: Final = Plain("any JSON value", lambda value: True)
NEVER: Final = Plain("no such member", lambda value: False)


def shown(value: Json) -> str:
    """A short description of a value, for a problem."""
    if isinstance(value, str):
        return f'"{value if len(value) <= SHOWN else value[:SHOWN] + "…"}"'
    return kind_of(value)


def is_deeper(value: Json, limit: int) -> bool:
    """Whether objects and arrays are nested in each other more than `limit` times."""
    level = [value]
    for _ in range(limit + 1):
        level = [item for container in level for item in _inside(container)]
        if not level:
            return False
    return True


def keys_of(value: Json) -> Iterator[str]:
    """Every key of every object in a value."""
    stack = [value]
    while stack:
        item = stack.pop()
        if is_object(item):
            yield from item
        stack.extend(_inside(item))


def rebuild(
    value: Json,
    *,
    text: Callable[[str], str] = lambda text: text,
    keeps: Callable[[str], bool] = lambda key: True,
) -> Json:
    """A copy of a value of any depth, its strings and keys passed through `text`, without some keys."""
    root: list[Json] = []
    stack: list[tuple[Json, Callable[[Json], None]]] = [(value, root.append)]
    while stack:
        item, place = stack.pop()
        if is_object(item):
            copy: JsonObject = {text(key): None for key in item if keeps(key)}
            place(copy)
            stack.extend((inner, _setter(copy, text(key))) for key, inner in item.items() if keeps(key))
        elif is_array(item):
            items: list[Json] = [None] * len(item)
            place(items)
            stack.extend((inner, _setter(items, index)) for index, inner in enumerate(item))
        else:
            place(text(item) if isinstance(item, str) else item)
    return root[0]


def _setter(container: Json, key: str | int) -> Callable[[Json], None]:
    def place(value: Json) -> None:
        container[key] = value

    return place


def _inside(value: Json) -> list[Json]:
    if is_object(value):
        return list(value.values())
    return value if is_array(value) else []
