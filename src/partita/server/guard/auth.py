"""Authentication: by keys of the store, by a function of the developer, or by being on this machine."""

import hashlib
import hmac
import inspect
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final, NamedTuple, Protocol, TypeAlias
from urllib.parse import parse_qsl

from starlette.types import Scope

from partita.runtime.principal import LOCAL, Principal
from partita.server.guard.addresses import Proxies
from partita.server.problems import Problem
from partita.store.store import Store


class Authenticator(Protocol):
    """Finds the caller of a request. A refusal should take equally long, whatever the reason."""

    @property
    def is_open(self) -> bool:
        """Whether callers on this machine need no key. Then requests of web pages are checked strictly."""
        ...

    async def __call__(self, scope: Scope) -> Principal | None:
        """The caller; `None` if it is unknown."""
        ...


# Keys of the store: `Authorization: Bearer pk_…`, or `x-api-key`.

CACHE_SECONDS: Final = 1.5
"""Seconds for which a valid key is cached, and so stays valid after it was revoked."""

MAX_CACHED: Final = 4096
"""How many keys are cached."""

MAX_KEY_LENGTH: Final = 128
BEARER: Final = "bearer "


class CachedKey(NamedTuple):
    """The caller of a valid key, and until when that is cached."""

    principal: Principal
    until: float


class KeyAuth:
    """Finds callers by keys in the store. Missing, wrong, expired and revoked keys are all looked up."""

    is_open = False

    def __init__(self, store: Callable[[], Store], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self.known: dict[bytes, CachedKey] = {}  # by hash, so that no secret stays in memory

    async def __call__(self, scope: Scope) -> Principal | None:
        """The caller; `None` without a valid key."""
        text = key_in(scope["headers"])
        digest = hashlib.sha256(text.encode()).digest()
        now = self._clock()
        known = self.known.get(digest)
        if known is not None and now < known.until:
            return known.principal
        self.known.pop(digest, None)
        key = await self._store().keys.check(text)
        if key is None:
            return None
        principal = Principal(key.resource_id, key.role, key_id=key.id)
        while len(self.known) >= MAX_CACHED:
            del self.known[next(iter(self.known))]  # the one that was looked up first
        self.known[digest] = CachedKey(principal, now + CACHE_SECONDS)
        return principal


def key_in(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The key of a request; empty if it has none, or several."""
    bearers: list[str] = []
    api_keys: list[str] = []
    for name, value in headers:
        if name == b"authorization":
            text = value.decode("latin-1")
            if text[: len(BEARER)].lower() == BEARER:
                bearers.append(text[len(BEARER) :].strip())
        elif name == b"x-api-key":
            api_keys.append(value.decode("latin-1").strip())
    found = bearers or api_keys
    return found[0] if len(found) == 1 and len(found[0]) <= MAX_KEY_LENGTH else ""


# The user of this machine: anyone who can connect to its loopback interface and has the token, if one is set.

COOKIE: Final = "partita-token-"
"""The name of the cookie with the token, without the port: all ports of a host share its cookies."""

COOKIE_SECONDS: Final = 30 * 24 * 60 * 60


class LoopbackAuth:
    """No keys: only callers on this machine are served, with all permissions. They may need a token."""

    is_open = True

    def __init__(self, proxies: Proxies | None = None) -> None:
        self._proxies = proxies or Proxies()
        self.token: str | None = None
        """The token that callers must send, if any. Other users of this machine do not know it."""

    async def __call__(self, scope: Scope) -> Principal | None:
        """The user of this machine; `None` for a caller on another machine, or without the token."""
        return LOCAL if self._proxies.is_local(scope) and self._has_token(scope) else None

    def _has_token(self, scope: Scope) -> bool:
        if self.token is None:
            return True
        return any(self.is_token(text) for text in (key_in(scope["headers"]), _cookie(scope)))

    def is_token(self, text: str) -> bool:
        """Whether a text is the token. It takes equally long for every text."""
        if self.token is None:
            return False
        actual, expected = (hashlib.sha256(one.encode()).digest() for one in (text, self.token))
        return hmac.compare_digest(actual, expected)


def cookie_with(token: str, scope: Scope) -> str:
    """The value of `Set-Cookie` that makes a browser send the token with its next requests."""
    attributes = f"Max-Age={COOKIE_SECONDS}; Path=/; HttpOnly; SameSite=Strict"
    return f"{_cookie_name(scope)}={token}; {attributes}"


def _cookie_name(scope: Scope) -> str:
    return f"{COOKIE}{scope['server'][1]}"


def _cookie(scope: Scope) -> str:
    cookies: SimpleCookie = SimpleCookie()
    for name, value in scope["headers"]:
        if name == b"cookie":
            try:
                cookies.load(value.decode("latin-1"))
            except CookieError:
                return ""
    found = cookies.get(_cookie_name(scope))
    return "" if found is None else found.value


@dataclass(frozen=True, slots=True)
class Connection:
    """A request without its body, for the function `user`."""

    headers: Mapping[str, str] = field(repr=False)  # they may hold secrets
    """By name, in lower case. Repeated headers are joined by commas (cookies by `;`)."""
    query: Mapping[str, str] = field(repr=False)
    """The parameters of the query string. Of repeated ones, the last."""
    path: str
    client: str
    """The address of the client; empty if it is unknown."""
    scope: Mapping[str, Any] = field(repr=False)
    """The ASGI scope."""


User: TypeAlias = str | Principal | None
UserFunction: TypeAlias = Callable[[Connection], User | Awaitable[User]]
"""Returns the id of the user who sent a request, with the role `chat`; a `Principal` for another role or for
claims; `None` for an unknown caller.

A function that waits for I/O should be `async`: otherwise it blocks all other requests.
"""


class UserAuth:
    """Finds callers by a function of the developer."""

    is_open = False

    def __init__(self, function: UserFunction, proxies: Proxies | None = None) -> None:
        self._function = function
        self._proxies = proxies or Proxies()

    async def __call__(self, scope: Scope) -> Principal | None:
        """The caller; `None` if the function does not know it."""
        result: Any = self._function(connection_of(scope, self._proxies))
        user: Any = await result if inspect.isawaitable(result) else result
        if isinstance(user, Principal):
            return user
        if isinstance(user, str):
            return Principal(user) if user else None
        if user is None:
            return None
        raise Problem(
            500,
            f"the function `user` returned {type(user).__name__}",
            hint="return the id of the user as str, a Principal, or None",
        )


def headers_of(scope: Scope) -> dict[str, str]:
    """The headers of a request, names in lower case; repeated ones are joined."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        separator = "; " if key == "cookie" else ", "
        headers[key] = headers[key] + separator + text if key in headers else text
    return headers


def connection_of(scope: Scope, proxies: Proxies | None = None) -> Connection:
    """A request without its body. Trusted proxies determine the client's address."""
    headers = headers_of(scope)
    query = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True))
    return Connection(headers, query, scope["path"], (proxies or Proxies()).client_of(scope), scope)
