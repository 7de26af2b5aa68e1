"""Chunks for clients that read one response at a time: of a stored run, or of an agent called directly.

Nothing is stored of a direct call, and it stops when its client disconnects.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Final, TypeAlias

from partita.errors import AgentError
from partita.runtime.adapters.agent_request import AgentRequest
from partita.runtime.budgets import RunMeter
from partita.runtime.error_mask import ErrorMask, failed_call, public_error, sees_errors
from partita.runtime.failures import CURRENT, OnError, RunFailures, error_description, public_text
from partita.runtime.service import AgentService, closed
from partita.runtime.session.live_run import StoredChunk
from partita.runtime.session.run_stream import ChunkFilter
from partita.runtime.session.sse import (
    APPROVAL_DELAY,
    ENDS,
    EventFraming,
    OpenApprovals,
    stored_end,
    with_silence,
)
from partita.runtime.tools.outputs import ToolError
from partita.server.callers import CallerView
from partita.store.ids import new_id
from partita.types.chunks import (
    AgentStreamEvent,
    CancelledEvent,
    Chunk,
    ChunkEvent,
    CompleteEvent,
    ErrorChunk,
    ErrorEvent,
    MessageAbort,
    MessageMetadata,
)
from partita.types.codec import to_json
from partita.types.json import is_object

from .turn import StartedTurn

Chunks: TypeAlias = AsyncGenerator[Chunk, None]

EPOCH: Final = datetime.fromtimestamp(0, UTC)


# A stored run


async def chunks_of_run(caller: CallerView, started: StartedTurn) -> Chunks:
    """The chunks of a run until it ends or requests an approval; then its usage."""
    run, session, approvals = started.run, caller.session, OpenApprovals()
    last: Chunk | None = None
    has_usage = False
    idle = min(caller.state.settings.keep_alive, APPROVAL_DELAY)
    async with aclosing(session.follow(run.id, after=started.after, idle=idle)) as batches:
        async for batch in batches:
            if not batch and approvals:
                return
            approvals.update(batch)
            for one in batch:
                last = one.chunk
                has_usage = has_usage or _has_usage(last)
                if not isinstance(last, ErrorChunk):
                    yield last
    ended = await session.wait(run.id)  # when a client reads the last chunk, the run has ended
    if ended.usage is not None and not has_usage:
        yield MessageMetadata({"usage": to_json(ended.usage)})
    if isinstance(last, ErrorChunk):
        yield last
    elif not isinstance(last, ENDS):
        for chunk in await stored_end(session, run.id):
            yield chunk


def _has_usage(chunk: Chunk) -> bool:
    metadata = getattr(chunk, "message_metadata", None)
    return is_object(metadata) and metadata.get("usage") is not None


# A direct call


class DirectCallErrors:
    """The errors of a response that is not stored: logged, and masked for end users."""

    def __init__(self, caller: CallerView, agent: AgentService, request: AgentRequest) -> None:
        """Make it in the task that sends the response: what the agent logs belongs to the response."""
        self._id = request.options.message_id or new_id()
        self._request = request
        self._on_error = caller.state.settings.on_error
        self._mask = None if sees_errors(caller.principal) else ErrorMask(self._id, self._id)
        self._failures = RunFailures(
            run_id=self._id,
            agent=agent.name,
            message_id=lambda: self._id,
            count=caller.state.session.counts.add,
        )
        CURRENT.set(self._failures)

    async def visible(self, chunk: Chunk) -> list[Chunk]:
        """The chunk as the caller may see it."""
        if isinstance(chunk, ErrorChunk):
            self._failures.report_text(chunk.error_text)
        if self._mask is None:
            return [chunk]
        if self._on_error is not None:
            await self._set_public_text(chunk, self._mask, self._on_error)
        masked = self._mask.chunk(chunk)
        return [] if masked is None else [masked]

    async def failed(self, error: Exception) -> list[Chunk]:
        """The chunk that reports that the agent raised an exception."""
        self._failures.report(error)
        return await self.visible(ErrorChunk(error_description(error)))

    async def _set_public_text(self, chunk: Chunk, mask: ErrorMask, on_error: OnError) -> None:
        """Let `on_error` choose the text for an error."""
        known = self._failures.exceptions
        if isinstance(chunk, ErrorChunk):
            key, error = self._id, known.get(self._id) or AgentError(chunk.error_text)
        elif (failed := failed_call(chunk)) is not None:
            key, error = failed[0], known.get(failed[0]) or ToolError(failed[1])
        else:
            return
        text = await public_text(on_error, self._request, error)
        if text is not None:
            mask.chunk(public_error(key, text))


async def chunks_of_call(
    agent: AgentService, request: AgentRequest, errors: DirectCallErrors, meter: RunMeter | None = None
) -> Chunks:
    """The chunks of an agent's response, its end included. `meter` ends it when a budget is used up."""
    filter_ = ChunkFilter()
    try:
        async with closed(agent.invoke(request.messages, options=request.options)) as events:
            async for event in events:
                for chunk in _chunks_of(event):
                    refused = None if meter is None else meter.count_chunk(chunk)
                    if refused is not None:
                        yield MessageAbort(refused)
                        return
                    for one in await errors.visible(chunk) if _is_visible(event, chunk, filter_) else ():
                        yield one
    except Exception as error:
        for one in await errors.failed(error):
            yield one


def _is_visible(event: AgentStreamEvent, chunk: Chunk, filter_: ChunkFilter) -> bool:
    """Whether a chunk is for the client: internal messages, such as those of a network's router, are not."""
    if not isinstance(event, ChunkEvent) or isinstance(chunk, ErrorChunk):
        return True
    return bool(filter_.apply([StoredChunk(0, EPOCH, chunk, b"")]))


def _chunks_of(event: AgentStreamEvent) -> list[Chunk]:
    match event:
        case ChunkEvent(chunk=chunk):
            return [chunk]
        case ErrorEvent(message=message):
            return [ErrorChunk(message)]
        case CancelledEvent(reason=reason):
            return [MessageAbort(reason)]
        case CompleteEvent(usage=usage) if usage is not None:
            return [MessageMetadata({"usage": to_json(usage)})]
        case _:
            return []


# Chunks as server-sent events


async def encode_chunks(
    chunks: Chunks, framing: EventFraming, keep_alive: float
) -> AsyncGenerator[bytes, None]:
    """The events of chunks, and a keep-alive comment after each silence of so many seconds."""
    async with aclosing(chunks), aclosing(with_silence(chunks, keep_alive)) as items:
        async for chunk in items:
            data = framing.keep_alive() if chunk is None else framing.encode(chunk)
            if data:
                yield data
    yield framing.finish()
