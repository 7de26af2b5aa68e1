"""What the adapters for agents of other packages have in common."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from pydantic_core import to_json as dump_json
from pydantic_core import to_jsonable_python

from partita.errors import DecodeError
from partita.formats.core.tool_text import bad_input_text, parse_input
from partita.runtime.agent.calls import open_calls
from partita.types.chunks import (
    AgentStreamEvent,
    Chunk,
    ChunkEvent,
    MessageFinish,
    RawEvent,
    ToolInputAvailable,
    ToolInputError,
    raw_text,
)
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.usage import Usage

from .agent_request import AgentRequest

# Objects of the packages as JSON. All of these packages require Pydantic.


def as_json(value: Any) -> Json:
    """A value as JSON; what has no such form, as text."""
    return to_jsonable_python(value, fallback=str, bytes_mode="base64", serialize_unknown=True)


def with_line(chunks: Sequence[Chunk], raw: Any) -> list[AgentStreamEvent]:
    """Chunks as events, the first with the package's event as a line of JSON; that line alone if none."""
    line = raw_text(dump_json(raw, fallback=str, bytes_mode="base64", serialize_unknown=True)) + "\n"
    if not chunks:
        return [RawEvent(raw_text=line)]
    first = ChunkEvent(chunk=chunks[0], raw_text=line)
    return [first, *(ChunkEvent(chunk=chunk) for chunk in chunks[1:])]


# The end of an input, and of a response.

FINISH_REASONS: Final = {
    "content_filter": "content-filter",
    "end_turn": "stop",
    "max_tokens": "length",
    "tool_call": "tool-calls",
    "tool_calls": "tool-calls",
    "tool_use": "tool-calls",
}
"""Finish reasons by the names that the packages or their providers use; the others are the same."""


def input_chunk(
    call_id: str,
    name: str,
    text: str,
    provider_executed: bool | None = None,
    provider_metadata: JsonObject | None = None,
) -> Chunk:
    """The chunk that completes the input of a call. If the text is not JSON, the model sees the error."""
    try:
        value = parse_input(text)
    except DecodeError as error:
        why = bad_input_text(error)
        return ToolInputError(call_id, name, why, text, provider_executed, provider_metadata)
    return ToolInputAvailable(call_id, name, value, provider_executed, provider_metadata)


def response_finish(reason: Json, has_calls: bool, usage: Usage | None, **facts: str | None) -> MessageFinish:
    """The finish of a response: its reason, its usage, and facts such as the model."""
    known = FINISH_REASONS.get(reason, reason) if isinstance(reason, str) and reason else None
    finish_reason = known or ("tool-calls" if has_calls else "stop")
    metadata: JsonObject = {"finishReason": finish_reason}
    metadata |= {name: value for name, value in facts.items() if value is not None}
    if usage is not None:
        metadata["usage"] = to_json(usage)
    return MessageFinish(finish_reason, metadata)


# The calls that a message ends with, when it is continued.


class PendingCalls(NamedTuple):
    """The calls of the last step of a message that have no output."""

    decided: tuple[ToolCallPart, ...] = ()
    """Those that were approved or denied."""
    waiting: tuple[ToolCallPart, ...] = ()
    """Those that still wait for a decision or an output."""


def pending_calls(message: AssistantMessage | None) -> PendingCalls:
    """The calls without an output that a message ends with."""
    calls = [] if message is None else open_calls(message)
    complete = [call for call in calls if call.state != "input-streaming"]
    decided = tuple(call for call in complete if call.state == "approval-responded")
    return PendingCalls(decided, tuple(call for call in complete if call.state != "approval-responded"))


def is_approved(call: ToolCallPart) -> bool:
    """Whether a call was approved."""
    return call.approval is not None and call.approval.approved is True


def decision_reason(call: ToolCallPart) -> str | None:
    """The reason for the decision on a call, if one was given."""
    return None if call.approval is None else call.approval.reason


def calls_in(message: AssistantMessage | None) -> list[ToolCallPart]:
    """The calls of a message."""
    parts = () if message is None else message.parts
    return [part for part in parts if isinstance(part, ToolCallPart)]


# What earlier runs of an agent returned, found by the messages of the branch that the agent continues.
#
# A result is stored with its run, where a client cannot change it. Messages name the run that wrote them, so
# what is found always belongs to the branch: after an edit or a regeneration it is that of the messages
# before.

MAX_RUNS: Final = 20
"""How many responses of a branch are examined."""


class EarlierRun(NamedTuple):
    """A response of the branch, and what the run that wrote it returned."""

    index: int
    """The index of the response among the messages of the request."""
    message: AssistantMessage
    result: JsonObject


async def earlier_runs(request: AgentRequest, agent: str) -> AsyncGenerator[EarlierRun]:
    """The responses of the branch that an agent of this name completed, the newest first."""
    if request.store is None:
        return
    # An administrator's store includes all owners, and ids are unique within one owner only.
    store = request.store if request.owner is None else request.store.scoped(request.owner)
    responses = [one for one in enumerate(request.messages) if isinstance(one[1], AssistantMessage)]
    for index, message in responses[: -MAX_RUNS - 1 : -1]:
        run = None if message.run_id is None else await store.runs.get(message.run_id)
        if run is None or run.thread_id != request.thread_id or run.agent != agent:
            continue
        if isinstance(message, AssistantMessage) and is_object(run.agent_result):
            yield EarlierRun(index, message, run.agent_result)


T = TypeVar("T")


async def read_ahead(stream: AsyncIterator[T]) -> AsyncGenerator[T]:
    """The items of a stream, read as soon as they arrive: packages drop unread items when a run fails."""
    queue: asyncio.Queue[tuple[T] | None] = asyncio.Queue()

    async def read_all() -> None:
        try:
            async for item in stream:
                queue.put_nowait((item,))
        finally:
            queue.put_nowait(None)

    reading = asyncio.create_task(read_all())
    try:
        while (found := await queue.get()) is not None:
            yield found[0]
        await reading
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
