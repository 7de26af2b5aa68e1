"""A tool: a plain typed function that a model may call, or a name for something that the client runs.

@tool
def get_weather(city: str, days: int = 1) -> str:
    \"\"\"The weather of the next days.\"\"\"
    return forecast(city, days)
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, overload

from partita.errors import AgentError
from partita.formats.format import ToolSpec
from partita.types.json import Json, JsonObject, is_object

from .schema import check_schema, schema_of_parameters, schema_of_type
from .signature import Signature, name_of, signature_of

Function: TypeAlias = Callable[..., Any]
ApprovalPolicy: TypeAlias = Literal["never", "always"] | Callable[[Json], bool | Awaitable[bool]]
"""Whether someone must allow a call before it runs: never, always, or as a function of its input says."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tool:
    """What a model is told of a tool, and how a call of it is run. Made by `tool` and `client_tool`."""

    name: str
    description: str | None
    function: Function | None
    """`None`: the client runs it."""
    input_schema: JsonObject
    approval: ApprovalPolicy = "never"
    timeout: float | None = None
    """Seconds that a call may take; `None`: as long as it likes."""
    signature: Signature = field(default=Signature(), repr=False)

    def __post_init__(self) -> None:
        if not callable(self.approval) and self.approval not in ("never", "always"):
            raise AgentError(
                f"approval is {self.approval!r:.60}", where=self.name, hint='"never", "always" or a function'
            )
        if self.timeout is not None and not self.timeout > 0:
            raise AgentError(
                f"the timeout is {self.timeout!r:.60}", where=self.name, hint="seconds, more than none"
            )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, as if it were no tool."""
        return function_of(self)(*args, **kwargs)

    @property
    def spec(self) -> ToolSpec:
        """What a model is told."""
        return ToolSpec(name=self.name, description=self.description, input_schema=self.input_schema)


@overload
def tool(function: Function, /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    approval: ApprovalPolicy = "never",
    timeout: float | None = None,
) -> Callable[[Function], Tool]: ...
def tool(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    approval: ApprovalPolicy = "never",
    timeout: float | None = None,
) -> Tool | Callable[[Function], Tool]:
    """Make a tool of a function: its schema from the types, its description from the docstring."""

    def decorate(function: Function) -> Tool:
        signature = signature_of(function)
        return Tool(
            name=function.__name__ if name is None else name,
            description=signature.summary if description is None else description,
            function=function,
            input_schema=schema_of_parameters(signature.parameters, name_of(function)),
            approval=approval,
            timeout=timeout,
            signature=signature,
        )

    return decorate if function is None else decorate(function)


def client_tool(
    name: str, description: str | None = None, input: JsonObject | type[Any] | None = None
) -> Tool:
    """A tool that the client runs. `input` is a type, or a JSON schema; without one there is no input."""
    if input is None:
        schema = schema_of_parameters((), name)
    elif is_object(input):
        check_schema(input, name)
        schema = input
    else:
        schema = schema_of_type(input, name)
    return Tool(name=name, description=description, function=None, input_schema=schema)


def as_tool(function: Function | Tool) -> Tool:
    """The tool itself, or the one that a function makes."""
    return function if isinstance(function, Tool) else tool(function)


def function_of(tool: Tool) -> Function:
    """The function of a tool that is run here."""
    if tool.function is None:
        raise AgentError("the client runs this tool", where=tool.name, hint="send the call to the client")
    return tool.function
