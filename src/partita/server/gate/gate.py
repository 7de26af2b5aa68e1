"""The gate: what a request has to pass before anything is done for it. The cheapest question comes first."""

from collections.abc import Callable
from typing import Final

from partita.errors import PartitaError
from partita.runtime.principal import Principal
from partita.server.auth.addresses import Proxies, came_through_proxy
from partita.server.auth.authenticator import Authenticator
from partita.server.log_rates import RateLimitedLog
from partita.server.page.serving import is_page
from partita.server.plain import App, Receive, Scope, Send
from partita.server.problems import Problem
from partita.server.settings import Settings
from partita.store.facade.store import Store
from partita.store.ids import new_id

from .bodies import taken
from .head import Head, read_head
from .hosts import Hosts
from .origins import Headers, Origins, is_preflight, preflight_headers
from .rates import Rates, place_of
from .refusals import LOG, Answer, refuse, unexpected

ANYONE: Final = Principal(new_id(), "read")
"""Who asks where nobody is asked who it is: somebody new, who owns nothing."""

FOR_ANYONE: Final = frozenset({"/healthz", "/readyz"})
"""What tells nothing but that the server is there, to whoever looks after it, by whatever name."""

UNASKED: Final = FOR_ANYONE | {"/api/docs", "/api/openapi.json"}
"""What tells nothing of anybody: a browser has no key when it opens the page that asks for one."""

METRICS: Final = "metrics"
"""They count the requests of all users: for the role `admin` of every resource."""


class Gate:
    """Lets requests pass that may, with who asks in `scope["state"]["principal"]`; refuses all others."""

    def __init__(
        self,
        app: App,
        settings: Settings,
        authenticate: Authenticator,
        store: Callable[[], Store] | None = None,
        *,
        dropped: Callable[[], None] = lambda: None,
        has_page: bool = True,
    ) -> None:
        """`store` is where the processes that share it count requests together.

        `dropped` is called for every log line that is left out because there were too many.
        """
        self._app = app
        self._authenticate = authenticate
        self._has_page = has_page
        self._proxies = Proxies(settings.trust_proxy)
        self._limits = settings.limits
        self._hosts = Hosts(settings.hosts, is_open=authenticate.is_open)
        self._origins = Origins(
            settings.origins, credentials=settings.credentials, is_open=authenticate.is_open
        )
        self._refused_logins = RateLimitedLog(LOG, dropped)
        per_minute = settings.limits.requests_per_minute
        self._rates = None if per_minute is None else Rates(per_minute, store)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or refuse it."""
        if scope["type"] == "http":
            await self._check(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": "there are no web sockets here"})
        else:
            await self._app(scope, receive, send)

    async def _check(self, scope: Scope, receive: Receive, send: Send) -> None:
        head: Head | None = None
        headers: Headers = ()
        try:
            head = read_head(scope, self._limits)
            asked = self._hosts.check(head.host, any_name=head.path in FOR_ANYONE)
            headers = self._origins.check(head, asked, is_page=self._is_page(head))
            if is_preflight(head, headers):
                await _answer(send, [*headers, *preflight_headers(head)])
                return
            principal = await self._principal(scope, head)
            body = await taken(head, receive, self._limits)
        except PartitaError as error:
            await refuse(send, error, headers, path=scope["path"], head=head)
            return
        if body is not None:
            state = {**scope.get("state", {}), "principal": principal}
            await self._pass({**scope, "state": state}, body, Answer(send, headers), head)

    async def _pass(self, scope: Scope, receive: Receive, answer: Answer, head: Head) -> None:
        """Hand a request on. A body that turns out too large in the middle is refused if that can be said."""
        try:
            await self._app(scope, receive, answer)
        except Problem as problem:
            if answer.begun:
                raise
            await refuse(answer, problem, (), path=head.path, head=head)

    async def _principal(self, scope: Scope, head: Head) -> Principal:
        """The caller, if it may send requests, and not too many."""
        if head.path in FOR_ANYONE:
            return ANYONE
        if self._is_page(head):
            if self._authenticate.is_open and not self._proxies.is_local(scope):
                raise _not_here(scope)
            return ANYONE
        principal = await self._known(scope)
        if self._rates is not None:
            await self._rates.take(self._counted(principal, scope))
        if principal is None:
            address = self._proxies.client_of(scope)
            self._refused_logins.warning("login refused, from %s", place_of(address) or "unknown")
            raise self._unknown(scope)
        metrics = head.path.strip("/") == METRICS
        if metrics and not (principal.may("admin") and principal.resource_id is None):
            raise Problem(
                403,
                "the role 'admin' for every resource is needed for this",
                hint="send a key with that role that belongs to no resource",
            )
        return principal

    def _is_page(self, head: Head) -> bool:
        """Whether a request is for something that holds no data: the page, or the description of the API."""
        return head.path in UNASKED or (self._has_page and is_page(head.path))

    async def _known(self, scope: Scope) -> Principal | None:
        try:
            return await self._authenticate(scope)
        except PartitaError:
            raise
        except Exception as error:  # of a developer's function, which may raise anything
            raise unexpected(error) from None

    def _counted(self, principal: Principal | None, scope: Scope) -> str:
        """Whose requests are counted together: of a key, of a resource, else of an address."""
        if principal is not None and principal.key_id is not None:
            return f"key {principal.key_id}"
        if principal is not None and principal.resource_id is not None:
            return f"resource {principal.resource_id}"
        return f"address {place_of(self._proxies.client_of(scope))}"

    def _unknown(self, scope: Scope) -> Problem:
        """Why an unknown caller is refused. For all with a wrong key or none it is the same."""
        if not self._authenticate.is_open:
            return _no_key("who asks is not known", "send a valid key: Authorization: Bearer …")
        if not self._proxies.is_local(scope):
            return _not_here(scope)
        return _no_key(
            "the token is missing or wrong",
            "open the address that `partita serve` printed, or send its token: Authorization: Bearer …",
        )


def _not_here(scope: Scope) -> Problem:
    if came_through_proxy(scope):
        return Problem(
            403,
            "a proxy passed this request on, and a server without keys is for this machine alone",
            hint="use keys (asgi(keys=True), --keys) or users (asgi(user=…)); or, if only this machine can "
            "reach the proxy, asgi(trust_proxy=True)",
        )
    return Problem(
        403,
        "without keys, the server is for this machine alone",
        hint="make a key with `partita keys create` and serve with --keys",
    )


def _no_key(what: str, hint: str) -> Problem:
    return Problem(401, what, hint=hint, headers={"www-authenticate": 'Bearer realm="partita"'})


async def _answer(send: Send, headers: Headers) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": list(headers)})
    await send({"type": "http.response.body", "body": b""})
