"""Tools of a request: functions, which any model can be told of, and the provider's own."""

import re
from hashlib import sha256
from typing import Final

from partita.formats.format import Request, ToolSpec
from partita.formats.losses import Loss
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.value import kept, unkept

from .fields import text

OWN: Final = frozenset({"strict", "defer_loading", "allowed_callers", "output_schema", "parameters"})
"""What a function may say that only this provider understands."""

NO_INPUT: Final[JsonObject] = {"type": "object", "properties": {}}
LONGEST: Final = 64
DIGITS: Final = 8
_FOREIGN: Final = re.compile(r"[^A-Za-z0-9_-]")

NO_MEMBER: Final = "a function has no place for it"
RENAMED: Final = "names have at most 64 letters, digits, _ and -"
REORDERED: Final = "functions stand before the tools of the provider"


def fit_name(name: str) -> str:
    """A name that a tool may have: itself, or one with a digest, so that no two become one."""
    if name and len(name) <= LONGEST and not _FOREIGN.search(name):
        return name
    digest = sha256(name.encode(errors="surrogatepass")).hexdigest()[:DIGITS]
    return f"{_FOREIGN.sub('_', name)[: LONGEST - DIGITS - 1]}_{digest}"


def read_request(settings: JsonObject, losses: list[Loss]) -> Request:
    """The rest of a request: functions as tools, all else as it is."""
    given = settings.get("tools")
    if not is_array(given):
        return Request(settings=settings)
    specs = [spec for one in given if (spec := _spec(one)) is not None]
    own = [one for one in given if _spec(one) is None]
    rest = {name: said for name, said in settings.items() if name != "tools"}
    if [*(one for one in given if _spec(one) is not None), *own] != given:
        losses.append(
            Loss.of(
                "$.tools",
                [text(one, "type") if is_object(one) else one for one in given],
                REORDERED,
                "changed",
            )
        )
    return Request(tuple(specs), {**rest, "tools": own} if own or not given else rest)


def write_tools(request: Request, losses: list[Loss]) -> list[Json]:
    """The tools of a request."""
    own = request.settings.get("tools")
    functions = [_function(tool, f"$.tools[{place}]", losses) for place, tool in enumerate(request.tools)]
    return [*functions, *(own if is_array(own) else [])]


def _spec(tool: Json) -> ToolSpec | None:
    """A function that the client runs; `None` if it is another tool."""
    if not is_object(tool) or tool.get("type") != "function" or not isinstance(tool.get("name"), str):
        return None
    described, schema = tool.get("description"), tool.get("parameters")
    if not isinstance(described, str | None) or not (schema is None or is_object(schema)):
        return None
    told = {"type", "name", "description", "parameters"}
    rest: JsonObject = {"strict": None, **{name: said for name, said in tool.items() if name not in told}}
    rest |= {name: None for name in ("description", "parameters") if name in tool and tool[name] is None}
    return ToolSpec(name=tool["name"], description=described, input_schema=schema, extra=kept(rest, ToolSpec))


def _function(tool: ToolSpec, where: str, losses: list[Loss]) -> JsonObject:
    """A function. Unless told not to, the provider rewrites schemas to its strict subset."""
    name, rest = fit_name(tool.name), unkept(tool.extra)
    if name != tool.name:
        losses.append(Loss.of(f"{where}.name", tool.name, RENAMED, "repaired"))
    ours = rest.keys() if "strict" in rest else rest.keys() & OWN
    losses += [Loss.of(f"{where}.{key}", said, NO_MEMBER) for key, said in rest.items() if key not in ours]
    said = {
        "type": "function",
        "name": name,
        "description": tool.description,
        "parameters": NO_INPUT if tool.input_schema is None else tool.input_schema,
        "strict": False,
    }
    given = {key: value for key, value in rest.items() if key in ours}
    known = {key: value for key, value in said.items() if value is not None}
    return {key: value for key, value in {**known, **given}.items() if key != "strict" or value is not None}
