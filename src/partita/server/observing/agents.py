"""Agents that are watched while they work. A run outlives the request that began it; its events tell."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

from partita.runtime.closing import closed
from partita.runtime.service import AgentService, Options, Prompt
from partita.types.events import AgentStreamEvent, CancelledEvent, CompleteEvent, ErrorEvent

STATUS: Final[Mapping[type[object], str]] = {
    CompleteEvent: "completed",
    ErrorEvent: "failed",
    CancelledEvent: "cancelled",
}
STOPPED: Final = "cancelled"
"""How a run ends whose agent was stopped before it said so."""

SILENT: Final = "failed"
"""And one whose agent ended without a word about it."""


class Watch(Protocol):
    """Sees one run of an agent."""

    def see(self, event: AgentStreamEvent) -> None:
        """An event."""
        ...

    def end(self, status: str, error: BaseException | None) -> None:
        """Nothing more comes."""
        ...


Watcher: TypeAlias = Callable[[AgentService, Prompt, Options], Watch | None]
"""Begins to watch a run, or does not care."""


class WatchedAgent:
    """An agent, and those who watch it. All else of it is as it was."""

    def __init__(self, agent: AgentService, watchers: Sequence[Watcher]) -> None:
        self._agent = agent
        self._watchers = watchers

    @property
    def name(self) -> str:
        """What it is called."""
        return self._agent.name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agent, name)

    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: Options | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """The events of one answer, seen by those who watch."""
        began = (watch(self._agent, prompt, options or Options()) for watch in self._watchers)
        watches = [watch for watch in began if watch is not None]
        events = self._agent.invoke(prompt, cwd=cwd, session_id=session_id, options=options)
        return _seen(events, watches) if watches else events


async def _seen(
    events: AsyncIterator[AgentStreamEvent], watches: Sequence[Watch]
) -> AsyncIterator[AgentStreamEvent]:
    status, error = SILENT, None
    try:
        async with closed(events) as open_events:
            async for event in open_events:
                for watch in watches:
                    watch.see(event)
                status = STATUS.get(type(event), status)
                yield event
    except Exception as raised:
        error = raised
        raise
    except BaseException:  # closed, or cancelled
        status = status if status != SILENT else STOPPED
        raise
    finally:
        for watch in watches:
            watch.end(status, error)
