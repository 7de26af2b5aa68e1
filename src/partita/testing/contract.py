"""The candidate of a check, the check itself, its error, and the events of a response."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from partita.errors import PartitaError, StreamError
from partita.runtime.run_fold import RunFold
from partita.runtime.service import AgentService, InvokeOptions, Prompt, closed
from partita.types.chunks import (
    AgentStreamEvent,
    CancelledEvent,
    Chunk,
    ChunkEvent,
    CompleteEvent,
    ErrorEvent,
)

Make: TypeAlias = Callable[[], AgentService]


class ContractError(PartitaError, AssertionError):
    """A service violates the contract: what is wrong, where in its response, and how to fix it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A service to check, and what the checks need to know about it."""

    make: Make
    """Creates the service. Each check uses a new one, and closes it afterwards if it has `aclose`."""
    prompt: Prompt = "Say a few words."
    """A prompt for which it succeeds."""
    failing: Make | None = None
    """Creates a service that fails at run time: its server is down, its program crashes."""
    approval_prompt: Prompt | None = None
    """A prompt for which it requests approval of a tool call."""
    registered: str | None = None
    """Its name for `get_agent`, if it has an entry point."""
    options: InvokeOptions = field(default_factory=InvokeOptions)
    timeout: float = 30.0
    """How many seconds each operation may take."""


@dataclass(frozen=True, slots=True)
class Check:
    """One requirement of every service. Call it with a candidate; `str(check)` is its name."""

    name: str
    about: str
    run: Callable[[Candidate], Awaitable[None]]
    applies: Callable[[Candidate], bool]
    """Whether the check applies to a candidate."""

    async def __call__(self, candidate: Candidate) -> None:
        """Raise a `ContractError` unless the candidate passes."""
        await self.run(candidate)

    def __str__(self) -> str:
        return self.name


@asynccontextmanager
async def created(make: Make) -> AsyncGenerator[AgentService, None]:
    """A new service, closed at the end of the block."""
    service = make()
    try:
        yield service
    finally:
        aclose = getattr(service, "aclose", None)
        if aclose is not None:
            await aclose()


MESSAGE_ID: Final = "the-answer"
"""The message id that responses are requested with."""

ENDS: Final = (CompleteEvent, ErrorEvent, CancelledEvent)


@dataclass(slots=True)
class Collected:
    """The events of one response of a service."""

    events: list[AgentStreamEvent] = field(default_factory=list[AgentStreamEvent])
    raised: BaseException | None = None
    """The exception it raised; a `TimeoutError` if no more events came."""

    @property
    def chunks(self) -> list[Chunk]:
        """The chunks in the events."""
        return [event.chunk for event in self.events if isinstance(event, ChunkEvent)]

    @property
    def is_complete(self) -> bool:
        """Whether it reported success."""
        return any(isinstance(event, CompleteEvent) for event in self.events)

    def fold(self) -> RunFold | StreamError:
        """The messages of the chunks, or the error if a chunk does not fit."""
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
    """Start a response. Its events are not read yet."""
    options = replace(candidate.options, message_id=message_id)
    return service.invoke(candidate.prompt, options=options)


async def collect(candidate: Candidate) -> Collected:
    """The events of one response of a new service."""
    async with created(candidate.make) as service:
        return await collect_events(begin(service, candidate), candidate.timeout)


async def collect_events(
    stream: AsyncIterator[AgentStreamEvent],
    timeout: float,
    observe: Callable[[AgentStreamEvent], None] | None = None,
) -> Collected:
    """All events of a stream. Returns even if the stream raises or never ends."""
    collected = Collected()

    async def read() -> None:
        async with closed(stream):
            async for event in stream:
                collected.events.append(event)
                if observe is not None:
                    observe(event)
                await asyncio.sleep(0)  # let other tasks run

    reading = asyncio.create_task(read())
    await asyncio.wait([reading], timeout=timeout)
    if not reading.done():
        reading.cancel()
        await asyncio.wait([reading], timeout=timeout)
        collected.raised = TimeoutError(f"no event came within {timeout:g} seconds")
    elif not reading.cancelled():
        collected.raised = reading.exception()
    return collected
