"""The turns of a network: decide, run what was chosen, report the result to the router, decide again."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from partita.formats.mastra.network_payload import LEGACY_NETWORK
from partita.formats.usages import add_usages
from partita.runtime.agent.calls import open_calls
from partita.runtime.agent.loop import WAITING
from partita.runtime.agent.stitching import Stitching
from partita.runtime.closing import closed
from partita.runtime.folding import RunFold
from partita.runtime.service import AgentService, Options
from partita.store.ids import new_id
from partita.types.chunks import (
    Chunk,
    MessageFinish,
    MessageStart,
    NetworkExecutionEnd,
    NetworkExecutionStart,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolOutputAvailable,
    ToolOutputError,
)
from partita.types.events import AgentStreamEvent, CancelledEvent, ChunkEvent, CompleteEvent, ErrorEvent
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, Message, NetworkResult, network_call
from partita.types.usage import Usage

from .primitives import Execution, Primitive
from .router_view import Resumption, reported
from .routing import Choice, Done, Unclear, decision_of, instructions_for, tools_for

LIMIT: Final = "iteration-limit"
GAVE_UP: Final = "The task was not finished within {} iterations."
IGNORED: Final = "Only the first call of a turn is executed. Make one call at a time."


@dataclass(slots=True, kw_only=True)
class Iterations:
    """One task of a network."""

    name: str
    router: AgentService
    primitives: Mapping[tuple[str, str], Primitive]
    history: Sequence[Message]
    options: Options
    cwd: Path | None
    max_iterations: int
    strings: bool
    resumption: Resumption | None = None
    """The execution that waited for a client, if the task continues with one."""
    _turns: list[Message] = field(default_factory=list[Message])
    """What the router has seen beside the history: its own turns, and their results."""
    _usages: list[Usage] = field(default_factory=list[Usage])
    """What the router's turns and all that it chose consumed."""
    _decided: AssistantMessage | None = None
    _failed: ErrorEvent | CancelledEvent | None = None
    _waits: bool = False
    _answer_id: str = ""

    def __post_init__(self) -> None:
        # The id that was asked for is that of the execution, if one continues.
        asked = self.options.message_id if self.resumption is None else None
        self._answer_id = asked or new_id()

    async def events(self) -> AsyncIterator[AgentStreamEvent]:
        """All that happens, in order."""
        first = 1
        if self.resumption is not None:
            first = self.resumption.iteration + 1
            async for event in self._resume(self.resumption):
                yield event
        for iteration in range(first, self.max_iterations + 1):
            if self._waits:
                return
            message_id = new_id()
            async for event in self._decide(iteration, message_id):
                yield event
            if self._failed is not None or self._decided is None:
                break
            decision = decision_of(self._decided, self.primitives)
            match decision:
                case Done(answer=answer):
                    for event in self._answer(answer, {}):
                        yield event
                    return
                case Unclear(call_id=call_id, complaint=complaint):
                    self._turns += reported(self._decided, call_id, complaint)
                case Choice():
                    async for event in self._execute(decision, iteration, message_id):
                        yield event
        if self._failed is not None:
            yield self._failed
        elif not self._waits:
            for event in self._answer(GAVE_UP.format(self.max_iterations), {"stoppedBy": LIMIT}):
                yield event

    async def _decide(self, iteration: int, next_id: str) -> AsyncIterator[AgentStreamEvent]:
        """One turn of the router: an internal message. Its calls get the id of the next message as output."""
        described = [primitive.described for primitive in self.primitives.values()]
        options = replace(
            self.options,
            instructions=instructions_for(described, self.options.instructions),
            tools=tools_for(described),
        )
        message_id = new_id()
        fold = RunFold(message_id)
        stitching = Stitching()
        start = MessageStart(message_id, {"internal": True, "network": {"iteration": iteration}})
        yield _fed(fold, start)
        said = [*self.history, *self._turns]
        async with closed(self.router.invoke(said, cwd=self.cwd, options=options)) as events:
            async for event in events:
                if isinstance(event, ErrorEvent | CancelledEvent):
                    self._failed = event
                elif not isinstance(event, CompleteEvent):
                    stitched = stitching.answer(event)
                    if isinstance(stitched, ChunkEvent):
                        fold.feed(stitched.chunk)
                    if stitched is not None:
                        yield stitched
        self._spend(stitching.usage)
        if self._failed is None:
            for chunk in self._outputs(fold.snapshot()[-1], next_id):
                yield _fed(fold, chunk)
        yield _fed(fold, stitching.finish())
        self._decided = fold.snapshot()[-1]

    async def _execute(
        self, choice: Choice, iteration: int, message_id: str
    ) -> AsyncIterator[AgentStreamEvent]:
        """Run what was chosen: a message with the choice, the reason and the result."""
        assert self._decided is not None, "there is a decision"
        metadata: JsonObject = {LEGACY_NETWORK: True} if self.strings else {}
        yield ChunkEvent(chunk=MessageStart(message_id, metadata or None))
        yield ChunkEvent(
            chunk=NetworkExecutionStart(
                choice.primitive_type, choice.primitive_id, choice.reason, choice.input, iteration
            )
        )
        execution = Execution(choice, network_call(message_id), self.options, self.cwd)
        async for event in self._run(execution):
            yield event
        if not self._waits:
            self._turns += reported(self._decided, choice.call_id, execution.result)

    async def _resume(self, resumption: Resumption) -> AsyncIterator[AgentStreamEvent]:
        """Continue an execution whose calls have been answered."""
        message, choice = resumption.message, resumption.choice
        yield ChunkEvent(chunk=MessageStart(message.id))
        execution = Execution(choice, network_call(message.id), self.options, self.cwd, message)
        async for event in self._run(execution):
            yield event
        self._turns += resumption.turns
        if not self._waits:
            self._turns += reported(resumption.decided, choice.call_id, execution.result)

    async def _run(self, execution: Execution) -> AsyncIterator[AgentStreamEvent]:
        """Run a primitive until it has a result, or waits for a client: then the run ends here."""
        choice = execution.choice
        primitive = self.primitives.get((choice.primitive_type, choice.primitive_id))
        if primitive is None:
            gone = f"There is no {choice.primitive_type} {choice.primitive_id!r} any more."
            execution.result = NetworkResult(error=gone)
        else:
            async with closed(primitive.run(execution)) as events:
                async for event in events:
                    yield event
        self._spend(execution.usage)
        if execution.waits:
            self._waits = True
            yield ChunkEvent(chunk=MessageFinish(WAITING))
            yield self._complete({"finishReason": WAITING})
            return
        yield ChunkEvent(chunk=NetworkExecutionEnd(execution.result))
        if execution.promotion.is_used:
            # The router sees the results, so the message must not end with calls that are to be continued.
            yield ChunkEvent(chunk=StepStart())
        yield ChunkEvent(chunk=MessageFinish("stop"))

    def _outputs(self, message: AssistantMessage, next_id: str) -> list[Chunk]:
        """The outputs of a router's calls: the message that executes or answers, or why there is none."""
        decision = decision_of(message, self.primitives)
        outputs: list[Chunk] = []
        for call in open_calls(message):
            if call.id != decision.call_id:
                outputs.append(ToolOutputError(call.id, IGNORED))
            elif isinstance(decision, Unclear):
                outputs.append(ToolOutputError(call.id, decision.complaint))
            else:
                led_to = self._answer_id if isinstance(decision, Done) else next_id
                outputs.append(ToolOutputAvailable(call.id, {"messageId": led_to}))
        return outputs

    def _answer(self, text: str, more: JsonObject) -> list[AgentStreamEvent]:
        """The last message: the answer for the user."""
        chunks: list[Chunk] = [MessageStart(self._answer_id)]
        if text:
            chunks += [TextStart("answer"), TextDelta("answer", text), TextEnd("answer")]
        result: JsonObject = {"finishReason": "stop", **more}
        finish = MessageFinish("stop", result)
        return [*(ChunkEvent(chunk=chunk) for chunk in (*chunks, finish)), self._complete(result)]

    def _complete(self, result: JsonObject) -> CompleteEvent:
        usage = add_usages(self._usages) if self._usages else None
        return CompleteEvent(agent_type=self.name, agent_result=result, usage=usage)

    def _spend(self, usage: Usage | None) -> None:
        if usage is not None:
            self._usages.append(usage)


def _fed(fold: RunFold, chunk: Chunk) -> ChunkEvent:
    fold.feed(chunk)
    return ChunkEvent(chunk=chunk)
