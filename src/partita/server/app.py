"""`asgi`: the server as a plain ASGI application, to serve as it is or to mount in another one."""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import cache
from typing import Any, Final, TypeAlias, cast
from urllib.parse import unquote

from litestar import Litestar
from litestar.di import Provide

from partita.runtime.plugged.as_agent import as_agent
from partita.runtime.service import AgentService
from partita.runtime.session.session import Session
from partita.store.facade.store import Store
from partita.store.opening import open_store
from partita.stream.targets import Target

from .auth.authenticator import Authenticator
from .auth.keys import KeyAuth
from .auth.loopback import Loopback
from .auth.user import UserAuth, UserFunction
from .feed import Feed
from .gate.gate import Gate
from .hub import ROOT, Agents, CallerView, Hub
from .log_sealer import LogSealer
from .observing.agents import WatchedAgent
from .observing.measuring import Measured, note_route
from .observing.metrics import Metrics
from .observing.requests import TracedRequests
from .observing.tracing import traced
from .openapi.config import openapi_config
from .page.serving import is_page, send_page
from .plain import App, Receive, Scope, Send
from .principal import Principal
from .problems import answer_error
from .roles import CALLER, SLASH, admit, caller_of
from .routes.all import ROUTES
from .settings import Limits, Settings

LOOKING: Final = frozenset({"GET", "HEAD"})

AgentLike: TypeAlias = Any
"""A service, the name of one, a function that answers, an agent of another framework: see `as_agent`."""


class PartitaApp:
    """An ASGI application. Mounted in another one, give that one its `lifespan`, or it opens when asked.

    app = FastAPI(lifespan=chat.lifespan)
    app.mount("/", chat)
    """

    def __init__(
        self,
        agents: Mapping[str, AgentService],
        store: str | os.PathLike[str] | Store | None,
        settings: Settings,
        user: UserFunction | None,
        keys: bool,
    ) -> None:
        self.settings = settings
        self.authenticates = user is not None or keys
        """Whether it asks who somebody is: only then may others than this machine reach it."""
        self.metrics = Metrics()
        watchers = (traced,)
        self._agents = Agents({name: WatchedAgent(agent, watchers) for name, agent in agents.items()})
        self._store = store
        self._open = AsyncExitStack()
        self._opening = asyncio.Lock()
        self.hub: Hub | None = None
        """Store and session, while the application is open."""
        inner = _Inner(self, cast("App", _litestar()))
        gate = Gate(inner, settings, self._authenticator(user, keys))
        self._gate = Measured(TracedRequests(gate), self.metrics)

    def _authenticator(self, user: UserFunction | None, keys: bool) -> Authenticator:
        if user is not None:
            return UserAuth(user)
        return KeyAuth(lambda: self.opened().store) if keys else Loopback()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or take part in the lifespan of a server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            if self.hub is None:
                await self.open()
            await self._gate(_below(scope), receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008, "reason": "there are no web sockets here"})

    @asynccontextmanager
    async def lifespan(self, _: object = None) -> AsyncGenerator[None, None]:
        """Open while the block lasts: what `FastAPI(lifespan=…)` and its likes ask for."""
        await self.open()
        try:
            yield
        finally:
            await self.close()

    async def open(self) -> None:
        """Open the store and begin to look after runs. Done again it changes nothing."""
        async with self._opening:
            if self.hub is not None:
                return
            async with AsyncExitStack() as stack:
                given = self._store
                store = (
                    given if isinstance(given, Store) else await stack.enter_async_context(open_store(given))
                )
                session = Session(store, lease=self.settings.lease, watch=self.metrics.count_run)
                await stack.enter_async_context(session)
                await stack.enter_async_context(LogSealer(store, self.settings.seal_after))
                self._open = stack.pop_all()
            self.hub = Hub(
                store=store,
                session=session,
                agents=self._agents,
                settings=self.settings,
                metrics=self.metrics,
                feed=Feed(store),
            )

    async def close(self) -> None:
        """Stop the runs at work here, and close what `open` opened."""
        if self.hub is not None:
            self.hub.feed.close()
        self.hub = None
        await self._open.aclose()

    def opened(self) -> Hub:
        """What is open."""
        assert self.hub is not None, "opened before the first request"
        return self.hub

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await self.open()
        except Exception as error:  # the server prints it, and stops
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.close()
        await send({"type": "lifespan.shutdown.complete"})


class _Inner:
    """What is behind the gate: a request that may pass, with its caller."""

    def __init__(self, app: PartitaApp, routes: App) -> None:
        self._app = app
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if is_page(scope["path"]) and scope["method"] in LOOKING:
            await send_page(scope, send)
            return
        principal: Principal = scope["state"]["principal"]
        host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
        caller = CallerView(self._app.opened(), principal, scope.get(ROOT, ""), host)
        await self._routes({**scope, CALLER: caller}, receive, send)


def _below(scope: Scope) -> Scope:
    """The scope without the path that the application is mounted under; a slash in an id stays one."""
    root, path, raw = scope.get("root_path", ""), scope["path"], scope.get("raw_path") or b""
    if b"%2f" in raw.lower():
        path = unquote(raw.decode("latin-1").replace("%2f", SLASH).replace("%2F", SLASH))
    below = path.removeprefix(root) if root else path
    if below[:1] != "/" and "://" not in below:
        below = f"/{below}"  # some take the slash away, too
    if below == scope["path"] and not root:
        return scope
    return {**scope, "path": below, "raw_path": None, "root_path": "", ROOT: root}


@cache
def _litestar() -> Litestar:
    """The routes, for all applications: whatever belongs to one comes with each request."""
    return Litestar(
        ROUTES,
        dependencies={"caller": Provide(caller_of, sync_to_thread=False)},
        middleware=[note_route, admit],
        exception_handlers={Exception: answer_error},
        openapi_config=openapi_config(),
        request_max_body_size=None,  # the gate counts
        logging_config=None,
    )


def asgi(
    agents: AgentLike | Mapping[str, AgentLike] | None = None,
    *,
    store: str | os.PathLike[str] | Store | None = None,
    user: UserFunction | None = None,
    keys: bool = False,
    client: str | int = 7,
    origins: tuple[str, ...] | list[str] = (),
    hosts: tuple[str, ...] | list[str] = (),
    credentials: bool = False,
    cwds: tuple[str, ...] | list[str] = (),
    limits: Limits | None = None,
    settings: Settings | None = None,
) -> PartitaApp:
    """The server for an agent, or for several by name, over a store (or its URL).

    Without `user` and `keys` only this machine may ask. `user` is a function of yours that says whose
    request it is, or `None`; with `keys`, callers show a key made by `partita keys create`. `cwds` are the
    folders in which a request may let its agent work.
    """
    base = settings or Settings()
    full = replace(
        base,
        client=base.client if settings and client == 7 else Target.parse(str(client)),
        origins=tuple(origins) or base.origins,
        hosts=tuple(hosts) or base.hosts,
        credentials=credentials or base.credentials,
        cwds=tuple(cwds) or base.cwds,
        limits=limits or base.limits,
    )
    return PartitaApp(_named(agents), store, full, user, keys)


def _named(agents: AgentLike | Mapping[str, AgentLike] | None) -> dict[str, AgentService]:
    if agents is None:
        return {}
    if isinstance(agents, Mapping):
        named = cast("Mapping[str, AgentLike]", agents)
        return {name: as_agent(agent) for name, agent in named.items()}
    agent = as_agent(agents)
    return {agent.name: agent}
