"""`asgi`: the server as a plain ASGI application, to serve as it is or to mount in another one."""

import asyncio
import os
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import cache
from typing import Any, Final, Literal, TypeAlias, cast
from urllib.parse import parse_qsl, unquote, urlencode

from litestar import Litestar
from litestar.di import Provide
from litestar.exceptions import NotFoundException
from litestar.routes import HTTPRoute

from partita.errors import AgentError
from partita.runtime.budgets import Budgets
from partita.runtime.failures import OnError
from partita.runtime.log_context import get_logger
from partita.runtime.plugged.as_agent import as_agent
from partita.runtime.principal import Principal
from partita.runtime.service import AgentService
from partita.runtime.session.session import Session
from partita.store.facade.store import Store
from partita.store.opening import open_store
from partita.stream.targets import Target

from .access import EVERYTHING, Group, check_known, groups_of
from .auth.addresses import Proxies
from .auth.authenticator import Authenticator
from .auth.keys import KeyAuth
from .auth.loopback import Loopback, cookie_with
from .auth.user import UserAuth, UserFunction, headers_of
from .feed import Feed
from .gate.gate import Gate
from .hub import ROOT, Agents, CallerView, Hub
from .log_sealer import LogSealer
from .observing.agents import WatchedAgent
from .observing.measuring import Measured, note_route
from .observing.metrics import Metrics
from .observing.readiness import Readiness
from .observing.request_ids import RequestIds
from .observing.requests import TracedRequests
from .observing.tracing import traced
from .openapi.config import openapi_config
from .page.serving import is_page, send_page
from .plain import App, Receive, Scope, Send
from .problems import answer_error
from .roles import CALLER, SLASH, admit, caller_of
from .routes.all import ROUTES
from .routes.parameters import ExactRequest
from .settings import Limits, Settings
from .unknown_paths import answer_unknown_path
from .worker_pool import WorkerPool

LOG: Final = get_logger("partita.server")

LOOKING: Final = frozenset({"GET", "HEAD"})
TOKEN: Final = "token"
"""The parameter of the page's address that holds the token."""

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
        published: frozenset[Group] = EVERYTHING,
    ) -> None:
        self.settings = settings
        self.published = published
        """The groups of routes that there are."""
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
        self._loopback = Loopback(Proxies(settings.trust_proxy))
        inner = _Inner(self, cast("App", _litestar()))
        gate = Gate(
            inner,
            settings,
            self._authenticator(user, keys),
            lambda: self.opened().store,
            dropped=self.metrics.drop_log_line,
            has_page="page" in published,
        )
        self._gate = RequestIds(Measured(TracedRequests(gate), self.metrics))

    def _authenticator(self, user: UserFunction | None, keys: bool) -> Authenticator:
        if user is not None:
            return UserAuth(user, Proxies(self.settings.trust_proxy))
        return KeyAuth(lambda: self.opened().store) if keys else self._loopback

    def require_token(self, token: str) -> None:
        """Serve only callers that send this token: of an application that serves this machine alone.

        They send it as `Authorization: Bearer …`. A browser opens `/?token=…`, and receives a cookie.
        """
        assert not self.authenticates, "callers have keys, or are users"
        self._loopback.token = token

    async def send_token_cookie(self, scope: Scope, send: Send) -> bool:
        """Exchange the token in the address of the page for a cookie, and take it out of the address."""
        query = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        shown = [value for name, value in query if name == TOKEN]
        if len(shown) != 1 or not self._loopback.is_token(shown[0]):
            return False
        rest = urlencode([pair for pair in query if pair[0] != TOKEN])
        headers = {
            "location": f"./?{rest}" if rest else "./",
            "set-cookie": cookie_with(shown[0], scope),
            "cache-control": "no-store",
            "referrer-policy": "no-referrer",
            "content-length": "0",
        }
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": 303, "headers": raw})
        await send({"type": "http.response.body", "body": b""})
        return True

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
                session = Session(
                    store,
                    lease=self.settings.lease,
                    budgets=self.settings.budgets,
                    watch=self.metrics.count_run,
                    on_error=self.settings.on_error,
                )
                await stack.enter_async_context(session)
                await stack.enter_async_context(LogSealer(store, self.settings.seal_after))
                self._open = stack.pop_all()
            workers = WorkerPool(self.settings.limits)
            self.metrics.observe(store, session, workers)
            self.hub = Hub(
                store=store,
                session=session,
                agents=self._agents,
                settings=self.settings,
                metrics=self.metrics,
                feed=Feed(store),
                published=self.published,
                readiness=Readiness(store),
                workers=workers,
            )

    async def close(self) -> None:
        """Stop the runs at work here, and close what `open` opened."""
        if self.hub is not None:
            LOG.info("closing")
            self.hub.feed.close()
        was_open, self.hub = self.hub is not None, None
        await self._open.aclose()
        if was_open:
            LOG.info("closed")

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
        if "page" in self._app.published and is_page(scope["path"]) and scope["method"] in LOOKING:
            if not await self._app.send_token_cookie(scope, send):
                await send_page(scope, send)
            return
        principal: Principal = scope["state"]["principal"]
        caller = CallerView(self._app.opened(), principal, headers_of(scope), scope.get(ROOT, ""))
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
    app = Litestar(
        ROUTES,
        dependencies={"caller": Provide(caller_of, sync_to_thread=False)},
        middleware=[note_route, admit],
        request_class=ExactRequest,
        exception_handlers={NotFoundException: answer_unknown_path, Exception: answer_error},
        openapi_config=openapi_config(),
        request_max_body_size=None,  # the gate counts
        logging_config=None,
    )
    check_known(
        (str(method), route.path_format)
        for route in app.routes
        if isinstance(route, HTTPRoute)
        for method in route.route_handler_map
    )
    return app


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

    Without `user` and `keys` only this machine is served. `user` is a function of yours that returns the id
    of the user who sent a request, a `Principal`, or `None`; with `keys`, callers send a key made by
    `partita keys create`. `cwds` are the folders in which a request may let its agent work. With
    `client_system`, callers with the role `chat` may send instructions for the agent. `budgets` limit what
    runs may use. `deps`, `context` and `config` are given to the agent: see `as_agent`.

    Without `user` and `keys`, a request that a proxy passed on is refused. `trust_proxy` names the networks
    of proxies whose `X-Forwarded-For` gives the address of the client, or is `True` for any proxy that
    connects; that client must then be of this machine.

    `routes` are the groups of routes to publish, or `all`; every other route is a 404. By default, with
    `user` or `keys`, those are `CHAT_APP`: the chat, and the history of its users. `page` adds the web page
    to them, or leaves it out.

    End users, whose role is `chat`, do not see the text of exceptions, but a reference to the log;
    `on_error`, a function of the exception and the `AgentRequest`, may return another text for them.
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
    """The agents by name. Values that are given per request are for a single agent."""
    if agents is None or isinstance(agents, Mapping):
        given = [name for name, value in values.items() if value is not None]
        if given:
            raise AgentError(
                f"`{given[0]}` is for one agent", hint=f"asgi({{name: as_agent(agent, {given[0]}=…)}})"
            )
        named = cast("Mapping[str, AgentLike]", agents or {})
        return {name: as_agent(agent) for name, agent in named.items()}
    agent = as_agent(agents, **values)
    return {agent.name: agent}
