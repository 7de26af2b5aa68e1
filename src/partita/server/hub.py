"""What all requests share, and what one request sees of it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeAlias

from litestar.di import NamedDependency

from partita.errors import NotFoundError
from partita.runtime.replay.provenances import Provenances
from partita.runtime.service import AgentService
from partita.runtime.session.session import Session
from partita.store.facade.store import Store

from .feed import Feed
from .observing.metrics import Metrics
from .principal import Principal
from .problems import Problem
from .progress import ImportProgress
from .settings import Settings

ROOT: Final = "partita.root"
"""Where the scope of a request says under which path the application is mounted."""


class Agents:
    """The agents that may be asked, by name; the first is asked when nobody is named."""

    def __init__(self, agents: dict[str, AgentService]) -> None:
        self.by_name = agents

    def get(self, name: str | None = None) -> AgentService:
        """The agent of a name, or the first."""
        if not self.by_name:
            raise Problem(501, "this server has no agent", hint="start it with one: asgi(agent), --agent")
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
    progress: ImportProgress = field(default_factory=ImportProgress)
    provenances: Provenances = field(default_factory=Provenances)


class CallerView:
    """One request's view of everything: what is another's does not exist in it."""

    def __init__(self, hub: Hub, principal: Principal, root: str = "", host: str = "") -> None:
        """`root` is the path that the application is mounted under, `host` the name it is reached by."""
        self.hub = hub
        self.principal = principal
        self.root = root
        self.host = host

    @cached_property
    def store(self) -> Store:
        """The store, as far as the caller may see it."""
        owner = self.principal.resource_id
        return self.hub.store if owner is None else self.hub.store.scoped(owner)

    @cached_property
    def session(self) -> Session:
        """The session, for what the caller may see."""
        owner = self.principal.resource_id
        return self.hub.session if owner is None else self.hub.session.scoped(owner)

    def acting_for(self, resource_id: str | None) -> "CallerView":
        """The same caller with the data of one resource, if that is allowed."""
        if not resource_id or resource_id == self.principal.resource_id:
            return self
        if self.principal.resource_id is not None:
            raise Problem(403, "this key is for another resource", hint="leave the resource out")
        principal = Principal(resource_id, self.principal.role, key_id=self.principal.key_id)
        return CallerView(self.hub, principal, self.root, self.host)


Caller: TypeAlias = NamedDependency[CallerView]
"""What a route asks for to know its caller."""
