"""A network: a router chooses an agent, a workflow or a tool, with a reason, until the task is done.

Every choice is a message of its own with what was chosen, the reason, and the result. The router's own turns
are internal messages: they are stored and not shown. Everything streams live, in the form in which it is
stored.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from partita.errors import AgentError
from partita.formats.mastra.network_payload import LEGACY_NETWORK
from partita.runtime.agent.agent import StoredAgent
from partita.runtime.agent.calls import WAITING, open_calls
from partita.runtime.model_calls import ResponseMerger
from partita.runtime.registry import get_agent
from partita.runtime.run_fold import RunFold
from partita.runtime.service import AgentService, InvokeOptions, Prompt, closed, prompt_messages
from partita.runtime.session.session import Session
from partita.runtime.tools.runner import ToolRunner
from partita.runtime.tools.tool import SUPPORT, Tool, as_tool, check_client_tools
from partita.store.ids import new_id
from partita.store.store import Store
from partita.types.chunks import (
    AgentStreamEvent,
    CancelledEvent,
    Chunk,
    ChunkEvent,
    CompleteEvent,
    ErrorEvent,
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
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, Message, NetworkResult, network_call_id
from partita.types.usage import Usage, add_usages

from .primitives import AgentPrimitive, Execution, FunctionPrimitive, Primitive, primitive_of
from .routing import (
    Choice,
    Done,
    Invalid,
    Resumption,
    decision_of,
    instructions_for,
    resumption_of,
    tools_for,
    with_result,
)

ITERATION_LIMIT: Final = "iteration-limit"
UNFINISHED: Final = "The task was not finished within {} iterations."
IGNORED: Final = "Only the first call of a turn is executed. Make one call at a time."


@dataclass(slots=True, kw_only=True)
class Iterations:
    """One task of a network: decide, run what was chosen, report the result to the router, decide again."""

    name: str
    router: AgentService
    primitives: Mapping[tuple[str, str], Primitive]
    history: Sequence[Message]
    options: InvokeOptions
    cwd: Path | None
    max_iterations: int
    strings: bool
    resumption: Resumption | None = None
    """The execution that waited for a client, if the task continues with one."""
    _turns: list[Message] = field(default_factory=list[Message])
    """What the router sees after the history: its own turns, and their results."""
    _usages: list[Usage] = field(default_factory=list[Usage])
    """The usage of the router's turns, and of all that it chose."""
    _decided: AssistantMessage | None = None
    _failed: ErrorEvent | CancelledEvent | None = None
    _waits: bool = False
    _answer_id: str = ""

    def __post_init__(self) -> None:
        # If an execution is continued, the requested id is that of its message.
        requested = self.options.message_id if self.resumption is None else None
        self._answer_id = requested or new_id()

    async def events(self) -> AsyncIterator[AgentStreamEvent]:
        """The events of the task."""
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
                    for event in self._finish(answer, {}):
                        yield event
                    return
                case Invalid(call_id=call_id, error=error):
                    self._turns += with_result(self._decided, call_id, error)
                case Choice():
                    async for event in self._execute(decision, iteration, message_id):
                        yield event
        if self._failed is not None:
            yield self._failed
        elif not self._waits:
            for event in self._finish(UNFINISHED.format(self.max_iterations), {"stoppedBy": ITERATION_LIMIT}):
                yield event

    async def _decide(self, iteration: int, next_id: str) -> AsyncIterator[AgentStreamEvent]:
        """One turn of the router: an internal message. Its calls get the id of the next message as output."""
        described = [primitive.description for primitive in self.primitives.values()]
        options = replace(
            self.options,
            instructions=instructions_for(described, self.options.instructions),
            tools=tools_for(described),
        )
        message_id = new_id()
        fold = RunFold(message_id)
        responses = ResponseMerger()
        start = MessageStart(message_id, {"internal": True, "network": {"iteration": iteration}})
        yield _fed(fold, start)
        messages = [*self.history, *self._turns]
        async with closed(self.router.invoke(messages, cwd=self.cwd, options=options)) as events:
            async for event in events:
                if isinstance(event, ErrorEvent | CancelledEvent):
                    self._failed = event
                elif not isinstance(event, CompleteEvent):
                    merged = responses.event(event)
                    if isinstance(merged, ChunkEvent):
                        fold.feed(merged.chunk)
                    if merged is not None:
                        yield merged
        self._add_usage(responses.usage)
        if self._failed is None:
            for chunk in self._outputs(fold.snapshot()[-1], next_id):
                yield _fed(fold, chunk)
        yield _fed(fold, responses.finish())
        self._decided = fold.snapshot()[-1]

    async def _execute(
        self, choice: Choice, iteration: int, message_id: str
    ) -> AsyncIterator[AgentStreamEvent]:
        """Run what was chosen, in a message with the choice, the reason and the result."""
        assert self._decided is not None, "there is a decision"
        metadata: JsonObject = {LEGACY_NETWORK: True} if self.strings else {}
        yield ChunkEvent(chunk=MessageStart(message_id, metadata or None))
        yield ChunkEvent(
            chunk=NetworkExecutionStart(
                choice.primitive_type, choice.primitive_id, choice.reason, choice.input, iteration
            )
        )
        execution = Execution(choice, network_call_id(message_id), self.options, self.cwd)
        async for event in self._run(execution):
            yield event
        if not self._waits:
            self._turns += with_result(self._decided, choice.call_id, execution.result)

    async def _resume(self, resumption: Resumption) -> AsyncIterator[AgentStreamEvent]:
        """Continue an execution whose calls have a decision or an output."""
        message, choice = resumption.message, resumption.choice
        yield ChunkEvent(chunk=MessageStart(message.id))
        execution = Execution(choice, network_call_id(message.id), self.options, self.cwd, message)
        async for event in self._run(execution):
            yield event
        self._turns += resumption.turns
        if not self._waits:
            self._turns += with_result(resumption.decided, choice.call_id, execution.result)

    async def _run(self, execution: Execution) -> AsyncIterator[AgentStreamEvent]:
        """Run a primitive until it has a result. If it waits for a client, the run ends here."""
        choice = execution.choice
        primitive = self.primitives.get((choice.primitive_type, choice.primitive_id))
        if primitive is None:
            error = f"There is no {choice.primitive_type} {choice.primitive_id!r} any more."
            execution.result = NetworkResult(error=error)
        else:
            async with closed(primitive.run(execution)) as events:
                async for event in events:
                    yield event
        self._add_usage(execution.usage)
        if execution.waits:
            self._waits = True
            yield ChunkEvent(chunk=MessageFinish(WAITING))
            yield self._complete({"finishReason": WAITING})
            return
        yield ChunkEvent(chunk=NetworkExecutionEnd(execution.result))
        if execution.promotion.is_used:
            # The router sees the results: the message must not end with calls that look unfinished.
            yield ChunkEvent(chunk=StepStart())
        yield ChunkEvent(chunk=MessageFinish("stop"))

    def _outputs(self, message: AssistantMessage, next_id: str) -> list[Chunk]:
        """The outputs of a router's calls: the id of the message that follows, or an error."""
        decision = decision_of(message, self.primitives)
        outputs: list[Chunk] = []
        for call in open_calls(message):
            if call.id != decision.call_id:
                outputs.append(ToolOutputError(call.id, IGNORED))
            elif isinstance(decision, Invalid):
                outputs.append(ToolOutputError(call.id, decision.error))
            else:
                message_id = self._answer_id if isinstance(decision, Done) else next_id
                outputs.append(ToolOutputAvailable(call.id, {"messageId": message_id}))
        return outputs

    def _finish(self, text: str, more: JsonObject) -> list[AgentStreamEvent]:
        """The last message: the response for the user."""
        chunks: list[Chunk] = [MessageStart(self._answer_id)]
        if text:
            chunks += [TextStart("answer"), TextDelta("answer", text), TextEnd("answer")]
        result: JsonObject = {"finishReason": "stop", **more}
        finish = MessageFinish("stop", result)
        return [*(ChunkEvent(chunk=chunk) for chunk in (*chunks, finish)), self._complete(result)]

    def _complete(self, result: JsonObject) -> CompleteEvent:
        usage = add_usages(self._usages) if self._usages else None
        return CompleteEvent(agent_type=self.name, agent_result=result, usage=usage)

    def _add_usage(self, usage: Usage | None) -> None:
        if usage is not None:
            self._usages.append(usage)


def _fed(fold: RunFold, chunk: Chunk) -> ChunkEvent:
    fold.feed(chunk)
    return ChunkEvent(chunk=chunk)


MAX_ITERATIONS: Final = 10


class Network(StoredAgent):
    """A router, and what it can choose from. It is itself a service, so networks can use networks."""

    reads_internal = True
    """A task that is continued needs the turns of its router, which are internal messages."""

    def __init__(
        self,
        router: str | AgentService,
        *,
        agents: Mapping[str, str | AgentService] | None = None,
        workflows: Iterable[Tool | Callable[..., Any]] = (),
        tools: Iterable[Tool | Callable[..., Any]] = (),
        store: Store | None = None,
        session: Session | None = None,
        instructions: str | None = None,
        name: str = "network",
        description: str | None = None,
        max_iterations: int = MAX_ITERATIONS,
        strings: bool = False,
    ) -> None:
        """`agents` are given by name; workflows and tools are functions.

        With `strings`, every choice is also written as a JSON string in the content of its message, for
        readers that expect the older form.
        """
        runner = ToolRunner()
        listed: list[Primitive] = [
            primitive_of(key, get_agent(agent) if isinstance(agent, str) else agent)
            for key, agent in (agents or {}).items()
        ]
        listed += [FunctionPrimitive("workflow", as_tool(one), runner) for one in workflows]
        listed += [FunctionPrimitive("tool", as_tool(one), runner) for one in tools]
        if not listed:
            raise AgentError(f"network {name!r} has nothing to choose from", hint="give it agents or tools")
        if max_iterations < 1:
            raise AgentError(f"max_iterations is {max_iterations}", hint="give at least 1")
        super().__init__(store, session)
        self.name = name
        self.description = description or f"the network {name}"
        self._router = get_agent(router) if isinstance(router, str) else router
        self._primitives: dict[tuple[str, str], Primitive] = {
            (one.description.primitive_type, one.description.id): one for one in listed
        }
        self._instructions = instructions
        self._max_iterations = max_iterations
        self._strings = strings

    @property
    def supports_client_tools(self) -> bool:
        """Whether all agents accept tools of a request."""
        agents = [one.agent for one in self._primitives.values() if isinstance(one, AgentPrimitive)]
        return bool(agents) and all(getattr(agent, SUPPORT, False) for agent in agents)

    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """The events of a task until it is done. Nothing is stored: `stream` does that."""
        history = prompt_messages(prompt)
        given = options or InvokeOptions()
        check_client_tools(self, given.tools)
        resumption = resumption_of(history, given.message_id, self._primitives)
        return Iterations(
            name=self.name,
            router=self._router,
            primitives=self._primitives,
            history=history if resumption is None else resumption.history,
            resumption=resumption,
            options=replace(given, instructions=given.instructions or self._instructions),
            cwd=cwd,
            max_iterations=self._max_iterations,
            strings=self._strings,
        ).events()
