"""JSON Schema (2020-12) of every value, from the types themselves.

msgspec describes what it reads itself. These schemas describe everything that is accepted: unknown fields,
unknown parts and unknown chunks. Each union has a name.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, get_args

import msgspec

from .chunks import DATA_PREFIX, AgentStreamEvent, Chunk, DataChunk, UnknownChunk
from .codec import OPEN, taggable
from .json import Json, JsonObject, is_array, is_object
from .legacy import LegacyContent, LegacyMessage
from .messages import AssistantPart, Message, Part, SystemPart, ToolPart, UserPart
from .parts import ContentItem, ToolOutput
from .threads import Run, Thread
from .value import EXTRA_NAME, Extra, Value

DIALECT = "https://json-schema.org/draft/2020-12/schema"
REF_TEMPLATE = "#/$defs/{name}"
BARE_NAME = "{name}"


class NamedUnion(NamedTuple):
    """A union with its description."""

    members: Any
    description: str


UNIONS: Mapping[str, NamedUnion] = {
    "Message": NamedUnion(Message, "A message. The role determines its type."),
    "SystemPart": NamedUnion(SystemPart, "The parts of a system message."),
    "UserPart": NamedUnion(UserPart, "The parts of a user message."),
    "AssistantPart": NamedUnion(AssistantPart, "The parts of an assistant message."),
    "ToolPart": NamedUnion(ToolPart, "The parts of a tool message."),
    "Part": NamedUnion(Part, "Any part of any message."),
    "ContentItem": NamedUnion(ContentItem, "An item of the content that a tool returns for the model."),
    "ToolOutput": NamedUnion(ToolOutput, "The output of a tool."),
    "Chunk": NamedUnion(Chunk, "A chunk of a stream. The type determines its members."),
    "AgentStreamEvent": NamedUnion(AgentStreamEvent, "An event of an agent service."),
    "LegacyContent": NamedUnion(LegacyContent, "The content of a legacy message."),
}

SINGLE_VALUES: tuple[type[Value], ...] = (Thread, Run, LegacyMessage)
"""Public values that are in no union. All others are reachable from these and from the unions."""

UNION_NAMES: Mapping[frozenset[str], str] = {
    frozenset(member.__name__ for member in get_args(taggable(union.members))): name
    for name, union in UNIONS.items()
}

NOT_ON_WIRE = {"raw"}
"""Fields that contain the whole value instead of a member of it."""


def _known_tags(family: Any) -> list[str]:
    return sorted(str(member.__struct_config__.tag) for member in get_args(family) if member not in OPEN)


OPEN_TAGS: Mapping[str, JsonObject] = {
    "UnknownPart": {"type": "string", "not": {"enum": _known_tags(Part)}},
    "UnknownChunk": {
        "type": "string",
        "not": {"anyOf": [{"enum": _known_tags(Chunk)}, {"pattern": f"^{DATA_PREFIX}"}]},
    },
    "DataChunk": {"type": "string", "pattern": f"^{DATA_PREFIX}"},
}
"""The tags that values with a variable tag accept: any that is not the tag of another type."""


def json_schema(type_: Any) -> JsonObject:
    """The JSON Schema of a value, a union or a type that contains them, including all definitions."""
    (schema,), components = describe((type_,))
    needed = reachable(schema, components)
    definitions = {name: component for name, component in components.items() if name in needed}
    whole = {"$schema": DIALECT, **schema, **({"$defs": definitions} if definitions else {})}
    result: JsonObject = with_references(whole, _filling(REF_TEMPLATE))
    return result


def schema_components(ref_template: str = REF_TEMPLATE) -> dict[str, JsonObject]:
    """The schemas of all public values and unions by name, as an OpenAPI document lists them."""
    refer = _filling(ref_template)
    return {name: with_references(schema, refer) for name, schema in sorted(public_components().items())}


@cache
def public_components() -> Mapping[str, JsonObject]:
    """The same schemas as `describe` returns them, cached; do not modify them."""
    return describe(SINGLE_VALUES)[1]


@cache
def public_values() -> tuple[type[Value], ...]:
    """Every public value, in the order of the unions and their members."""
    return tuple(contained_values(*(union.members for union in UNIONS.values()), *SINGLE_VALUES))


def contained_values(*types: Any) -> list[type[Value]]:
    """Every value that these types contain, directly or indirectly."""
    found: dict[type[Value], None] = {}
    waiting = list(types)
    while waiting:
        type_ = waiting.pop(0)
        if not (isinstance(type_, type) and issubclass(type_, Value)):
            waiting[:0] = get_args(type_)
        elif type_ not in found:
            found[type_] = None
            waiting[:0] = [field.type for field in msgspec.structs.fields(type_)]
            if type_ is UnknownChunk:
                waiting.append(DataChunk)  # it is allowed wherever an unknown chunk is
    return list(found)


def reachable(schema: Json, components: Mapping[str, JsonObject]) -> set[str]:
    """The names of all components that a schema refers to, directly or indirectly."""
    found: set[str] = set()
    waiting = list(references(schema))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(references(components[name]))
    return found


def references(schema: Json) -> Iterator[str]:
    """The names that a schema itself refers to, without `#/…`, as `describe` writes them."""
    if is_object(schema):
        if isinstance(name := schema.get("$ref"), str):
            yield name
        for item in schema.values():
            yield from references(item)
    elif is_array(schema):
        for item in schema:
            yield from references(item)


def describe(wanted: Sequence[Any]) -> tuple[list[JsonObject], dict[str, JsonObject]]:
    """The schemas of types, and by name those of all values that they and the named unions contain."""
    unions = [taggable(union.members) for union in UNIONS.values()]
    schemas, structs = msgspec.json.schema_components(
        [*map(taggable, wanted), *unions, DataChunk], schema_hook=_describe_holder, ref_template=BARE_NAME
    )
    components = {name: _describe_value(name, schema) for name, schema in structs.items()}
    for (name, union), schema in zip(UNIONS.items(), schemas[len(wanted) : -1], strict=True):
        components[name] = {"title": name, "description": union.description, **_tidy_items(schema)}
    components["Chunk"]["anyOf"].append({"$ref": DataChunk.__name__})
    return [_tidy(schema) for schema in schemas[: len(wanted)]], components


def _describe_holder(type_: type) -> JsonObject:
    if type_ is Extra:
        return {"type": "object"}
    raise NotImplementedError  # as msgspec requires for unknown types


def _describe_value(name: str, schema: JsonObject) -> JsonObject:
    tidied = _tidy_items(schema)
    if name in OPEN_TAGS:
        fields = {key: item for key, item in tidied["properties"].items() if key not in NOT_ON_WIRE}
        tidied |= {"properties": {**fields, "type": OPEN_TAGS[name]}, "required": ["type"]}
    if name == LegacyMessage.__name__:
        tidied["deprecated"] = True
    return tidied


def _tidy(schema: Json) -> Json:
    """A schema of msgspec with named unions replaced by references."""
    if is_array(schema):
        return [_tidy(item) for item in schema]
    if not is_object(schema):
        return schema
    name = UNION_NAMES.get(frozenset(item.get("$ref") for item in schema.get("anyOf", ())))
    return _tidy_items(schema) if name is None else {"$ref": name}


def _tidy_items(schema: JsonObject) -> JsonObject:
    tidied = {key: _tidy(item) for key, item in schema.items()}
    if is_object(fields := tidied.get("properties")):
        fields.pop(EXTRA_NAME, None)
        tidied["additionalProperties"] = True  # unknown fields are kept
    if is_array(choices := tidied.get("enum")) and len(choices) == 1:
        del tidied["enum"]
        tidied["const"] = choices[0]
    if not OPEN_TAGS.keys().isdisjoint(references(tidied.get("anyOf"))):
        tidied.pop("discriminator", None)  # it would have to list all tags
    return tidied


def with_references(schema: Json, refer: Callable[[str], str]) -> Json:
    """A schema of `describe` with names replaced by references."""
    if is_array(schema):
        return [with_references(item, refer) for item in schema]
    if not is_object(schema):
        return schema
    placed = {key: with_references(item, refer) for key, item in schema.items()}
    if isinstance(name := schema.get("$ref"), str):
        placed["$ref"] = refer(name)
    if is_object(discriminator := placed.get("discriminator")) and "mapping" in discriminator:
        mapping = {tag: refer(name) for tag, name in discriminator["mapping"].items()}
        placed["discriminator"] = {**discriminator, "mapping": mapping}
    return placed


def _filling(template: str) -> Callable[[str], str]:
    return lambda name: template.format(name=name)
