"""Who asks, what for, and which role that needs."""

from collections.abc import Mapping
from typing import Any, Final, cast

from litestar.connection import Request
from litestar.types import ASGIApp
from litestar.types import Receive as LitestarReceive
from litestar.types import Scope as LitestarScope
from litestar.types import Send as LitestarSend

from partita.runtime.principal import Role

from .hub import CallerView
from .plain import Scope
from .problems import Problem

CALLER: Final = "partita.caller"
"""Where the scope of a request keeps its caller."""

SLASH: Final = "\ue000"
"""What stands for a slash inside an id while the path is taken apart."""

READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})


def caller_of(request: Request[Any, Any, Any]) -> CallerView:
    """Who asks, as the gate found out."""
    caller: CallerView = cast("Scope", request.scope)[CALLER]  # a key of ours
    return caller


def admit(app: ASGIApp) -> ASGIApp:
    """A middleware inside the routes: it refuses who may not, and gives ids their slashes back."""

    async def admitting(scope: LitestarScope, receive: LitestarReceive, send: LitestarSend) -> None:
        found = cast("Scope", scope)
        _check_role(found)
        if SLASH in found["path"]:
            _restore_slashes(found["path_params"])
        await app(scope, receive, send)

    return admitting


def role_for(opt: Mapping[str, Any], method: str) -> Role:
    """The role a route takes: reading needs `read`, all else `write`, unless the route says otherwise."""
    role: Role = opt.get("role") or ("read" if method in READING else "write")
    return role


def _check_role(scope: Scope) -> None:
    """Refuse who may not."""
    needed = role_for(scope["route_handler"].opt, scope["method"])
    caller: CallerView = scope[CALLER]
    if not caller.principal.may(needed):
        raise Problem(
            403,
            f"this key may not do that: it takes the role {needed!r}",
            hint=f"make one that may: partita keys create --role {needed}",
        )


def _restore_slashes(found: dict[str, Any]) -> None:
    """Give ids their slashes back, now that the path has been taken apart."""
    for name, value in found.items():
        if isinstance(value, str):  # a place in a list is a number
            found[name] = value.replace(SLASH, "/")
