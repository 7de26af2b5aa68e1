"""Hearing a service out: all its events, and whatever it raised instead of telling."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from typing import Final

from partita.errors import StreamError
from partita.runtime.closing import closed
from partita.runtime.folding import RunFold
from partita.runtime.service import AgentService
from partita.types.chunks import Chunk
from partita.types.events import AgentStreamEvent, CancelledEvent, ChunkEvent, CompleteEvent, ErrorEvent

from .candidate import Candidate, made

MESSAGE_ID: Final = "the-answer"
"""The id that answers are asked to have."""

ENDS: Final = (CompleteEvent, ErrorEvent, CancelledEvent)


@dataclass(slots=True)
class Heard:
    """All that a service said in one answer."""

    events: list[AgentStreamEvent] = field(default_factory=list[AgentStreamEvent])
    raised: BaseException | None = None
    """What it raised; a `TimeoutError` if it fell silent."""

    @property
    def chunks(self) -> list[Chunk]:
        """Its chunks."""
        return [event.chunk for event in self.events if isinstance(event, ChunkEvent)]

    @property
    def is_complete(self) -> bool:
        """Whether it said that all went well."""
        return any(isinstance(event, CompleteEvent) for event in self.events)

    def fold(self) -> RunFold | StreamError:
        """Its messages, or why there are none."""
        fold = RunFold(MESSAGE_ID)
        try:
            for chunk in self.chunks:
                fold.feed(chunk)
        except StreamError as error:
            return error
        return fold


def begin(
    service: AgentService, candidate: Candidate, message_id: str = MESSAGE_ID
) -> AsyncIterator[AgentStreamEvent]:
    """One answer, not heard yet."""
    options = replace(candidate.options, message_id=message_id)
    return service.invoke(candidate.prompt, options=options)


async def hear(candidate: Candidate) -> Heard:
    """One answer of a new service."""
    async with made(candidate.make) as service:
        return await hear_out(begin(service, candidate), candidate.patience)


async def hear_out(
    stream: AsyncIterator[AgentStreamEvent],
    patience: float,
    tell: Callable[[AgentStreamEvent], None] | None = None,
) -> Heard:
    """All events of a stream. Whatever it does, this returns."""
    heard = Heard()

    async def read() -> None:
        async with closed(stream):
            async for event in stream:
                heard.events.append(event)
                if tell is not None:
                    tell(event)
                await asyncio.sleep(0)  # others get their turn, however fast the agent is

    reading = asyncio.create_task(read())
    await asyncio.wait([reading], timeout=patience)
    if not reading.done():
        reading.cancel()
        await asyncio.wait([reading], timeout=patience)
        heard.raised = TimeoutError(f"nothing more came within {patience:g} seconds")
    elif not reading.cancelled():
        heard.raised = reading.exception()
    return heard
