"""The base class of canonical values, and the two containers for unknown data.

Known data is decoded by msgspec and costs one empty slot per value. Data that msgspec refuses (an unknown
field or tag) is read by the slow path of `codec` into these containers.
"""

from collections.abc import ItemsView, Iterator, KeysView, Mapping
from functools import cache
from importlib import import_module
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeAlias, dataclass_transform

import msgspec

from .json import Json, JsonObject

EXTRA_NAME = "__extra__"
"""The wire name of the `extra` slot. It is never written: `codec` merges the fields of `extra` instead."""


class Extra(Mapping[str, Any]):
    """Unknown fields that were read, kept so that they are written back.

    It is not a `dict`, so that msgspec refuses to encode it and `codec` can merge the fields.
    """

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, Any] | None = None) -> None:
        self._fields: JsonObject = dict(fields or {})

    def __getitem__(self, key: str) -> Json:
        return self._fields[key]

    def __contains__(self, key: object) -> bool:
        return key in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def keys(self) -> KeysView[str]:
        """The names of the fields."""
        return self._fields.keys()

    def items(self) -> ItemsView[str, Json]:
        """The names and values of the fields."""
        return self._fields.items()

    def __repr__(self) -> str:
        return f"Extra({self._fields!r})"

    def __reduce__(self) -> tuple[type["Extra"], tuple[JsonObject]]:
        return (Extra, (self._fields,))


# Without `None` at run time, so that msgspec refuses a member with the slot's name.
if TYPE_CHECKING:
    _Extra: TypeAlias = Extra | None
else:
    _Extra = Extra


def always(default: Any) -> Any:
    """Declare a field that may be absent when it is read, and is always written, also with its default."""
    return msgspec.field(default_factory=repeat(default).__next__)  # this factory runs no Python code


# Only type checkers need to know that every value is frozen. A metaclass of our own would make construction
# 50 % slower, because only msgspec's own metaclass has a fast constructor.
if TYPE_CHECKING:

    @dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
    class Frozen(msgspec.Struct, frozen=True):
        """A frozen structure."""

else:
    Frozen = msgspec.Struct


class Value(
    Frozen,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    repr_omit_defaults=True,
    rename="camel",
    gc=False,
):
    """A frozen value: camelCase on the wire, absent fields omitted, unknown fields kept in `extra`."""

    extra: _Extra = msgspec.field(default=None, name=EXTRA_NAME)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Let pydantic read and write this value, as in bodies of FastAPI routes."""
        # Imported by name, because that module imports all others of this package.
        return import_module("partita.types.pydantic").core_schema_of(cls)


class OpenValue(Value):
    """A value of another system's schema: an optional member with an invalid value is kept in `extra`."""


class UnknownVariant(OpenValue):
    """The member of a tagged union that keeps objects that no other member can hold.

    A subclass names the tag field of its union and has `tag="__unknown__"`.
    """

    raw: Extra


FOREIGN = "foreign:"
"""Prefix for a kept field of another format whose name has another meaning here."""


def keep_fields(fields: Mapping[str, Any], type_: type[Value]) -> Extra | None:
    """Fields of another format as the `extra` of a `type_`: `None` when there are none."""
    if not fields:
        return None
    names = wire_names(type_)
    return Extra({FOREIGN + key if key in names else key: item for key, item in fields.items()})


def kept_fields(extra: Extra | None) -> JsonObject:
    """The fields that `keep_fields` kept, under their original names."""
    return {key.removeprefix(FOREIGN): item for key, item in extra.items()} if extra else {}


@cache
def wire_names(type_: type[Value]) -> frozenset[str]:
    """The wire names that a value type uses."""
    names = {field.encode_name for field in msgspec.structs.fields(type_)} - {EXTRA_NAME}
    return frozenset(names | {type_.__struct_config__.tag_field or ""})


@cache
def fields_of(type_: type[Value]) -> tuple[tuple[str, str, Any], ...]:
    """The fields of a value type: name, name on the wire, default."""
    return tuple((field.name, field.encode_name, field.default) for field in msgspec.structs.fields(type_))
