"""A live model whose answers are kept: what it is asked, and what it says."""

from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from partita.runtime.closing import closed
from partita.runtime.recordings.making import exchanges_in
from partita.runtime.recordings.recording import Exchange
from partita.runtime.replay.lineage import Recorded
from partita.runtime.service import AgentService, Options, Prompt
from partita.store.log.run_log import LogRecord
from partita.types.codec import to_json
from partita.types.events import (
    AgentStreamEvent,
    CancelledEvent,
    ChunkEvent,
    ErrorEvent,
    RawEvent,
    raw_bytes,
)
from partita.types.messages import Message, UserMessage, text_of
from partita.types.runs import Run


class KeptModel:
    """Passes everything through to a model and keeps it."""

    def __init__(self, live: AgentService) -> None:
        self.name = live.name
        model: object = getattr(live, "model", None)
        self.model = model if isinstance(model, str) else live.name
        self._live = live
        self.exchanges: list[Exchange] = []
        """What was asked and answered."""
        self.problems: list[str] = []
        """Nothing goes wrong that the events do not tell."""

    def settle(self) -> None:
        """Nothing is under way that nobody reads."""

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: Options | None = None,
    ) -> AsyncGenerator[AgentStreamEvent, None]:
        """The events of the model."""
        kept: list[AgentStreamEvent] = []
        try:
            async with closed(
                self._live.invoke(prompt, cwd=cwd, session_id=session_id, options=options)
            ) as events:
                async for event in events:
                    kept.append(event)
                    yield event
        finally:
            self.exchanges += _exchanges(kept, _words(prompt))


def _exchanges(events: Sequence[AgentStreamEvent], words: str | None) -> list[Exchange]:
    now = datetime.now(UTC)
    records = [
        LogRecord(number, now, event.chunk if isinstance(event, ChunkEvent) else None, raw_bytes(event))
        for number, event in enumerate(events, 1)
        if isinstance(event, ChunkEvent | RawEvent)
    ]
    found = exchanges_in(Recorded(Run(id="live", thread_id="live", status="completed"), records), words)
    last = events[-1] if events else None
    if isinstance(last, ErrorEvent | CancelledEvent):
        end = to_json(last)
        found = (
            [*found[:-1], replace(found[-1], end=end)]
            if found
            else [Exchange(asked=words, chunks=[], end=end)]
        )
    return found


def _words(prompt: Prompt | Sequence[Message]) -> str | None:
    if isinstance(prompt, str):
        return prompt
    return next((text_of(one) for one in reversed(prompt) if isinstance(one, UserMessage)), None)
