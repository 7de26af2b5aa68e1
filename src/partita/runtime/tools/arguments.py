"""The input of a call → arguments. What does not fit becomes words that the model can act on."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from partita.types.json import TOO_DEEP, TOO_DEEP_HINT, Json, JsonObject, is_array, is_object, kind_of
from partita.types.tools import ErrorTextOutput

from .models import read_model
from .signature import Parameter
from .tool import Tool

_PLACE = re.compile(r"(?P<what>.*?)(?: - at (?P<key>`key` in )?`\$(?P<path>.*)`)?", re.DOTALL)
_MISMATCH = re.compile(r"Expected (?P<expected>`.*?)(?:, got (?P<found>.*))?", re.DOTALL)
_NAMES = {"int": "integer", "str": "string", "bool": "boolean", "float": "number"}


class Fault(NamedTuple):
    """Something in an input that does not fit: where, what should be there, what is."""

    path: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected}, found {self.found}"


class _FaultsError(Exception):
    def __init__(self, faults: list[Fault]) -> None:
        self.faults = faults


def read_arguments(tool: Tool, input: Json) -> dict[str, Any] | ErrorTextOutput:
    """The arguments for the function of a tool, or all that is wrong with the input. `null` is no input."""
    given: Json = {} if input is None else input
    arguments: dict[str, Any] = {}
    faults = list(_shape_faults(tool, given))
    for parameter in tool.signature.parameters if is_object(given) else ():
        if parameter.name in given:
            try:
                arguments[parameter.name] = _convert(tool, parameter, given[parameter.name])
            except _FaultsError as error:
                faults += error.faults
    return _refusal(tool, faults) if faults else arguments


def _refusal(tool: Tool, faults: list[Fault]) -> ErrorTextOutput:
    lines = [f"The input does not fit the tool {tool.name!r}. Mend it and call again:", *map(str, faults)]
    return ErrorTextOutput("\n- ".join(lines))


def _shape_faults(tool: Tool, given: Json) -> Iterator[Fault]:
    """Fields that are missing, and fields that nobody asked for."""
    if not is_object(given):
        yield Fault("$", "an object", _shown(given))
        return
    known = [parameter.name for parameter in tool.signature.parameters]
    for parameter in tool.signature.parameters:
        if parameter.required and parameter.name not in given:
            yield Fault(f"$.{parameter.name}", _expected(tool, parameter), "nothing")
    for name in given:
        if name not in known:
            yield Fault(f"$.{name:.60}", f"no field but {', '.join(known) or 'none'}", "an unknown field")


def _convert(tool: Tool, parameter: Parameter, value: Json) -> Any:
    path = f"$.{parameter.name}"
    try:
        return msgspec.convert(value, parameter.type, dec_hook=read_model)
    except msgspec.ValidationError as error:
        faults = _model_faults(error, path) or [_fault(tool, parameter, error, value)]
    except RecursionError:
        faults = [Fault(path, f"less depth ({TOO_DEEP_HINT})", TOO_DEEP)]
    except Exception as error:  # whatever a type's own checks raise is about the input, and goes to the model
        faults = [Fault(path, "a value that its type takes", f"{type(error).__name__}: {error}")]
    raise _FaultsError(faults)


def _fault(tool: Tool, parameter: Parameter, error: msgspec.ValidationError, value: Json) -> Fault:
    """msgspec's words in ours. Its path begins at the parameter, ours at the input."""
    place = _PLACE.fullmatch(str(error))
    what, inner = (place["what"], place["path"] or "") if place else (str(error), "")
    path = f"$.{parameter.name}{inner}" + (" (a key)" if place and place["key"] else "")
    whole = not inner and not (place and place["key"])
    if mismatch := _MISMATCH.fullmatch(what):
        found = mismatch["found"] or (_shown(value) if whole else "another value")
        return Fault(path, _renamed(mismatch["expected"]), _shown(value) if whole else _renamed(found))
    if whole and what.startswith("Invalid enum value"):
        return Fault(path, _expected(tool, parameter), _shown(value))
    return Fault(path, "a value that its schema allows", f"{what[:1].lower()}{what[1:]}")


def _model_faults(error: msgspec.ValidationError, path: str) -> list[Fault]:
    """What pydantic finds wrong, each thing at its own path."""
    if not hasattr(error.__cause__, "errors"):
        return []
    cause: Any = error.__cause__
    place = _PLACE.fullmatch(str(error))
    base = path + (place["path"] or "" if place else "")
    return [_model_fault(item, base) for item in cause.errors(include_url=False, include_context=False)]


def _model_fault(item: JsonObject, base: str) -> Fault:
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in item["loc"]]
    found = "nothing" if item["type"] == "missing" else _shown(item["input"])
    return Fault(base + "".join(steps), f"what its model allows ({item['msg']})", found)


def _expected(tool: Tool, parameter: Parameter) -> str:
    """What the schema says of a parameter, in a few words."""
    schema: JsonObject = tool.input_schema["properties"][parameter.name]
    if is_array(choices := schema.get("enum")):
        return "one of " + ", ".join(map(repr, choices))
    return str(schema.get("type", "a value"))


def _shown(value: Json) -> str:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return f"{kind_of(value)} {value!r:.60}"
    return str(value).lower() if isinstance(value, bool) else kind_of(value)


def _renamed(words: str) -> str:
    """JSON's names for Python's, without the quotes around them."""
    return re.sub(r"\w+", lambda match: _NAMES.get(match[0], match[0]), words.replace("`", ""))
