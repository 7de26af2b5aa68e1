"""The parameters of a function: names, types, defaults and descriptions."""

import inspect
import types
from collections.abc import Callable
from datetime import datetime
from types import FunctionType, MethodType, NoneType, SimpleNamespace
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec

from partita.errors import AgentError

from .context import ToolContext
from .docstrings import read_docstring

_DATE_TIME = msgspec.Meta(extra_json_schema={"format": "date-time"})


def msgspec_type(type_: Any) -> Any:
    """A type as msgspec describes it: `Annotated[str, "text"]` with a description, a time with its format."""
    if type_ is datetime:
        return Annotated[datetime, _DATE_TIME]
    origin, arguments = get_origin(type_), get_args(type_)
    if origin is None or origin is Literal or not arguments:
        return type_
    if origin is Annotated:
        meta = [msgspec.Meta(description=item) if isinstance(item, str) else item for item in arguments[1:]]
        return Annotated[(msgspec_type(arguments[0]), *meta)]  # pyrefly: ignore[invalid-annotation]
    inner = tuple(msgspec_type(item) for item in arguments)
    if origin in (Union, types.UnionType):
        return Union[inner]  # noqa: UP007 # pyrefly: ignore[not-a-type] # built from a tuple
    return type_ if inner == arguments else origin[inner]


_UNSUPPORTED = {
    inspect.Parameter.VAR_POSITIONAL: "models name arguments: list them one by one",
    inspect.Parameter.VAR_KEYWORD: "list the arguments one by one, or take one dict",
    inspect.Parameter.POSITIONAL_ONLY: "models name arguments: remove the `/`",
}


class Parameter(NamedTuple):
    """An argument of a call."""

    name: str
    type: Any
    default: object = inspect.Parameter.empty
    description: str | None = None

    @property
    def required(self) -> bool:
        """Whether a call needs it."""
        return self.default is inspect.Parameter.empty


class Signature(NamedTuple):
    """The parameters that a model sees, those that take the context, and the description of the function."""

    parameters: tuple[Parameter, ...] = ()
    contexts: tuple[str, ...] = ()
    summary: str | None = None


def signature_of(function: Callable[..., Any]) -> Signature:
    """The signature of a function for a tool; an `AgentError` if it cannot be one."""
    where = name_of(function)
    if not isinstance(function, FunctionType | MethodType):
        raise AgentError(f"{where} is not a function", where=where, hint="write a `def` that calls it")
    given = inspect.signature(function).parameters
    types = _types_of(function, where)
    contexts = tuple(name for name in given if _takes_context(types.get(name)))
    docstring = read_docstring(function.__doc__, given.keys())
    parameters = [
        _parameter(parameter, types, docstring.parameters.get(name), where)
        for name, parameter in given.items()
        if name not in contexts
    ]
    return Signature(tuple(parameters), contexts, docstring.summary)


def name_of(function: Callable[..., Any]) -> str:
    """The module and the qualified name of a function."""
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return f"{getattr(function, '__module__', None) or '?'}.{name}"


def _types_of(function: FunctionType | MethodType, where: str) -> dict[str, Any]:
    """The types of the parameters. That of the result is not resolved: it may be unknown at run time."""
    innermost: Any = inspect.unwrap(function)
    try:
        annotations = {name: type_ for name, type_ in innermost.__annotations__.items() if name != "return"}
        holder = SimpleNamespace(__annotations__=annotations)
        return get_type_hints(holder, globalns=innermost.__globals__, include_extras=True)
    except (NameError, SyntaxError, TypeError, AttributeError) as error:
        raise AgentError(
            f"the type of a parameter cannot be resolved: {error}",
            where=where,
            hint="import it at the top of the module, neither under TYPE_CHECKING nor inside a function",
        ) from None


def _takes_context(type_: Any) -> bool:
    members = get_args(type_) or (type_,)
    return ToolContext in members and {*members} <= {ToolContext, NoneType}


def _parameter(
    parameter: inspect.Parameter, types: dict[str, Any], description: str | None, where: str
) -> Parameter:
    if parameter.kind in _UNSUPPORTED:
        raise AgentError(
            f"a tool cannot take the parameter `{parameter}`", where=where, hint=_UNSUPPORTED[parameter.kind]
        )
    if parameter.name not in types:
        hint = f"write its type: `{parameter.name}: str`"
        if parameter.name in ("self", "cls"):
            hint = "make a tool of the bound method: `as_tool(thing.method)`"
        raise AgentError(f"the parameter `{parameter.name}` has no type", where=where, hint=hint)
    return Parameter(parameter.name, msgspec_type(types[parameter.name]), parameter.default, description)
