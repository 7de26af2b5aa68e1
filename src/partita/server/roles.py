"""The caller of a request, and the permission that a route needs."""

from typing import Any, Final, cast

from litestar.connection import Request
from litestar.exceptions import NotFoundException
from litestar.types import ASGIApp
from litestar.types import Receive as LitestarReceive
from litestar.types import Scope as LitestarScope
from litestar.types import Send as LitestarSend

from partita.runtime.principal import Permission, Principal, roles_with

from .access import is_published, permission_of
from .hub import CallerView
from .plain import Scope
from .problems import Problem

CALLER: Final = "partita.caller"
"""Where the scope of a request keeps its caller."""

SLASH: Final = "\ue000"
"""What stands for a slash inside an id while the path is taken apart."""


def caller_of(request: Request[Any, Any, Any]) -> CallerView:
    """Who asks, as the gate found out."""
    caller: CallerView = cast("Scope", request.scope)[CALLER]  # a key of ours
    return caller


def admit(app: ASGIApp) -> ASGIApp:
    """A middleware inside the routes: it checks permissions, and gives ids their slashes back."""

    async def admitting(scope: LitestarScope, receive: LitestarReceive, send: LitestarSend) -> None:
        found = cast("Scope", scope)
        _check_permission(found)
        if SLASH in found["path"]:
            _restore_slashes(found["path_params"])
        await app(scope, receive, send)

    return admitting


def require(
    principal: Principal, permission: Permission, what: str, *, where: str = "", hint: str = ""
) -> None:
    """Refuse a caller without a permission. `what` says what is refused, as a verb and its object."""
    if not principal.may(permission):
        roles = " or ".join(repr(role) for role in roles_with(permission))
        raise Problem(
            403,
            f"the role {principal.role!r} may not {what}",
            where=where,
            hint=f"{hint}, or use the role {roles}" if hint else f"use the role {roles}",
        )


def _check_permission(scope: Scope) -> None:
    """Refuse a route that is not published, and a caller without the permission that it needs."""
    caller: CallerView = scope[CALLER]
    method, path = scope["method"], scope["path_template"]
    if not is_published(method, path, caller.hub.published):
        raise NotFoundException
    needed = permission_of(method, path)
    if needed is not None:
        require(caller.principal, needed, f"{method} {path}")


def _restore_slashes(found: dict[str, Any]) -> None:
    """Give ids their slashes back, now that the path has been taken apart."""
    for name, value in found.items():
        if isinstance(value, str):  # a place in a list is a number
            found[name] = value.replace(SLASH, "/")
