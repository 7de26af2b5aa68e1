"""An agent with sub-agents: a call of `task` is handed to another, whose work is seen below the call."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from partita.runtime.run_fold import RunFold
from partita.runtime.service import AgentService, InvokeOptions, Prompt, closed
from partita.store.ids import new_id
from partita.types.chunks import (
    AgentStreamEvent,
    ChildChunk,
    ChildMessage,
    Chunk,
    ChunkEvent,
    DataChunk,
    ErrorEvent,
    MessageFinish,
    MessageStart,
    ToolInputAvailable,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputError,
)
from partita.types.json import Json, is_object
from partita.types.messages import UserMessage
from partita.types.parts import TextPart


class Delegating:
    """A model that hands its tasks to agents by their names, and goes on with what they found."""

    def __init__(self, model: AgentService, agents: Mapping[str, AgentService]) -> None:
        self.name = model.name
        self.model: object = getattr(model, "model", None)
        self._model = model
        self._agents = agents

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """One answer; what the agents do comes in between, as chunks of children."""
        async with closed(self._model.invoke(prompt, cwd=cwd, options=options)) as events:
            async for event in events:
                match event:
                    case ChunkEvent(chunk=ToolInputStart(tool_name="task") as start):
                        yield replace(event, chunk=replace(start, provider_executed=True))
                    case ChunkEvent(chunk=ToolInputAvailable(tool_name="task") as call):
                        yield replace(event, chunk=replace(call, provider_executed=True))
                        async for told in self._delegate(call, cwd):
                            yield told
                    case _:
                        yield event

    async def _delegate(self, call: ToolInputAvailable, cwd: Path | None) -> AsyncIterator[AgentStreamEvent]:
        given: Json = call.input
        wanted = given if is_object(given) else {}
        agent = self._agents.get(str(wanted.get("agent")))
        if agent is None:
            failure = f"There is no agent {wanted.get('agent')!r}."
            yield ChunkEvent(chunk=ToolOutputError(call.tool_call_id, failure, provider_executed=True))
            return
        task = UserMessage(id=new_id(), content=str(wanted.get("prompt", "")))
        work = _Work(agent, task, (call.tool_call_id,))
        async for event in work.events(cwd):
            yield event
        if work.failure is not None:
            yield ChunkEvent(chunk=ToolOutputError(call.tool_call_id, work.failure, provider_executed=True))
        else:
            yield ChunkEvent(chunk=ToolOutputAvailable(call.tool_call_id, work.words, provider_executed=True))


class _Work:
    """What one agent does below a call, and what it came to."""

    def __init__(self, agent: AgentService, task: UserMessage, path: tuple[str, ...]) -> None:
        self.failure: str | None = None
        self._agent = agent
        self._task = task
        self._path = path
        self._fold = RunFold(new_id())

    @property
    def words(self) -> str:
        """What it said last."""
        parts = self._fold.snapshot()[-1].parts
        return next((part.text for part in reversed(parts) if isinstance(part, TextPart)), "")

    async def events(self, cwd: Path | None) -> AsyncIterator[AgentStreamEvent]:
        """All that it does, its task first."""
        message_id = new_id()
        yield ChunkEvent(chunk=ChildMessage(self._path, self._task))
        yield ChunkEvent(chunk=ChildChunk(self._path, MessageStart(message_id)))
        options = InvokeOptions(message_id=message_id)
        async with closed(self._agent.invoke([self._task], cwd=cwd, options=options)) as events:
            async for event in events:
                if isinstance(event, ErrorEvent):
                    self.failure = event.message
                elif isinstance(event, ChunkEvent):
                    told = self._below(event.chunk)
                    if told is not None:
                        yield ChunkEvent(chunk=told)

    def _below(self, chunk: Chunk) -> Chunk | None:
        """A chunk of the agent as one below the call. That its message starts has been said; marks of its
        model are for its own log.
        """
        match chunk:
            case MessageStart() | DataChunk():
                return None
            case ChildChunk(path=path, chunk=inner):
                return ChildChunk(self._path + path, inner)
            case ChildMessage(path=path, message=message):
                return ChildMessage(self._path + path, message)
            case MessageFinish():
                return ChildChunk(self._path, chunk)
            case _:
                self._fold.feed(chunk)
                return ChildChunk(self._path, chunk)
