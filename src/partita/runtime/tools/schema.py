"""Types → the JSON schema (2020-12) that a model is told.

Definitions are put in place, for not every provider follows references; only those that hold themselves
stay under `$defs`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from partita.errors import AgentError, DecodeError
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads
from partita.types.schema import BARE, REF_TEMPLATE, reachable

from .annotations import spelled_out
from .models import ModelSchemas, plain_model
from .signature import Parameter

Definitions: TypeAlias = dict[str, JsonObject]

_KINDS: Mapping[Any, str] = {str: "string", int: "integer", bool: "boolean"}
_HINT = (
    "use str, int, float, bool, list, dict, Literal, an Enum, a dataclass, a TypedDict or a pydantic model"
)


def schema_of_parameters(parameters: Sequence[Parameter], where: str) -> JsonObject:
    """The schema of an object with these fields and no others."""
    schemas, definitions = _describe({f"`{item.name}`": item.type for item in parameters}, where)
    properties = {
        parameter.name: _describe_field(parameter, schema)
        for parameter, schema in zip(parameters, schemas, strict=True)
    }
    required = [parameter.name for parameter in parameters if parameter.required]
    root: JsonObject = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    return _whole(root, definitions)


def schema_of_type(type_: Any, where: str) -> JsonObject:
    """The schema of a type whose values are objects."""
    (schema,), definitions = _describe({"the input": spelled_out(type_)}, where)
    while "$ref" in schema:
        schema = {**definitions[schema["$ref"]], **{k: item for k, item in schema.items() if k != "$ref"}}
    if schema.get("type") != "object":
        raise AgentError(
            "the input of a tool is an object", where=where, hint="name a dataclass or TypedDict"
        )
    return _whole({"additionalProperties": False, **schema}, definitions)


def check_schema(schema: JsonObject, where: str) -> None:
    """Refuse what is no JSON schema of an object."""
    import jsonschema_rs

    try:
        jsonschema_rs.meta.validate(schema)
    except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        reason = str(error).partition("\n")[0]
        raise AgentError(
            f"this is no JSON schema: {reason}", where=where, hint="see json-schema.org"
        ) from None
    if schema.get("type") != "object":
        raise AgentError("the input of a tool is an object", where=where, hint='say "type": "object"')


def _describe(wanted: dict[str, Any], where: str) -> tuple[list[JsonObject], Definitions]:
    """The schemas of types, and the definitions that they refer to by bare names."""
    models = ModelSchemas()
    for name, type_ in wanted.items():
        _check_type(name, type_, where)
    schemas, components = msgspec.json.schema_components(
        list(wanted.values()), schema_hook=models.describe, ref_template=BARE
    )
    return list(schemas), {**components, **models.definitions}


def _check_type(name: str, type_: Any, where: str) -> None:
    """Refuse a type that cannot be described, or that msgspec cannot read: two plain dataclasses, say."""
    try:
        msgspec.json.Decoder(type_)
        msgspec.json.schema_components([type_], schema_hook=ModelSchemas().describe)
    except Exception as error:  # of msgspec, of pydantic, or of a type's own hooks
        reason = str(error).rpartition("\n")[2]
        raise AgentError(f"the type of {name} cannot be used: {reason}", where=where, hint=_HINT) from error


def _describe_field(parameter: Parameter, schema: JsonObject) -> JsonObject:
    described: JsonObject = {} if parameter.description is None else {"description": parameter.description}
    described |= schema
    if not parameter.required:
        described |= _default(parameter.default)
    return described


def _default(value: object) -> JsonObject:
    """The default for a model to read; one that JSON cannot carry is the function's own affair."""
    try:
        return {"default": loads(dumps(msgspec.to_builtins(value, str_keys=True, enc_hook=plain_model)))}
    except (TypeError, ValueError, NotImplementedError, DecodeError, RecursionError):
        return {}


def _whole(root: JsonObject, definitions: Definitions) -> JsonObject:
    """A schema with its definitions in place."""
    endless = {name for name in definitions if name in reachable(definitions[name], definitions)}
    result: JsonObject = _placed(root, definitions, endless)
    if endless:
        result["$defs"] = {name: _placed(definitions[name], definitions, endless) for name in sorted(endless)}
    return result


def _placed(schema: Json, definitions: Definitions, endless: set[str]) -> Json:
    if is_array(schema):
        return [_placed(item, definitions, endless) for item in schema]
    if not is_object(schema):
        return schema
    name = schema.get("$ref")
    if isinstance(name, str) and name in definitions:
        beside = {key: item for key, item in schema.items() if key != "$ref"}
        if name in endless:
            return {"$ref": REF_TEMPLATE.format(name=name), **_placed(beside, definitions, endless)}
        return _placed({**definitions[name], **beside}, definitions, endless)
    return {key: _placed(item, definitions, endless) for key, item in _tidy(schema).items()}


def _tidy(schema: JsonObject) -> JsonObject:
    """A schema without OpenAPI's discriminator, which names definitions; choices of one kind say which."""
    tidied = {key: item for key, item in schema.items() if key != "discriminator" or not _names_tags(item)}
    choices = schema.get("enum")
    if not is_array(choices) or "type" in schema:
        return tidied
    kinds = {_KINDS.get(type(choice)) for choice in choices}
    return tidied if None in kinds or len(kinds) > 1 else {"type": kinds.pop(), **tidied}


def _names_tags(item: Json) -> bool:
    return is_object(item) and isinstance(item.get("propertyName"), str)
