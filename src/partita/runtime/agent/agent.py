"""`Agent`: a model, instructions and tools, over a store. It is a service too, so agents can use agents."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypedDict, Unpack

from partita.errors import AgentError
from partita.runtime.registry import get_agent
from partita.runtime.service import AgentService, InvokeOptions, Prompt, prompt_messages
from partita.runtime.session.client_replies import ApprovalResponse
from partita.runtime.session.session import Session
from partita.runtime.session.turn import Input
from partita.runtime.tools.runner import ToolRunner
from partita.runtime.tools.tool import SUPPORT, Tool, Toolset
from partita.store.memory import MemoryStore
from partita.store.runs.turns import Busy
from partita.store.store import Store
from partita.types.chunks import AgentStreamEvent, Chunk
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, ending_in
from partita.types.threads import Run

from .loop import Loop, Setup
from .memory import stream_turn


class TurnOptions(TypedDict, total=False):
    """Options of a turn; see `Session.start`."""

    after: str | None
    busy: Busy
    options: InvokeOptions | None
    resource_id: str | None


class StoredAgent:
    """An agent that runs turns of threads in a session, over a store."""

    name: str

    def __init__(self, store: Store | None, session: Session | None) -> None:
        self._store = store
        self._session = session

    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """The events of one response. Nothing is stored: `stream` does that."""
        raise NotImplementedError

    @property
    def session(self) -> Session:
        """The session that runs this agent's turns; created when it is first needed."""
        if self._session is None:
            if self._store is None:
                hint = f"{type(self).__name__}(…, store=await open_store(URL))"
                raise AgentError(f"agent {self.name!r} has no store", hint=hint)
            self._session = Session(self._store)
        return self._session

    async def start(self, thread_id: str, input: Input = None, **turn: Unpack[TurnOptions]) -> Run:
        """Start a turn and return; it continues by itself. Without input, the thread is continued."""
        return await self.session.start(self, thread_id, input, **turn)

    async def stream(
        self, thread_id: str, input: Input = None, **turn: Unpack[TurnOptions]
    ) -> AsyncGenerator[Chunk, None]:
        """Start a turn and yield its chunks, each once it is stored. A reader that stops does not stop it."""
        run = await self.start(thread_id, input, **turn)
        async for chunks in self.session.follow(run.id):
            for chunk in chunks:
                yield chunk.chunk

    async def run(self, thread_id: str, input: Input = None, **turn: Unpack[TurnOptions]) -> AssistantMessage:
        """Do a turn and return its message. A run that did not complete raises an `AgentError`.

        The error has the run's id and status. What was produced until then is stored as the run's message.
        """
        run = await self.session.wait((await self.start(thread_id, input, **turn)).id)
        if run.status != "completed":
            raise AgentError(
                f"the run ended as {run.status}" + (f": {run.error}" if run.error else ""),
                where=f"run {run.id}",
                hint=f"its output so far is message {run.message_id!r} of thread {thread_id!r}",
                run_id=run.id,
                status=run.status,
            )
        message = await self.session.store.messages.get(thread_id, run.message_id or "")
        if not isinstance(message, AssistantMessage) or message.run_id != run.id:
            raise AgentError(
                f"run {run.id!r} has no message",
                hint="read its log with store.logs.read",
                run_id=run.id,
                status=run.status,
            )
        return message

    async def add_approval_response(self, thread_id: str, response: ApprovalResponse) -> None:
        """Approve or deny a call that needs approval. `stream(thread_id)` then continues the turn."""
        await self.session.add_approval_response(thread_id, response)


MAX_STEPS: Final = 20


class Agent(StoredAgent):
    """Calls a model, and runs the tools that the model calls.

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
        """`model` is a service or its name, such as `openai:gpt-5`; `max_steps` limits its calls in a turn.

        `settings` are passed to the model. With a `session`, its other users see the runs too. With a
        `MemoryStore` that is not a `Store`, `stream` and `run` work without a session: a turn stops when its
        reader stops, no other client can follow it, and two turns at once are not prevented.
        """
        if max_steps < 1:
            raise AgentError(f"max_steps is {max_steps}", hint="give at least 1")
        full_store = session.store if session is not None else store if isinstance(store, Store) else None
        super().__init__(full_store, session)
        self.name = name
        self._model = get_agent(model) if isinstance(model, str) else model
        self._setup = Setup(
            name=name,
            model=self._model,
            tools=Toolset(tools),
            runner=runner or ToolRunner(),
            max_steps=max_steps,
            store=full_store,
        )
        if self.tools and not self.supports_client_tools:
            raise AgentError(
                f"{self._model.name} has tools of its own and accepts no others",
                hint="leave `tools` out, or use a model of a provider",
            )
        self._memory = None if session is not None or isinstance(store, Store) else store
        self._instructions = instructions
        self._settings = settings or {}

    @property
    def model(self) -> str | None:
        """The name of the model, if its service has one."""
        known: object = getattr(self._model, "model", None)
        return known if isinstance(known, str) else None

    @property
    def tools(self) -> Toolset:
        """The tools of the agent."""
        return self._setup.tools

    @property
    def supports_client_tools(self) -> bool:
        """Whether requests may have tools: unless the model accepts none."""
        return bool(getattr(self._model, SUPPORT, True))

    @property
    def session(self) -> Session:
        """The session that runs this agent's turns; created when it is first needed."""
        if self._session is None and self._memory is not None:
            hint = "use stream() or run(), or a `Store`"
            raise AgentError(f"the store of agent {self.name!r} has no runs", hint=hint)
        return super().session

    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """The events of one response, with all its tool calls. Nothing is stored: `stream` does that."""
        given = options or InvokeOptions()
        combined = replace(
            given,
            instructions=given.instructions or self._instructions,
            settings={**self._settings, **given.settings},
        )
        return Loop(self._setup, prompt_messages(prompt), combined, cwd).events()

    async def stream(
        self, thread_id: str, input: Input = None, **turn: Unpack[TurnOptions]
    ) -> AsyncGenerator[Chunk, None]:
        """Start a turn and yield its chunks, each once it is stored. A reader that stops does not stop it.

        With a `MemoryStore`, messages are stored after each step, and a reader that stops stops the turn.
        """
        started = (
            super().stream(thread_id, input, **turn)
            if self._memory is None
            else self._stream_in_memory(self._memory, thread_id, input, **turn)
        )
        async with aclosing(started) as chunks:
            async for chunk in chunks:
                yield chunk

    async def run(self, thread_id: str, input: Input = None, **turn: Unpack[TurnOptions]) -> AssistantMessage:
        """Do a turn and return its message. A run that did not complete raises an `AgentError`.

        The error has the run's id and status. What was produced until then is stored as the run's message.
        """
        if self._memory is None:
            return await super().run(thread_id, input, **turn)
        async with aclosing(self._stream_in_memory(self._memory, thread_id, input, **turn)) as chunks:
            async for _ in chunks:
                pass
        last = [*await self._memory.list_messages(thread_id, limit=1, order="desc")]
        if not last or not isinstance(last[0], AssistantMessage):
            raise AgentError(f"the turn added no message to thread {thread_id!r}", hint="read its messages")
        ended = ending_in(last[0].content)
        if ended is not None:
            raise AgentError(
                f"the turn ended as {ended.get('status')}: {ended.get('reason')}",
                where=f"thread {thread_id}",
                hint=f"its output so far is message {last[0].id!r}",
                status=str(ended.get("status")),
            )
        return last[0]

    def _stream_in_memory(
        self, store: MemoryStore, thread_id: str, input: Input, **turn: Unpack[TurnOptions]
    ) -> AsyncGenerator[Chunk, None]:
        if turn.get("after") is not None or turn.get("busy", "refuse") != "refuse":
            raise AgentError(
                "a memory store has no branches and no runs", hint="leave out `after` and `busy`"
            )
        return stream_turn(self, store, thread_id, input, turn.get("options"), turn.get("resource_id"))
