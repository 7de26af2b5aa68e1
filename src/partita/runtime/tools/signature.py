"""The parameters of a function: names, types, defaults, and the words about them."""

import inspect
from collections.abc import Callable
from types import FunctionType, MethodType, NoneType, SimpleNamespace
from typing import Any, NamedTuple, get_args, get_type_hints

from partita.errors import AgentError

from .annotations import spelled_out
from .context import ToolContext
from .docstrings import describe

_REFUSED = {
    inspect.Parameter.VAR_POSITIONAL: "a model gives arguments by name: list them one by one",
    inspect.Parameter.VAR_KEYWORD: "list the arguments one by one, or take one dict",
    inspect.Parameter.POSITIONAL_ONLY: "a model gives arguments by name: remove the `/`",
}


class Parameter(NamedTuple):
    """One argument that a model gives."""

    name: str
    type: Any
    default: object = inspect.Parameter.empty
    description: str | None = None

    @property
    def required(self) -> bool:
        """Whether a call without it is refused."""
        return self.default is inspect.Parameter.empty


class Signature(NamedTuple):
    """What a function takes from the model, and which parameters take the context."""

    parameters: tuple[Parameter, ...] = ()
    contexts: tuple[str, ...] = ()
    summary: str | None = None


def signature_of(function: Callable[..., Any]) -> Signature:
    """The signature of a function that is to be a tool; an `AgentError` says why it cannot be one."""
    where = name_of(function)
    if not isinstance(function, FunctionType | MethodType):
        raise AgentError(f"{where} is no function", where=where, hint="write a `def` that calls it")
    given = inspect.signature(function).parameters
    types = _types_of(function, where)
    contexts = tuple(name for name in given if _takes_context(types.get(name)))
    described = describe(function.__doc__, given.keys())
    parameters = [
        _parameter(parameter, types, described.parameters.get(name), where)
        for name, parameter in given.items()
        if name not in contexts
    ]
    return Signature(tuple(parameters), contexts, described.summary)


def name_of(function: Callable[..., Any]) -> str:
    """Where a function is to be found: its module and its qualified name."""
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return f"{getattr(function, '__module__', None) or '?'}.{name}"


def _types_of(function: FunctionType | MethodType, where: str) -> dict[str, Any]:
    """The types of the parameters. That of the result is never looked at: it may be unknown at run time."""
    innermost: Any = inspect.unwrap(function)
    try:
        written = {name: type_ for name, type_ in innermost.__annotations__.items() if name != "return"}
        holder = SimpleNamespace(__annotations__=written)
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
    if parameter.kind in _REFUSED:
        raise AgentError(
            f"a tool cannot take the parameter `{parameter}`", where=where, hint=_REFUSED[parameter.kind]
        )
    if parameter.name not in types:
        hint = f"write its type: `{parameter.name}: str`"
        if parameter.name in ("self", "cls"):
            hint = "make a tool of the bound method: `as_tool(thing.method)`"
        raise AgentError(f"the parameter `{parameter.name}` has no type", where=where, hint=hint)
    return Parameter(parameter.name, spelled_out(types[parameter.name]), parameter.default, description)
