"""The input of a call → arguments of the function, or an error text that a model can act on."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from partita.types.json import TOO_DEEP, TOO_DEEP_HINT, Json, JsonObject, is_array, is_object, kind_of
from partita.types.parts import ErrorTextOutput

from .schema import read_model
from .signature import Parameter
from .tool import Tool

_ERROR = re.compile(r"(?P<what>.*?)(?: - at (?P<key>`key` in )?`\$(?P<path>.*)`)?", re.DOTALL)
_EXPECTED = re.compile(r"Expected (?P<expected>`.*?)(?:, got (?P<found>.*))?", re.DOTALL)
_NAMES = {"int": "integer", "str": "string", "bool": "boolean", "float": "number"}


class Fault(NamedTuple):
    """An error in an input: its path, what was expected, what was found."""

    path: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected}, found {self.found}"


class _InvalidError(Exception):
    def __init__(self, faults: list[Fault]) -> None:
        self.faults = faults


def read_arguments(tool: Tool, input: Json) -> dict[str, Any] | ErrorTextOutput:
    """The arguments for the function of a tool, or all errors of the input. `null` is an empty input."""
    given: Json = {} if input is None else input
    arguments: dict[str, Any] = {}
    faults = list(_shape_faults(tool, given))
    for parameter in tool.signature.parameters if is_object(given) else ():
        if parameter.name in given:
            try:
                arguments[parameter.name] = _convert(tool, parameter, given[parameter.name])
            except _InvalidError as error:
                faults += error.faults
    return _refusal(tool, faults) if faults else arguments


def _refusal(tool: Tool, faults: list[Fault]) -> ErrorTextOutput:
    lines = [f"The input does not fit the tool {tool.name!r}. Fix it and call again:", *map(str, faults)]
    return ErrorTextOutput("\n- ".join(lines))


def _shape_faults(tool: Tool, given: Json) -> Iterator[Fault]:
    """Missing and unknown fields."""
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
    except Exception as error:  # of a type's own checks: it is about the input, so the model sees it
        faults = [Fault(path, "a value of its type", f"{type(error).__name__}: {error}")]
    raise _InvalidError(faults)


def _fault(tool: Tool, parameter: Parameter, error: msgspec.ValidationError, value: Json) -> Fault:
    """The fault that an error of msgspec reports. Its path starts at the parameter, ours at the input."""
    match = _ERROR.fullmatch(str(error))
    what, inner = (match["what"], match["path"] or "") if match else (str(error), "")
    is_key = bool(match and match["key"])
    path = f"$.{parameter.name}{inner}" + (" (a key)" if is_key else "")
    is_whole = not inner and not is_key
    if mismatch := _EXPECTED.fullmatch(what):
        found = mismatch["found"] or (_shown(value) if is_whole else "another value")
        return Fault(path, _renamed(mismatch["expected"]), _shown(value) if is_whole else _renamed(found))
    if is_whole and what.startswith("Invalid enum value"):
        return Fault(path, _expected(tool, parameter), _shown(value))
    return Fault(path, "a value that its schema allows", f"{what[:1].lower()}{what[1:]}")


def _model_faults(error: msgspec.ValidationError, path: str) -> list[Fault]:
    """The faults that Pydantic reports, each with its path."""
    if not hasattr(error.__cause__, "errors"):
        return []
    cause: Any = error.__cause__
    match = _ERROR.fullmatch(str(error))
    base = path + (match["path"] or "" if match else "")
    return [_model_fault(item, base) for item in cause.errors(include_url=False, include_context=False)]


def _model_fault(item: JsonObject, base: str) -> Fault:
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in item["loc"]]
    found = "nothing" if item["type"] == "missing" else _shown(item["input"])
    return Fault(base + "".join(steps), f"what its model allows ({item['msg']})", found)


def _expected(tool: Tool, parameter: Parameter) -> str:
    """The type or the choices of a parameter, by its schema."""
    schema: JsonObject = tool.input_schema["properties"][parameter.name]
    if is_array(choices := schema.get("enum")):
        return "one of " + ", ".join(map(repr, choices))
    return str(schema.get("type", "a value"))


def _shown(value: Json) -> str:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return f"{kind_of(value)} {value!r:.60}"
    return str(value).lower() if isinstance(value, bool) else kind_of(value)


def _renamed(text: str) -> str:
    """A text with JSON's names of types instead of Python's, without the quotes around them."""
    return re.sub(r"\w+", lambda match: _NAMES.get(match[0], match[0]), text.replace("`", ""))
