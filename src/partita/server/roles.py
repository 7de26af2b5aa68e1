"""Who asks, what for, and which role that needs."""

from collections.abc import Mapping
from typing import Any, Final, cast

from litestar.connection import ASGIConnection, Request
from litestar.handlers import BaseRouteHandler

from .hub import CallerView
from .principal import Role
from .problems import Problem

CALLER: Final = "partita.caller"
"""Where the scope of a request keeps its caller."""

SLASH: Final = "\ue000"
"""What stands for a slash inside an id while the path is taken apart."""

READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})


def caller_of(connection: ASGIConnection[Any, Any, Any, Any]) -> CallerView:
    """Who asks, as the gate found out."""
    caller: CallerView = _scope(connection)[CALLER]
    return caller


def _scope(connection: ASGIConnection[Any, Any, Any, Any]) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", connection.scope)  # it has keys of ours


def provide_caller(request: Request[Any, Any, Any]) -> CallerView:
    """Who asks, for a route that wants to know."""
    return caller_of(request)


async def check_role(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Refuse who may not: reading needs `read`, all else `write`, unless the route says otherwise."""
    opt: Mapping[str, Any] = handler.opt
    needed: Role = opt.get("role") or ("read" if _scope(connection)["method"] in READING else "write")
    if not caller_of(connection).principal.may(needed):
        raise Problem(403, f"this key may not do that: it takes the role {needed!r}")


async def restore_slashes(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Give ids their slashes back, now that the path has been taken apart."""
    if SLASH in connection.scope["path"]:
        found: dict[str, Any] = _scope(connection)["path_params"]
        for name, value in found.items():
            if isinstance(value, str):  # a place in a list is a number
                found[name] = value.replace(SLASH, "/")
