"""What a request says besides its contents: the tools that any model can be told of, and settings."""

from typing import Final

from partita.errors import ConversionError
from partita.formats.format import Request, ToolSpec
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.value import Extra

from .looking import NAMESPACE, text_at

DECLARATIONS: Final = ("functionDeclarations", "function_declarations")
SCHEMAS: Final = (
    "parametersJsonSchema",
    "parameters_json_schema",
    "parameters",
)
"""Where a declaration may have the schema of its input. The last one has a dialect of its own."""

TYPES: Final = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
PLAIN: Final = frozenset({"name", "description", "parametersJsonSchema"})


def request_of(members: JsonObject) -> Request:
    """The rest of a request."""
    settings = dict(members)
    given = settings.pop("tools", None)
    if given is None:
        return Request((), settings)
    declared: list[ToolSpec] = []
    others: list[Json] = []
    for place, tool in enumerate(given if is_array(given) else [given]):
        rest = dict(tool) if is_object(tool) else tool
        for key in DECLARATIONS:
            declarations = rest.get(key) if is_object(rest) else None
            if is_array(declarations):
                where = f"$.tools[{place}].{key}"
                declared += [_spec(one, f"{where}[{n}]") for n, one in enumerate(declarations)]
                rest = {name: value for name, value in rest.items() if name != key}
        if rest or not is_object(tool) or not tool:
            others.append(rest)
    if others:
        settings["tools"] = others
    return Request(tuple(declared), settings)


def declaration_of(tool: ToolSpec) -> JsonObject | None:
    """The declaration that a tool was read from, as long as it says what the tool says."""
    kept: Json = None if tool.extra is None else tool.extra.get(NAMESPACE)
    return kept if is_object(kept) and _spec(kept, "$") == tool else None


def _spec(declaration: Json, path: str) -> ToolSpec:
    name = text_at(declaration, "name")
    if not is_object(declaration) or name is None:
        raise ConversionError(
            f"a declaration is {kind_of(declaration)}" if name is None else "a declaration without a name",
            where=path,
            hint="make it {name, description, parameters}",
        )
    found = next((key for key in SCHEMAS if is_object(declaration.get(key))), None)
    schema = None if found is None else declaration[found]
    description = declaration.get("description")
    is_told = isinstance(description, str) and bool(description)
    is_plain = not declaration.keys() - PLAIN and (is_told or "description" not in declaration)
    return ToolSpec(
        name=name,
        description=description if isinstance(description, str) else None,
        input_schema=_json_schema(schema) if found == "parameters" else schema,
        extra=None
        if is_plain and (found or SCHEMAS[0] not in declaration)
        else Extra({NAMESPACE: declaration}),
    )


def _json_schema(value: Json) -> Json:
    """A schema in Gemini's own dialect as JSON schema: there, types are shouted."""
    if is_array(value):
        return [_json_schema(inner) for inner in value]
    if not is_object(value):
        return value
    return {
        key: inner.lower() if key == "type" and inner in TYPES else _json_schema(inner)
        for key, inner in value.items()
    }
