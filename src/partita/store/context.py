"""What `store.threads`, `store.messages` and the like have in common: engine, owner, clock, transactions."""

from collections.abc import Callable, Coroutine
from datetime import datetime
from functools import wraps
from inspect import Parameter, signature
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

from sqlalchemy import Connection

from .engines.engine import Engine
from .sql.transaction import Transaction, utc_now

T = TypeVar("T")
P = ParamSpec("P")


class View(Protocol):
    """Replaces what a caller may not see."""

    def __call__(self, value: T, /) -> T:
        """The value as the caller may see it, of the same type."""
        ...


class StoreContext:
    """An engine, and the owner whose rows can be read and written."""

    def __init__(
        self,
        engine: Engine,
        *,
        clock: Callable[[], datetime],
        owner: str | None = None,
        view: View | None = None,
    ) -> None:
        self.engine = engine
        self.view = view
        """Applied to every result, but not to logs, nor between the functions of one transaction."""
        self.owner = owner
        self.clock = clock

    async def read(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **options: P.kwargs
    ) -> T:
        """Run a function in a read-only transaction and return its result."""
        result = await self.engine.read(self.in_transaction(function, *args, **options))
        return result if self.view is None else self.view(result)

    async def write(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **options: P.kwargs
    ) -> T:
        """Run a function in a transaction and return its result once it is durable.

        The function may be called more than once.
        """
        result = await self.engine.write(self.in_transaction(function, *args, **options))
        return result if self.view is None else self.view(result)

    def in_transaction(
        self, function: Callable[Concatenate[Transaction, P], T], /, *args: P.args, **options: P.kwargs
    ) -> Callable[[Connection], T]:
        """The function as the engine calls it: with a connection."""
        now, owner, by_system_clock = self.clock(), self.owner, self.clock is utc_now
        return lambda connection: function(
            Transaction(connection, owner, now, by_system_clock), *args, **options
        )


class Namespace:
    """Methods of the store under one name, such as `store.threads`. Each method is one transaction."""

    def __init__(self, context: StoreContext) -> None:
        self._context = context
        self._read = context.read
        self._write = context.write


class TransactionMethod(Generic[P, T]):
    """A method that runs a function of a transaction in a transaction of its own.

    Its signature and docstring are those of the function.
    """

    def __init__(self, function: Callable[Concatenate[Transaction, P], T], *, writes: bool) -> None:
        async def method(self: Namespace, /, *args: P.args, **options: P.kwargs) -> T:
            context = self._context  # pyright: ignore[reportPrivateUsage] # it becomes a method
            run = context.write if writes else context.read
            return await run(function, *args, **options)

        _, *parameters = signature(function).parameters.values()
        own = Parameter("self", Parameter.POSITIONAL_ONLY)
        wrapped: Any = wraps(function)(method)
        wrapped.__signature__ = signature(function).replace(parameters=[own, *parameters])
        self._method = wrapped

    def __set_name__(self, namespace: type[Namespace], name: str) -> None:
        self._method.__name__, self._method.__qualname__ = name, f"{namespace.__qualname__}.{name}"

    def __get__(
        self, namespace: Namespace | None, owner: type[Namespace]
    ) -> Callable[P, Coroutine[Any, Any, T]]:
        bound: Any = self._method if namespace is None else MethodType(self._method, namespace)
        return bound


def reads(function: Callable[Concatenate[Transaction, P], T]) -> TransactionMethod[P, T]:
    """A method that runs a function in a read-only transaction."""
    return TransactionMethod(function, writes=False)


def writes(function: Callable[Concatenate[Transaction, P], T]) -> TransactionMethod[P, T]:
    """A method that runs a function in a transaction, and returns once its result is durable."""
    return TransactionMethod(function, writes=True)
