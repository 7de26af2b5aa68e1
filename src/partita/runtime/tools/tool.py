"""A tool: a plain typed function that a model may call, or a name for something that the client runs.

@tool
def get_weather(city: str, days: int = 1) -> str:
    \"\"\"The weather of the next days.\"\"\"
    return forecast(city, days)
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, overload

from partita.errors import AgentError
from partita.formats.format import ToolSpec
from partita.runtime.failures import report_failure
from partita.runtime.service import AgentService
from partita.types.json import Json, JsonObject, is_object
from partita.types.parts import ErrorTextOutput

from .schema import check_schema, schema_of_parameters, schema_of_type
from .signature import Signature, name_of, signature_of

Function: TypeAlias = Callable[..., Any]
ApprovalPolicy: TypeAlias = Literal["never", "always"] | Callable[[Json], bool | Awaitable[bool]]
"""Whether calls need approval: never, always, or as a function of the input decides."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tool:
    """A tool: what a model sees of it, and how its calls run. Made by `tool` and `client_tool`."""

    name: str
    description: str | None
    function: Function | None
    """`None`: the client runs the calls."""
    input_schema: JsonObject
    approval: ApprovalPolicy = "never"
    timeout: float | None = None
    """Seconds that a call may take. `None`: no limit."""
    signature: Signature = field(default=Signature(), repr=False)

    def __post_init__(self) -> None:
        if not callable(self.approval) and self.approval not in ("never", "always"):
            raise AgentError(
                f"approval is {self.approval!r:.60}", where=self.name, hint='"never", "always" or a function'
            )
        if self.timeout is not None and not self.timeout > 0:
            raise AgentError(
                f"the timeout is {self.timeout!r:.60}",
                where=self.name,
                hint="give a positive number of seconds",
            )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself."""
        return function_of(self)(*args, **kwargs)

    @property
    def spec(self) -> ToolSpec:
        """What a model sees of the tool."""
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
    """The tool itself, or a tool made of a function."""
    return function if isinstance(function, Tool) else tool(function)


def function_of(tool: Tool) -> Function:
    """The function of a tool; an `AgentError` if the client runs it."""
    if tool.function is None:
        raise AgentError("the client runs this tool", where=tool.name, hint="send the call to the client")
    return tool.function


_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what every provider accepts


class Toolset(Mapping[str, Tool]):
    """Tools by name, in order."""

    def __init__(self, tools: Iterable[Tool | Callable[..., Any]] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in map(as_tool, tools):
            self._check(tool)
            self._tools[tool.name] = tool

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __repr__(self) -> str:
        return f"Toolset({list(self._tools)})"

    def specs(self) -> tuple[ToolSpec, ...]:
        """What a model sees of the tools."""
        return tuple(tool.spec for tool in self._tools.values())

    def find(self, name: str) -> Tool | ErrorTextOutput:
        """The tool of that name, or the output for a call of an unknown tool."""
        tool = self._tools.get(name)
        if tool is not None:
            return tool
        return ErrorTextOutput(
            f"There is no tool {name!r:.80}. Known tools: {', '.join(self._tools) or 'none'}."
        )

    def _check(self, tool: Tool) -> None:
        where = tool.name if tool.function is None else name_of(tool.function)
        if not _NAME.fullmatch(tool.name):
            raise AgentError(
                f"{tool.name!r:.80} is not a name for a tool",
                where=where,
                hint="letters, digits, `_` and `-`, at most 64: `@tool(name=…)`",
            )
        if tool.name in self._tools:
            raise AgentError(
                f"two tools are called {tool.name!r}", where=where, hint="rename one: `@tool(name=…)`"
            )


async def needs_approval(tool: Tool, input: Json) -> bool:
    """Whether a call with this input needs approval.

    It does not only if a policy returns `False`: one that raises, or has no `return`, is not a permission.
    """
    if not callable(tool.approval):
        return tool.approval != "never"
    try:
        result: object = tool.approval(input)
        if inspect.isawaitable(result):
            result = await result
    except Exception as error:
        report_failure(error, call_id=f"approval of {tool.name}", tool=tool.name)
        return True
    return result is not False


# Tools that the client runs: those of an agent, and those of a request.

SUPPORT: Final = "supports_client_tools"
"""The attribute of a service that is true if its model can call the tools in `InvokeOptions.tools`."""


def toolset_of(agent: AgentService) -> Toolset | None:
    """The tools of an agent; `None` if it does not list them."""
    tools: object = getattr(agent, "tools", None)
    return tools if isinstance(tools, Toolset) else None


def declares_tools(agent: AgentService) -> bool:
    """Whether an agent lists its tools. Of other agents, any call without an output may be the client's."""
    return toolset_of(agent) is not None


def client_tools(agent: AgentService) -> frozenset[str]:
    """The names of the tools of an agent that its clients run."""
    tools = (toolset_of(agent) or {}).values()
    return frozenset(tool.name for tool in tools if tool.function is None)


def server_tools(agent: AgentService) -> frozenset[str]:
    """The names of the tools of an agent that the server runs, if the agent lists them."""
    tools = (toolset_of(agent) or {}).values()
    return frozenset(tool.name for tool in tools if tool.function is not None)


def check_client_tools(agent: AgentService, tools: Sequence[ToolSpec]) -> None:
    """Raise an `AgentError` for tools of a request that the agent would not offer to its model."""
    if tools and not getattr(agent, SUPPORT, False):
        raise AgentError(
            f"agent {agent.name!r} takes no tools from a client",
            where=f"tool {tools[0].name}",
            hint="leave the tools out, or give them to the agent on the server",
        )
