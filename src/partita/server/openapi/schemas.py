"""Schemas of what routes take and give: ours for our values, msgspec's for what is made of them."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from partita.types.json import Json, JsonObject
from partita.types.schema import SINGLES, UNION_NAMES, describe, public_components, with_references
from partita.types.value import Extra

REF: Final = "#/components/schemas/"
GENERIC: Final = re.compile(r"(\w+?)_(.+)_")
WORD: Final = re.compile(r"[A-Za-z0-9]+")


class Described(NamedTuple):
    """The schemas of some types, and by name all that they refer to."""

    schemas: dict[Any, JsonObject]
    components: dict[str, JsonObject]


def described(types: Iterable[Any]) -> Described:
    """The schemas of types; one that has none is left out."""
    known = [type_ for type_ in dict.fromkeys(types) if _has_schema(type_)]
    schemas, components = describe([*known, *SINGLES])
    _close(components, known)
    return Described(
        {
            type_: with_references(schema, refer)
            for type_, schema in zip(known, schemas[: len(known)], strict=True)
        },
        {
            named(name): _titled(name, with_references(schema, refer))
            for name, schema in sorted(components.items())
        },
    )


def refer(name: str) -> str:
    """A reference to a component."""
    return REF + named(name)


def named(name: str) -> str:
    """What a component is called: a list of threads is a `ThreadListing`."""
    generic = GENERIC.fullmatch(name)
    if generic is None:
        *_, module, last = [*name.split(".")] if "." in name else ["", name]
        return module.capitalize() + last  # two of the same name are told apart by their modules
    outer, inner = generic.groups()
    members = dict.fromkeys(word for word in WORD.findall(inner) if word[0].isupper() and word != "Union")
    return (UNION_NAMES.get(frozenset(members)) or "Or".join(members)) + outer


def _titled(name: str, schema: JsonObject) -> JsonObject:
    return {**schema, "title": named(name)} if "title" in schema else schema


def _has_schema(type_: Any) -> bool:
    try:
        _raw([type_])
    except (TypeError, NotImplementedError):
        return False
    return True


def _raw(types: Sequence[Any]) -> dict[str, Json]:
    return msgspec.json.schema_components(types, schema_hook=_hook)[1]


def _hook(type_: type) -> JsonObject:
    if type_ is Extra:
        return {"type": "object"}
    raise NotImplementedError  # as msgspec wants it


def _close(components: dict[str, JsonObject], types: Sequence[Any]) -> None:
    """What is asked of a client is strict where the route is; our values keep what they do not know."""
    for name, schema in _raw(types).items():
        if (
            name in components
            and name not in public_components()
            and schema.get("additionalProperties") is False
        ):
            components[name] = {**components[name], "additionalProperties": False}
