"""JSON Schema (2020-12) of every value, from the types themselves.

msgspec describes what its fast path reads. The schemas here describe what is read in the end: unknown
fields may stand anywhere, unknown parts and chunks wherever a part or a chunk may, and each union has a name.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, get_args

import msgspec

from .chunks import DATA_PREFIX, Chunk, DataChunk, UnknownChunk
from .codec import told_apart
from .events import AgentStreamEvent
from .json import Json, JsonObject, is_array, is_object
from .legacy import LegacyContent, LegacyMessage
from .messages import AssistantPart, Message, Part, SystemPart, ToolPart, UserPart
from .reading import OPEN
from .runs import Run
from .threads import Thread
from .tools import ContentItem, ToolOutput
from .value import EXTRA_NAME, Extra, Value

DIALECT = "https://json-schema.org/draft/2020-12/schema"
REF_TEMPLATE = "#/$defs/{name}"
BARE = "{name}"


class NamedUnion(NamedTuple):
    """A union that has a name of its own, and what it stands for."""

    members: Any
    description: str


UNIONS: Mapping[str, NamedUnion] = {
    "Message": NamedUnion(Message, "A message, told apart by its role."),
    "SystemPart": NamedUnion(SystemPart, "What a system message may hold."),
    "UserPart": NamedUnion(UserPart, "What a user message may hold."),
    "AssistantPart": NamedUnion(AssistantPart, "What an assistant message may hold."),
    "ToolPart": NamedUnion(ToolPart, "What a tool message may hold."),
    "Part": NamedUnion(Part, "Any part of any message."),
    "ContentItem": NamedUnion(ContentItem, "What a tool may give back for the model to look at."),
    "ToolOutput": NamedUnion(ToolOutput, "What a tool gave back."),
    "Chunk": NamedUnion(Chunk, "One piece of a stream, told apart by its type."),
    "AgentStreamEvent": NamedUnion(AgentStreamEvent, "What an agent service says while it works."),
    "LegacyContent": NamedUnion(LegacyContent, "The one content of a message of the old shape."),
}

SINGLES: tuple[type[Value], ...] = (Thread, Run, LegacyMessage)
"""Public values that no union holds. All others are found from these and from the unions."""

UNION_NAMES: Mapping[frozenset[str], str] = {
    frozenset(member.__name__ for member in get_args(told_apart(union.members))): name
    for name, union in UNIONS.items()
}

NOT_ON_WIRE = {"raw"}
"""Fields of the values with an open tag that stand for the whole value."""


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
"""What the tag of a value may be whose tag is not its own. A known tag must keep its own promises."""


def json_schema(type_: Any) -> JsonObject:
    """A schema of a value, a union, or anything made of them; all it refers to is inside it."""
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
    """The same schemas as `describe` writes them, made once: not to be changed."""
    return describe(SINGLES)[1]


@cache
def public_values() -> tuple[type[Value], ...]:
    """Every public value, in the order of the unions and of what they hold."""
    return tuple(held_values(*(union.members for union in UNIONS.values()), *SINGLES))


def held_values(*held: Any) -> list[type[Value]]:
    """Every value that these types hold, at any remove, in the order they are met."""
    found: dict[type[Value], None] = {}
    waiting = list(held)
    while waiting:
        type_ = waiting.pop(0)
        if not (isinstance(type_, type) and issubclass(type_, Value)):
            waiting[:0] = get_args(type_)
        elif type_ not in found:
            found[type_] = None
            waiting[:0] = [field.type for field in msgspec.structs.fields(type_)]
            if type_ is UnknownChunk:
                waiting.append(DataChunk)  # it may stand wherever an unknown chunk may
    return list(found)


def reachable(schema: Json, components: Mapping[str, JsonObject]) -> set[str]:
    """The names of all components that a schema refers to, at any remove."""
    found: set[str] = set()
    waiting = list(references(schema))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(references(components[name]))
    return found


def references(schema: Json) -> Iterator[str]:
    """The names that a schema itself refers to, as `describe` writes them: bare."""
    if is_object(schema):
        if isinstance(name := schema.get("$ref"), str):
            yield name
        for item in schema.values():
            yield from references(item)
    elif is_array(schema):
        for item in schema:
            yield from references(item)


def describe(wanted: Sequence[Any]) -> tuple[list[JsonObject], dict[str, JsonObject]]:
    """The schemas of types, and by name those of all that they and the named unions hold."""
    unions = [told_apart(union.members) for union in UNIONS.values()]
    schemas, structs = msgspec.json.schema_components(
        [*map(told_apart, wanted), *unions, DataChunk], schema_hook=_describe_holder, ref_template=BARE
    )
    components = {name: _describe_value(name, schema) for name, schema in structs.items()}
    for (name, union), schema in zip(UNIONS.items(), schemas[len(wanted) : -1], strict=True):
        components[name] = {"title": name, "description": union.description, **_tidy_items(schema)}
    components["Chunk"]["anyOf"].append({"$ref": DataChunk.__name__})
    return [_tidy(schema) for schema in schemas[: len(wanted)]], components


def _describe_holder(type_: type) -> JsonObject:
    if type_ is Extra:
        return {"type": "object"}
    raise NotImplementedError  # as msgspec wants it: a type it does not know, nor do we


def _describe_value(name: str, schema: JsonObject) -> JsonObject:
    tidied = _tidy_items(schema)
    if name in OPEN_TAGS:
        fields = {key: item for key, item in tidied["properties"].items() if key not in NOT_ON_WIRE}
        tidied |= {"properties": {**fields, "type": OPEN_TAGS[name]}, "required": ["type"]}
    if name == LegacyMessage.__name__:
        tidied["deprecated"] = True
    return tidied


def _tidy(schema: Json) -> Json:
    """A schema of msgspec in our words, a union that has a name replaced by a reference to it."""
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
        tidied["additionalProperties"] = True  # they are kept
    if is_array(choices := tidied.get("enum")) and len(choices) == 1:
        del tidied["enum"]
        tidied["const"] = choices[0]
    if not OPEN_TAGS.keys().isdisjoint(references(tidied.get("anyOf"))):
        tidied.pop("discriminator", None)  # which may only name tags, and not all are known
    return tidied


def with_references(schema: Json, refer: Callable[[str], str]) -> Json:
    """A schema of `describe` whose bare names have become references."""
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
