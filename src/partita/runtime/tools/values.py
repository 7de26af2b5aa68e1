"""A function of any kind → the values it gives, one after another."""

import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing
from functools import partial
from typing import Any, NamedTuple

from .worker import Worker


class Given(NamedTuple):
    """A value that a function gave, and whether it is the last word."""

    value: object
    final: bool


async def values_of(
    function: Callable[..., Any], arguments: dict[str, Any], worker: Worker
) -> AsyncGenerator[Given, None]:
    """What a function yields, then its result. Of a generator, the last value is the result."""
    call = partial(function, **arguments)
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        result = call()
    else:
        result = await worker.run(call)
    if inspect.isawaitable(result):
        result = await result
    steps: AsyncGenerator[Given, None]
    if inspect.isasyncgen(result):
        steps = _of_async_generator(result)
    elif inspect.isgenerator(result):
        steps = _of_generator(result, worker)
    else:
        yield Given(result, final=True)
        return
    async with aclosing(steps):
        async for given in steps:
            yield given


async def _of_async_generator(generator: AsyncGenerator[object, Any]) -> AsyncGenerator[Given, None]:
    last: object = None
    async with aclosing(generator):
        async for last in generator:
            yield Given(last, final=False)
    yield Given(last, final=True)


async def _of_generator(
    generator: Generator[object, Any, object], worker: Worker
) -> AsyncGenerator[Given, None]:
    """Each step in the worker's thread, asked for when the one before it is told: it cannot run ahead."""
    worker.last = generator.close
    last: object = None
    while True:
        given = await worker.run(partial(_advance, generator))
        if given.final:
            break
        last = given.value
        yield given
    yield Given(last if given.value is None else given.value, final=True)


def _advance(generator: Generator[object, Any, object]) -> Given:
    try:
        return Given(next(generator), final=False)
    except StopIteration as stop:
        return Given(stop.value, final=True)
