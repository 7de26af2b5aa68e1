"""The OpenAPI document, generated from the signatures, docstrings and types of endpoints."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from http import HTTPStatus
from threading import Lock
from types import UnionType
from typing import Any, Final, Literal, NamedTuple, get_args, get_origin

import msgspec
from starlette.responses import Response

from partita.runtime.principal import Permission, roles_with
from partita.server.access import EVERYTHING, Group, is_published, permission_of
from partita.server.endpoints import PATH_NAME, REQUIRED, Endpoint, Parameter, ResponseSpec
from partita.server.problems import MEDIA_TYPE
from partita.server.responses import JSON
from partita.server.routing import Router
from partita.types.json import Json, JsonObject, dumps
from partita.types.schema import SINGLE_VALUES, UNION_NAMES, describe, public_components, with_references
from partita.types.value import Extra
from partita.version import __version__

from .descriptions import (
    DESCRIPTION,
    DIALECTS,
    EVENTS,
    EXAMPLES,
    PROBLEM,
    PROBLEMS,
    REF,
    SECURITY,
    SECURITY_SCHEMES,
    SUCCESSES,
    tags_of,
)

# Schemas of requests and responses: from `types.schema` for public values, from msgspec for other types

GENERIC: Final = re.compile(r"(\w+?)_(.+)_")
WORD: Final = re.compile(r"[A-Za-z0-9]+")


class TypeSchemas(NamedTuple):
    """The schemas of some types, and the components that they refer to, by name."""

    schemas: dict[Any, JsonObject]
    components: dict[str, JsonObject]


def describe_types(types: Iterable[Any]) -> TypeSchemas:
    """The schemas of types. Those without one are left out."""
    known = [type_ for type_ in dict.fromkeys(types) if _has_schema(type_)]
    schemas, components = describe([*known, *SINGLE_VALUES])
    _forbid_unknown(components, known)
    return TypeSchemas(
        {
            type_: with_references(schema, component_ref)
            for type_, schema in zip(known, schemas[: len(known)], strict=True)
        },
        {
            component_name(name): _titled(name, with_references(schema, component_ref))
            for name, schema in sorted(components.items())
        },
    )


def component_ref(name: str) -> str:
    """A reference to a component."""
    return REF + component_name(name)


def component_name(name: str) -> str:
    """The name of a component: a list of threads is a `ThreadListing`."""
    generic = GENERIC.fullmatch(name)
    if generic is None:
        *_, module, last = [*name.split(".")] if "." in name else ["", name]
        return module.capitalize() + last  # two types of the same name differ by their modules
    outer, inner = generic.groups()
    members = dict.fromkeys(word for word in WORD.findall(inner) if word[0].isupper() and word != "Union")
    return (UNION_NAMES.get(frozenset(members)) or "Or".join(members)) + outer


def _titled(name: str, schema: JsonObject) -> JsonObject:
    return {**schema, "title": component_name(name)} if "title" in schema else schema


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
    raise NotImplementedError  # msgspec requires it


def _forbid_unknown(components: dict[str, JsonObject], types: Sequence[Any]) -> None:
    """Forbid unknown members in schemas of types that refuse them. Public values keep unknown members."""
    for name, schema in _raw(types).items():
        if (
            name in components
            and name not in public_components()
            and schema.get("additionalProperties") is False
        ):
            components[name] = {**components[name], "additionalProperties": False}


DIALECT: Final = "https://spec.openapis.org/oas/3.1/dialect/base"
ROLES: Final = "x-partita-roles"
"""The roles that may use an operation."""

EVENT_STREAM: Final = "text/event-stream"
NULL: Final = {"type": "null"}
NO_SCHEMA: Final = (Any, bytes, str, None)
"""Types that do not describe a body."""

_LOCK: Final = Lock()


class Operation(NamedTuple):
    """An endpoint with one of its methods and paths."""

    path: str
    """The path, with names in camel case."""
    method: str
    endpoint: Endpoint
    permission: Permission | None

    @property
    def responses(self) -> dict[int, ResponseSpec]:
        """The successful responses, by status."""
        specs = dict(self.endpoint.responses)
        if not specs:
            type_ = _value_type(self.endpoint.returns)
            media_type = None if self.endpoint.returns is None else JSON
            specs[self.endpoint.status_code] = ResponseSpec("", type_, media_type)
        return specs

    @property
    def types(self) -> Iterator[Any]:
        """The types whose schemas it needs."""
        yield from (spec.type for spec in self.responses.values())
        if (body := self.endpoint.arguments.body) is not None:
            yield body.type
        if (request_body := self.endpoint.request_body) is not None:
            yield from (one for one in request_body.content.values() if not isinstance(one, dict))


def document(router: Router, root: str, groups: frozenset[Group]) -> bytes:
    """The document of the published routes as JSON. `root` is the path from it to the application."""
    with _LOCK:  # generating it takes a second: concurrent requests wait for the same result
        return _document_bytes(router, root, groups)


@cache
def _document_bytes(router: Router, root: str, groups: frozenset[Group]) -> bytes:
    return dumps(describe_api(router.endpoints, root, groups))


def describe_api(
    endpoints: Sequence[Endpoint], root: str = "..", groups: frozenset[Group] = EVERYTHING
) -> JsonObject:
    """The document."""
    operations = list(_operations(endpoints, groups))
    known = describe_types(type_ for one in operations for type_ in one.types if type_ not in NO_SCHEMA)
    names = _names(operations)
    paths: JsonObject = {}
    for one in operations:
        paths.setdefault(one.path, {})[one.method] = _operation(one, known, names)
    components = {**known.components, "Problem": PROBLEM}
    for name, example in EXAMPLES.items():
        if name in components:
            components[name] = {**components[name], "examples": [example]}
    return {
        "openapi": "3.1.0",
        "jsonSchemaDialect": DIALECT,
        "info": {
            "title": "Partita",
            "version": __version__,
            "summary": "Messages, threads and runs of AI agents.",
            "description": DESCRIPTION,
        },
        # Relative to the document itself, so that it does not depend on where the application is mounted.
        "servers": [{"url": root, "description": "This server."}],
        "tags": tags_of(tag for one in operations for tag in one.endpoint.tags),
        "security": SECURITY,
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": dict(sorted(components.items())),
            "securitySchemes": SECURITY_SCHEMES,
        },
    }


def _operations(endpoints: Sequence[Endpoint], groups: frozenset[Group]) -> Iterator[Operation]:
    for endpoint in endpoints:
        for path in endpoint.paths if endpoint.in_schema else ():
            shown = PATH_NAME.sub(lambda found: "{" + camel(found[1]) + "}", path)
            for method in endpoint.methods:
                if is_published(method, path, groups):
                    yield Operation(shown, method.lower(), endpoint, permission_of(method, path))


def _names(operations: Sequence[Operation]) -> dict[tuple[str, str], str]:
    """The ids of operations: the names of their functions. For equal ones, the shortest path has the name."""
    first: dict[str, Operation] = {}
    names: dict[tuple[str, str], str] = {}
    for one in sorted(operations, key=lambda one: (len(one.path), one.path, one.method)):
        tag = next(iter(one.endpoint.tags), "")
        name = f"{tag if tag in DIALECTS else ''} {one.endpoint.name}"
        other = first.setdefault(name, one)
        names[one.path, one.method] = name if other is one else f"{name} {_difference(one, other)}"
    return {key: camel(name) for key, name in names.items()}


def _difference(one: Operation, other: Operation) -> str:
    """The segments of an operation's path that another path does not have, or the method."""
    known = set(other.path.split("/"))
    return " ".join(word for word in one.path.split("/") if word not in known) or one.method


def _operation(one: Operation, known: TypeSchemas, names: dict[tuple[str, str], str]) -> JsonObject:
    endpoint = one.endpoint
    members: JsonObject = {
        "tags": list(endpoint.tags),
        "summary": endpoint.summary,
        "description": endpoint.description,
        "operationId": names[one.path, one.method],
        "parameters": _parameters(endpoint),
        "requestBody": _request_body(endpoint, known),
        "responses": _responses(one, known),
    }
    if one.permission is None:
        members["security"] = []
    else:
        members[ROLES] = list(roles_with(one.permission))
    return {key: item for key, item in members.items() if item or key == "security"}


def camel(text: str) -> str:
    """A text in camel case."""
    first, *rest = WORD.findall(text)
    return str(first).lower() + "".join(word[0].upper() + word[1:] for word in rest)


# Parameters


def _parameters(endpoint: Endpoint) -> list[JsonObject]:
    """The parameters, those in the path first."""
    ordered = sorted(endpoint.arguments.parameters, key=lambda one: one.source != "path")
    return [_parameter(one) for one in ordered]


def _parameter(parameter: Parameter) -> JsonObject:
    in_path = parameter.source == "path"
    members: JsonObject = {
        "name": camel(parameter.name) if in_path else parameter.name,
        "in": parameter.source,
        "required": parameter.default is REQUIRED,
        "description": parameter.spec.description,
    }
    schema = _parameter_schema(parameter)
    return {**{key: item for key, item in members.items() if item}, "schema": schema}


def _parameter_schema(parameter: Parameter) -> JsonObject:
    """The schema of a parameter, without null: a parameter can be left out instead."""
    schema = msgspec.json.schema(parameter.type)
    choices = [choice for choice in schema.pop("anyOf", []) if choice != NULL]
    if len(choices) == 1:
        schema |= choices[0]
    elif choices:
        schema["anyOf"] = choices
    for one in (parameter.type, *get_args(parameter.type)):
        if get_origin(one) is Literal:
            schema |= {"type": "string", "enum": list(get_args(one))}  # in their order: msgspec sorts them
    if parameter.spec.format is not None:
        schema["format"] = parameter.spec.format
    if parameter.default is not REQUIRED and parameter.default is not None:
        default = parameter.default
        schema["default"] = int(default) if isinstance(default, float) and default.is_integer() else default
    return schema


# Bodies


def _request_body(endpoint: Endpoint, known: TypeSchemas) -> JsonObject | None:
    if (body := endpoint.request_body) is not None:
        content = {
            media_type: _media(known.schemas[one] if not isinstance(one, dict) else one, body.examples)
            for media_type, one in body.content.items()
        }
        return _with_description({"content": content, "required": body.required}, body.description)
    if (argument := endpoint.arguments.body) is not None:
        media = _media(known.schemas.get(argument.type, {}), argument.spec.examples)
        members = {"content": {JSON: media}, "required": argument.default is REQUIRED}
        return _with_description(members, argument.spec.description)
    return None


def _with_description(body: JsonObject, description: str | None) -> JsonObject:
    return {**body, "description": description} if description else body


def _media(schema: JsonObject, examples: Sequence[Any]) -> JsonObject:
    """The content of a body: its schema, and its examples by name."""
    named = {f"example{number}": {"value": value} for number, value in enumerate(examples, 1)}
    return {"schema": schema, "examples": named} if named else {"schema": schema}


# Responses


def _responses(one: Operation, known: TypeSchemas) -> JsonObject:
    """All responses of an operation, by status, including the problems that every operation may have."""
    responses: JsonObject = {
        str(status): _success(status, spec, known, has_body=one.method != "head")
        for status, spec in one.responses.items()
    }
    for status, description in PROBLEMS.items():
        if status != "404" or "{" in one.path:
            problem = {"schema": {"$ref": f"{REF}Problem"}}
            responses[status] = {"description": description, "content": {MEDIA_TYPE: problem}}
    return responses


def _success(status: int, spec: ResponseSpec, known: TypeSchemas, *, has_body: bool) -> JsonObject:
    description = spec.description or SUCCESSES.get(status, HTTPStatus(status).phrase)
    media_type = spec.media_type or (None if spec.type is None else JSON)
    if media_type is None or not has_body:
        return {"description": description}
    if media_type == EVENT_STREAM:
        content = EVENTS
    else:
        content = {"schema": known.schemas.get(spec.type, {}) if media_type == JSON else {"type": "string"}}
    return {"description": description, "content": {media_type: content}}


def _value_type(returns: Any) -> Any:
    """The type of the value that an endpoint sends as JSON; `None` if its return type has none."""
    if _is_response(returns):
        return next(iter(get_args(returns)), None)
    values = [one for one in get_args(returns) if not _is_response(one)]
    return values[0] if isinstance(returns, UnionType) and len(values) == 1 else returns


def _is_response(type_: Any) -> bool:
    class_ = get_origin(type_) or type_
    return isinstance(class_, type) and issubclass(class_, Response)
