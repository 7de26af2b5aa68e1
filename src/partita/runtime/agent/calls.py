"""The calls of a step: which are run, which wait for a client, and the chunks with their outputs."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Sequence
from typing import Final, NamedTuple

from msgspec import UNSET

from partita.runtime.tools.context import ToolContext
from partita.runtime.tools.outputs import chunk_of_output
from partita.runtime.tools.runner import PendingCall, ToolRunner
from partita.runtime.tools.tool import Toolset, needs_approval
from partita.store.ids import new_id
from partita.types.chunks import Chunk, ToolApprovalRequest, ToolInputError, ToolOutputDenied
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import StepStartPart, ToolOutput

OPEN_STATES: Final = frozenset(
    {"input-streaming", "input-available", "approval-requested", "approval-responded"}
)
"""States of calls that have no output."""

WAITING: Final = "tool-calls"
"""The finish reason of a message whose calls wait for a client."""

INPUT_CUT: Final = "The input of this call was cut off."


def open_calls(message: AssistantMessage) -> list[ToolCallPart]:
    """The calls of the last step that have no output, except for those that the provider runs."""
    calls: list[ToolCallPart] = []
    for part in message.parts:
        if isinstance(part, StepStartPart):
            calls = []
        elif isinstance(part, ToolCallPart) and not part.provider_executed and part.state in OPEN_STATES:
            calls.append(part)
    return calls


class SortedCalls(NamedTuple):
    """Calls by what is to be done with them."""

    cut: list[ToolCallPart]
    """Their input is not complete."""
    approved: list[ToolCallPart]
    """They are run."""
    denied: list[ToolCallPart]
    unapproved: list[ToolCallPart]
    """They need an approval that has not been requested yet."""
    waiting: list[ToolCallPart]
    """They wait for a decision, or for the client to run them."""


async def sort_calls(
    calls: Sequence[ToolCallPart], tools: Toolset, client_tools: Collection[str] = ()
) -> SortedCalls:
    """What to do with each call. `client_tools` are tools of the request, which the client runs."""
    found = SortedCalls([], [], [], [], [])
    for call in calls:
        tool = tools.get(call.name)  # a call of an unknown tool is run: its output reports the mistake
        match call.state:
            case "approval-requested":
                found.waiting.append(call)
            case "approval-responded" if call.approval is not None and call.approval.approved:
                found.approved.append(call)
            case "approval-responded":
                found.denied.append(call)
            case "input-available" if tool is None and call.name in client_tools:
                found.waiting.append(call)
            case "input-available" if tool is not None and tool.function is None:
                found.waiting.append(call)
            case "input-available" if tool is not None and await needs_approval(tool, call.input):
                found.unapproved.append(call)
            case "input-available":
                found.approved.append(call)
            case _:
                found.cut.append(call)
    return found


def approval_requests(calls: Sequence[ToolCallPart]) -> list[Chunk]:
    """The chunks that request approval of calls."""
    return [ToolApprovalRequest(new_id(), call.id) for call in calls]


def denied_outputs(calls: Sequence[ToolCallPart]) -> list[Chunk]:
    """The outputs of calls that were denied."""
    return [ToolOutputDenied(call.id) for call in calls]


def cut_inputs(calls: Sequence[ToolCallPart]) -> list[Chunk]:
    """The errors of calls whose input is not complete, so that the model can make the calls a second time."""
    return [
        ToolInputError(call.id, call.name, INPUT_CUT, call.input, dynamic=call.dynamic or None)
        for call in calls
    ]


async def run_calls(
    calls: Sequence[ToolCallPart], tools: Toolset, runner: ToolRunner, context: ToolContext
) -> AsyncGenerator[Chunk, None]:
    """Run calls in parallel and yield their preliminary outputs and outputs as they arrive."""
    chunks: asyncio.Queue[Chunk | None] = asyncio.Queue(maxsize=16)
    is_closed = asyncio.Event()  # from then on, no producer waits for room in the queue

    async def put(chunk: Chunk | None) -> None:
        if not is_closed.is_set():
            await chunks.put(chunk)

    async def preliminary(call: PendingCall, output: ToolOutput) -> None:
        await put(chunk_of_output(call.id, output, preliminary=True))

    async def result(call: PendingCall, output: ToolOutput) -> None:
        await put(chunk_of_output(call.id, output))

    async def run() -> None:
        try:
            await runner.run_calls(pending, tools, context, on_result=result, on_preliminary=preliminary)
        finally:
            await put(None)

    pending = [PendingCall(call.id, call.name, None if call.input is UNSET else call.input) for call in calls]
    task = asyncio.create_task(run())
    try:
        while (chunk := await chunks.get()) is not None:
            yield chunk
        await task
    finally:
        is_closed.set()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
