"""The calls of a step: which may run now, which wait for someone, and what came of those that ran."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from typing import Final, NamedTuple

from msgspec import UNSET

from partita.runtime.tools.approval import needs_approval
from partita.runtime.tools.chunks import chunk_of_output
from partita.runtime.tools.context import ToolContext
from partita.runtime.tools.running import PendingCall, ToolRunner
from partita.runtime.tools.toolset import Toolset
from partita.types.chunks import Chunk, ToolApprovalRequest, ToolInputError, ToolOutputDenied
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import StepStartPart
from partita.types.tools import ToolOutput

OPEN: Final = frozenset({"input-streaming", "input-available", "approval-requested", "approval-responded"})
"""A call in one of these has not ended."""

CUT: Final = "The input of this call was cut off."


class Sorted(NamedTuple):
    """Calls by what is to be done with them."""

    cut: list[ToolCallPart]
    """Their input never became whole."""
    run: list[ToolCallPart]
    refuse: list[ToolCallPart]
    ask: list[ToolCallPart]
    wait: list[ToolCallPart]
    """The client runs these, or someone still has to answer."""


def open_calls(message: AssistantMessage) -> list[ToolCallPart]:
    """The calls of the last step that are for us or for the client, and have not ended yet."""
    calls: list[ToolCallPart] = []
    for part in message.parts:
        if isinstance(part, StepStartPart):
            calls = []
        elif isinstance(part, ToolCallPart) and not part.provider_executed and part.state in OPEN:
            calls.append(part)
    return calls


async def sort_calls(
    calls: Sequence[ToolCallPart], tools: Toolset, elsewhere: Collection[str] = ()
) -> Sorted:
    """What to do with each call. An approval that was given is not asked for again.

    Tools `elsewhere` are those that the client brought along for this turn, and runs itself.
    """
    found = Sorted([], [], [], [], [])
    for call in calls:
        tool = tools.get(call.name)  # one that nobody knows is run: the model is told so
        match call.state:
            case "approval-requested":
                found.wait.append(call)
            case "approval-responded" if call.approval is not None and call.approval.approved:
                found.run.append(call)
            case "approval-responded":
                found.refuse.append(call)
            case "input-available" if tool is None and call.name in elsewhere:
                found.wait.append(call)
            case "input-available" if tool is not None and tool.function is None:
                found.wait.append(call)
            case "input-available" if tool is not None and await needs_approval(tool, call.input):
                found.ask.append(call)
            case "input-available":
                found.run.append(call)
            case _:
                found.cut.append(call)
    return found


def ask_for(calls: Sequence[ToolCallPart], new_id: Callable[[], str]) -> list[Chunk]:
    """The questions whether calls may run."""
    return [ToolApprovalRequest(new_id(), call.id) for call in calls]


def refuse(calls: Sequence[ToolCallPart]) -> list[Chunk]:
    """What comes of calls that someone did not allow."""
    return [ToolOutputDenied(call.id) for call in calls]


def tell_cut(calls: Sequence[ToolCallPart]) -> list[Chunk]:
    """What comes of calls that the model did not write to their end: it is told, and may write them again."""
    return [
        ToolInputError(call.id, call.name, CUT, call.input, dynamic=call.dynamic or None) for call in calls
    ]


async def run_calls(
    calls: Sequence[ToolCallPart], tools: Toolset, runner: ToolRunner, context: ToolContext
) -> AsyncGenerator[Chunk, None]:
    """What comes of calls, as it comes: preliminary outputs and outputs. All run at once."""
    said: asyncio.Queue[Chunk | None] = asyncio.Queue(maxsize=16)
    left = asyncio.Event()  # once nobody listens, nobody waits until he is heard

    async def tell(chunk: Chunk | None) -> None:
        if not left.is_set():
            await said.put(chunk)

    async def preliminary(call: PendingCall, output: ToolOutput) -> None:
        await tell(chunk_of_output(call.id, output, preliminary=True))

    async def result(call: PendingCall, output: ToolOutput) -> None:
        await tell(chunk_of_output(call.id, output))

    async def run() -> None:
        try:
            await runner.run_calls(pending, tools, context, on_result=result, on_preliminary=preliminary)
        finally:
            await tell(None)

    pending = [PendingCall(call.id, call.name, None if call.input is UNSET else call.input) for call in calls]
    work = asyncio.create_task(run())
    try:
        while (chunk := await said.get()) is not None:
            yield chunk
        await work
    finally:
        left.set()
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
