"""An agent asked once, nothing stored: its answer as a stream, or whole. A client that leaves stops it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Final, TypeAlias

from partita.errors import AgentError
from partita.runtime.budgets import Meter
from partita.runtime.closing import closed
from partita.runtime.error_mask import ErrorMask, failed_call, public_error, sees_errors
from partita.runtime.failures import CURRENT, OnError, RunFailures, described, public_text
from partita.runtime.plugged.agent_request import AgentRequest
from partita.runtime.service import AgentService
from partita.runtime.session.framing import EventFraming
from partita.runtime.session.live_run import Seen
from partita.runtime.session.showing import Showing
from partita.runtime.session.sse import ASKED, ENDS, Questions, stored_end
from partita.runtime.tools.outputs import ToolError
from partita.server.hub import CallerView
from partita.store.ids import new_id
from partita.types.chunks import Chunk, ErrorChunk, MessageAbort, MessageMetadata
from partita.types.codec import to_json
from partita.types.events import AgentStreamEvent, CancelledEvent, ChunkEvent, CompleteEvent, ErrorEvent
from partita.types.json import is_object
from partita.types.runs import Run

Chunks: TypeAlias = AsyncGenerator[Chunk, None]

EPOCH: Final = datetime.fromtimestamp(0, UTC)


class AnswerErrors:
    """The errors of an answer that is not stored: logged, and masked for end users."""

    def __init__(self, caller: CallerView, agent: AgentService, request: AgentRequest) -> None:
        """Make it in the task that sends the answer: what the agent logs belongs to the answer."""
        self._id = request.options.message_id or new_id()
        self._request = request
        self._on_error = caller.hub.settings.on_error
        self._mask = None if sees_errors(caller.principal) else ErrorMask(self._id, self._id)
        self._failures = RunFailures(
            run_id=self._id,
            agent=agent.name,
            message_id=lambda: self._id,
            count=caller.hub.session.counts.add,
        )
        CURRENT.set(self._failures)

    async def shown(self, chunk: Chunk) -> list[Chunk]:
        """The chunk as the caller sees it."""
        if isinstance(chunk, ErrorChunk):
            self._failures.report_text(chunk.error_text)
        if self._mask is None:
            return [chunk]
        if self._on_error is not None:
            await self._learn(chunk, self._mask, self._on_error)
        masked = self._mask.chunk(chunk)
        return [] if masked is None else [masked]

    async def failed(self, error: Exception) -> list[Chunk]:
        """The chunk that says that the agent raised an exception."""
        self._failures.report(error)
        return await self.shown(ErrorChunk(described(error)))

    async def _learn(self, chunk: Chunk, mask: ErrorMask, on_error: OnError) -> None:
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


async def chunks_of(
    agent: AgentService, request: AgentRequest, errors: AnswerErrors, meter: Meter | None = None
) -> Chunks:
    """The chunks of an agent's answer, with how it ended. `meter` ends it when a budget is used up."""
    showing = Showing()
    try:
        async with closed(agent.invoke(request.messages, options=request.options)) as events:
            async for event in events:
                for chunk in _chunks_of(event):
                    refused = None if meter is None else meter.see(chunk)
                    if refused is not None:
                        yield MessageAbort(refused)
                        return
                    for shown in await errors.shown(chunk) if _is_shown(event, chunk, showing) else ():
                        yield shown
    except Exception as error:
        for shown in await errors.failed(error):
            yield shown


def _is_shown(event: AgentStreamEvent, chunk: Chunk, showing: Showing) -> bool:
    """Whether a chunk is for the client: internal messages, such as those of a network's router, are not."""
    if not isinstance(event, ChunkEvent) or isinstance(chunk, ErrorChunk):
        return True
    return bool(showing.of([Seen(0, EPOCH, chunk, b"")]))


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


async def chunks_of_run(caller: CallerView, run: Run) -> Chunks:
    """The chunks of a stored run until it ends, or until it waits for an approval; then its usage."""
    session, questions = caller.session, Questions()
    last: Chunk | None = None
    has_usage = False
    idle = min(caller.hub.settings.keep_alive, ASKED)
    async with aclosing(session.follow(run.id, idle=idle)) as steps:
        async for seen in steps:
            if not seen and questions.are_open:
                return
            questions.hear(seen)
            for one in seen:
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


async def stream_of(chunks: Chunks, framing: EventFraming, keep_alive: float) -> AsyncGenerator[bytes, None]:
    """The events of an answer, and a sign of life whenever none comes for a while."""
    async with aclosing(chunks), aclosing(_or_silence(chunks, keep_alive)) as moments:
        async for chunk in moments:
            data = framing.keep_alive() if chunk is None else framing.encode(chunk)
            if data:
                yield data
    yield framing.finish()


async def _or_silence(chunks: AsyncIterator[Chunk], seconds: float) -> AsyncGenerator[Chunk | None, None]:
    """The chunks, and `None` whenever none came for so many seconds."""
    while True:
        waiting = asyncio.ensure_future(anext(chunks, None))
        try:
            while not (await asyncio.wait([waiting], timeout=seconds))[0]:
                yield None
            chunk = await waiting
        finally:
            if not waiting.done():
                waiting.cancel()
                await asyncio.wait([waiting])
        if chunk is None:
            return
        yield chunk
