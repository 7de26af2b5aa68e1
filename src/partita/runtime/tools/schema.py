"""Types → the JSON schema (2020-12) of an input.

Definitions are inlined, because not every provider follows references. Only recursive ones stay under
`$defs`.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeGuard

import msgspec

from partita.errors import AgentError, DecodeError
from partita.types.json import Json, JsonObject, dumps, is_array, is_object, loads
from partita.types.schema import BARE_NAME, REF_TEMPLATE, reachable

from .signature import Parameter, msgspec_type

# Models of Pydantic. This module never imports Pydantic: code that has a model has imported it.


class Model(Protocol):
    """The members of `pydantic.BaseModel` that are used here."""

    @classmethod
    def model_json_schema(cls, *, ref_template: str) -> JsonObject: ...  # noqa: D102 # pydantic's own

    @classmethod
    def model_validate(cls, obj: Json) -> "Model": ...  # noqa: D102

    def model_dump(self, *, mode: str, by_alias: bool) -> Json: ...  # noqa: D102


def is_model_type(type_: object) -> TypeGuard[type[Model]]:
    """Whether a type is a model of Pydantic."""
    base = _base_model()
    return base is not None and isinstance(type_, type) and issubclass(type_, base)


def is_model(value: object) -> TypeGuard[Model]:
    """Whether a value is a model of Pydantic."""
    return is_model_type(type(value))


def read_model(type_: type, value: Json) -> object:
    """Validate a value as a model. A `dec_hook` of msgspec."""
    if not is_model_type(type_):
        raise NotImplementedError
    return type_.model_validate(value)


def plain_model(value: object) -> Json:
    """A model as JSON, with aliases as names. An `enc_hook` of msgspec."""
    if not is_model(value):
        raise NotImplementedError
    return value.model_dump(mode="json", by_alias=True)


class ModelSchemas:
    """The schemas of models, and their definitions under unique names."""

    def __init__(self) -> None:
        self.definitions: dict[str, JsonObject] = {}
        self._names: dict[str, type] = {}

    def describe(self, type_: type) -> JsonObject:
        """The schema of a model; references are bare names. A `schema_hook` of msgspec."""
        if not is_model_type(type_):
            raise NotImplementedError
        prefix = self._name(type_)
        schema = type_.model_json_schema(ref_template=prefix + ".{model}")
        inner: JsonObject = schema.pop("$defs", {})
        self.definitions |= {f"{prefix}.{name}": definition for name, definition in inner.items()}
        return schema

    def _name(self, type_: type) -> str:
        name = re.sub(r"\W", "_", type_.__name__)
        while self._names.setdefault(name, type_) is not type_:
            name += "_"
        return name


def _base_model() -> type | None:
    module = sys.modules.get("pydantic")
    base: Any = getattr(module, "BaseModel", None)
    return base if isinstance(base, type) else None


Definitions: TypeAlias = dict[str, JsonObject]

_JSON_TYPES: Mapping[Any, str] = {str: "string", int: "integer", bool: "boolean"}
_HINT = (
    "use str, int, float, bool, list, dict, Literal, an Enum, a dataclass, a TypedDict or a pydantic model"
)


def schema_of_parameters(parameters: Sequence[Parameter], where: str) -> JsonObject:
    """The schema of an object with exactly these fields."""
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
    return _inlined(root, definitions)


def schema_of_type(type_: Any, where: str) -> JsonObject:
    """The schema of a type whose values are objects."""
    (schema,), definitions = _describe({"the input": msgspec_type(type_)}, where)
    while "$ref" in schema:
        schema = {**definitions[schema["$ref"]], **{k: item for k, item in schema.items() if k != "$ref"}}
    if schema.get("type") != "object":
        raise AgentError(
            "the input of a tool is an object", where=where, hint="name a dataclass or TypedDict"
        )
    return _inlined({"additionalProperties": False, **schema}, definitions)


def check_schema(schema: JsonObject, where: str) -> None:
    """Raise an `AgentError` if this is not a JSON schema of an object."""
    import jsonschema_rs

    try:
        jsonschema_rs.meta.validate(schema)
    except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        reason = str(error).partition("\n")[0]
        raise AgentError(
            f"this is not a JSON schema: {reason}", where=where, hint="see json-schema.org"
        ) from None
    if schema.get("type") != "object":
        raise AgentError("the input of a tool is an object", where=where, hint='add "type": "object"')


def _describe(types: dict[str, Any], where: str) -> tuple[list[JsonObject], Definitions]:
    """The schemas of types by name, and the definitions that they refer to by bare names."""
    models = ModelSchemas()
    for name, type_ in types.items():
        _check_type(name, type_, where)
    schemas, components = msgspec.json.schema_components(
        list(types.values()), schema_hook=models.describe, ref_template=BARE_NAME
    )
    return list(schemas), {**components, **models.definitions}


def _check_type(name: str, type_: Any, where: str) -> None:
    """Refuse a type that cannot be described or read, such as a union of two dataclasses."""
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
    """The default, if it can be written as JSON."""
    try:
        return {"default": loads(dumps(msgspec.to_builtins(value, str_keys=True, enc_hook=plain_model)))}
    except (TypeError, ValueError, NotImplementedError, DecodeError, RecursionError):
        return {}


def _inlined(root: JsonObject, definitions: Definitions) -> JsonObject:
    """A schema with its definitions inlined."""
    recursive = {name for name in definitions if name in reachable(definitions[name], definitions)}
    result: JsonObject = _inline(root, definitions, recursive)
    if recursive:
        result["$defs"] = {
            name: _inline(definitions[name], definitions, recursive) for name in sorted(recursive)
        }
    return result


def _inline(schema: Json, definitions: Definitions, recursive: set[str]) -> Json:
    if is_array(schema):
        return [_inline(item, definitions, recursive) for item in schema]
    if not is_object(schema):
        return schema
    name = schema.get("$ref")
    if isinstance(name, str) and name in definitions:
        siblings = {key: item for key, item in schema.items() if key != "$ref"}
        if name in recursive:
            return {"$ref": REF_TEMPLATE.format(name=name), **_inline(siblings, definitions, recursive)}
        return _inline({**definitions[name], **siblings}, definitions, recursive)
    return {key: _inline(item, definitions, recursive) for key, item in _tidy(schema).items()}


def _tidy(schema: JsonObject) -> JsonObject:
    """A schema without OpenAPI's discriminator, and with the type of an enum whose values have one type."""
    tidied = {key: item for key, item in schema.items() if key != "discriminator" or not _names_tags(item)}
    choices = schema.get("enum")
    if not is_array(choices) or "type" in schema:
        return tidied
    json_types = {_JSON_TYPES.get(type(choice)) for choice in choices}
    return tidied if None in json_types or len(json_types) > 1 else {"type": json_types.pop(), **tidied}


def _names_tags(item: Json) -> bool:
    return is_object(item) and isinstance(item.get("propertyName"), str)
