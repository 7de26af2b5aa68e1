"""Values that an agent is given per request: dependencies, a context, a configuration."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from inspect import isasyncgenfunction, isawaitable, isgeneratorfunction, isroutine, unwrap
from typing import Any

from partita.errors import AgentError

from .agent_request import AgentRequest


def check_value(name: str, value: Any) -> None:
    """Refuse a function that cannot give a value."""
    if isgeneratorfunction(_function(value)):
        raise AgentError(
            f"the function given as `{name}` is a generator",
            hint="return the value, or write an async generator that yields it once",
        )


@asynccontextmanager
async def value_for(value: Any, request: AgentRequest) -> AsyncGenerator[Any]:
    """The value for a request: the value itself, or what a function of the request returns.

    The function may be async. An async generator function, with or without `asynccontextmanager`, yields the
    value, and continues once the agent has ended: close what the value needs there.
    """
    if not (isroutine(value) or isinstance(value, partial)):
        yield value
        return
    if isasyncgenfunction(_function(value)):
        given = value(request)
        opened = given if hasattr(given, "__aenter__") else asynccontextmanager(value)(request)
        async with opened as entered:
            yield entered
        return
    given = value(request)
    yield await given if isawaitable(given) else given


def _function(value: Any) -> Any:
    """The function behind decorators and fixed arguments."""
    while isinstance(value, partial):
        value = value.func
    return unwrap(value) if callable(value) else value
