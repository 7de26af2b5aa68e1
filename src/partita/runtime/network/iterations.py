"""The turns of a network: decide, run what was chosen, tell the router what came of it, decide again."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from msgspec.structs import replace as with_fields

from partita.formats.usages import add_usages
from partita.runtime.agent.stitching import Stitching
from partita.runtime.closing import closed
from partita.runtime.folding import LEGACY_NETWORK, RunFold
from partita.runtime.service import AgentService, Options
from partita.store.ids import new_id
from partita.types.chunks import (
    Chunk,
    MessageFinish,
    MessageStart,
    NetworkExecutionEnd,
    NetworkExecutionStart,
    TextDelta,
    TextEnd,
    TextStart,
)
from partita.types.codec import to_json
from partita.types.events import AgentStreamEvent, CancelledEvent, ChunkEvent, CompleteEvent, ErrorEvent
from partita.types.json import JsonObject, dumps
from partita.types.messages import (
    AssistantMessage,
    Message,
    NetworkResult,
    ToolCallPart,
    UserMessage,
    network_call,
)
from partita.types.tools import TextOutput
from partita.types.usage import Usage

from .primitives import Execution, Primitive
from .routing import Choice, Done, Unclear, decision_of, instructions_for, tools_for

LIMIT: Final = "iteration-limit"
GAVE_UP: Final = "The task was not finished within {} iterations."


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
    _told: list[Message] = field(default_factory=list[Message])
    """What the router has seen beside the history: its own turns, and what came of them."""
    _usages: list[Usage] = field(default_factory=list[Usage])
    """What the router's turns and all that it chose consumed."""
    _decided: AssistantMessage | None = None
    _failed: ErrorEvent | CancelledEvent | None = None

    async def events(self) -> AsyncIterator[AgentStreamEvent]:
        """All that happens, in order."""
        for iteration in range(1, self.max_iterations + 1):
            async for event in self._decide(iteration):
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
                    self._tell(call_id, complaint)
                case Choice():
                    async for event in self._execute(decision, iteration):
                        yield event
        if self._failed is not None:
            yield self._failed
            return
        for event in self._answer(GAVE_UP.format(self.max_iterations), {"stoppedBy": LIMIT}):
            yield event

    async def _decide(self, iteration: int) -> AsyncIterator[AgentStreamEvent]:
        """One turn of the router: an internal message."""
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
        said = [*self.history, *self._told]
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
        yield _fed(fold, stitching.finish())
        self._decided = fold.snapshot()[-1]

    async def _execute(self, choice: Choice, iteration: int) -> AsyncIterator[AgentStreamEvent]:
        """Run what was chosen: a message that says what, why, and what came of it."""
        message_id = new_id()
        metadata: JsonObject = {LEGACY_NETWORK: True} if self.strings else {}
        yield ChunkEvent(chunk=MessageStart(message_id, metadata or None))
        yield ChunkEvent(
            chunk=NetworkExecutionStart(
                choice.primitive_type, choice.primitive_id, choice.reason, choice.input, iteration
            )
        )
        execution = Execution(choice, network_call(message_id), self.options, self.cwd)
        primitive = self.primitives[choice.primitive_type, choice.primitive_id]
        async with closed(primitive.run(execution)) as events:
            async for event in events:
                yield event
        self._spend(execution.usage)
        yield ChunkEvent(chunk=NetworkExecutionEnd(execution.result))
        yield ChunkEvent(chunk=MessageFinish("stop"))
        self._tell(choice.call_id or None, _words(execution.result))

    def _answer(self, words: str, more: JsonObject) -> list[AgentStreamEvent]:
        """The last message: what the user is told."""
        chunks: list[Chunk] = [MessageStart(self.options.message_id or new_id())]
        if words:
            chunks += [TextStart("answer"), TextDelta("answer", words), TextEnd("answer")]
        result: JsonObject = {"finishReason": "stop", **more}
        finish = MessageFinish("stop", result)
        usage = add_usages(self._usages) if self._usages else None
        complete = CompleteEvent(agent_type=self.name, agent_result=result, usage=usage)
        return [*(ChunkEvent(chunk=chunk) for chunk in (*chunks, finish)), complete]

    def _spend(self, usage: Usage | None) -> None:
        if usage is not None:
            self._usages.append(usage)

    def _tell(self, call_id: str | None, words: str) -> None:
        """Let the router know what came of its decision."""
        assert self._decided is not None, "there is a decision"
        decided = with_fields(self._decided, internal=False)  # to the router it is talk
        if call_id is None:
            self._told += [decided, UserMessage(id=new_id(), content=words)]
            return
        parts = tuple(
            with_fields(part, state="output-available", output=TextOutput(words))
            if isinstance(part, ToolCallPart) and part.id == call_id
            else part
            for part in decided.parts
        )
        self._told.append(with_fields(decided, content=with_fields(decided.content, parts=parts)))


def _fed(fold: RunFold, chunk: Chunk) -> ChunkEvent:
    fold.feed(chunk)
    return ChunkEvent(chunk=chunk)


def _words(result: NetworkResult) -> str:
    return dumps(to_json(result.value)).decode() if result.text is None else result.text
