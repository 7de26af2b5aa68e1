"""A service that is to be checked, what a check is, and what it raises."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from partita.errors import PartitaError
from partita.runtime.service import AgentService, Options, Prompt

Make: TypeAlias = Callable[[], AgentService]


class ContractError(PartitaError, AssertionError):
    """A service that does not do what every service must: what, where in its answer, and how to mend it."""


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
    options: Options = field(default_factory=Options)
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
