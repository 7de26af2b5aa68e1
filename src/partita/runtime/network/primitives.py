"""What a network can choose: agents, workflows and tools, each run to a result."""

from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from msgspec import UNSET

from partita.errors import StreamError
from partita.runtime.closing import closed
from partita.runtime.folding import RunFold
from partita.runtime.service import AgentService, Options
from partita.runtime.tools.context import ToolContext
from partita.runtime.tools.running import PendingCall, ToolRunner
from partita.runtime.tools.tool import Tool
from partita.store.ids import new_id
from partita.types.chunks import ChildChunk, ChildMessage, Chunk, MessageStart
from partita.types.codec import to_json
from partita.types.events import AgentStreamEvent, CancelledEvent, ChunkEvent, CompleteEvent, ErrorEvent
from partita.types.json import dumps
from partita.types.messages import NetworkResult, UserMessage
from partita.types.parts import TextPart
from partita.types.tools import JsonOutput, TextOutput
from partita.types.usage import Usage

from .routing import Choice, Described


@dataclass(slots=True)
class Execution:
    """What is being run, and what it came to once it has."""

    choice: Choice
    path: str
    """The address of its messages: the call that stands for the execution."""
    options: Options
    cwd: Path | None = None
    result: NetworkResult = field(default_factory=NetworkResult)
    usage: Usage | None = None
    """What it consumed, if it said so."""


class Primitive(Protocol):
    """Something that a network can choose."""

    @property
    def described(self) -> Described:
        """How the router knows it."""
        ...

    def run(self, execution: Execution) -> AsyncGenerator[AgentStreamEvent, None]:
        """Run it; what it says comes as child chunks, and `execution.result` is what it came to."""
        ...


class AgentPrimitive:
    """An agent of the network: it is given a task in words."""

    def __init__(self, id: str, agent: AgentService, description: str) -> None:
        self.described = Described("agent", id, description)
        self._agent = agent

    async def run(self, execution: Execution) -> AsyncGenerator[AgentStreamEvent, None]:
        """Its answer, chunk by chunk, under the execution."""
        path = (execution.path,)
        given = execution.choice.input
        prompt = given if isinstance(given, str) else dumps(given).decode()
        task = UserMessage(id=new_id(), content=prompt)
        answer_id = new_id()
        fold = RunFold(answer_id)
        failure: str | None = None
        yield ChunkEvent(chunk=ChildMessage(path, task))
        yield ChunkEvent(chunk=ChildChunk(path, MessageStart(answer_id)))
        options = replace(execution.options, message_id=answer_id, instructions=None, tools=())
        async with closed(self._agent.invoke([task], cwd=execution.cwd, options=options)) as events:
            async for event in events:
                if isinstance(event, ErrorEvent):
                    failure = event.message
                elif isinstance(event, CancelledEvent):
                    failure = event.reason or "it was cancelled"
                elif isinstance(event, ChunkEvent):
                    chunk = _identified(event.chunk, answer_id)
                    _feed(fold, chunk)
                    yield replace_chunk(event, ChildChunk(path, chunk))
                elif isinstance(event, CompleteEvent):
                    execution.usage = event.usage
                else:
                    yield event
        words = "".join(
            part.text for message in fold.snapshot() for part in message.parts if isinstance(part, TextPart)
        )
        execution.result = NetworkResult(
            words or None, value=UNSET if failure is None else {"error": failure}
        )


class FunctionPrimitive:
    """A workflow or a tool of the network: a function that is given an input that fits its schema."""

    def __init__(self, kind: str, tool: Tool, runner: ToolRunner) -> None:
        self.described = Described(
            "workflow" if kind == "workflow" else "tool",
            tool.name,
            tool.description or tool.name,
            tool.input_schema,
        )
        self._tool = tool
        self._runner = runner

    async def run(self, execution: Execution) -> AsyncGenerator[AgentStreamEvent, None]:
        """What the function gives back. It has no messages."""
        choice, options = execution.choice, execution.options
        call = PendingCall(execution.path, choice.primitive_id, choice.input)
        context = ToolContext(
            thread_id=options.thread_id or "",
            run_id=options.run_id or "",
            message_id=options.message_id or "",
        )
        output = await self._runner.run_call(self._tool, call, context)
        match output:
            case TextOutput(value=value):
                execution.result = NetworkResult(value, value=value)
            case JsonOutput(value=value):
                execution.result = NetworkResult(dumps(value).decode(), value=value)
            case _:
                execution.result = NetworkResult(value=to_json(output))
        return
        yield  # a generator that yields nothing


def primitive_of(id: str, agent: AgentService) -> AgentPrimitive:
    """An agent as a primitive, described by itself if it can."""
    described: object = getattr(agent, "description", None)
    return AgentPrimitive(id, agent, described if isinstance(described, str) else f"the agent {agent.name}")


def replace_chunk(event: ChunkEvent, chunk: Chunk) -> ChunkEvent:
    """The same event with another chunk."""
    return ChunkEvent(chunk=chunk, raw_agent_message=event.raw_agent_message, raw_text=event.raw_text)


def _identified(chunk: Chunk, message_id: str) -> Chunk:
    if isinstance(chunk, MessageStart) and chunk.message_id is None:
        return MessageStart(message_id, chunk.message_metadata)
    return chunk


def _feed(fold: RunFold, chunk: Chunk) -> None:
    with suppress(StreamError):  # the message it is folded into says so
        fold.feed(chunk)
