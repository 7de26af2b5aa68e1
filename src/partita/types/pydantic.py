"""Our values as fields of pydantic models and bodies of FastAPI routes. Only pydantic itself imports this.

Reading is ours, so nothing is lost; a value passes as it is; JSON is what `encode` writes; and the JSON
Schema is that of `schema`, each value a definition of its own.
"""

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeAlias, get_args

from pydantic import GetJsonSchemaHandler, Tag
from pydantic_core import PydanticCustomError, PydanticSerializationUnexpectedValue
from pydantic_core import core_schema as core

from partita.errors import DecodeError

from .chunks import DATA_PREFIX, Chunk, DataChunk, UnknownChunk
from .codec import Codec, to_json
from .json import Json, JsonObject, is_object, kind_of
from .messages import Part
from .parts import UnknownPart
from .reading import ALIASES
from .schema import describe, reachable, references, values_of, with_references
from .value import Value

Definitions: TypeAlias = Mapping[str, core.DefinitionReferenceSchema]


def core_schema_of(cls: type[Value]) -> core.CoreSchema:
    """How pydantic reads, writes and describes a value, with a definition for all that it holds."""
    (schema,), components = describe((cls,))
    classes = {value.__name__: value for value in values_of(cls)}
    definitions = [
        _value_definition(classes[name], components[name])
        if name in classes
        else _union_definition(name, components[name])
        for name in sorted(reachable(schema, components))
    ]
    reference = core.definition_reference_schema(_ref(cls.__name__))
    tagged = Tag(cls.__name__).__get_pydantic_core_schema__(cls, lambda _: reference)  # names it in errors
    return core.definitions_schema(tagged, definitions)
