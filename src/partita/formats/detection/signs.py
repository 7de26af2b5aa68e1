"""Signs of formats, and the tests of JSON objects that they consist of."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

from partita.types.json import Json, JsonObject, is_array, is_object

SAMPLE_SIZE: Final = 50
"""The number of messages or events that are read."""

Test: TypeAlias = Callable[[JsonObject], bool]
NameT_co = TypeVar("NameT_co", bound=str, covariant=True)


class Sign(NamedTuple, Generic[NameT_co]):
    """A sign: a test of objects of a format, the confidence that it gives, and its description."""

    format: NameT_co
    confidence: float
    why: str
    matches: Test


def signs(format_: NameT_co, *rows: tuple[float, str, Test]) -> tuple[Sign[NameT_co], ...]:
    """Return the signs of one format, from rows of confidence, description and test."""
    return tuple(Sign(format_, *row) for row in rows)


# Values


def objects(value: Json) -> Iterator[JsonObject]:
    """Yield the first objects of a list, or nothing for other values."""
    if is_array(value):
        yield from (one for one in value[:SAMPLE_SIZE] if is_object(one))


def inner(value: JsonObject, name: str) -> JsonObject:
    """Return the object in a member, or an empty one if there is none."""
    found: Json = value.get(name)
    return found if is_object(found) else {}


# Tests of members. Several names can be one text, separated by spaces.


def _names(names: Iterable[str]) -> frozenset[str]:
    return frozenset(" ".join(names).split())


def has(*names: str) -> Test:
    """The object has one of these members."""
    wanted = _names(names)
    return lambda value: not wanted.isdisjoint(value)


def has_all(*names: str) -> Test:
    """The object has all of these members."""
    wanted = _names(names)
    return lambda value: wanted <= value.keys()


def only(*names: str) -> Test:
    """The object has exactly these members."""
    wanted = _names(names)
    return lambda value: wanted == value.keys()


def lacks(*names: str) -> Test:
    """The object has none of these members."""
    refused = _names(names)
    return refused.isdisjoint


def text(*names: str) -> Test:
    """All of these members are strings."""

    def test(value: JsonObject) -> bool:
        for name in names:  # noqa: SIM110 # all signs are tested on each message: a loop is faster
            if not isinstance(value.get(name), str):
                return False
        return True

    return test


def array(name: str) -> Test:
    """The member is a list."""
    return lambda value: is_array(value.get(name))


def mapping(name: str) -> Test:
    """The member is an object."""
    return lambda value: is_object(value.get(name))


def equals(name: str, *values: Json) -> Test:
    """The member is one of these values."""
    return lambda value: value.get(name) in values


def among(name: str, values: frozenset[str]) -> Test:
    """The member is one of these strings."""

    def test(value: JsonObject) -> bool:
        found: Json = value.get(name)
        return isinstance(found, str) and found in values

    return test


def kind(*types: str) -> Test:
    """The `type` is one of these."""
    return among("type", _names(types))


def starts(name: str, *beginnings: str) -> Test:
    """The member is a string that starts like one of these."""

    def test(value: JsonObject) -> bool:
        found: Json = value.get(name)
        return isinstance(found, str) and found.startswith(beginnings)

    return test


# Combinations of tests


def both(*tests: Test) -> Test:
    """The object passes all tests."""

    def test(value: JsonObject) -> bool:
        for one in tests:  # noqa: SIM110 # as above
            if not one(value):
                return False
        return True

    return test


def either(*tests: Test) -> Test:
    """The object passes one of the tests."""

    def test(value: JsonObject) -> bool:
        for one in tests:  # noqa: SIM110 # as above
            if one(value):
                return True
        return False

    return test


def by_type(tests: dict[str, Test]) -> Test:
    """The object passes the test for its `type`."""

    def test(value: JsonObject) -> bool:
        found: Json = value.get("type")
        return isinstance(found, str) and found in tests and tests[found](value)

    return test


def inside(name: str, test: Test) -> Test:
    """The object in a member passes a test."""
    return lambda value: test(inner(value, name))


def holds(name: str, test: Test) -> Test:
    """An object in the list in a member passes a test."""

    def holds_one(value: JsonObject) -> bool:
        found: Json = value.get(name)
        if is_array(found):
            for one in found[:SAMPLE_SIZE]:
                if is_object(one) and test(one):
                    return True
        return False

    return holds_one


def alone_or_in(test: Test, name: str = "messages") -> Test:
    """The object passes a test, or one in its list does."""
    return either(test, holds(name, test))


# Messages

has_role: Final = text("role")


def is_model_message(message: JsonObject) -> bool:
    """Whether a message has its text in `content`, a string or a list, as in most APIs."""
    return has_role(message) and "parts" not in message and isinstance(message.get("content"), (str, list))


def any_item(test: Test) -> Test:
    """An item of the content of a message passes a test."""
    return both(is_model_message, holds("content", test))


is_api_message: Final = both(is_model_message, lacks("type", "toolCalls"))
"""Whether a message is of an API with roles and contents, and without threads."""

is_request: Final = holds("messages", is_api_message)
"""Whether an object is a request of an API with such messages."""
