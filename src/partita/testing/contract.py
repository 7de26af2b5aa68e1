"""A service to check: what a check is, what it raises, and the events of a response of the service."""

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
    """A service that does not do what every service must: what, where in its response, and how to fix it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A service to be checked, and what the checks need to know of it."""

    make: Make
    """Makes the service. Each check has one of its own; one that has `aclose` is closed afterwards."""
    prompt: Prompt = "Say a few words."
    """Something that it answers well."""
    failing: Make | None = None
    """Makes one that fails at its work: a server that is down, a program that crashes."""
    asking: Prompt | None = None
    """A prompt for which it asks whether a call may run."""
    registered: str | None = None
    """Its name for `get_agent`, if there is an entry point for it."""
    options: InvokeOptions = field(default_factory=InvokeOptions)
    patience: float = 30.0
    """How many seconds anything may take."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that every service must do. Call it with a candidate; `str(check)` is its name."""

    name: str
    about: str
    run: Callable[[Candidate], Awaitable[None]]
    applies: Callable[[Candidate], bool]
    """Whether a candidate can be checked so."""

    async def __call__(self, candidate: Candidate) -> None:
        """Raise a `ContractError` unless the candidate does it."""
        await self.run(candidate)

    def __str__(self) -> str:
        return self.name


@asynccontextmanager
async def made(make: Make) -> AsyncGenerator[AgentService, None]:
    """A service for as long as the block lasts."""
    service = make()
    try:
        yield service
    finally:
        aclose = getattr(service, "aclose", None)
        if aclose is not None:
            await aclose()


MESSAGE_ID: Final = "the-answer"
"""The id that answers are asked to have."""

ENDS: Final = (CompleteEvent, ErrorEvent, CancelledEvent)


@dataclass(slots=True)
class Collected:
    """The events of one response of a service."""

    events: list[AgentStreamEvent] = field(default_factory=list[AgentStreamEvent])
    raised: BaseException | None = None
    """What it raised; a `TimeoutError` if no more events came."""

    @property
    def chunks(self) -> list[Chunk]:
        """Its chunks."""
        return [event.chunk for event in self.events if isinstance(event, ChunkEvent)]

    @property
    def is_complete(self) -> bool:
        """Whether it reported success."""
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
    """One response, whose events are not read yet."""
    options = replace(candidate.options, message_id=message_id)
    return service.invoke(candidate.prompt, options=options)


async def collect(candidate: Candidate) -> Collected:
    """The events of one response of a new service."""
    async with made(candidate.make) as service:
        return await collect_events(begin(service, candidate), candidate.patience)


async def collect_events(
    stream: AsyncIterator[AgentStreamEvent],
    patience: float,
    observe: Callable[[AgentStreamEvent], None] | None = None,
) -> Collected:
    """All events of a stream. Whatever it does, this returns."""
    collected = Collected()

    async def read() -> None:
        async with closed(stream):
            async for event in stream:
                collected.events.append(event)
                if observe is not None:
                    observe(event)
                await asyncio.sleep(0)  # others get their turn, however fast the agent is

    reading = asyncio.create_task(read())
    await asyncio.wait([reading], timeout=patience)
    if not reading.done():
        reading.cancel()
        await asyncio.wait([reading], timeout=patience)
        collected.raised = TimeoutError(f"nothing more came within {patience:g} seconds")
    elif not reading.cancelled():
        collected.raised = reading.exception()
    return collected
