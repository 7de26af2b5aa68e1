"""What a request says besides its messages: tools that any model can be told of, and all the rest."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from partita.formats.format import Request, ToolSpec
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.value import Extra

from .words import ANTHROPIC, FIELDS, INDEX

SPOKEN: Final = ("system", "messages", "tools")
"""Members of a request that are no settings."""

TOOL: Final = ("name", "description", "input_schema")


def request_of(payload: JsonObject) -> Request:
    """The request around messages. Tools of the API's own stay among its settings."""
    settings: JsonObject = {key: item for key, item in payload.items() if key not in SPOKEN}
    tools: Json = payload.get("tools")
    if not is_array(tools):
        return Request((), settings if tools is None else {**settings, "tools": tools})
    specs = [_spec(tool) for tool in tools]
    known = [spec is not None for spec in specs]
    if known != sorted(known, reverse=True):
        specs = [spec and _at(index, spec) for index, spec in enumerate(specs)]
    own = [tool for tool, spec in zip(tools, specs, strict=True) if spec is None]
    return Request(
        tuple(spec for spec in specs if spec is not None), {**settings, "tools": own} if own else settings
    )


def in_order(tools: Sequence[ToolSpec], blocks: Sequence[Json], own: Sequence[Json]) -> list[Json]:
    """The blocks of tools before the API's own, or where they were among them."""
    declared: list[Json] = list(own)
    front = 0
    for tool, block in zip(tools, blocks, strict=True):
        index = _note(tool).get(INDEX)
        wanted = index if isinstance(index, int) and not isinstance(index, bool) else front
        place = max(0, min(wanted, len(declared)))
        declared.insert(place, block)
        front = place + 1
    return declared


def fields_of_tool(tool: ToolSpec) -> JsonObject:
    """The members of a tool that only this API has, such as where to cache."""
    fields = _note(tool).get(FIELDS)
    return fields if is_object(fields) else {}


def served_names(settings: JsonObject) -> frozenset[str]:
    """The names of the API's own tools that are declared."""
    tools = settings.get("tools")
    found: Sequence[Json] = tools if is_array(tools) else ()
    return frozenset(tool["name"] for tool in found if is_object(tool) and isinstance(tool.get("name"), str))


def _note(tool: ToolSpec) -> JsonObject:
    note: Json = None if tool.extra is None else tool.extra.get(ANTHROPIC)
    return note if is_object(note) else {}


def _at(index: int, spec: ToolSpec) -> ToolSpec:
    return replace(spec, extra=Extra({ANTHROPIC: {**_note(spec), INDEX: index}}))


def _spec(tool: Json) -> ToolSpec | None:
    match tool:
        case {"name": str(name), "input_schema": dict()} if tool.get("type", "custom") in (
            None,
            "custom",
        ):
            description = tool.get("description")
            is_described = isinstance(description, str) and description
            known = TOOL if is_described else ("name", "input_schema")
            fields = {key: item for key, item in tool.items() if key not in known}
            return ToolSpec(
                name=name,
                description=str(description) if is_described else None,
                input_schema=tool["input_schema"],
                extra=Extra({ANTHROPIC: {FIELDS: fields}}) if fields else None,
            )
        case _:
            return None
