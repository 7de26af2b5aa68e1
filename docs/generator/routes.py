"""`reference/http.md`: every route of the server, from the description that it gives of itself."""

from collections.abc import Iterator
from functools import cache

from partita.server.openapi.document import ROLES, describe_api
from partita.server.routes.registry import ROUTES
from partita.types.json import Json, JsonObject, is_array, is_object

from . import markdown as md
from .curl import curl
from .surface import public_names

SAID = """\
Every route of the server, from the description that it gives of itself: a running server has it as
`/api/openapi.json`, and as a page to try things at `/api/docs`. What to do with it is in [the
guide](../server.md)."""

REF = "#/components/schemas/"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
PROBLEMS = {"400", "401", "404", "default"}
AGAIN = "/network/"
"""What is in the path of routes that are there a second time, for older clients of Mastra."""

IN_PYTHON = set(public_names())
"""Values that the reference of Python describes."""


def page() -> str:
    """The whole page."""
    document = described()
    sections = [_tag(tag, document) for tag in document["tags"]]
    return md.page(
        "HTTP", SAID, _general(document), *sections, _values(document, list(_referred(document["paths"])))
    )


@cache
def described() -> JsonObject:
    """What a server says of its routes."""
    return describe_api(ROUTES)


def operations(document: JsonObject) -> Iterator[tuple[str, str, JsonObject]]:
    """Every path, every method of it, and what is said of it."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method.lower() in item:
                yield path, method, item[method.lower()]


def _general(document: JsonObject) -> str:
    roles = md.table(
        ("role", "what it may do"),
        [
            ("`read`", "read everything that belongs to its owner"),
            ("`chat`", "use the chat: read its own threads, send messages, but not change stored ones"),
            ("`write`", "what `read` and `chat` may, change stored messages, import"),
            ("`admin`", "everything, for all owners if the key has none"),
        ],
    )
    commands = "`partita keys create` makes a key with a role and an owner."
    return "\n\n".join(
        [
            str(document["info"]["description"]).strip(),
            f"**Roles.** {commands}",
            roles,
            "Problems are the same everywhere: [what they are and what to do](errors.md#problems-over-http).",
        ]
    )


def _tag(tag: JsonObject, document: JsonObject) -> str:
    name = tag["name"]
    entries = [
        _operation(path, method, said, document)
        for path, method, said in operations(document)
        if name in said.get("tags", ()) and not _is_again(path, document)
    ]
    again = any(name in said.get("tags", ()) for path, _, said in operations(document) if AGAIN in path)
    note = (
        "All but the search stand under `/api/memory/network/` as well, for older clients." if again else ""
    )
    said = f"{tag.get('description', '')} {note}".strip()
    return "\n\n".join([f"## {_title(name)}", said, *entries])


def _is_again(path: str, document: JsonObject) -> bool:
    return AGAIN in path and path.replace(AGAIN, "/") in document["paths"]


def _title(name: str) -> str:
    return {"mastra": "Mastra", "assistant-ui": "assistant-ui"}.get(name, name.capitalize())


def _operation(path: str, method: str, said: JsonObject, document: JsonObject) -> str:
    roles = said.get(ROLES)
    needs = f"Roles: {', '.join(f'`{role}`' for role in roles)}." if roles else "Open to anyone."
    pieces = [
        f"### {method} {path}",
        f"**{said['summary']}.** {needs}".replace("?.**", "?**"),
        md.prose(said.get("description", "")),
        _parameters(said),
        _body(said),
        _replies(said),
        md.block(curl(path, method, said, document), "sh elsewhere"),
    ]
    return "\n\n".join(piece for piece in pieces if piece)


def _parameters(said: JsonObject) -> str:
    rows = [
        (
            md.code(one["name"]),
            one["in"],
            md.code(type_of(one["schema"])),
            md.prose(one.get("description", "")),
            "needed" if one.get("required") else _default(one["schema"]),
        )
        for one in said.get("parameters", ())
    ]
    return md.table(("parameter", "in", "type", "what it is", "otherwise"), rows) if rows else ""


def _default(schema: JsonObject) -> str:
    default: Json = schema.get("default")
    return "" if default is None else md.code(str(default).lower() if default is False else str(default))


def _body(said: JsonObject) -> str:
    body = said.get("requestBody")
    if not is_object(body):
        return ""
    media = ", ".join(md.code(name) for name in body["content"])
    schema: JsonObject = next(iter(body["content"].values())).get("schema", {})
    needed = "" if body.get("required") else ", may be left out"
    words = md.prose(str(body.get("description") or schema.get("description") or ""))
    fields = _fields(schema)
    head = f"Body ({media}{needed}): {_linked(schema) or words or 'bytes'}".rstrip(".")
    return f"{head}.\n\n{fields}" if fields else f"{head}."


def _replies(said: JsonObject) -> str:
    rows: list[tuple[str, str, str]] = []
    for status, reply in said["responses"].items():
        if status not in PROBLEMS:
            contents: JsonObject = reply.get("content") or {"": {}}
            for media, content in contents.items():
                given = _linked(content.get("schema", {})) or (md.code(media) if media else "")
                rows.append((md.code(status), md.prose(reply["description"]), given))
    problems = ", ".join(md.code(status) for status in said["responses"] if status in PROBLEMS - {"default"})
    return f"{md.table(('reply', 'when', 'gives'), rows)}\n\nProblems: {problems}, and others."


def _values(document: JsonObject, waiting: list[str]) -> str:
    """The values that routes take and give, and those inside them that are no messages."""
    schemas: JsonObject = document["components"]["schemas"]
    seen: dict[str, JsonObject] = {}
    while waiting:
        name = waiting.pop()
        if name not in seen and name in schemas and name not in IN_PYTHON:
            seen[name] = schemas[name]
            waiting.extend(_referred(schemas[name]))
    entries = [_value(name, seen[name]) for name in sorted(seen) if name != "Problem"]
    said = (
        "What routes take and give, by name. Values that [Python](python.md) has as well are told there; "
        "in JSON, their fields are written `likeThis`."
    )
    return "\n\n".join(["## Values", said, *entries])


def _value(name: str, schema: JsonObject) -> str:
    choices = schema.get("anyOf") or schema.get("oneOf")
    pieces = [f"### {name}", md.prose(str(schema.get("description", "")).partition("\n\n")[0])]
    if fields := _fields(schema):
        pieces.append(fields)
    elif choices:
        pieces.append("One of " + ", ".join(_linked(one) or md.code(type_of(one)) for one in choices) + ".")
    elif "enum" in schema or "const" in schema:
        pieces.append(f"One of {type_of(schema)}.")
    elif "prefixItems" in schema:
        pieces.append(f"A list of {md.code(', '.join(type_of(one) for one in schema['prefixItems']))}.")
    return "\n\n".join(piece for piece in pieces if piece)


def _fields(schema: JsonObject) -> str:
    needed = schema.get("required", ())
    rows = [
        (
            md.code(name),
            _linked(inner) or md.code(type_of(inner)),
            "needed" if name in needed else _default(inner),
            md.prose(str(inner.get("description", "")).partition("\n\n")[0]),
        )
        for name, inner in schema.get("properties", {}).items()
        if is_object(inner)
    ]
    return md.table(("field", "type", "otherwise", ""), rows) if rows else ""


def type_of(schema: Json) -> str:
    """The type that a schema asks for, in a word or two."""
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


def _linked(schema: Json) -> str:
    """A schema that has a name, or a list of such, as a link."""
    if not is_object(schema):
        return ""
    if "$ref" in schema:
        name = type_of(schema)
        return f"[{name}]({'python.md' if name in IN_PYTHON else ''}#{name.lower()})"
    if schema.get("type") == "array" and (inner := _linked(schema.get("items"))):
        return f"list of {inner}"
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices and any(_linked(one) for one in choices):
        return " or ".join(_linked(one) or md.code(type_of(one)) for one in choices)
    return ""


def _referred(schema: Json) -> Iterator[str]:
    if is_object(schema):
        if isinstance(reference := schema.get("$ref"), str):
            yield reference.removeprefix(REF)
        for item in schema.values():
            yield from _referred(item)
    elif is_array(schema):
        for item in schema:
            yield from _referred(item)
