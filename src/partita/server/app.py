"""`asgi`: the server as an ASGI application, to serve directly or to mount in another application."""

import asyncio
import os
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import cache
from typing import Any, Final, Literal, TypeAlias, cast
from urllib.parse import parse_qsl, unquote, urlencode

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from partita.errors import AgentError
from partita.runtime.adapters.as_agent import as_agent
from partita.runtime.budgets import Budgets
from partita.runtime.failures import OnError
from partita.runtime.log_context import get_logger
from partita.runtime.principal import Principal
from partita.runtime.retention import DailyRetention
from partita.runtime.service import AgentService
from partita.runtime.session.session import Session
from partita.store.connection import open_store
from partita.store.store import Store
from partita.stream.targets import Target

from .access import EVERYTHING, Group, check_known, groups_of
from .app_state import Agents, AppState, LogSealer, Readiness
from .callers import CALLER, ROOT, CallerView
from .feed import Feed, ImportProgress
from .guard.addresses import Proxies
from .guard.auth import Authenticator, KeyAuth, LoopbackAuth, UserAuth, UserFunction, cookie_with, headers_of
from .guard.guard import Guard
from .log_import import LogImport
from .log_output import RequestIds
from .metrics import MeasuredRequests, Metrics
from .page.files import is_web_file, send_web_file
from .routes.registry import ROUTES
from .routing import SLASH, Router
from .settings import Limits, Settings
from .tracing import TracedAgent, TracedRequests
from .worker_pool import WorkerPool

LOG: Final = get_logger("partita.server")

SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
TOKEN: Final = "token"
"""The query parameter of the web UI's address that holds the token."""

AgentLike: TypeAlias = Any
"""An agent service, the name of one, a function, or an agent of another framework: see `as_agent`."""


class PartitaApp:
    """An ASGI application. If you mount it, pass its `lifespan` on; otherwise it opens at the first request.

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
        published: frozenset[Group] = EVERYTHING,
    ) -> None:
        self.settings = settings
        self.published = published
        """The groups of routes that it publishes."""
        self.authenticates = user is not None or keys
        """Whether callers are authenticated: only then may it be reachable from other machines."""
        self.metrics = Metrics()
        self._agents = Agents({name: TracedAgent(agent) for name, agent in agents.items()})
        self._store = store
        self._open = AsyncExitStack()
        self._opening = asyncio.Lock()
        self.state: AppState | None = None
        """The state while the application is open."""
        self._loopback = LoopbackAuth(Proxies(settings.trust_proxy))
        self._router = _router()
        guard = Guard(
            self._respond,
            settings,
            self._authenticator(user, keys),
            lambda: self.opened().store,
            dropped=self.metrics.drop_log_line,
            has_web_ui="page" in published,
        )
        self._guard = RequestIds(MeasuredRequests(TracedRequests(guard), self.metrics))

    def _authenticator(self, user: UserFunction | None, keys: bool) -> Authenticator:
        if user is not None:
            return UserAuth(user, Proxies(self.settings.trust_proxy))
        return KeyAuth(lambda: self.opened().store) if keys else self._loopback

    def require_token(self, token: str) -> None:
        """Serve only callers that send this token. For an application that serves this machine only.

        They send it as `Authorization: Bearer …`. A browser opens `/?token=…` and receives a cookie.
        """
        assert not self.authenticates, "its callers have keys, or are users"
        self._loopback.token = token

    def token_cookie(self, scope: Scope) -> Response | None:
        """Exchange the token in the web UI's address for a cookie, and redirect to it without the token."""
        query = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        tokens = [value for name, value in query if name == TOKEN]
        if len(tokens) != 1 or not self._loopback.is_token(tokens[0]):
            return None
        remaining = urlencode([pair for pair in query if pair[0] != TOKEN])
        headers = {
            "location": f"./?{remaining}" if remaining else "./",
            "set-cookie": cookie_with(tokens[0], scope),
            "cache-control": "no-store",
            "referrer-policy": "no-referrer",
        }
        return Response(status_code=303, headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request, or handle the lifespan events of a server."""
        if scope["type"] == "lifespan":
            await self._handle_lifespan(receive, send)
        elif scope["type"] == "http":
            if self.state is None:
                await self.open()
            await self._guard(_without_root(scope), receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008, "reason": "there are no web sockets here"})

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request that has passed the guard: with a file of the web UI, or by a route."""
        if "page" in self.published and is_web_file(scope["path"]) and scope["method"] in SAFE_METHODS:
            redirect = self.token_cookie(scope)
            if redirect is None:
                await send_web_file(scope, send)
            else:
                await redirect(scope, receive, send)
            return
        principal: Principal = scope["state"]["principal"]
        caller = CallerView(self.opened(), principal, headers_of(scope), scope.get(ROOT, ""))
        await self._router({**scope, CALLER: caller}, receive, send)

    @asynccontextmanager
    async def lifespan(self, _: object = None) -> AsyncGenerator[None, None]:
        """Open the application while the block runs: for `FastAPI(lifespan=…)` and similar arguments."""
        await self.open()
        try:
            yield
        finally:
            await self.close()

    async def open(self) -> None:
        """Open the store and the session. Further calls do nothing."""
        async with self._opening:
            if self.state is not None:
                return
            async with AsyncExitStack() as stack:
                store = self._store
                if not isinstance(store, Store):
                    store = await stack.enter_async_context(open_store(store))
                session = Session(
                    store,
                    lease=self.settings.lease,
                    budgets=self.settings.budgets,
                    on_run_change=self.metrics.count_run,
                    on_error=self.settings.on_error,
                )
                await stack.enter_async_context(session)
                await stack.enter_async_context(LogSealer(store, self.settings.seal_after))
                await stack.enter_async_context(DailyRetention(store, self.settings.retention))
                progress = ImportProgress()
                log_import = await stack.enter_async_context(LogImport(store, progress))
                self._open = stack.pop_all()
            workers = WorkerPool(self.settings.limits)
            self.metrics.observe(store, session, workers)
            self.state = AppState(
                store=store,
                session=session,
                agents=self._agents,
                settings=self.settings,
                metrics=self.metrics,
                feed=Feed(store),
                published=self.published,
                readiness=Readiness(store),
                workers=workers,
                progress=progress,
                log_import=log_import,
            )

    async def close(self) -> None:
        """Stop the runs of this process, and close what `open` has opened."""
        if self.state is not None:
            LOG.info("closing")
            self.state.feed.close()
        was_open, self.state = self.state is not None, None
        await self._open.aclose()
        if was_open:
            LOG.info("closed")

    def opened(self) -> AppState:
        """The state of the open application."""
        assert self.state is not None, "it is opened before the first request"
        return self.state

    async def _handle_lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await self.open()
        except Exception as error:  # the server prints it and stops
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.close()
        await send({"type": "lifespan.shutdown.complete"})


def _without_root(scope: Scope) -> Scope:
    """The scope without the path under which the application is mounted. Slashes in ids are replaced."""
    root, path, raw = scope.get("root_path", ""), scope["path"], scope.get("raw_path") or b""
    if b"%2f" in raw.lower():
        path = unquote(raw.decode("latin-1").replace("%2f", SLASH).replace("%2F", SLASH))
    path = path.removeprefix(root) if root else path
    if path[:1] != "/" and "://" not in path:
        path = f"/{path}"  # some frameworks remove the slash, too
    if path == scope["path"] and not root:
        return scope
    return {**scope, "path": path, "raw_path": None, "root_path": "", ROOT: root}


@cache
def _router() -> Router:
    """The routes of all applications. The state of an application comes with each request."""
    router = Router(ROUTES)
    check_known(router.routes())
    return router


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
    trust_proxy: bool | Collection[str] = False,
    cwds: tuple[str, ...] | list[str] = (),
    client_system: bool = False,
    limits: Limits | None = None,
    budgets: Budgets | None = None,
    routes: Collection[Group] | Literal["all"] | None = None,
    page: bool | None = None,
    on_error: OnError | None = None,
    settings: Settings | None = None,
    deps: Any = None,
    context: Any = None,
    config: Any = None,
) -> PartitaApp:
    """The server for an agent, or for several by name, over a store (or its URL).

    Without `user` and `keys`, only this machine is served. `user` is your function that returns the id of the
    user who sent a request, a `Principal`, or `None`. With `keys`, callers send a key created by
    `partita keys create`. `cwds` are the folders in which a request may let its agent work. With
    `client_system`, callers with the role `chat` may send instructions for the agent. `budgets` limit what
    runs may use. `deps`, `context` and `config` are passed to the agent: see `as_agent`.

    Without `user` and `keys`, a request that a proxy forwarded is refused. `trust_proxy` lists the networks
    of proxies whose `X-Forwarded-For` gives the address of the client, or is `True` for any proxy that
    connects; that client must then be on this machine.

    `routes` are the groups of routes to publish, or `all`; every other route is a 404. The default with
    `user` or `keys` is `CHAT_APP`: the chat, and the history of its users. `page` adds the web UI to them, or
    leaves it out.

    End users (role `chat`) do not see the text of exceptions, but a reference to the log. `on_error`, a
    function of the exception and the `AgentRequest`, may return another text for them.
    """
    base = settings or Settings()
    full = replace(
        base,
        client=base.client if settings and client == 7 else Target.parse(str(client)),
        origins=tuple(origins) or base.origins,
        hosts=tuple(hosts) or base.hosts,
        credentials=credentials or base.credentials,
        cwds=tuple(cwds) or base.cwds,
        trust_proxy=base.trust_proxy if trust_proxy is False else _trusted(trust_proxy),
        client_system=client_system or base.client_system,
        limits=limits or base.limits,
        budgets=budgets or base.budgets,
        on_error=on_error or base.on_error,
    )
    values = {"deps": deps, "context": context, "config": config}
    groups = groups_of(routes, page, has_users=user is not None or keys)
    return PartitaApp(_named(agents, values), store, full, user, keys, groups)


def _trusted(trust_proxy: bool | Collection[str]) -> bool | tuple[str, ...]:
    return trust_proxy if isinstance(trust_proxy, bool) else tuple(trust_proxy)


def _named(
    agents: AgentLike | Mapping[str, AgentLike] | None, values: Mapping[str, Any]
) -> dict[str, AgentService]:
    """The agents by name. `values`, which are set per request, are for a single agent."""
    if agents is None or isinstance(agents, Mapping):
        used = [name for name, value in values.items() if value is not None]
        if used:
            raise AgentError(
                f"`{used[0]}` is for one agent", hint=f"asgi({{name: as_agent(agent, {used[0]}=…)}})"
            )
        named = cast("Mapping[str, AgentLike]", agents or {})
        return {name: as_agent(agent) for name, agent in named.items()}
    agent = as_agent(agents, **values)
    return {agent.name: agent}
