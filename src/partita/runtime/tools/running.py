"""Calls of tools, run: each ends in exactly one output, whatever its function does."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from partita.runtime.failures import report_failure
from partita.types.json import Json
from partita.types.tools import ErrorTextOutput, InterruptedOutput, ToolOutput

from .arguments import read_arguments
from .context import ToolContext
from .outputs import output_of, output_of_error
from .sizes import OUTPUT_LIMIT, shortened
from .tool import Tool, function_of
from .toolset import Toolset
from .values import values_of
from .worker import Worker


class PendingCall(NamedTuple):
    """A call that a model has made and that has no output yet."""

    id: str
    name: str
    input: Json


Tell: TypeAlias = Callable[[PendingCall, ToolOutput], Awaitable[None]]
"""Who wants to know what came of a call. The next value of a generator is asked for once this is done."""

ABORTED = InterruptedOutput("aborted")


async def _tell_nobody(call: PendingCall, output: ToolOutput) -> None:
    pass


class ToolRunner:
    """Runs calls, some at a time. Functions that block have a thread each: none waits for another."""

    def __init__(self, *, parallel: int = 16, grace: float = 2.0, output_limit: int = OUTPUT_LIMIT) -> None:
        """`grace`: the seconds a cancelled coroutine has to end before it is abandoned."""
        self._parallel = parallel
        self._grace = grace
        self._output_limit = output_limit
        self._tasks: set[asyncio.Task[ToolOutput]] = set()
        self._workers: list[Worker] = []

    @property
    def abandoned(self) -> int:
        """How many functions are still at work though their calls have ended."""
        self._workers = [worker for worker in self._workers if worker.is_alive]
        return len(self._workers) + len(self._tasks)

    async def run_call(
        self, tool: Tool, call: PendingCall, context: ToolContext, *, on_preliminary: Tell = _tell_nobody
    ) -> ToolOutput:
        """The output of a call. Nothing that the function does is raised here.

        To stop a call, set `context.cancelled`: it ends at once, as aborted. If the task that waits is
        cancelled instead, the function is stopped likewise and the cancellation goes on.
        """
        function = function_of(tool)
        arguments = read_arguments(tool, call.input)
        if isinstance(arguments, ErrorTextOutput):
            return shortened(arguments, self._output_limit)
        if context.cancelled.is_set():
            return ABORTED
        own = replace(context, tool_call_id=call.id, over=threading.Event())
        arguments |= dict.fromkeys(tool.signature.contexts, own)
        worker = Worker()
        work = asyncio.create_task(self._work(function, arguments, worker, own, call, on_preliminary))
        try:
            return await self._outcome(work, own, tool.timeout)
        finally:
            await self._leave(work, worker, own)

    async def run_calls(
        self,
        calls: Sequence[PendingCall],
        tools: Toolset,
        context: ToolContext,
        *,
        on_result: Tell = _tell_nobody,
        on_preliminary: Tell = _tell_nobody,
    ) -> tuple[ToolOutput, ...]:
        """The outputs in the order of the calls; each is told to `on_result` as soon as it is there.

        If the task that waits is cancelled, open calls are told as aborted before the cancellation goes on.
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
        tell: Tell,
    ) -> ToolOutput:
        async with aclosing(values_of(function, arguments, worker)) as values:
            while True:
                try:
                    value, final = await anext(values)
                    output = output_of(value)
                except (Exception, SystemExit) as error:  # a tool that exits must not take the process along
                    report_failure(error, call_id=call.id, tool=call.name)
                    return shortened(output_of_error(error), self._output_limit)
                output = shortened(output, self._output_limit)
                if final:
                    return output
                if context.is_cancelled:  # a generator that swallowed its cancellation and goes on
                    raise asyncio.CancelledError
                await tell(call, output)
                await asyncio.sleep(0)  # or a generator that never waits would let nobody stop it

    async def _outcome(
        self, work: asyncio.Task[ToolOutput], context: ToolContext, timeout: float | None
    ) -> ToolOutput:
        """What comes first: the output, the end of its time, or someone who stops it."""
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
        """Stop what is still at work, wait a little for it, and then no longer."""
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
            work.exception()  # looked at, so that asyncio does not complain: the call has its output


async def _gather(
    runs: Sequence[Coroutine[Any, Any, ToolOutput]], calls: Sequence[PendingCall], on_result: Tell
) -> tuple[ToolOutput, ...]:
    """All outputs, told one at a time in the order they come, returned in the order of the calls."""
    tasks = [asyncio.create_task(run) for run in runs]
    ended: asyncio.Queue[asyncio.Task[ToolOutput]] = asyncio.Queue()
    for task in tasks:
        task.add_done_callback(ended.put_nowait)
    untold = dict(zip(tasks, calls, strict=True))
    try:
        while untold:
            task = await ended.get()
            await on_result(untold.pop(task), task.result())
    except asyncio.CancelledError:
        await _stop(tasks)
        for task, call in untold.items():
            await on_result(call, ABORTED if task.cancelled() else task.result())
        raise
    finally:
        await _stop(tasks)
    return tuple(task.result() for task in tasks)


async def _stop(tasks: Sequence[asyncio.Task[ToolOutput]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
