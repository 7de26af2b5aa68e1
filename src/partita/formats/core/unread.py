"""What of the records of a log or a stream is not in the messages that were read from it.

Records cannot be written back: many of them form one message, and repeat each other. So a reader says which
facts a record states (a text, the input of a call, a note …), and which facts messages hold. A leaf of a
record was read if a fact that is held depends on it: with another value there, the record would not state
that fact.
"""

from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from typing import Final, TypeAlias

from msgspec import UNSET

from partita.formats.losses import Loss
from partita.types.json import Json, dumps, is_array, is_object

Fact: TypeAlias = tuple[Hashable, ...]

UNREAD: Final = "messages have no place for it"
PARTLY_READ: Final = "it describes the record alone, or other records repeat it"


KNOWN: Final[Fact] = ("known",)
"""A fact of records that are read without a trace of their own: they begin or repeat something."""


def data_fact(value: Json) -> Fact:
    """The fact that a JSON value is kept as it is."""
    return ("data", dumps(value))


def unread_losses(
    records: Sequence[Json],
    facts_of: Callable[[Json], set[Fact]],
    held: Container[Fact],
    content: frozenset[str] = frozenset(),
) -> Iterator[Loss]:
    """A loss for each record with leaves that were not read.

    It is minor if other leaves of the record were, unless there is `content` among those that were not.
    """
    for index, record in enumerate(records):
        if data_fact(record) in held:
            continue
        stated = {fact for fact in facts_of(record) if fact in held}
        rest = _unread(record, lambda value, stated=stated: stated <= facts_of(value), held)
        if rest is not UNSET:
            path = f"$[{index}]"
            is_minor = stated and not _has_member(rest, content)
            yield Loss.of(path, rest, PARTLY_READ, "minor") if is_minor else Loss.of(path, rest, UNREAD)


def _unread(value: Json, is_same: Callable[[Json], bool], held: Container[Fact]) -> Json:
    """The leaves that can change without a change of the stated facts; unset if there are none."""
    if is_object(value) and value:
        if data_fact(value) in held:
            return UNSET
        found = {
            name: rest
            for name, item in value.items()
            if (rest := _unread(item, lambda other, name=name: is_same({**value, name: other}), held))
            is not UNSET
        }
        return found or UNSET
    if is_array(value) and value:
        if data_fact(value) in held:
            return UNSET
        rests = [
            _unread(
                item,
                lambda other, at=at: is_same([*value[:at], other, *value[at + 1 :]]),
                held,
            )
            for at, item in enumerate(value)
        ]
        return [rest for rest in rests if rest is not UNSET] or UNSET
    if value is None or value in ("", [], {}):
        return UNSET
    return value if is_same(_another(value)) else UNSET


def _has_member(value: Json, names: frozenset[str]) -> bool:
    if is_object(value):
        return not names.isdisjoint(value) or any(_has_member(item, names) for item in value.values())
    return is_array(value) and any(_has_member(item, names) for item in value)


def _another(leaf: Json) -> Json:
    """Another value of the same type."""
    if isinstance(leaf, bool):
        return not leaf
    return f"{leaf}~" if isinstance(leaf, str) else leaf * 2 + 1
