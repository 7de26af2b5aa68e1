"""The caller of a request, as an argument of endpoints: the data it may see, and its permissions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Final, TypeAlias

from starlette.requests import Request

from partita.formats.format import ToolSpec
from partita.runtime.error_mask import mask_errors, sees_errors
from partita.runtime.principal import LOCAL, Permission, Principal, roles_with
from partita.runtime.service import InvokeOptions
from partita.runtime.session.session import Session
from partita.runtime.tools.tool import server_tools
from partita.store.sql.texts import storable
from partita.store.store import Store
from partita.types.json import JsonObject

from .app_state import AppState
from .endpoints import Depends, Query
from .problems import Problem

CALLER: Final = "partita.caller"
"""The key of the scope with the caller of a request. It is set once the request has passed the guard."""

ROOT: Final = "partita.root"
"""The key of the scope with the path under which the application is mounted."""

ResourceId: TypeAlias = Annotated[
    str | None,
    Query(
        name="resourceId",
        description="The owner of the data. Only for callers that may see all data; others see their own.",
    ),
]


class CallerView:
    """The caller of one request, and the store and session as it sees them: without data of other owners."""

    def __init__(
        self, state: AppState, principal: Principal, headers: Mapping[str, str] | None = None, root: str = ""
    ) -> None:
        """`headers` have names in lower case; `root` is the path under which the application is mounted."""
        self.state = state
        self.principal = principal
        self.headers = headers or {}
        self.root = root

    @cached_property
    def store(self) -> Store:
        """The store, limited to what the caller may see."""
        owner = self.principal.resource_id
        store = self.state.store if owner is None else self.state.store.scoped(owner)
        return store if sees_errors(self.principal) else store.with_view(mask_errors)

    @cached_property
    def session(self) -> Session:
        """The session, limited to what the caller may see."""
        owner = self.principal.resource_id
        session = self.state.session if owner is None else self.state.session.scoped(owner)
        return session if sees_errors(self.principal) else session.with_masked_errors()

    @cached_property
    def server_tools(self) -> frozenset[str]:
        """Tools whose outputs the caller may not send: those that agents run here, unless it may write."""
        if self.principal.may("write"):
            return frozenset()
        return frozenset().union(*map(server_tools, self.state.agents.by_name.values()))

    def acting_for(self, resource_id: str | None) -> "CallerView":
        """The same caller, limited to the data of one owner, if it may act for that owner."""
        if not resource_id or resource_id == self.principal.resource_id:
            return self
        if self.principal.resource_id is not None:
            raise Problem(403, "this key belongs to another owner", hint="leave resourceId out")
        principal = replace(self.principal, resource_id=resource_id)
        return CallerView(self.state, principal, self.headers, self.root)

    def run_options(
        self,
        *,
        tools: Sequence[ToolSpec] = (),
        instructions: str | None = None,
        body: JsonObject | None = None,
    ) -> InvokeOptions:
        """The options of a run that the request starts. `body` has the members that only the agent uses."""
        may_instruct = self.principal.may("write") or self.state.settings.client_system
        if instructions is not None and not may_instruct:
            raise Problem(
                403,
                f"the role {self.principal.role!r} may not send instructions for the agent",
                where="$.system",
                hint="leave `system` out; to allow it, start the server with asgi(…, client_system=True)",
            )
        return InvokeOptions(
            tools=tuple(tools),
            instructions=instructions,
            owner=self.principal.resource_id,
            caller=self.principal,
            headers=self.headers,
            body=body or {},
            store=self.session.store,
        )


def caller_of(request: Request) -> CallerView:
    """The caller of a request."""
    caller: CallerView = request.scope[CALLER]
    return caller


def acting_caller(request: Request, resource_id: ResourceId = None) -> CallerView:
    """The caller of a request, limited to the owner that `resourceId` names."""
    return caller_of(request).acting_for(storable(resource_id, "the resource id"))


Caller: TypeAlias = Annotated[CallerView, Depends(caller_of)]
"""An argument of an endpoint: the caller, with all data that it may see."""

ActingCaller: TypeAlias = Annotated[CallerView, Depends(acting_caller)]
"""An argument of an endpoint: the caller, which may act for an owner. It adds the parameter `resourceId`."""


def require(
    principal: Principal, permission: Permission, what: str, *, where: str = "", hint: str = ""
) -> None:
    """Refuse a caller without a permission. `what` is the refused action, as a verb and its object."""
    if not principal.may(permission):
        roles = " or ".join(repr(role) for role in roles_with(permission))
        raise Problem(
            403,
            f"the role {principal.role!r} may not {what}",
            where=where,
            hint=f"{hint}, or use the role {roles}" if hint else f"use the role {roles}",
        )


def require_local(principal: Principal, what: str) -> None:
    """Refuse every caller except the user of this machine: the caller of a server without keys and users."""
    if principal is not LOCAL:
        raise Problem(
            403,
            f"only the user of the server's machine may {what}",
            hint="use the web UI of `partita serve` on that machine, without --keys",
        )
