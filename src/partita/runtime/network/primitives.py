"""What a network can choose: agents, workflows and tools."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol, assert_never

from msgspec import UNSET
from msgspec.structs import replace as with_fields

from partita.errors import StreamError
from partita.formats.mastra.network_payload import calls_in
from partita.runtime.agent.calls import approval_requests, sort_calls
from partita.runtime.run_fold import RunFold
from partita.runtime.service import AgentService, InvokeOptions, closed
from partita.runtime.tools.context import ToolContext
from partita.runtime.tools.outputs import chunk_of_output
from partita.runtime.tools.runner import PendingCall, ToolRunner
from partita.runtime.tools.tool import Tool, Toolset
from partita.store.ids import new_id
from partita.stream.accumulator import Accumulator, close_messages
from partita.types.chunks import (
    AgentStreamEvent,
    CancelledEvent,
    ChildChunk,
    ChildMessage,
    Chunk,
    ChunkEvent,
    CompleteEvent,
    ErrorEvent,
    MessageStart,
    ToolOutputDenied,
)
from partita.types.codec import to_json
from partita.types.json import dumps
from partita.types.messages import (
    AssistantMessage,
    Message,
    NetworkResult,
    ToolCallPart,
    UserMessage,
    text_of,
)
from partita.types.parts import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
)
from partita.types.usage import Usage

from .promotion import Promotion, nested_replies, waiting_calls
from .routing import Choice, Description

DENIED: Final = "Tool execution denied."


@dataclass(slots=True)
class Execution:
    """The execution of a choice, and its result once it has ended."""

    choice: Choice
    path: str
    """The path of its messages: the id of the call that represents the execution."""
    options: InvokeOptions
    cwd: Path | None = None
    resumed: AssistantMessage | None = None
    """The message of an execution that waited for a client and is continued."""
    result: NetworkResult = field(default_factory=NetworkResult)
    waits: bool = False
    """Whether it stopped because calls wait for a client. Then it has no result yet."""
    usage: Usage | None = None
    """Its usage, if it reported that."""
    promotion: Promotion = field(init=False)

    def __post_init__(self) -> None:
        self.promotion = Promotion(self.path, self.resumed)


class Primitive(Protocol):
    """Something that a network can choose."""

    @property
    def description(self) -> Description:
        """The primitive as the router sees it."""
        ...

    def run(self, execution: Execution) -> AsyncGenerator[AgentStreamEvent, None]:
        """Run or continue it. Its messages are child chunks; its end is recorded in `execution`."""
        ...


class AgentPrimitive:
    """An agent of the network. Its input is a task as text."""

    def __init__(self, id: str, agent: AgentService, description: str) -> None:
        self.description = Description("agent", id, description)
        self.agent = agent

    async def run(self, execution: Execution) -> AsyncGenerator[AgentStreamEvent, None]:
        """Run the agent; its chunks are children of the execution."""
        path, promotion = (execution.path,), execution.promotion
        before, seed = _messages_of(execution)
        if seed is None and execution.resumed is None:
            yield ChunkEvent(chunk=ChildMessage(path, before[-1]))
        answer_id = new_id() if seed is None else seed.id
        fold = RunFold(answer_id, seed=seed)
        failure: str | None = None
        started = seed is not None
        if seed is not None and execution.resumed is not None:
            for chunk in (MessageStart(answer_id), *nested_replies(execution.resumed, seed)):
                _feed(fold, chunk)
                yield ChunkEvent(chunk=ChildChunk(path, chunk))
        prompt = [*before, *(fold.snapshot() if started else ())]
        options = replace(execution.options, message_id=answer_id, instructions=None)
        async with closed(self.agent.invoke(prompt, cwd=execution.cwd, options=options)) as events:
            async for event in events:
                if isinstance(event, ErrorEvent):
                    failure = event.message
                elif isinstance(event, CancelledEvent):
                    failure = event.reason or "it was cancelled"
                elif isinstance(event, ChunkEvent):
                    chunk = _identified(event.chunk, answer_id)
                    if not started and not isinstance(chunk, MessageStart):
                        yield ChunkEvent(chunk=ChildChunk(path, MessageStart(answer_id)))
                    started = True
                    _feed(fold, chunk)
                    yield replace_chunk(event, ChildChunk(path, chunk))
                    for copied in promotion.follow(chunk, fold):
                        yield ChunkEvent(chunk=copied)
                elif isinstance(event, CompleteEvent):
                    execution.usage = event.usage
                else:
                    yield event
        answer = fold.snapshot() if started else ()
        waiting = waiting_calls(answer[-1]) if answer and failure is None else []
        if waiting:
            execution.waits = True
            for copied in promotion.promote(waiting):
                yield ChunkEvent(chunk=copied)
            return
        execution.result = _agent_result((*before, *answer), answer, failure)


def _messages_of(execution: Execution) -> tuple[list[Message], AssistantMessage | None]:
    """The messages of an agent so far, and the one that it continues."""
    resumed = execution.resumed
    network = None if resumed is None else resumed.content.network_execution
    known = network.final_result.messages if network is not None and network.final_result is not None else ()
    if known and isinstance(known[-1], AssistantMessage):
        return list(known[:-1]), known[-1]
    if known:
        return list(known), None
    given = execution.choice.input
    return [
        UserMessage(id=new_id(), content=given if isinstance(given, str) else dumps(given).decode())
    ], None


def _agent_result(
    messages: tuple[Message, ...], answer: Sequence[AssistantMessage], failure: str | None
) -> NetworkResult:
    whole = messages if failure is None else close_messages(messages, "lost")
    shown = [message for message in answer if not message.internal]
    text = "".join(map(text_of, shown))
    calls = tuple(
        with_fields(call, children=()) for call in calls_in([one for one in whole if not one.internal])
    )
    # The messages are known from their chunks. They are only repeated if something was cut off.
    cut = () if whole is messages else whole
    return NetworkResult(text if failure is None else text or None, calls, cut, error=failure)


class FunctionPrimitive:
    """A workflow or a tool of the network: a function whose input fits its schema."""

    def __init__(self, kind: str, tool: Tool, runner: ToolRunner) -> None:
        self.description = Description(
            "workflow" if kind == "workflow" else "tool",
            tool.name,
            tool.description or tool.name,
            tool.input_schema,
        )
        self._tool = tool
        self._runner = runner

    async def run(self, execution: Execution) -> AsyncGenerator[AgentStreamEvent, None]:
        """Run the function. It has no messages: a call that waits is part of the execution's own message."""
        call = _call_of(execution)
        calls = await sort_calls([call], Toolset([self._tool]))
        if calls.unapproved:
            call = _with_chunk(call, *approval_requests([call]))
        if calls.unapproved or calls.waiting:
            execution.waits = True
            for chunk in execution.promotion.promote([call]):
                yield ChunkEvent(chunk=chunk)
            return
        if calls.approved:
            outcome = await self._output(call, execution)
        elif calls.denied:
            outcome = ToolOutputDenied(call.id)
        else:  # the client has run it
            execution.result = _function_result(call)
            return
        call = _with_chunk(call, outcome)
        for chunk in execution.promotion.follow(outcome):
            yield ChunkEvent(chunk=chunk)
        execution.result = _function_result(call)

    async def _output(self, call: ToolCallPart, execution: Execution) -> Chunk:
        context = ToolContext.from_options(execution.options)
        pending = PendingCall(call.id, call.name, None if call.input is UNSET else call.input)
        return chunk_of_output(call.id, await self._runner.run_call(self._tool, pending, context))


def _call_of(execution: Execution) -> ToolCallPart:
    """The call of a function: a new one, or the one that waited."""
    if execution.resumed is not None:
        waited = [part for part in execution.resumed.parts if isinstance(part, ToolCallPart)]
        if waited:
            return with_fields(waited[-1], call_provider_metadata=None)
    return ToolCallPart(new_id(), execution.choice.primitive_id, "input-available", execution.choice.input)


def _with_chunk(call: ToolCallPart, *chunks: Chunk) -> ToolCallPart:
    fold = Accumulator(AssistantMessage(id="", content=[call]))
    for chunk in chunks:
        fold.feed(chunk)
    (changed,) = fold.snapshot().parts
    assert isinstance(changed, ToolCallPart), "a call stays a call"
    return changed


def _function_result(call: ToolCallPart) -> NetworkResult:
    """The result of a call: the value, and a text for readers that support only text."""
    calls = (call,)
    match call.output:
        case TextOutput(value=value):
            return NetworkResult(value, calls, value=value)
        case JsonOutput(value=value):
            return NetworkResult(dumps(value).decode(), calls, value=value)
        case ContentOutput():
            return NetworkResult(None, calls, value=to_json(call.output))
        case ErrorTextOutput(value=value):
            return NetworkResult(None, calls, error=value)
        case ErrorJsonOutput(value=value):
            return NetworkResult(None, calls, error=dumps(value).decode())
        case InterruptedOutput(reason=reason, message=message):
            return NetworkResult(None, calls, error=message, interrupted=reason)
        case ExecutionDeniedOutput() | None:
            reason = call.approval.reason if call.approval is not None else None
            return NetworkResult(f"{DENIED} {reason}" if reason else DENIED, calls)
        case _:
            assert_never(call.output)


def primitive_of(id: str, agent: AgentService) -> AgentPrimitive:
    """An agent as a primitive, with its own description if it has one."""
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
    with suppress(StreamError):  # reported by the code that stores the message
        fold.feed(chunk)
