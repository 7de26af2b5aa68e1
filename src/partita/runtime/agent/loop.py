"""The agent loop: call the model and run the tools that it calls, until it calls none."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, assert_never

from msgspec import UNSET

from partita.errors import StreamError
from partita.runtime.model_calls import ResponseMerger
from partita.runtime.run_fold import RunFold, read_usage
from partita.runtime.service import AgentService, InvokeOptions, closed
from partita.runtime.session.turn import STOPPED_BY, seed_of
from partita.runtime.tools.context import ToolContext
from partita.runtime.tools.runner import ToolRunner
from partita.runtime.tools.tool import Toolset
from partita.store.ids import new_id
from partita.store.store import Store
from partita.types.chunks import (
    AgentStreamEvent,
    CancelledEvent,
    Chunk,
    ChunkEvent,
    CompleteEvent,
    ErrorEvent,
    MessageMetadata,
    MessageStart,
    RawEvent,
)
from partita.types.codec import to_json
from partita.types.json import JsonObject
from partita.types.messages import AssistantPart, Message, ToolCallPart

from .calls import WAITING, approval_requests, cut_inputs, denied_outputs, open_calls, run_calls, sort_calls

STEP_LIMIT: Final = "step-limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What an agent consists of."""

    name: str
    model: AgentService
    tools: Toolset
    runner: ToolRunner
    max_steps: int
    store: Store | None


class Loop:
    """One response of an agent."""

    def __init__(
        self, setup: Setup, history: Sequence[Message], options: InvokeOptions, cwd: Path | None
    ) -> None:
        self._setup = setup
        self._options = options
        self._cwd = cwd
        message_id = options.message_id or new_id()
        seed = seed_of(history, message_id)
        self._history = list(history[:-1] if seed is not None else history)
        self._fold = RunFold(message_id, seed=seed)
        self._continued = seed
        self._responses = ResponseMerger()
        self._failed: ErrorEvent | CancelledEvent | None = None

    async def events(self) -> AsyncIterator[AgentStreamEvent]:
        """The events of the response."""
        yield self._emit(MessageStart(self._options.message_id))
        is_waiting = is_done = False
        if self._continued is not None:
            async for event in self._run_tools():
                yield event
            is_waiting = bool(open_calls(self._fold.current))
        steps = 0
        while not (is_waiting or is_done or self._must_stop() or steps == self._setup.max_steps):
            steps += 1
            known = len(self._fold.current.parts)
            async for event in self._call_model():
                yield event
            self._report_usage()
            is_done = not _has_calls(self._fold.current.parts[known:])
            if not is_done and self._failed is None:
                async for event in self._run_tools():
                    yield event
                is_waiting = bool(open_calls(self._fold.current))
        for event in self._end(is_waiting, is_limited=not is_done and not is_waiting):
            yield event

    def _must_stop(self) -> bool:
        """Whether the model failed, was cancelled, or may not be called because of a budget."""
        meter = self._options.meter
        if self._failed is None and meter is not None and (reason := meter.refusal()) is not None:
            self._failed = CancelledEvent(reason=reason)
        return self._failed is not None

    def _report_usage(self) -> None:
        """Report the usage of the last response of the model."""
        meter, steps = self._options.meter, self._responses.steps
        usage = read_usage(steps[-1].get("usage")) if meter is not None and steps else None
        if meter is not None and usage is not None:
            model = steps[-1].get("model")
            meter.use(usage, model if isinstance(model, str) else self._options.model)

    def _end(self, is_waiting: bool, is_limited: bool) -> list[AgentStreamEvent]:
        usage = self._responses.usage
        if self._failed is not None:  # the usage until then counts
            metadata = [] if usage is None else [self._emit(MessageMetadata({"usage": to_json(usage)}))]
            return [*metadata, self._failed]
        more: JsonObject = {STOPPED_BY: STEP_LIMIT} if is_limited else {}
        finish = self._responses.finish(WAITING if is_waiting else None, more)
        result: JsonObject = {"finishReason": finish.finish_reason, **more}
        complete = CompleteEvent(agent_type=self._setup.name, agent_result=result, usage=usage)
        return [self._emit(finish), complete]

    async def _call_model(self) -> AsyncIterator[AgentStreamEvent]:
        message = self._fold.current
        messages = [*self._history, message] if message.parts else self._history
        options = replace(self._options, tools=(*self._options.tools, *self._setup.tools.specs()))
        async with closed(self._setup.model.invoke(messages, cwd=self._cwd, options=options)) as events:
            async for event in events:
                match event:
                    case ErrorEvent() | CancelledEvent():
                        self._failed = event
                    case CompleteEvent():
                        if event.raw_text is not None or event.raw_agent_message is not UNSET:
                            yield RawEvent(raw_agent_message=event.raw_agent_message, raw_text=event.raw_text)
                    case ChunkEvent() | RawEvent():
                        merged = self._responses.event(event)
                        if isinstance(merged, ChunkEvent):
                            self._apply(merged.chunk)
                        if merged is not None:
                            yield merged
                    case _:
                        assert_never(event)

    async def _run_tools(self) -> AsyncIterator[AgentStreamEvent]:
        """Run the calls that may run, and request approval of those that need it."""
        setup, options = self._setup, self._options
        client_tools = {tool.name for tool in options.tools}
        calls = await sort_calls(open_calls(self._fold.current), setup.tools, client_tools)
        for chunk in (
            *cut_inputs(calls.cut),
            *approval_requests(calls.unapproved),
            *denied_outputs(calls.denied),
        ):
            yield self._emit(chunk)
        context = ToolContext.from_options(options, store=setup.store, continued=self._continued)
        async with aclosing(run_calls(calls.approved, setup.tools, setup.runner, context)) as outputs:
            async for chunk in outputs:
                yield self._emit(chunk)

    def _emit(self, chunk: Chunk) -> ChunkEvent:
        self._apply(chunk)
        return ChunkEvent(chunk=chunk)

    def _apply(self, chunk: Chunk) -> None:
        with suppress(
            StreamError
        ):  # a chunk that does not fit is reported by the code that stores the message
            self._fold.feed(chunk)


def _has_calls(parts: Sequence[AssistantPart]) -> bool:
    """Whether a model has called tools that its provider does not run."""
    return any(isinstance(part, ToolCallPart) and not part.provider_executed for part in parts)
