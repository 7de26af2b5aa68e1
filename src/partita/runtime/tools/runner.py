"""Runs tool calls: each has exactly one output, whatever its function does."""

import asyncio
import inspect
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Sequence
from contextlib import aclosing, suppress
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeAlias

from partita.runtime.failures import report_failure
from partita.types.json import Json
from partita.types.parts import ErrorTextOutput, InterruptedOutput, ToolOutput

from .arguments import read_arguments
from .context import ToolContext
from .outputs import OUTPUT_LIMIT, output_of, output_of_error, truncate_output
from .tool import Tool, Toolset, function_of

# Functions that block run in a thread of their own.

_Job: TypeAlias = tuple[Callable[[], Any], "asyncio.Future[Any]"]


class Worker:
    """Runs functions in one thread, one after the other, with the context variables of its creator.

    A thread cannot be killed. One that hangs is abandoned. It is a daemon, so that it does not keep Python
    from exiting, as a thread of `concurrent.futures` would.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._loop = asyncio.get_running_loop()
        self._context = copy_context()
        self.last: Callable[[], object] | None = None
        """Run at the end, in the same thread. Its failure is ignored."""

    async def run(self, function: Callable[[], Any]) -> Any:
        """What the function returns or raises. If the caller is cancelled, the function keeps running."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="partita-tool", daemon=True)
            self._thread.start()
        future: asyncio.Future[Any] = self._loop.create_future()
        self._jobs.put((function, future))
        return await future

    def end(self) -> None:
        """End the thread once all functions have run."""
        self._jobs.put(None)

    @property
    def is_alive(self) -> bool:
        """Whether the thread is running."""
        return self._thread is not None and self._thread.is_alive()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            function, future = job
            try:
                result = self._context.run(function)
            except BaseException as error:  # raised in the caller
                self._resolve(future, None, error)
            else:
                self._resolve(future, result, None)
            del job, function, future  # a result of many bytes is not kept until the next job
        if self.last is not None:
            with suppress(BaseException):
                self._context.run(self.last)

    def _resolve(self, future: "asyncio.Future[Any]", result: object, error: BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop is closed: no caller waits
            self._loop.call_soon_threadsafe(_set_result, future, result, error)


def _set_result(future: "asyncio.Future[Any]", result: Any, error: BaseException | None) -> None:
    if future.done():  # the caller was cancelled
        return
    if error is None:
        future.set_result(result)
    elif isinstance(error, StopIteration):  # a future does not accept it; coroutines convert it likewise
        future.set_exception(RuntimeError("the tool raised StopIteration"))
    else:
        future.set_exception(error)


class Value(NamedTuple):
    """A value that a function yielded, or its result."""

    value: object
    is_result: bool


async def values_of(
    function: Callable[..., Any], arguments: dict[str, Any], worker: Worker
) -> AsyncGenerator[Value, None]:
    """The values that a function yields, then its result. The result of a generator is its last value."""
    call = partial(function, **arguments)
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        result = call()
    else:
        result = await worker.run(call)
    if inspect.isawaitable(result):
        result = await result
    steps: AsyncGenerator[Value, None]
    if inspect.isasyncgen(result):
        steps = _of_async_generator(result)
    elif inspect.isgenerator(result):
        steps = _of_generator(result, worker)
    else:
        yield Value(result, is_result=True)
        return
    async with aclosing(steps):
        async for value in steps:
            yield value


async def _of_async_generator(generator: AsyncGenerator[object, Any]) -> AsyncGenerator[Value, None]:
    last: object = None
    async with aclosing(generator):
        async for last in generator:
            yield Value(last, is_result=False)
    yield Value(last, is_result=True)


async def _of_generator(
    generator: Generator[object, Any, object], worker: Worker
) -> AsyncGenerator[Value, None]:
    """Each step runs in the thread of the worker, once the one before it was handled."""
    worker.last = generator.close
    last: object = None
    while True:
        step: Value = await worker.run(partial(_advance, generator))
        if step.is_result:
            break
        last = step.value
        yield step
    yield Value(last if step.value is None else step.value, is_result=True)


def _advance(generator: Generator[object, Any, object]) -> Value:
    try:
        return Value(next(generator), is_result=False)
    except StopIteration as stop:
        return Value(stop.value, is_result=True)


class PendingCall(NamedTuple):
    """A call without an output."""

    id: str
    name: str
    input: Json


OnOutput: TypeAlias = Callable[[PendingCall, ToolOutput], Awaitable[None]]
"""Receives outputs of calls. A generator is advanced once this has returned."""

ABORTED = InterruptedOutput("aborted")


async def _ignore(call: PendingCall, output: ToolOutput) -> None:
    pass


class ToolRunner:
    """Runs calls in parallel. Functions that block have a thread each."""

    def __init__(self, *, parallel: int = 16, grace: float = 2.0, output_limit: int = OUTPUT_LIMIT) -> None:
        """`grace`: how many seconds a cancelled coroutine has before it is abandoned."""
        self._parallel = parallel
        self._grace = grace
        self._output_limit = output_limit
        self._tasks: set[asyncio.Task[ToolOutput]] = set()
        self._workers: list[Worker] = []

    @property
    def abandoned(self) -> int:
        """How many functions still run although their calls have ended."""
        self._workers = [worker for worker in self._workers if worker.is_alive]
        return len(self._workers) + len(self._tasks)

    async def run_call(
        self, tool: Tool, call: PendingCall, context: ToolContext, *, on_preliminary: OnOutput = _ignore
    ) -> ToolOutput:
        """The output of a call. Exceptions of the function become outputs.

        To stop a call, set `context.cancelled`: it ends at once, as aborted. If the task that waits for the
        output is cancelled instead, the function is stopped too, and the cancellation propagates.
        """
        function = function_of(tool)
        arguments = read_arguments(tool, call.input)
        if isinstance(arguments, ErrorTextOutput):
            return truncate_output(arguments, self._output_limit)
        if context.cancelled.is_set():
            return ABORTED
        call_context = replace(context, tool_call_id=call.id, over=threading.Event())
        arguments |= dict.fromkeys(tool.signature.contexts, call_context)
        worker = Worker()
        work = asyncio.create_task(
            self._work(function, arguments, worker, call_context, call, on_preliminary)
        )
        try:
            return await self._outcome(work, call_context, tool.timeout)
        finally:
            await self._leave(work, worker, call_context)

    async def run_calls(
        self,
        calls: Sequence[PendingCall],
        tools: Toolset,
        context: ToolContext,
        *,
        on_result: OnOutput = _ignore,
        on_preliminary: OnOutput = _ignore,
    ) -> tuple[ToolOutput, ...]:
        """The outputs in the order of the calls; `on_result` receives each as soon as it is known.

        If the waiting task is cancelled, `on_result` receives open calls as aborted, then the cancellation
        propagates.
        """
        found = [tools.find(call.name) for call in calls]
        for tool in found:
            if isinstance(tool, Tool):
                function_of(tool)
        gate = asyncio.Semaphore(self._parallel)

        async def run(call: PendingCall, tool: Tool | ErrorTextOutput) -> ToolOutput:
            if isinstance(tool, ErrorTextOutput):
                return tool
            async with gate:
                return await self.run_call(tool, call, context, on_preliminary=on_preliminary)

        return await _gather([run(*pair) for pair in zip(calls, found, strict=True)], calls, on_result)

    async def _work(
        self,
        function: Callable[..., Any],
        arguments: dict[str, Any],
        worker: Worker,
        context: ToolContext,
        call: PendingCall,
        on_preliminary: OnOutput,
    ) -> ToolOutput:
        async with aclosing(values_of(function, arguments, worker)) as values:
            while True:
                try:
                    value, is_result = await anext(values)
                    output = output_of(value)
                except (Exception, SystemExit) as error:  # a tool that exits must not end the process
                    report_failure(error, call_id=call.id, tool=call.name)
                    return truncate_output(output_of_error(error), self._output_limit)
                output = truncate_output(output, self._output_limit)
                if is_result:
                    return output
                if context.is_cancelled:  # a generator that caught its cancellation and continued
                    raise asyncio.CancelledError
                await on_preliminary(call, output)
                await asyncio.sleep(0)  # otherwise a generator that never awaits could not be stopped

    async def _outcome(
        self, work: asyncio.Task[ToolOutput], context: ToolContext, timeout: float | None
    ) -> ToolOutput:
        """Whatever happens first: the output, the timeout, or a stop."""
        stop = asyncio.create_task(context.cancelled.wait())
        try:
            await asyncio.wait({work, stop}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stop.cancel()
        if work.done():
            return ABORTED if work.cancelled() else work.result()
        if context.cancelled.is_set():
            return ABORTED
        return InterruptedOutput("timeout", f"The tool did not end within {timeout:g} seconds.")

    async def _leave(self, work: asyncio.Task[ToolOutput], worker: Worker, context: ToolContext) -> None:
        """Stop the function if it still runs, and wait for it during the grace period."""
        worker.end()
        if work.done():
            return
        context.over.set()
        self._tasks.add(work)
        self._workers.append(worker)
        work.add_done_callback(self._forget)
        work.cancel()
        await asyncio.wait({work}, timeout=self._grace)

    def _forget(self, work: asyncio.Task[ToolOutput]) -> None:
        self._tasks.discard(work)
        if not work.cancelled():
            work.exception()  # retrieved, so that asyncio does not log it: the call has its output


async def _gather(
    runs: Sequence[Coroutine[Any, Any, ToolOutput]], calls: Sequence[PendingCall], on_result: OnOutput
) -> tuple[ToolOutput, ...]:
    """All outputs, reported one at a time as they arrive, and returned in the order of the calls."""
    tasks = [asyncio.create_task(run) for run in runs]
    ended: asyncio.Queue[asyncio.Task[ToolOutput]] = asyncio.Queue()
    for task in tasks:
        task.add_done_callback(ended.put_nowait)
    unreported = dict(zip(tasks, calls, strict=True))
    try:
        while unreported:
            task = await ended.get()
            await on_result(unreported.pop(task), task.result())
    except asyncio.CancelledError:
        await _stop(tasks)
        for task, call in unreported.items():
            await on_result(call, ABORTED if task.cancelled() else task.result())
        raise
    finally:
        await _stop(tasks)
    return tuple(task.result() for task in tasks)


async def _stop(tasks: Sequence[asyncio.Task[ToolOutput]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
