"""A developer's own function says who asks."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import parse_qsl

from partita.runtime.principal import Principal
from partita.server.plain import Scope
from partita.server.problems import Problem

from .addresses import Proxies


@dataclass(frozen=True, slots=True)
class Connection:
    """What a request says of itself before its body."""

    headers: Mapping[str, str] = field(repr=False)  # they may hold secrets
    """By name, in small letters; what was sent more than once is joined by commas (cookies by `;`)."""
    query: Mapping[str, str] = field(repr=False)
    """What follows the `?`; of what was sent more than once, the last."""
    path: str
    client: str
    """The address of the client; empty when that is not known."""
    scope: Mapping[str, Any] = field(repr=False)
    """All of it, as ASGI has it."""


Said: TypeAlias = str | Principal | None
UserFunction: TypeAlias = Callable[[Connection], Said | Awaitable[Said]]
"""Returns the id of the user who sent a request, who then has the role `chat`; a `Principal` for another
role, or with claims; `None` for a caller that is not known.

A function that waits for something should be `async`: all other requests wait while it works.
"""


class UserAuth:
    """Asks a function."""

    is_open = False

    def __init__(self, function: UserFunction, proxies: Proxies | None = None) -> None:
        self._function = function
        self._proxies = proxies or Proxies()

    async def __call__(self, scope: Scope) -> Principal | None:
        """Who asks; `None` for nobody the function knows."""
        said: Any = self._function(connection_of(scope, self._proxies))
        who: Any = await said if inspect.isawaitable(said) else said
        if isinstance(who, Principal):
            return who
        if isinstance(who, str):
            return Principal(who) if who else None
        if who is None:
            return None
        raise Problem(
            500,
            f"the function that says who asks gave {type(who).__name__}",
            hint="give the id of a resource as str, a Principal, or None",
        )


def headers_of(scope: Scope) -> dict[str, str]:
    """The headers of a request, names in lower case; repeated ones are joined."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        between = "; " if key == "cookie" else ", "
        headers[key] = headers[key] + between + text if key in headers else text
    return headers


def connection_of(scope: Scope, proxies: Proxies | None = None) -> Connection:
    """The head of a request. The client's address is what trusted proxies say it is."""
    headers = headers_of(scope)
    query = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True))
    return Connection(headers, query, scope["path"], (proxies or Proxies()).client_of(scope), scope)
