"""Canonical values as fields of pydantic models and bodies of FastAPI routes. Loaded when pydantic needs it.

`codec` reads and writes the values, so that unknown members are kept. The JSON Schema is that of `schema`,
where each value is a separate definition.
"""

from collections.abc import Callable, Mapping
from typing import Any, get_args

from pydantic import GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, PydanticSerializationUnexpectedValue, core_schema

from partita.errors import DecodeError

from .chunks import DATA_PREFIX, Chunk, DataChunk, UnknownChunk
from .codec import ALIASES, CHUNK, Codec, to_json
from .json import Json, JsonObject, is_object, kind_of
from .messages import Part
from .parts import UnknownPart
from .schema import (
    contained_values,
    describe,
    public_components,
    public_values,
    reachable,
    references,
    with_references,
)
from .value import Value

# Keys of pydantic's metadata: the functions that describe a schema, and the name of a union member in errors.
DESCRIBERS = "pydantic_js_functions"
UNION_LABEL = "pydantic_internal_union_tag_key"

OPEN_TAGS: Mapping[type[Value], str] = {
    UnknownPart: "a type that is not known",
    UnknownChunk: "a type that is not known",
    DataChunk: "data-NAME",
}


def core_schema_of(cls: type[Value]) -> CoreSchema:
    """How pydantic reads, writes and describes a value: definitions of it and of the values in it."""
    components = public_components() if cls in public_values() else describe((cls,))[1]
    classes = {value.__name__: value for value in contained_values(cls)}
    names = sorted(reachable({"$ref": cls.__name__}, components))
    refs = {name: _ref(name, classes.get(name)) for name in names}
    return core_schema.definitions_schema(
        core_schema.definition_reference_schema(refs[cls.__name__], metadata={UNION_LABEL: cls.__name__}),
        [_definition(name, classes.get(name), components[name], refs) for name in names],
    )


def _ref(name: str, cls: type[Value] | None) -> str:
    """A name for a definition. pydantic shows its last component, without the text after the colon."""
    module = __name__ if cls is None else cls.__module__
    return f"{module}.{name}:partita"


def _definition(
    name: str, cls: type[Value] | None, component: JsonObject, refs: Mapping[str, str]
) -> CoreSchema:
    """The definition of a value, or of a union if there is no class."""
    nested = [
        core_schema.definition_reference_schema(refs[other]) for other in dict.fromkeys(references(component))
    ]
    metadata = {DESCRIBERS: [_describer(component, refs)]}
    if cls is None:
        return core_schema.union_schema([*nested], ref=refs[name], metadata=metadata)
    # The inner schema only refers to the nested values, because pydantic drops unused definitions.
    return core_schema.no_info_wrap_validator_function(
        _validator(cls),
        core_schema.union_schema([*nested]) if nested else core_schema.any_schema(),
        ref=refs[name],
        metadata=metadata,
        serialization=core_schema.plain_serializer_function_ser_schema(_serializer(cls), when_used="json"),
    )


def _describer(component: JsonObject, refs: Mapping[str, str]) -> Callable[..., JsonObject]:
    def describe_json(schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonObject:
        handler(schema)  # so that pydantic visits the definitions that it has inlined

        def refer(name: str) -> str:
            return str(handler(core_schema.definition_reference_schema(refs[name]))["$ref"])

        result: JsonObject = with_references(component, refer)
        return result

    return describe_json


def _validator(cls: type[Value]) -> Callable[[Json, Any], Value]:
    codec: Codec[Any] = CHUNK if _family(cls) is Chunk else Codec(_family(cls) or cls)

    def validate(value: Json, _: Any) -> Value:
        if isinstance(value, cls):
            return value
        try:
            _check_tag(cls, value)
        except DecodeError as error:  # a type of its own, because a union reports it once per member
            raise PydanticCustomError("partita_tag", "{error}", _context(error)) from error
        try:
            result: Value = codec.read(value)
        except DecodeError as error:
            raise PydanticCustomError("partita_value", "{error}", _context(error)) from error
        return result

    return validate


def _context(error: DecodeError) -> dict[str, Any]:
    return {"error": str(error), "where": error.where, "hint": error.hint}


def _serializer(cls: type[Value]) -> Callable[[object], Json]:
    def serialize(value: object) -> Json:
        if not isinstance(value, cls):  # so that a union tries its next member
            raise PydanticSerializationUnexpectedValue(
                f"expected {cls.__name__}, found {type(value).__name__}"
            )
        return to_json(value)

    return serialize


def _check_tag(cls: type[Value], value: Json) -> None:
    """Refuse data of another member of a union early, and data without a tag."""
    field = "type" if cls is DataChunk else cls.__struct_config__.tag_field
    if field is None or not is_object(value):
        return
    tag: object = value.get(field)
    if isinstance(tag, str) and _claims(cls, tag):
        return
    expected = OPEN_TAGS.get(cls) or repr(cls.__struct_config__.tag)
    found = repr(tag) if isinstance(tag, str) else kind_of(tag)
    raise DecodeError(
        f"expected {expected}, found {found}",
        where=f"$.{field}",
        hint=f"{cls.__name__} only accepts {expected}",
        expected=expected,
        found=found,
    )


def _claims(cls: type[Value], tag: str) -> bool:
    """Whether `cls` accepts data with this tag. The unknown value of a union accepts the other tags."""
    if cls is UnknownPart or cls is UnknownChunk:
        return not any(_claims(other, tag) for other in get_args(_family(cls)) if other is not cls)
    if cls is DataChunk:
        return tag.startswith(DATA_PREFIX)
    expected = cls.__struct_config__.tag
    return expected in (tag, ALIASES[tag][0] if tag in ALIASES else tag)


def _family(cls: type[Value]) -> Any:
    """The union that a part or chunk is read with: old names and variable tags are only known there."""
    return next((family for family in (Part, Chunk) if cls in get_args(family)), None)
