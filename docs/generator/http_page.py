"""`reference/http.md`: every route of the server, from its OpenAPI document."""

import json
from collections.abc import Iterator
from functools import cache

from partita.server.openapi.document import ROLES, describe_api
from partita.server.routes.registry import ROUTES
from partita.types.json import Json, JsonObject, is_array, is_object

from . import markdown as md
from .curl import REF, curl
from .python_page import public_names

INTRODUCTION = """\
Every route of the server, from its OpenAPI document. A running server has the document at
`/api/openapi.json`, and a page to try the routes at `/api/docs`. [The guide](../server.md) shows how to use
them."""

SCHEMAS_INTRODUCTION = """\
The objects in requests and responses, by name. Those that [Python](python.md) has too are described there; in
JSON, their fields are in camelCase."""

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
PROBLEMS = {"400", "401", "404", "default"}
NETWORK = "/network/"
"""In the paths of routes that exist twice, for older clients of Mastra."""

PERMISSIONS = (
    ("`read`", "read all data of its owner"),
    ("`chat`", "read the threads of its owner and send messages, but not change stored messages"),
    ("`write`", "all of `read` and `chat`, change stored messages, import"),
    ("`admin`", "everything; for all owners, if the key has none"),
)
TITLES = {"ag-ui": "AG-UI", "assistant-ui": "assistant-ui", "openai": "OpenAI"}
"""Titles of groups of routes that are not the capitalised name."""

IN_PYTHON = set(public_names())


def page() -> str:
    """Return the whole page."""
    document = openapi()
    sections = [_group(tag, document) for tag in document["tags"]]
    schemas = _schemas(document, list(_references(document["paths"])))
    return md.page("HTTP", INTRODUCTION, _general(document), *sections, schemas)


@cache
def openapi() -> JsonObject:
    """Return the OpenAPI document of the server."""
    return describe_api(ROUTES)


def operations(document: JsonObject) -> Iterator[tuple[str, str, JsonObject]]:
    """Yield the path, the method and the OpenAPI object of every operation."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method.lower() in item:
                yield path, method, item[method.lower()]


def _general(document: JsonObject) -> str:
    return "\n\n".join(
        [
            str(document["info"]["description"]).strip(),
            "**Roles.** `partita keys create` creates a key with a role and an owner.",
            md.table(("role", "permissions"), PERMISSIONS),
            "[Errors](errors.md#problems-over-http) lists the problems, and how to fix them.",
        ]
    )


def _group(tag: JsonObject, document: JsonObject) -> str:
    name = tag["name"]
    routes = [route for route in operations(document) if name in route[2].get("tags", ())]
    entries = [
        _operation(path, method, operation, document)
        for path, method, operation in routes
        if NETWORK not in path or path.replace(NETWORK, "/") not in document["paths"]
    ]
    text = tag.get("description", "")
    if any(NETWORK in path for path, _, _ in routes):
        text += " All routes except the search also exist under `/api/memory/network/`, for older clients."
    return "\n\n".join([f"## {TITLES.get(name, name.capitalize())}", text.strip(), *entries])


def _operation(path: str, method: str, operation: JsonObject, document: JsonObject) -> str:
    roles = operation.get(ROLES)
    access = f"Roles: {', '.join(f'`{role}`' for role in roles)}." if roles else "No key required."
    pieces = [
        f"### {method} {path}",
        f"**{operation['summary']}.** {access}".replace("?.**", "?**"),
        md.prose(operation.get("description", "")),
        _parameters(operation),
        _body(operation),
        _responses(operation),
        md.block(curl(path, method, operation, document), "sh elsewhere"),
    ]
    return "\n\n".join(piece for piece in pieces if piece)


def _parameters(operation: JsonObject) -> str:
    rows = [
        (
            md.code(one["name"]),
            one["in"],
            md.code(type_of(one["schema"])),
            "required" if one.get("required") else _default(one["schema"]),
            md.prose(one.get("description", "")),
        )
        for one in operation.get("parameters", ())
    ]
    return md.table(("parameter", "in", "type", "default", "description"), rows) if rows else ""


def _default(schema: JsonObject) -> str:
    """Return the default as JSON. Strings have no quotes unless they are empty."""
    default: Json = schema.get("default")
    if default is None:
        return ""
    return md.code(default if isinstance(default, str) and default else json.dumps(default))


def _body(operation: JsonObject) -> str:
    body = operation.get("requestBody")
    if not is_object(body):
        return ""
    media_types = ", ".join(md.code(name) for name in body["content"])
    schema: JsonObject = next(iter(body["content"].values())).get("schema", {})
    optional = "" if body.get("required") else ", optional"
    description = md.prose(str(body.get("description") or schema.get("description") or ""))
    fields = _fields(schema)
    head = f"Body ({media_types}{optional}): {_linked(schema) or description or 'bytes'}".rstrip(".")
    return f"{head}.\n\n{fields}" if fields else f"{head}."


def _responses(operation: JsonObject) -> str:
    rows: list[tuple[str, str, str]] = []
    for status, response in operation["responses"].items():
        if status not in PROBLEMS:
            contents: JsonObject = response.get("content") or {"": {}}
            for media_type, content in contents.items():
                body = _linked(content.get("schema", {})) or (md.code(media_type) if media_type else "")
                rows.append((md.code(status), md.prose(response["description"]), body))
    problems = ", ".join(
        md.code(status) for status in operation["responses"] if status in PROBLEMS - {"default"}
    )
    return f"{md.table(('status', 'description', 'body'), rows)}\n\nProblems: {problems} and others."


def _schemas(document: JsonObject, waiting: list[str]) -> str:
    """Return the section about the schemas that routes refer to, and those that they refer to in turn."""
    schemas: JsonObject = document["components"]["schemas"]
    found: dict[str, JsonObject] = {}
    while waiting:
        name = waiting.pop()
        if name not in found and name in schemas and name not in IN_PYTHON:
            found[name] = schemas[name]
            waiting.extend(_references(schemas[name]))
    entries = [_schema(name, found[name]) for name in sorted(found) if name != "Problem"]
    return "\n\n".join(["## Schemas", SCHEMAS_INTRODUCTION, *entries])


def _schema(name: str, schema: JsonObject) -> str:
    choices = schema.get("anyOf") or schema.get("oneOf")
    pieces = [f"### {name}", md.prose(_first_paragraph(schema))]
    if fields := _fields(schema):
        pieces.append(fields)
    elif choices:
        pieces.append("One of " + ", ".join(map(_linked_or_type, choices)) + ".")
    elif "enum" in schema or "const" in schema:
        pieces.append(f"One of {type_of(schema)}.")
    elif "prefixItems" in schema:
        pieces.append(f"A list of {md.code(', '.join(type_of(one) for one in schema['prefixItems']))}.")
    return "\n\n".join(piece for piece in pieces if piece)


def _fields(schema: JsonObject) -> str:
    required = schema.get("required", ())
    rows = [
        (
            md.code(name),
            _linked_or_type(inner),
            "required" if name in required else _default(inner),
            md.prose(_first_paragraph(inner)),
        )
        for name, inner in schema.get("properties", {}).items()
        if is_object(inner)
    ]
    return md.table(("field", "type", "default", "description"), rows) if rows else ""


def _first_paragraph(schema: JsonObject) -> str:
    return str(schema.get("description", "")).partition("\n\n")[0]


def type_of(schema: Json) -> str:
    """Return the type of a schema in a few words."""
    if not is_object(schema):
        return "any"
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(REF)
    if "const" in schema:
        return repr(schema["const"]).replace("'", '"')
    if "enum" in schema:
        return " or ".join(f'"{one}"' if isinstance(one, str) else str(one) for one in schema["enum"])
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return " or ".join(type_of(one) for one in choices)
    match schema.get("type"):
        case "array":
            return f"list of {type_of(schema.get('items'))}"
        case "string" if "format" in schema:
            return {"date-time": "time", "binary": "bytes"}.get(str(schema["format"]), str(schema["format"]))
        case None:
            return "any"
        case one:
            return " or ".join(map(str, one)) if is_array(one) else str(one)


def _linked_or_type(schema: Json) -> str:
    return _linked(schema) or md.code(type_of(schema))


def _linked(schema: Json) -> str:
    """Return a link to a named schema, also in a list or a union; empty if there is no name."""
    if not is_object(schema):
        return ""
    if "$ref" in schema:
        name = type_of(schema)
        return f"[{name}]({'python.md' if name in IN_PYTHON else ''}#{name.lower()})"
    if schema.get("type") == "array" and (inner := _linked(schema.get("items"))):
        return f"list of {inner}"
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices and any(map(_linked, choices)):
        return " or ".join(map(_linked_or_type, choices))
    return ""


def _references(schema: Json) -> Iterator[str]:
    """Yield the names of the schemas that a value refers to."""
    if is_object(schema):
        if isinstance(reference := schema.get("$ref"), str):
            yield reference.removeprefix(REF)
        for item in schema.values():
            yield from _references(item)
    elif is_array(schema):
        for item in schema:
            yield from _references(item)
