"""The user of this machine: everyone who can connect to its loopback interface, or who also has a token."""

import hashlib
import hmac
from http.cookies import CookieError, SimpleCookie
from typing import Final

from partita.runtime.principal import LOCAL, Principal
from partita.server.plain import Scope

from .addresses import Proxies
from .keys import shown_key

COOKIE: Final = "partita-token-"
"""How the name of the cookie with the token begins. The port follows: a host has one set of cookies."""

MONTH: Final = 30 * 24 * 60 * 60


class Loopback:
    """No keys: only this machine is served, and it may do anything. With a token, only who has it."""

    is_open = True

    def __init__(self, proxies: Proxies | None = None) -> None:
        self._proxies = proxies or Proxies()
        self.token: str | None = None
        """What callers must send; `None` for nothing. Other users of this machine do not know it."""

    async def __call__(self, scope: Scope) -> Principal | None:
        """The user of this machine; `None` for a caller elsewhere, or without the token."""
        return LOCAL if self._proxies.is_local(scope) and self._has_token(scope) else None

    def _has_token(self, scope: Scope) -> bool:
        if self.token is None:
            return True
        return any(self.is_token(shown) for shown in (shown_key(scope["headers"]), _cookie(scope)))

    def is_token(self, text: str) -> bool:
        """Whether a text is the token. It takes equally long for every text."""
        if self.token is None:
            return False
        shown, expected = (hashlib.sha256(one.encode()).digest() for one in (text, self.token))
        return hmac.compare_digest(shown, expected)


def cookie_with(token: str, scope: Scope) -> str:
    """The value of `Set-Cookie` that makes a browser send the token with its next requests."""
    kept = f"Max-Age={MONTH}; Path=/; HttpOnly; SameSite=Strict"
    return f"{_cookie_name(scope)}={token}; {kept}"


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
