"""An agent: a model, instructions and tools, over a store. It is itself a service, so agents hold agents."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from partita.errors import AgentError
from partita.runtime.client_tools import SUPPORT
from partita.runtime.folding import ending_in
from partita.runtime.registry import get_agent
from partita.runtime.service import AgentService, Options, Prompt
from partita.runtime.session.approvals import Answer
from partita.runtime.session.session import Session
from partita.runtime.session.turn import Input
from partita.runtime.tools.running import ToolRunner
from partita.runtime.tools.tool import Tool
from partita.runtime.tools.toolset import Toolset
from partita.store.facade.store import Store
from partita.store.ids import new_id
from partita.store.memory import MemoryStore
from partita.store.turns import Busy
from partita.types.chunks import Chunk
from partita.types.events import AgentStreamEvent
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, UserMessage
from partita.types.runs import Run

from .loop import Loop, Setup
from .memory import stream_turn

MAX_STEPS: Final = 20


class Agent:
    """Answers with a model, and runs the tools that the model calls.

    agent = Agent("anthropic:claude-sonnet-4-5", tools=[get_weather], store=store)
    async for chunk in agent.stream("thread-1", "What is the weather in Bergen?"): ...
    """

    def __init__(
        self,
        model: str | AgentService,
        *,
        tools: Iterable[Tool | Callable[..., Any]] = (),
        store: Store | MemoryStore | None = None,
        session: Session | None = None,
        instructions: str | None = None,
        name: str = "agent",
        max_steps: int = MAX_STEPS,
        settings: JsonObject | None = None,
        runner: ToolRunner | None = None,
    ) -> None:
        """`model` is a service or its name, such as `openai:gpt-5`; `max_steps` bounds its answers in a turn.

        `settings` go to the model in its own names. With a `session`, runs are shared with whoever uses it.
        With a `MemoryStore` that is not a `Store`, `stream` and `run` work without a session: a turn stops
        when its reader stops, no other client can follow it, and two turns at once are not prevented.
        """
        if max_steps < 1:
            raise AgentError(f"max_steps is {max_steps}", hint="give at least 1")
        service = get_agent(model) if isinstance(model, str) else model
        self._setup = Setup(
            name=name,
            model=service,
            tools=Toolset(tools),
            runner=runner or ToolRunner(),
            max_steps=max_steps,
            store=session.store if session is not None else store if isinstance(store, Store) else None,
        )
        if self._setup.tools and not self.supports_client_tools:
            raise AgentError(
                f"{service.name} has tools of its own and takes no others",
                hint="leave `tools` out, or use a model of a provider",
            )
        self._memory = None if session is not None or isinstance(store, Store) else store
        self._instructions = instructions
        self._settings = settings or {}
        self._session = session

    @property
    def name(self) -> str:
        """What the agent is called."""
        return self._setup.name

    @property
    def model(self) -> str | None:
        """The model that answers, if its service has a name for it."""
        known: object = getattr(self._setup.model, "model", None)
        return known if isinstance(known, str) else None

    @property
    def tools(self) -> Toolset:
        """What it can call."""
        return self._setup.tools

    @property
    def supports_client_tools(self) -> bool:
        """Whether tools can come with a request: unless the model takes none at all."""
        return bool(getattr(self._setup.model, SUPPORT, True))

    @property
    def session(self) -> Session:
        """The session that runs this agent's turns; made when it is first needed."""
        if self._session is None:
            if self._memory is not None:
                raise AgentError(
                    f"the store of agent {self.name!r} has no runs",
                    hint="use stream() or run(), or a `Store`",
                )
            if self._setup.store is None:
                raise AgentError(
                    f"agent {self.name!r} has no store", hint="Agent(…, store=await open_store(URL))"
                )
            self._session = Session(self._setup.store)
        return self._session

    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: Options | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """The events of one answer, tools and all. Nothing is stored: that is what `stream` does."""
        history = [UserMessage(id=new_id(), content=prompt)] if isinstance(prompt, str) else prompt
        return Loop(self._setup, history, self._own(options or Options()), cwd).events()

    def _own(self, options: Options) -> Options:
        return replace(
            options,
            instructions=options.instructions or self._instructions,
            settings={**self._settings, **options.settings},
        )

    async def start(
        self,
        thread_id: str,
        input: Input = None,
        *,
        after: str | None = None,
        busy: Busy = "refuse",
        options: Options | None = None,
        resource_id: str | None = None,
    ) -> Run:
        """Begin a turn and return: it goes on by itself. Without input, the thread is gone on with."""
        return await self.session.start(
            self, thread_id, input, after=after, busy=busy, options=options, resource_id=resource_id
        )

    async def stream(
        self,
        thread_id: str,
        input: Input = None,
        *,
        after: str | None = None,
        busy: Busy = "refuse",
        options: Options | None = None,
        resource_id: str | None = None,
    ) -> AsyncGenerator[Chunk, None]:
        """Begin a turn and give its chunks, each once it is stored. To stop reading does not stop it.

        With a `MemoryStore`, messages are stored after each step, and to stop reading stops the turn.
        """
        if self._memory is not None:
            turn = self._remembered(thread_id, input, after, busy, options, resource_id)
            async with aclosing(turn) as chunks:
                async for chunk in chunks:
                    yield chunk
            return
        run = await self.start(
            thread_id, input, after=after, busy=busy, options=options, resource_id=resource_id
        )
        async for seen in self.session.follow(run.id):
            for one in seen:
                yield one.chunk

    async def run(self, thread_id: str, input: Input = None, **how: Any) -> AssistantMessage:
        """Do a turn and return its message. A run that did not complete raises an `AgentError`.

        The error has the run's id and status. What was produced until then is stored as the run's message.
        """
        if self._memory is not None:
            return await self._run_remembered(thread_id, input, **how)
        run = await self.session.wait((await self.start(thread_id, input, **how)).id)
        if run.status != "completed":
            raise AgentError(
                f"the run ended as {run.status}" + (f": {run.error}" if run.error else ""),
                where=f"run {run.id}",
                hint=f"what it produced is message {run.message_id!r} of thread {thread_id!r}",
                run_id=run.id,
                status=run.status,
            )
        message = await self.session.store.get_message(thread_id, run.message_id or "")
        if not isinstance(message, AssistantMessage) or message.run_id != run.id:
            raise AgentError(
                f"run {run.id!r} left no message",
                hint="read its log with store.read_log",
                run_id=run.id,
                status=run.status,
            )
        return message

    def _remembered(
        self,
        thread_id: str,
        input: Input = None,
        after: str | None = None,
        busy: Busy = "refuse",
        options: Options | None = None,
        resource_id: str | None = None,
    ) -> AsyncGenerator[Chunk, None]:
        """A turn over a `MemoryStore`."""
        assert self._memory is not None, "only with a memory store"
        if after is not None or busy != "refuse":
            raise AgentError(
                "a memory store has no branches and no runs", hint="leave out `after` and `busy`"
            )
        return stream_turn(self, self._memory, thread_id, input, options, resource_id)

    async def _run_remembered(self, thread_id: str, input: Input, **how: Any) -> AssistantMessage:
        async with aclosing(self._remembered(thread_id, input, **how)) as chunks:
            async for _ in chunks:
                pass
        assert self._memory is not None, "only with a memory store"
        last = [*await self._memory.list_messages(thread_id, limit=1, order="desc")]
        if not last or not isinstance(last[0], AssistantMessage):
            raise AgentError(f"the turn left no message in thread {thread_id!r}", hint="look at its messages")
        ended = ending_in(last[0])
        if ended is not None:
            raise AgentError(
                f"the turn ended as {ended.get('status')}: {ended.get('reason')}",
                where=f"thread {thread_id}",
                hint=f"what it produced is message {last[0].id!r}",
                status=str(ended.get("status")),
            )
        return last[0]

    async def answer(self, thread_id: str, answer: Answer) -> None:
        """Allow or refuse a call that asked. `stream(thread_id)` then goes on with it."""
        await self.session.answer(thread_id, answer)
