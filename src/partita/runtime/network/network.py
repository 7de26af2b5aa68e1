"""A network: a router chooses an agent, a workflow or a tool, with its reason, until the task is done.

Every choice is a message of its own that says what was chosen, why, and what came of it. The router's own
turns are internal: stored, and not shown. All of it streams live, in the same form as it is stored.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from partita.errors import AgentError
from partita.runtime.client_tools import SUPPORT, check_client_tools
from partita.runtime.registry import get_agent
from partita.runtime.service import AgentService, Options, Prompt
from partita.runtime.session.session import Session
from partita.runtime.session.turn import Input
from partita.runtime.tools.running import ToolRunner
from partita.runtime.tools.tool import Tool, as_tool
from partita.store.facade.store import Store
from partita.store.ids import new_id
from partita.types.chunks import Chunk
from partita.types.events import AgentStreamEvent
from partita.types.messages import UserMessage
from partita.types.runs import Run

from .iterations import Iterations
from .primitives import AgentPrimitive, FunctionPrimitive, Primitive, primitive_of
from .router_view import resumption_of

MAX_ITERATIONS: Final = 10


class Network:
    """A router, and what it can choose from. It is itself a service: networks hold networks."""

    reads_internal = True
    """A task that continues needs the turns of its router, which are internal messages."""

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
        """`agents` by the names the router calls them; workflows and tools are functions.

        With `strings`, every choice is also written as the JSON string that older readers expect, in the
        content of its message.
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
        self.name = name
        self.description = description or f"the network {name}"
        self._router = get_agent(router) if isinstance(router, str) else router
        self._primitives: dict[tuple[str, str], Primitive] = {
            (one.described.primitive_type, one.described.id): one for one in listed
        }
        self._instructions = instructions
        self._max_iterations = max_iterations
        self._strings = strings
        self._store = store
        self._session = session

    @property
    def supports_client_tools(self) -> bool:
        """Whether all its agents take tools that come with a request."""
        agents = [one.agent for one in self._primitives.values() if isinstance(one, AgentPrimitive)]
        return bool(agents) and all(getattr(agent, SUPPORT, False) for agent in agents)

    @property
    def session(self) -> Session:
        """The session that runs this network's turns; made when it is first needed."""
        if self._session is None:
            if self._store is None:
                raise AgentError(
                    f"network {self.name!r} has no store", hint="Network(…, store=await open_store(URL))"
                )
            self._session = Session(self._store)
        return self._session

    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: Options | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """All that happens until the task is done. Nothing is stored: that is what `stream` does."""
        history = [UserMessage(id=new_id(), content=prompt)] if isinstance(prompt, str) else prompt
        own = options or Options()
        check_client_tools(self, own.tools)
        resumption = resumption_of(history, own.message_id, self._primitives)
        return Iterations(
            name=self.name,
            router=self._router,
            primitives=self._primitives,
            history=history if resumption is None else resumption.history,
            resumption=resumption,
            options=replace(own, instructions=own.instructions or self._instructions),
            cwd=cwd,
            max_iterations=self._max_iterations,
            strings=self._strings,
        ).events()

    async def start(self, thread_id: str, input: Input = None, **how: Any) -> Run:
        """Begin a turn and return: it goes on by itself."""
        return await self.session.start(self, thread_id, input, **how)

    async def stream(self, thread_id: str, input: Input = None, **how: Any) -> AsyncGenerator[Chunk, None]:
        """Begin a turn and give its chunks, each once it is stored."""
        run = await self.start(thread_id, input, **how)
        async for seen in self.session.follow(run.id):
            for one in seen:
                yield one.chunk
