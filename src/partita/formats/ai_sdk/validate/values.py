"""Schemas that users give: a JSON Schema, compiled once, or a function that returns the value or raises."""

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET

from partita.errors import ConversionError, PartitaError
from partita.types.json import Json, JsonObject, is_array, is_object

from .checks import MAX_DEPTH, NOTHING, Problem, is_deeper, rebuild, shown

Schema: TypeAlias = JsonObject | Callable[[Json], Json]
"""A JSON Schema, or a function that gives the value (perhaps changed) or raises a `ValueError`,
`PartitaError` or `msgspec.ValidationError`."""


class Checked(NamedTuple):
    """What a schema made of a value: the value to go on with, or the problem it found."""

    value: Json = UNSET
    problem: Problem | None = None


Check: TypeAlias = Callable[[Json, str], Checked]
"""Check the value found at a path. An absent value is `UNSET`."""

TOO_DEEP: Final = f"JSON of at most {MAX_DEPTH} levels"


def compiled(schema: Schema, where: str) -> Check:
    """A check made of a schema; `where` says which one it is if it is no JSON Schema."""
    return _from_function(schema) if callable(schema) else _from_json_schema(schema, where)


def same_json(left: Json, right: Json) -> bool:
    """Whether two JSON values are equal in JavaScript's eyes: `1` is `1.0` but not `true`."""
    pairs = [(left, right)]
    while pairs:
        one, other = pairs.pop()
        if is_object(one) and is_object(other) and one.keys() == other.keys():
            pairs.extend((one[key], other[key]) for key in one)
        elif is_array(one) and is_array(other) and len(one) == len(other):
            pairs.extend(zip(one, other, strict=True))
        elif (
            isinstance(one, (dict, list))
            or isinstance(one, bool) is not isinstance(other, bool)
            or one != other
        ):
            return False
    return True


def _from_json_schema(schema: JsonObject, where: str) -> Check:
    import jsonschema_rs

    try:
        validator = jsonschema_rs.validator_for(schema, mask="the value", retriever=_refuse_to_fetch)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        first_line = str(error).partition("\n")[0]
        raise ConversionError(
            f"not a JSON Schema: {first_line}", where=where, hint="check the schema, not the messages"
        ) from None

    def check(value: Json, path: str) -> Checked:
        if value is UNSET:  # no JSON value: only a schema that asks for nothing accepts it
            return Checked(value) if not schema else Checked(problem=Problem(path, "a value", NOTHING))
        if is_deeper(value, MAX_DEPTH):  # the validator recurses, and crashes the process when too deep
            return Checked(problem=Problem(path, TOO_DEEP, "more"))
        try:
            validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            place = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in error.instance_path)
            return Checked(problem=Problem(path + place, "what its schema accepts", error.message))
        except UnicodeEncodeError:  # half a surrogate pair: fine in JavaScript, not in UTF-8
            return check(rebuild(value, text=_whole), path)._replace(value=value)
        return Checked(value)

    return check


def _from_function(function: Callable[[Json], Json]) -> Check:
    def check(value: Json, path: str) -> Checked:
        try:
            result = function(None if value is UNSET else value)
        except RecursionError:
            return Checked(problem=Problem(path, TOO_DEEP, "more"))
        except (ValueError, PartitaError, msgspec.ValidationError) as error:
            return Checked(problem=Problem(path, str(error) or type(error).__name__, shown(value)))
        return Checked(UNSET if value is UNSET and result is None else result)

    return check


def _refuse_to_fetch(address: str) -> Json:
    raise ValueError(f"schema {address} is not here, and is not fetched")


def _whole(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
