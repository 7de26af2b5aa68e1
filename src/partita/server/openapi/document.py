"""The OpenAPI document: routes and parameters as Litestar sees them, schemas and problems as they are."""

import re
from collections.abc import Iterator
from threading import Lock
from typing import Any, Final, NamedTuple

from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.response.base import ASGIResponse, Response
from litestar.routes import HTTPRoute

from partita.runtime.principal import Permission, roles_with
from partita.server.access import EVERYTHING, Group, is_published, permission_of
from partita.types.json import Json, JsonObject, dumps, is_array, is_object

from .parameters import camel, parameters_of
from .responses import PROBLEM, responses_of
from .schemas import REF, Described, described
from .words import DESCRIPTION, DIALECTS, EXAMPLES, SECURITY, SECURITY_SCHEMES, tags_of

DIALECT: Final = "https://spec.openapis.org/oas/3.1/dialect/base"
NO_TYPE: Final = object()
MAKING: Final = Lock()
ROLES: Final = "x-partita-roles"
"""The roles that may use an operation."""
NAMED: Final = re.compile(r"{(\w+)}")
UNTOLD: Final = (Any, bytes, str, None, type(None))
"""Types that say nothing of what a body is."""


class Operation(NamedTuple):
    """One thing that can be asked, and who answers it."""

    path: str
    method: str
    handler: HTTPRouteHandler
    said: JsonObject
    permission: Permission | None

    @property
    def reply_type(self) -> Any:
        """The type of the answer, if it says one."""
        answer = self.handler.parsed_fn_signature.return_type
        if answer.is_subclass_of(ASGIResponse):
            return NO_TYPE
        if not answer.is_subclass_of(Response):
            return _told(answer.annotation)
        return _told(answer.inner_types[0].annotation) if answer.inner_types else NO_TYPE

    @property
    def body_type(self) -> Any:
        """The type of what is sent, if any. A handler that takes the bytes names it in its `opt`."""
        if (named := self.handler.opt.get("body")) is not None:
            return named
        data = self.handler.parsed_fn_signature.parameters.get("data")
        return NO_TYPE if data is None else _told(data.annotation)

    @property
    def needs_body(self) -> bool:
        """Whether something must be sent."""
        if "body" in self.handler.opt:
            return True
        data = self.handler.parsed_fn_signature.parameters.get("data")
        return data is not None and not data.is_optional


def _told(type_: Any) -> Any:
    return NO_TYPE if type_ in UNTOLD else type_


def document(app: Litestar, root: str = "..", groups: frozenset[Group] = EVERYTHING) -> bytes:
    """The document of the published routes, made once. `root` is the path from it to the application."""
    key = f"openapi {root} {sorted(groups)}"
    with MAKING:  # it takes a second: concurrent requests wait for the same one
        made: bytes | None = app.state.get(key)
        if made is None:
            made = app.state[key] = dumps(describe_api(app, root, groups))
    return made


def describe_api(app: Litestar, root: str = "..", groups: frozenset[Group] = EVERYTHING) -> JsonObject:
    """The document as a value."""
    seen: JsonObject = app.openapi_schema.to_schema()
    operations = list(_operations(app, seen["paths"], groups))
    types = [type_ for one in operations for type_ in (one.reply_type, one.body_type) if type_ is not NO_TYPE]
    known = described(types)
    names = _names(operations)
    paths: JsonObject = {}
    for one in operations:
        paths.setdefault(one.path, {})[one.method] = _operation(one, known, names)
    components = {**_left(seen, paths, known), **known.components, **PROBLEM}
    for name, example in EXAMPLES.items():
        if name in components:
            components[name] = {**components[name], "examples": [example]}
    return {
        "openapi": "3.1.0",
        "jsonSchemaDialect": DIALECT,
        "info": {**seen["info"], "summary": "Messages of agents, kept whole.", "description": DESCRIPTION},
        # Relative to the document itself, so that it is right wherever the application is mounted.
        "servers": [{"url": root, "description": "This server."}],
        "tags": tags_of(tag for one in operations for tag in one.said.get("tags", ())),
        "security": SECURITY,
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": dict(sorted(components.items())),
            "securitySchemes": SECURITY_SCHEMES,
        },
    }


def _operations(app: Litestar, paths: JsonObject, groups: frozenset[Group]) -> Iterator[Operation]:
    for route in app.routes:
        if not isinstance(route, HTTPRoute):
            continue
        path = route.path_format or "/"
        shown = NAMED.sub(lambda found: "{" + camel(found[1]) + "}", path)
        for method, (handler, _) in route.route_handler_map.items():
            said = paths.get(path, {}).get(method.lower())
            if said is None or not handler.resolve_include_in_schema():
                continue
            if is_published(method, path, groups):
                yield Operation(shown, method.lower(), handler, said, permission_of(method, path))


def _names(operations: list[Operation]) -> dict[tuple[str, str], str]:
    """What operations are called: as their functions. Where several share one, the shortest path keeps it."""
    first: dict[str, Operation] = {}
    names: dict[tuple[str, str], str] = {}
    for one in sorted(operations, key=lambda one: (len(one.path), one.path, one.method)):
        tag = next(iter(one.said.get("tags", ())), "")
        name = f"{tag if tag in DIALECTS else ''} {one.handler.handler_name}"
        other = first.setdefault(name, one)
        names[one.path, one.method] = name if other is one else f"{name} {_difference(one, other)}"
    return {key: camel(name) for key, name in names.items()}


def _difference(one: Operation, other: Operation) -> str:
    """What an operation has in its path that another has not, or else its method."""
    known = set(other.path.split("/"))
    return " ".join(word for word in one.path.split("/") if word not in known) or one.method


def _operation(one: Operation, known: Described, names: dict[tuple[str, str], str]) -> JsonObject:
    said = one.said
    placed: JsonObject = {
        key: said[key] for key in ("tags", "summary", "description", "deprecated") if said.get(key)
    }
    placed["operationId"] = names[one.path, one.method]
    if parameters := parameters_of(said.get("parameters", [])):
        placed["parameters"] = parameters
    if is_object(body := said.get("requestBody")):
        placed["requestBody"] = _body(body, known.schemas.get(one.body_type), needed=one.needs_body)
    placed["responses"] = responses_of(
        said["responses"],
        known.schemas.get(one.reply_type),
        has_body=one.method != "head",
        has_parameters="{" in one.path,
    )
    if one.permission is None:
        placed["security"] = []
    else:
        placed[ROLES] = list(roles_with(one.permission))
    return placed


def _body(body: JsonObject, schema: JsonObject | None, *, needed: bool) -> JsonObject:
    content = {media: _media(said, schema) for media, said in body["content"].items()}
    return {
        **{key: item for key, item in body.items() if key == "description"},
        "content": content,
        "required": needed,
    }


def _media(said: JsonObject, schema: JsonObject | None) -> JsonObject:
    """A body: its examples are beside its schema, by name."""
    given: JsonObject = dict(said.get("schema", {}))
    examples: Json = given.pop("examples", None)
    placed: JsonObject = {**said, "schema": given if schema is None else schema}
    if is_array(examples) and examples:
        placed["examples"] = {
            f"example{number}": {"value": value} for number, value in enumerate(examples, 1)
        }
    return placed


def _left(seen: JsonObject, paths: JsonObject, known: Described) -> JsonObject:
    """Schemas of Litestar's own that are still referred to."""
    schemas: JsonObject = seen.get("components", {}).get("schemas", {})
    left: JsonObject = {}
    waiting = list(_referred(paths))
    while waiting:
        name = waiting.pop()
        if name in schemas and name not in left and name not in known.components:
            left[name] = schemas[name]
            waiting.extend(_referred(schemas[name]))
    return left


def _referred(schema: Json) -> Iterator[str]:
    if is_object(schema):
        if isinstance(reference := schema.get("$ref"), str) and reference.startswith(REF):
            yield reference.removeprefix(REF)
        for item in schema.values():
            yield from _referred(item)
    elif is_array(schema):
        for item in schema:
            yield from _referred(item)
