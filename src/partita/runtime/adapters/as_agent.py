"""Functions, agents of other packages, and names of agents, as agent services."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from partita.errors import AgentError
from partita.formats.registry import get_format
from partita.runtime.registry import get_agent
from partita.runtime.service import AgentService

from .agent_request import check_value
from .service import FunctionService

PACKAGES: Final[Mapping[str, str]] = {
    "pydantic_ai": "partita.runtime.adapters.pydantic_ai.service",
    "agents": "partita.runtime.adapters.openai_agents.service",
    "langgraph": "partita.runtime.adapters.langgraph.service",
}
"""By the package of a class, the module that adapts its agents: each has a function `create_service`."""

VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    "deps": ("pydantic_ai",),
    "context": ("agents", "langgraph"),
    "config": ("langgraph",),
}
"""By the argument of `as_agent`, the packages whose agents take it."""

KINDS: Final[Mapping[str, str]] = {
    "pydantic_ai": "Pydantic AI",
    "agents": "the OpenAI Agents SDK",
    "langgraph": "LangGraph",
}

ACCEPTED: Final = (
    "give an agent service or the name of one, an async function that yields text or events, "
    "an agent of Pydantic AI or of the OpenAI Agents SDK, or a compiled graph of LangGraph"
)


def as_agent(
    thing: Any,
    *,
    name: str | None = None,
    format: str | None = None,
    deps: Any = None,
    context: Any = None,
    config: Any = None,
) -> AgentService:
    """An agent made of a function, of an agent of another package, or of the name of one.

    A function takes an `AgentRequest` and yields text, chunks, events, or a provider's raw events; `format`
    names the format of raw events if it cannot be detected from the first one.

    `deps` are the dependencies of an agent of Pydantic AI, `context` is that of an agent of the OpenAI Agents
    SDK or of a graph, `config` the `RunnableConfig` of a graph. Each is a value, or a function of the
    `AgentRequest` that returns it: a plain or an async function, or an async generator function that yields
    the value once and cleans up after its `yield`.

    async def poet(request: AgentRequest):
        async with client.messages.stream(model=…, max_tokens=…, **request.to("anthropic")) as stream:
            async for event in stream:
                yield event

    session.start(as_agent(poet), "thread-1", "A haiku, please.")
    """
    given = {"deps": deps, "context": context, "config": config}
    values = {key: value for key, value in given.items() if value is not None}
    package = _package_of(thing)
    for key, value in values.items():
        if package is None or package not in VALUES[key]:
            kinds = " and ".join(KINDS[one] for one in VALUES[key])
            raise AgentError(
                f"`{key}` is for agents of {kinds}, not for {_described(thing)}",
                hint="leave it out; a function finds what it needs in its `AgentRequest`",
            )
        check_value(key, value)
    create_service = None if package is None else import_module(PACKAGES[package]).create_service
    if create_service is None and _is_function(thing):
        if format is not None:
            get_format(format)
        return FunctionService(name or _name_of(thing), thing, format)
    if format is not None:
        raise AgentError("a format is for functions that yield raw events", hint="leave it out")
    if create_service is not None:
        service: AgentService = create_service(thing, name, **values)
        return service
    if name is not None and (isinstance(thing, str) or _is_service(thing)):
        raise AgentError("an agent service has its own name", hint="leave the name out")
    if isinstance(thing, str):
        return get_agent(thing)
    if _is_service(thing):
        known: AgentService = thing
        return known
    raise AgentError(f"{_described(thing)} is not an agent", hint=ACCEPTED)


def _package_of(thing: object) -> str | None:
    """The package of an agent; `None` for anything else. Nothing is imported to find out."""
    if isinstance(thing, type):
        return None
    for base in type(thing).__mro__:
        package = base.__module__.partition(".")[0]
        if package in PACKAGES or package == "langchain_core":
            return "langgraph" if package == "langchain_core" else package
    return None


def _is_service(thing: object) -> bool:
    has_name = isinstance(getattr(thing, "name", None), str)
    return has_name and callable(getattr(thing, "invoke", None)) and not isinstance(thing, type)


def _is_function(thing: object) -> bool:
    return callable(thing) and not isinstance(thing, type) and not _is_service(thing)


def _name_of(thing: object) -> str:
    named: object = getattr(thing, "__name__", None)
    return named if isinstance(named, str) else type(thing).__name__


def _described(thing: object) -> str:
    if isinstance(thing, type):
        return f"the class {thing.__name__}"
    return f"{type(thing).__module__}.{type(thing).__qualname__}"
