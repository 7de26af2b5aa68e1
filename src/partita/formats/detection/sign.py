"""A sign that gives a format away, and the looks at a value that signs are made of."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from partita.types.json import Json, JsonObject, is_array, is_object

LOOKED_AT: Final = 50
"""How many messages or events are looked at."""

Test: TypeAlias = Callable[[JsonObject], bool]


class Sign(NamedTuple):
    """Something that gives a format away, how sure that makes, and in words what it is."""

    format: str
    confidence: float
    why: str
    shows: Test


def objects(value: Json) -> Iterator[JsonObject]:
    """The first objects of a list; none of anything else."""
    if is_array(value):
        yield from (one for one in value[:LOOKED_AT] if is_object(one))


def inner(value: JsonObject, name: str) -> JsonObject:
    """An object inside; empty when there is none."""
    found: Json = value.get(name)
    return found if is_object(found) else {}


def is_text(value: JsonObject, *names: str) -> bool:
    """Whether all these members are strings."""
    return all(isinstance(value.get(name), str) for name in names)


def begins(value: JsonObject, name: str, *starts: str) -> bool:
    """Whether a member is a string that begins like one of these."""
    found: Json = value.get(name)
    return isinstance(found, str) and found.startswith(starts)


def among(value: JsonObject, name: str, words: frozenset[str]) -> bool:
    """Whether a member is one of these words."""
    found: Json = value.get(name)
    return isinstance(found, str) and found in words


def has_role(message: JsonObject) -> bool:
    """Whether somebody says this."""
    return isinstance(message.get("role"), str)


def parts(message: JsonObject) -> Iterator[JsonObject]:
    """What stands in `parts`."""
    return objects(message.get("parts"))


def items(message: JsonObject) -> Iterator[JsonObject]:
    """What stands in a `content` that is a list."""
    return objects(message.get("content"))


def is_model(message: JsonObject) -> bool:
    """Whether a message has its words in `content`, a text or a list, as most APIs want them."""
    return has_role(message) and "parts" not in message and isinstance(message.get("content"), (str, list))


def has_type(types: Iterable[str]) -> Test:
    """Sees a `type` that is one of these."""
    wanted = frozenset(types)
    return lambda value: among(value, "type", wanted)


def has_member(*names: str) -> Test:
    """Sees one of these members."""
    wanted = frozenset(names)
    return lambda value: not wanted.isdisjoint(value)


def any_item(test: Test) -> Test:
    """Sees a message with such an item in its content."""
    return lambda message: is_model(message) and any(test(item) for item in items(message))


def held(name: str, test: Test) -> Test:
    """Sees a body that holds such a thing in a list of that name."""
    return lambda body: any(test(one) for one in objects(body.get(name)))


def alone_or_held(test: Test, name: str = "messages") -> Test:
    """Sees such a thing by itself, or a body that holds one."""
    inside = held(name, test)
    return lambda value: test(value) or inside(value)
