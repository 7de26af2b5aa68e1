"""The guard: the checks that every request must pass, the cheapest first.

Starlette's `TrustedHostMiddleware` and `CORSMiddleware` do not replace it. A server without keys must also
refuse requests of foreign pages that need no CORS (forms, images, links) and of names that an attacker points
to 127.0.0.1, limit what is not read yet, and explain each refusal as problem details.
"""

import traceback
from collections.abc import Callable
from typing import Final

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from partita.errors import PartitaError
from partita.runtime.log_context import get_logger
from partita.runtime.principal import Principal
from partita.server.guard.addresses import Proxies, came_through_proxy
from partita.server.guard.auth import Authenticator
from partita.server.guard.bodies import checked_body
from partita.server.guard.origins import Headers, Hosts, Origins, is_preflight, preflight_headers
from partita.server.log_output import RateLimitedLog
from partita.server.page.files import is_web_file
from partita.server.problems import Problem, error_response
from partita.server.settings import Settings
from partita.store.ids import new_id
from partita.store.store import Store

from .head import Head, read_head
from .rates import Rates, counted_address

LOG: Final = get_logger("partita.server")
NO_SNIFFING: Final = (b"x-content-type-options", b"nosniff")

ANONYMOUS: Final = Principal(new_id(), "read")
"""The caller of a path that needs no authentication: a new one, which owns nothing."""

HEALTH: Final = frozenset({"/healthz", "/readyz"})
"""Paths for monitoring, which have no data: any host name may be used."""

PUBLIC: Final = HEALTH | {"/api/docs", "/api/openapi.json"}
"""Paths without data of users: a browser has no key when it opens the page in which a key is entered."""

METRICS: Final = "metrics"
"""The path of metrics. They count the requests of all users, so they need the role `admin` for all owners."""


class ResponseSender:
    """A `send` that adds headers to the response and knows whether the response has started."""

    __slots__ = ("_headers", "_send", "has_started")

    def __init__(self, send: Send, headers: Headers) -> None:
        self._send = send
        self._headers = (NO_SNIFFING, *headers)
        self.has_started = False

    async def __call__(self, event: Message) -> None:
        """Send the next message."""
        if not self.has_started and event["type"] == "http.response.start":
            self.has_started = True
            own = list(event.get("headers", ()))
            names = {name for name, _ in own} - {b"vary"}
            event = {**event, "headers": own + [one for one in self._headers if one[0] not in names]}
        await self._send(event)


class Guard:
    """Passes allowed requests on, with the caller in `scope["state"]["principal"]`. Others are refused."""

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        authenticate: Authenticator,
        store: Callable[[], Store] | None = None,
        *,
        dropped: Callable[[], None] = lambda: None,
        has_web_ui: bool = True,
    ) -> None:
        """`store` is where the processes that share it count requests together.

        `dropped` is called for every log line that is left out because there were too many.
        """
        self._app = app
        self._authenticate = authenticate
        self._has_web_ui = has_web_ui
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
        """Pass an HTTP request on, or refuse it."""
        headers: Headers = ()
        try:
            head = read_head(scope, self._limits)
            host = self._hosts.check(head.host, any_name=head.path in HEALTH)
            headers = self._origins.check(head, host, is_public=self._is_public(head))
            if is_preflight(head, headers):
                response = Response(status_code=204)
                response.raw_headers += [*headers, *preflight_headers(head)]
                await response(scope, receive, send)
                return
            principal = await self._principal(scope, head)
            body = await checked_body(head, receive, self._limits)
        except PartitaError as error:
            await send_refusal(error, headers, scope, receive, send)
            return
        if body is not None:
            state = {**scope.get("state", {}), "principal": principal}
            await self._pass({**scope, "state": state}, body, ResponseSender(send, headers))

    async def _pass(self, scope: Scope, receive: Receive, send: ResponseSender) -> None:
        """Pass a request on. A streamed body that turns out too large is refused if that is possible yet."""
        try:
            await self._app(scope, receive, send)
        except Problem as problem:
            if send.has_started:
                raise
            await send_refusal(problem, (), scope, receive, send)

    async def _principal(self, scope: Scope, head: Head) -> Principal:
        """The caller, if it is known and has not sent too many requests."""
        if head.path in HEALTH:
            return ANONYMOUS
        if self._is_public(head):
            if self._authenticate.is_open and not self._proxies.is_local(scope):
                raise _not_local(scope)
            return ANONYMOUS
        principal = await self._authenticated(scope)
        if self._rates is not None:
            await self._rates.take(self._counted_caller(principal, scope))
        if principal is None:
            address = self._proxies.client_of(scope)
            self._refused_logins.warning("login refused, from %s", counted_address(address) or "unknown")
            raise self._refusal(scope)
        metrics = head.path.strip("/") == METRICS
        if metrics and not (principal.may("admin") and principal.resource_id is None):
            raise Problem(
                403,
                "metrics need the role 'admin' for all owners",
                hint="send a key with that role that has no owner",
            )
        return principal

    def _is_public(self, head: Head) -> bool:
        """Whether a path has no data of users: the web UI, or the description of the API."""
        return head.path in PUBLIC or (self._has_web_ui and is_web_file(head.path))

    async def _authenticated(self, scope: Scope) -> Principal | None:
        try:
            return await self._authenticate(scope)
        except PartitaError:
            raise
        except Exception as error:  # a developer's function may raise anything
            raise authentication_error(error) from None

    def _counted_caller(self, principal: Principal | None, scope: Scope) -> str:
        """Whose requests are counted together: those of a key, of a resource, or of an address."""
        if principal is not None and principal.key_id is not None:
            return f"key {principal.key_id}"
        if principal is not None and principal.resource_id is not None:
            return f"resource {principal.resource_id}"
        return f"address {counted_address(self._proxies.client_of(scope))}"

    def _refusal(self, scope: Scope) -> Problem:
        """The refusal of an unknown caller. It is the same for a wrong key and for none."""
        if not self._authenticate.is_open:
            return _unauthorized("the caller is unknown", "send a valid key: Authorization: Bearer …")
        if not self._proxies.is_local(scope):
            return _not_local(scope)
        return _unauthorized(
            "the token is missing or wrong",
            "open the address that `partita serve` printed, or send its token: Authorization: Bearer …",
        )


def _not_local(scope: Scope) -> Problem:
    if came_through_proxy(scope):
        return Problem(
            403,
            "a proxy forwarded this request, and a server without keys is for this machine only",
            hint="use keys (asgi(keys=True), --keys) or users (asgi(user=…)); or, if only this machine can "
            "reach the proxy, asgi(trust_proxy=True)",
        )
    return Problem(
        403,
        "without keys, the server is for this machine only",
        hint="create a key with `partita keys create` and serve with --keys",
    )


def _unauthorized(what: str, hint: str) -> Problem:
    return Problem(401, what, hint=hint, headers={"www-authenticate": 'Bearer realm="partita"'})


async def send_refusal(
    error: PartitaError, headers: Headers, scope: Scope, receive: Receive, send: Send
) -> None:
    """Respond with problem details."""
    response = error_response(error, scope)
    response.raw_headers += [NO_SNIFFING, *headers]
    if scope["method"] == "HEAD":
        response.body = b""
    await response(scope, receive, send)


def authentication_error(error: Exception) -> Problem:
    """The problem for an error during authentication. The log has the traceback without the message, which
    may contain the credentials.
    """
    number = new_id()
    frames = "".join(traceback.format_tb(error.__traceback__))
    LOG.error("problem %s: %s during authentication\n%s", number, type(error).__name__, frames)
    return Problem(500, "internal error, not caused by your request", where=f"urn:uuid:{number}")
