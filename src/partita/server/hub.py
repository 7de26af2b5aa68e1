"""What all requests share, and what one request sees of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, TypeAlias

from litestar.di import NamedDependency

from partita.errors import NotFoundError
from partita.formats.format import ToolSpec
from partita.runtime.client_tools import server_tools
from partita.runtime.error_mask import mask_errors, sees_errors
from partita.runtime.principal import Principal
from partita.runtime.replay.provenances import Provenances
from partita.runtime.service import AgentService, Options
from partita.runtime.session.session import Session
from partita.store.facade.store import Store
from partita.types.json import JsonObject

from .access import EVERYTHING, Group
from .feed import Feed
from .observing.metrics import Metrics
from .observing.readiness import Readiness
from .problems import Problem
from .progress import ImportProgress
from .settings import Settings
from .worker_pool import WorkerPool

ROOT: Final = "partita.root"
"""Where the scope of a request says under which path the application is mounted."""


class Agents:
    """The agents that may be asked, by name; the first is asked when nobody is named."""

    def __init__(self, agents: dict[str, AgentService]) -> None:
        self.by_name = agents

    def get(self, name: str | None = None) -> AgentService:
        """The agent of a name, or the first."""
        if not self.by_name:
            raise Problem(501, "this server has no agent", hint="the server has to be started with one")
        if name is None:
            return next(iter(self.by_name.values()))
        if name not in self.by_name:
            raise NotFoundError(f"no agent {name!r}", hint=f"there are {', '.join(self.by_name)}")
        return self.by_name[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    """The store, the session that runs agents, the agents, and how to behave."""

    store: Store
    session: Session
    agents: Agents
    settings: Settings
    metrics: Metrics
    feed: Feed
    readiness: Readiness
    workers: WorkerPool
    published: frozenset[Group] = EVERYTHING
    """The groups of routes that the application has."""
    progress: ImportProgress = field(default_factory=ImportProgress)
    provenances: Provenances = field(default_factory=Provenances)


class CallerView:
    """One request's view of everything: what is another's does not exist in it."""

    def __init__(
        self, hub: Hub, principal: Principal, headers: Mapping[str, str] | None = None, root: str = ""
    ) -> None:
        """`headers` are those of the request, names in lower case; `root` is the path that the application is
        mounted under.
        """
        self.hub = hub
        self.principal = principal
        self.headers = headers or {}
        self.root = root

    @cached_property
    def store(self) -> Store:
        """The store, as far as the caller may see it."""
        owner = self.principal.resource_id
        store = self.hub.store if owner is None else self.hub.store.scoped(owner)
        return store if sees_errors(self.principal) else store.viewed(mask_errors)

    @cached_property
    def session(self) -> Session:
        """The session, for what the caller may see."""
        owner = self.principal.resource_id
        session = self.hub.session if owner is None else self.hub.session.scoped(owner)
        return session if sees_errors(self.principal) else session.with_masked_errors()

    @cached_property
    def server_tools(self) -> frozenset[str]:
        """Tools whose outputs the caller may not give: those that agents run here, unless it may write."""
        if self.principal.may("write"):
            return frozenset()
        return frozenset().union(*map(server_tools, self.hub.agents.by_name.values()))

    def acting_for(self, resource_id: str | None) -> "CallerView":
        """The same caller with the data of one resource, if that is allowed."""
        if not resource_id or resource_id == self.principal.resource_id:
            return self
        if self.principal.resource_id is not None:
            raise Problem(403, "this key is for another resource", hint="leave the resource out")
        principal = replace(self.principal, resource_id=resource_id)
        return CallerView(self.hub, principal, self.headers, self.root)

    def run_options(
        self,
        *,
        tools: Sequence[ToolSpec] = (),
        instructions: str | None = None,
        body: JsonObject | None = None,
    ) -> Options:
        """The options of a run that this request starts. `body` has the members that only the agent uses."""
        may = self.principal.may("write") or self.hub.settings.client_system
        if instructions is not None and not may:
            raise Problem(
                403,
                f"the role {self.principal.role!r} may not give the agent instructions",
                where="$.system",
                hint="leave `system` out; to allow it, start the server with asgi(…, client_system=True)",
            )
        return Options(
            tools=tuple(tools),
            instructions=instructions,
            owner=self.principal.resource_id,
            caller=self.principal,
            headers=self.headers,
            body=body or {},
            store=self.session.store,
        )


Caller: TypeAlias = NamedDependency[CallerView]
"""What a route asks for to know its caller."""
