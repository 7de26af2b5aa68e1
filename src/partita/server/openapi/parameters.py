"""Parameters of an operation, without what Litestar says of every one of them."""

import re
from typing import Final

from partita.types.json import Json, JsonObject, is_array, is_object

KEPT: Final = (
    "name",
    "in",
    "required",
    "description",
    "deprecated",
    "schema",
    "style",
    "explode",
    "examples",
)
WORD: Final = re.compile(r"[A-Za-z0-9]+")
NULL: Final = {"type": "null"}


def parameters_of(said: Json) -> list[JsonObject]:
    """The parameters, those in the path first."""
    placed = [_parameter(one) for one in said if is_object(one)] if is_array(said) else []
    return sorted(placed, key=lambda one: one["in"] != "path")


def camel(text: str) -> str:
    """Words as JavaScript would write them together."""
    first, *rest = WORD.findall(text)
    return str(first).lower() + "".join(word[0].upper() + word[1:] for word in rest)


def _parameter(said: JsonObject) -> JsonObject:
    placed = {key: said[key] for key in KEPT if said.get(key)}
    if said["in"] == "path":
        placed["name"] = camel(said["name"])
    schema = _schema(said.get("schema", {}))
    if placed.get("description") == schema.get("description"):
        schema.pop("description", None)
    return {**placed, "schema": schema}


def _schema(schema: JsonObject) -> JsonObject:
    """What may be written: nobody writes null in an address, one leaves the parameter out."""
    choices = schema.get("oneOf")
    if is_array(choices) and NULL in choices:
        rest = [choice for choice in choices if choice != NULL]
        others = {key: item for key, item in schema.items() if key != "oneOf"}
        schema = {**rest[0], **others} if len(rest) == 1 else {**others, "oneOf": rest}
    return {key: _whole(item) for key, item in schema.items() if not (key == "default" and item is None)}


def _whole(item: Json) -> Json:
    return int(item) if isinstance(item, float) and item.is_integer() else item
