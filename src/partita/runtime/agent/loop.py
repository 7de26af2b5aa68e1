"""One answer of an agent: the model speaks, tools run, the model sees what came of them, and so on."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, assert_never

from msgspec import UNSET

from partita.errors import StreamError
from partita.runtime.closing import closed
from partita.runtime.folding import RunFold, read_usage
from partita.runtime.service import AgentService, Options
from partita.runtime.session.turn import STOPPED_BY, seed_of
from partita.runtime.tools.context import ToolContext
from partita.runtime.tools.running import ToolRunner
from partita.runtime.tools.toolset import Toolset
from partita.store.facade.store import Store
from partita.store.ids import new_id
from partita.types.chunks import Chunk, MessageMetadata, MessageStart
from partita.types.codec import to_json
from partita.types.events import (
    AgentStreamEvent,
    CancelledEvent,
    ChunkEvent,
    CompleteEvent,
    ErrorEvent,
    RawEvent,
)
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, AssistantPart, Message, ToolCallPart

from .calls import ask_for, open_calls, refuse, run_calls, sort_calls, tell_cut
from .stitching import Stitching

WAITING: Final = "tool-calls"
"""The finish reason of a message whose calls wait for someone."""

LIMIT: Final = "step-limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What an agent is made of."""

    name: str
    model: AgentService
    tools: Toolset
    runner: ToolRunner
    max_steps: int
    store: Store | None


class Loop:
    """One answer, from the history to its end."""

    def __init__(self, setup: Setup, history: Sequence[Message], options: Options, cwd: Path | None) -> None:
        self._setup = setup
        self._options = options
        self._cwd = cwd
        message_id = options.message_id or new_id()
        seed = seed_of(history, message_id)
        self._history = list(history[:-1] if seed is not None else history)
        self._fold = RunFold(message_id, seed=seed)
        self._continued = seed
        self._stitching = Stitching()
        self._failed: ErrorEvent | CancelledEvent | None = None

    async def events(self) -> AsyncIterator[AgentStreamEvent]:
        """All that happens, in order."""
        yield self._own(MessageStart(self._options.message_id))
        waits = done = False
        if self._continued is not None:
            async for event in self._act():
                yield event
            waits = bool(open_calls(self._message))
        steps = 0
        while not (waits or done or self._is_over() or steps == self._setup.max_steps):
            steps += 1
            known = len(self._message.parts)
            async for event in self._speak():
                yield event
            self._report_usage()
            done = not _calls_something(self._message.parts[known:])
            if not done and self._failed is None:
                async for event in self._act():
                    yield event
                waits = bool(open_calls(self._message))
        for event in self._end(waits, limited=not done and not waits):
            yield event

    def _is_over(self) -> bool:
        """Whether the model failed, was cancelled, or may not be called again."""
        meter = self._options.meter
        if self._failed is None and meter is not None and (reason := meter.refusal()) is not None:
            self._failed = CancelledEvent(reason=reason)
        return self._failed is not None

    def _report_usage(self) -> None:
        """Report what the last response of the model used."""
        meter, steps = self._options.meter, self._stitching.steps
        usage = read_usage(steps[-1].get("usage")) if meter is not None and steps else None
        if meter is not None and usage is not None:
            model = steps[-1].get("model")
            meter.use(usage, model if isinstance(model, str) else self._options.model)

    def _end(self, waits: bool, limited: bool) -> list[AgentStreamEvent]:
        usage = self._stitching.usage
        if self._failed is not None:  # what was consumed until then was consumed
            told = [] if usage is None else [self._own(MessageMetadata({"usage": to_json(usage)}))]
            return [*told, self._failed]
        more: JsonObject = {STOPPED_BY: LIMIT} if limited else {}
        finish = self._stitching.finish(WAITING if waits else None, more)
        result: JsonObject = {"finishReason": finish.finish_reason, **more}
        complete = CompleteEvent(agent_type=self._setup.name, agent_result=result, usage=usage)
        return [self._own(finish), complete]

    async def _speak(self) -> AsyncIterator[AgentStreamEvent]:
        """One answer of the model."""
        said = [*self._history, self._message] if self._message.parts else self._history
        options = replace(self._options, tools=(*self._options.tools, *self._setup.tools.specs()))
        async with closed(self._setup.model.invoke(said, cwd=self._cwd, options=options)) as events:
            async for event in events:
                match event:
                    case ErrorEvent() | CancelledEvent():
                        self._failed = event
                    case CompleteEvent():
                        if event.raw_text is not None or event.raw_agent_message is not UNSET:
                            yield RawEvent(raw_agent_message=event.raw_agent_message, raw_text=event.raw_text)
                    case ChunkEvent() | RawEvent():
                        stitched = self._stitching.answer(event)
                        if isinstance(stitched, ChunkEvent):
                            self._take(stitched.chunk)
                        if stitched is not None:
                            yield stitched
                    case _:
                        assert_never(event)

    async def _act(self) -> AsyncIterator[AgentStreamEvent]:
        """Run the calls that may run, and ask for those that need to be allowed."""
        setup, options = self._setup, self._options
        elsewhere = {tool.name for tool in options.tools}
        calls = await sort_calls(open_calls(self._message), setup.tools, elsewhere)
        for chunk in (*tell_cut(calls.cut), *ask_for(calls.ask, new_id), *refuse(calls.refuse)):
            yield self._own(chunk)
        context = ToolContext.of(options, store=setup.store, continued=self._continued)
        async with aclosing(run_calls(calls.run, setup.tools, setup.runner, context)) as outputs:
            async for chunk in outputs:
                yield self._own(chunk)

    @property
    def _message(self) -> AssistantMessage:
        return self._fold.current

    def _own(self, chunk: Chunk) -> ChunkEvent:
        self._take(chunk)
        return ChunkEvent(chunk=chunk)

    def _take(self, chunk: Chunk) -> None:
        with suppress(StreamError):  # whoever stores the answer tells what does not fit; the talk goes on
            self._fold.feed(chunk)


def _calls_something(parts: Sequence[AssistantPart]) -> bool:
    """Whether a model has called something that is not run by its provider."""
    return any(isinstance(part, ToolCallPart) and not part.provider_executed for part in parts)
