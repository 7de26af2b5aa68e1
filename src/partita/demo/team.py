"""A scripted model with sub-agents: a call of the tool `task` runs another agent."""

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


class DelegatingModel:
    """A model whose calls of `task` are run by other agents. Their messages are nested under the call."""

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
        """Run the model. The chunks of a sub-agent follow its call, as child chunks."""
        async with closed(self._model.invoke(prompt, cwd=cwd, options=options)) as events:
            async for event in events:
                match event:
                    case ChunkEvent(chunk=ToolInputStart(tool_name="task") as start):
                        yield replace(event, chunk=replace(start, provider_executed=True))
                    case ChunkEvent(chunk=ToolInputAvailable(tool_name="task") as call):
                        yield replace(event, chunk=replace(call, provider_executed=True))
                        async for child in self._delegate(call, cwd):
                            yield child
                    case _:
                        yield event

    async def _delegate(self, call: ToolInputAvailable, cwd: Path | None) -> AsyncIterator[AgentStreamEvent]:
        given: Json = call.input
        members = given if is_object(given) else {}
        agent = self._agents.get(str(members.get("agent")))
        if agent is None:
            failure = f"There is no agent {members.get('agent')!r}."
            yield ChunkEvent(chunk=ToolOutputError(call.tool_call_id, failure, provider_executed=True))
            return
        task = UserMessage(id=new_id(), content=str(members.get("prompt", "")))
        run = _SubAgentRun(agent, task, (call.tool_call_id,))
        async for event in run.events(cwd):
            yield event
        if run.failure is not None:
            yield ChunkEvent(chunk=ToolOutputError(call.tool_call_id, run.failure, provider_executed=True))
        else:
            yield ChunkEvent(chunk=ToolOutputAvailable(call.tool_call_id, run.text, provider_executed=True))


class _SubAgentRun:
    """The run of a sub-agent for a call, and its last text or its error."""

    def __init__(self, agent: AgentService, task: UserMessage, path: tuple[str, ...]) -> None:
        self.failure: str | None = None
        self._agent = agent
        self._task = task
        self._path = path
        self._fold = RunFold(new_id())

    @property
    def text(self) -> str:
        """The last text of the sub-agent."""
        parts = self._fold.snapshot()[-1].parts
        return next((part.text for part in reversed(parts) if isinstance(part, TextPart)), "")

    async def events(self, cwd: Path | None) -> AsyncIterator[AgentStreamEvent]:
        """Yield the task and all chunks of the sub-agent as child chunks of the call."""
        message_id = new_id()
        yield ChunkEvent(chunk=ChildMessage(self._path, self._task))
        yield ChunkEvent(chunk=ChildChunk(self._path, MessageStart(message_id)))
        options = InvokeOptions(message_id=message_id)
        async with closed(self._agent.invoke([self._task], cwd=cwd, options=options)) as events:
            async for event in events:
                if isinstance(event, ErrorEvent):
                    self.failure = event.message
                elif isinstance(event, ChunkEvent):
                    child = self._nest(event.chunk)
                    if child is not None:
                        yield ChunkEvent(chunk=child)

    def _nest(self, chunk: Chunk) -> Chunk | None:
        """Return a chunk as a child chunk of the call, except the start, which was sent, and data."""
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
