"""An agent asked once, nothing stored: its answer as a stream, or whole. A client that leaves stops it."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Final, TypeAlias

from partita.errors import PartitaError
from partita.runtime.budgets import Meter
from partita.runtime.closing import closed
from partita.runtime.service import AgentService, Options, Prompt
from partita.runtime.session.framing import EventFraming
from partita.types.chunks import Chunk, ErrorChunk, MessageAbort, MessageMetadata
from partita.types.codec import to_json
from partita.types.events import AgentStreamEvent, CancelledEvent, ChunkEvent, CompleteEvent, ErrorEvent

LOG: Final = logging.getLogger("partita.server")

Chunks: TypeAlias = AsyncGenerator[Chunk, None]


async def chunks_of(
    agent: AgentService, prompt: Prompt, options: Options, meter: Meter | None = None
) -> Chunks:
    """The chunks of an agent's answer, with how it ended. `meter` ends it when a budget is used up."""
    try:
        async with closed(agent.invoke(prompt, options=options)) as events:
            async for event in events:
                for chunk in _told(event):
                    refused = None if meter is None else meter.see(chunk)
                    if refused is not None:
                        yield MessageAbort(refused)
                        return
                    yield chunk
    except PartitaError as error:
        yield ErrorChunk(str(error))
    except Exception as error:  # the client learns that it failed, the log the rest
        LOG.exception("agent %s failed", agent.name, exc_info=error)
        yield ErrorChunk("the agent failed")


def _told(event: AgentStreamEvent) -> list[Chunk]:
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
