"""Tools in the requests of an API: reading them as `ToolSpec`, and writing them among the API's own tools.

A `ToolSpec` has what every API can express. Other members of a declaration are its residue (see `wire`).
Tools that only one API has, such as its web search, remain in the settings of the request.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.format import Request, ToolSpec
from partita.formats.losses import NO_PLACE, RENAMED, Loss
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.value import Extra, kept_fields

from .members import member_at, set_member
from .metadata import FIELDS, INDEX, notes
from .report import Record
from .rules import Alphabet
from .wire import Codec, Wire, residue, restore, to_json

_OBJECT: Final[Codec[JsonObject]] = Codec(JsonObject)


class Tools:
    """Reads and writes the tools of an API's requests."""

    def __init__(
        self,
        namespace: str,
        codec: Codec[Any],
        read: Callable[[Any], ToolSpec | None],
        write: Callable[[ToolSpec], Wire | JsonObject],
        is_own: Callable[[Json], bool] | None = None,
        names: Alphabet | None = None,
        *,
        path: str = "tools",
    ) -> None:
        """`read` returns `None` for a tool that only this API has.

        `is_own`: whether a declaration is such a tool although it could be read.
        `names`: the names that the API allows for tools.
        `path`: the member of a request that has the tools. A dot leads into an object.
        """
        self._namespace, self._codec, self._is_own = namespace, codec, is_own
        self._read, self._write_spec, self._names = read, write, names
        self._path = path.split(".")

    def take(self, settings: JsonObject) -> tuple[ToolSpec, ...]:
        """Remove the tools from settings and return them. Those that only this API has remain."""
        raws = member_at(settings, self._path)
        if not is_array(raws):
            return ()
        specs, own = self.read(raws)
        set_member(settings, self._path, own if own or not specs else UNSET)
        return specs

    def add(self, request: Request, settings: JsonObject, record: Record) -> JsonObject:
        """Return settings with the tools of a request. Names that the API refuses are changed."""
        for index, spec in enumerate(request.tools):
            if self._names is not None and self._names.fit(spec.name) != spec.name:
                record.losses.append(Loss(f"$.tools[{index}].name", spec.name, RENAMED, "repaired"))
            others = {name: one for name, one in kept_fields(spec.extra).items() if name != self._namespace}
            record.losses += [
                Loss.of(f"$.tools[{index}].{name}", one, NO_PLACE) for name, one in others.items()
            ]
        own, settings = member_at(settings, self._path), dict(settings)
        tools = self.write(request.tools, own if is_array(own) else ())
        if tools:
            set_member(settings, self._path, tools)
        return settings

    def declare(self, names: Sequence[str]) -> list[Json]:
        """Return declarations of tools of which only the names are known."""
        return self.write([ToolSpec(name) for name in names], ())

    def read(self, raws: Sequence[Json]) -> tuple[tuple[ToolSpec, ...], list[Json]]:
        """Return the tools among declarations, and the declarations of tools that only this API has."""
        specs = [self._read_tool(raw) for raw in raws]
        known = [spec is not None for spec in specs]
        if known != sorted(known, reverse=True):
            specs = [spec and self._noted(spec, {INDEX: index}) for index, spec in enumerate(specs)]
        own = [raw for raw, spec in zip(raws, specs, strict=True) if spec is None]
        return tuple(spec for spec in specs if spec is not None), own

    def write(self, specs: Sequence[ToolSpec], own: Sequence[Json]) -> list[Json]:
        """Return the declarations of tools, before those in `own` or where they were among them."""
        declared = list(own)
        front = 0
        for spec in specs:
            noted = self._notes(spec)
            at = noted.get(INDEX)
            position = max(0, min(at if type(at) is int else front, len(declared)))
            declared.insert(position, to_json(restore(self._write(spec), notes(noted, FIELDS))))
            front = position + 1
        return declared

    def _write(self, spec: ToolSpec) -> Wire | JsonObject:
        name = spec.name if self._names is None else self._names.fit(spec.name)
        return self._write_spec(spec if name == spec.name else replace(spec, name=name))

    def _read_tool(self, raw: Json) -> ToolSpec | None:
        if self._is_own is not None and self._is_own(raw):
            return None
        try:
            tool = self._codec.read(raw)
        except DecodeError:
            return None
        spec = self._read(tool)
        kept = residue(self._write(spec), tool) if spec is not None else {}
        return self._noted(spec, {FIELDS: kept}) if spec is not None and kept else spec

    def _notes(self, spec: ToolSpec) -> JsonObject:
        return notes(dict(spec.extra) if spec.extra else None, self._namespace)

    def _noted(self, spec: ToolSpec, more: JsonObject) -> ToolSpec:
        return replace(spec, extra=Extra({self._namespace: {**self._notes(spec), **more}}))


def object_tools(
    namespace: str,
    schema: str,
    within: str = "",
    *,
    template: JsonObject | None = None,
    is_own: Callable[[Json], bool] | None = None,
    names: Alphabet | None = None,
    path: str = "tools",
) -> Tools:
    """Return the `Tools` of an API that declares a `name`, a `description`, and the schema of an object.

    `schema`: the member that has the schema. A dot leads into an object.
    `within`: the member of a declaration that has these, if it is not the declaration itself.
    `template`: members that every declaration has. One without them is a tool that only this API has.
    """
    paths = [[*within.split(), *one.split(".")] for one in ("name", "description", schema)]

    def read(tool: JsonObject) -> ToolSpec | None:
        name, about, given = (member_at(tool, one) for one in paths)
        is_known = isinstance(name, str) and (given is None or is_object(given))
        if not is_known or any(tool.get(key) != item for key, item in (template or {}).items()):
            return None
        return ToolSpec(name, about if isinstance(about, str) and about else None, given)

    def write(spec: ToolSpec) -> JsonObject:
        tool = dict(template or {})
        given = {"type": "object", **(spec.input_schema or {})}
        for one, value in zip(paths, (spec.name, spec.description or UNSET, given), strict=True):
            set_member(tool, one, value)  # APIs refuse an empty description
        return tool

    return Tools(namespace, _OBJECT, read, write, is_own, names, path=path)
