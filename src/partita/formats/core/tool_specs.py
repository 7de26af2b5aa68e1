"""The tools of a request ↔ tool specifications. What a specification has no field for is its residue."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from msgspec.structs import replace

from partita.formats.format import ToolSpec
from partita.types.json import Json, JsonObject
from partita.types.value import Extra

from .metadata import notes
from .residue import residue, restore
from .wire import Wire

FIELDS: Final = "fields"
INDEX: Final = "index"
"""Notes in the namespace of the format: the residue of a tool, and its position among other tools."""

ReadTool: TypeAlias = Callable[[Json], tuple[ToolSpec, Wire] | None]
WriteTool: TypeAlias = Callable[[ToolSpec], Wire]


def read_tools(
    tools: Sequence[Json], namespace: str, read: ReadTool, write: WriteTool
) -> tuple[tuple[ToolSpec, ...], list[Json]]:
    """The tools that any model can be offered, and the other ones, which only this API has."""
    found = [read(tool) for tool in tools]
    others = [tool for tool, one in zip(tools, found, strict=True) if one is None]
    known = [one is not None for one in found]
    is_mixed = known != sorted(known, reverse=True)
    specs: list[ToolSpec] = []
    for index, one in enumerate(found):
        if one is not None:
            spec, tool = one
            kept = residue(write(spec), tool)
            noted: JsonObject = {**({FIELDS: kept} if kept else {}), **({INDEX: index} if is_mixed else {})}
            specs.append(replace(spec, extra=Extra({namespace: noted})) if noted else spec)
    return tuple(specs), others


def write_tools(
    specs: Sequence[ToolSpec], others: Sequence[Json], namespace: str, write: WriteTool
) -> list[JsonObject]:
    """All tools, in the order that they were read in."""
    tools = list(others)
    front = 0
    for spec in specs:
        noted = notes(dict(spec.extra) if spec.extra else None, namespace)
        at = noted.get(INDEX)
        place = max(0, min(at if type(at) is int else front, len(tools)))
        tools.insert(place, restore(write(spec), notes(noted, FIELDS)))
        front = place + 1
    return tools
