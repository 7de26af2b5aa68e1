"""A store with several owners: alice, who has data of every kind, and others."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from partita.server.app import PartitaApp, asgi
from partita.server.routing import Router
from partita.server.settings import Settings
from partita.store.connection import open_store
from partita.store.ids import new_id
from partita.store.store import Store
from partita.store.values import KeyRole
from partita.types.messages import UserMessage
from tests.server.clients.agents import ApprovalAgent, PausingAgent
from tests.server.conftest import HERE, scripted, text_part
from tests.store.empty_store import empty_store

SECRET = "marmalade"
"""A word that occurs in all data of alice."""

ELSEWHERE = ("192.0.2.7", 5000)
"""An address of another machine."""

LOG_ENTRIES = {"quick": 10, "asking": 4, "held": 5}
"""The number of entries in the logs of her runs once they have ended or wait."""

TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
OWNER_CONDITIONS = {"log_tail": "run IN (SELECT key FROM runs WHERE owner = ?)"}
"""The condition for rows of an owner, for tables without an owner column."""

Ids = Mapping[str, str]


class Route(NamedTuple):
    """A method and a path template."""

    method: str
    path: str

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass
class MultiTenantServer:
    """An application with keys, and the data of alice in its store."""

    app: PartitaApp
    store: Store
    file: Path
    alice_ids: list[Ids] = field(default_factory=list[Ids])
    """The ids of her data, for a run that has ended, one that waits for approval, and an active one."""

    async def key(self, resource_id: str | None = None, role: KeyRole = "write") -> str:
        """The text of a new key."""
        return (await self.store.keys.create(resource_id, role)).text

    async def revoked_key(self) -> str:
        """A revoked key."""
        made = await self.store.keys.create("alice", "admin")
        await self.store.keys.revoke(made.key.id)
        return made.text

    async def expired_key(self) -> str:
        """An expired key."""
        now = self.store.clock
        self.store.clock = lambda: datetime.now(UTC) - timedelta(days=2)
        made = await self.store.keys.create(
            "alice", "admin", expires_at=datetime.now(UTC) - timedelta(days=1)
        )
        self.store.clock = now
        return made.text

    def rows(self, owner: str = "alice") -> dict[str, list[tuple[Any, ...]]]:
        """All rows of an owner in all tables, except the leases of runs."""
        found: dict[str, list[tuple[Any, ...]]] = {}
        with closing(sqlite3.connect(self.file)) as file:
            for name in [str(row[0]) for row in file.execute(TABLES)]:
                columns = [str(row[1]) for row in file.execute(f"PRAGMA table_info({name})")]
                selected = ", ".join(f'"{column}"' for column in columns if column != "lease_expires_at")
                condition = OWNER_CONDITIONS.get(name, "owner = ?" if "owner" in columns else "")
                if condition and name != "api_keys":
                    rows = file.execute(f"SELECT {selected} FROM {name} WHERE {condition}", (owner,))
                    found[name] = sorted(rows, key=repr)
        return found


@asynccontextmanager
async def multi_tenant_server(folder: Path, **how: Any) -> AsyncGenerator[MultiTenantServer, None]:
    """A server with the data of alice."""
    file = folder / "partita.db"
    held = PausingAgent(scripted([text_part(f"{SECRET} at work")]), SECRET)
    agents = {"quick": scripted([text_part("Forty-one metres.")]), "held": held, "asking": ApprovalAgent()}
    async with open_store(empty_store(folder, file.name)) as store:
        app = asgi(agents, store=store, settings=Settings(**how), keys=True, routes="all")
        async with app.lifespan():
            server = MultiTenantServer(app, store, file)
            await _create_data(server)
            yield server
            held.released.set()


async def _create_data(server: MultiTenantServer) -> None:
    """Create the data of alice."""
    session, store = server.app.opened().session.scoped("alice"), server.store.scoped("alice")
    agents = server.app.opened().agents
    blob = await store.blobs.put(SECRET.encode() * 5, media_type="text/plain")
    digest = blob.url.rpartition(":")[2]
    for agent in ("quick", "asking", "held"):
        thread, question = f"{agent}-of-alice", f"{agent}-question"
        message = UserMessage(id=question, content=f"{SECRET}, says alice")
        run = await session.start(agents.get(agent), thread, [message])
        if agent == "quick":
            await session.wait(run.id)
            await store.threads.set_title(thread, f"{SECRET} title")
        while len(await store.logs.read(run.id)) < LOG_ENTRIES[agent]:
            await asyncio.sleep(0.005)
        server.alice_ids.append(
            {
                "thread": thread,
                "question": question,
                "message": question,
                "answer": run.message_id or "",
                "run": run.id,
                "other": run.id,
                "digest": digest,
                "approval": "a1",
                "call": "c1",
            }
        )


def unknown_ids(alice_ids: Ids) -> Ids:
    """Ids of the same form that do not exist."""
    return {
        "thread": alice_ids["thread"][::-1],
        "question": alice_ids["question"][::-1],
        "message": alice_ids["message"][::-1],
        "answer": new_id(),
        "run": new_id(),
        "other": new_id(),
        "digest": sha256(alice_ids["digest"].encode()).hexdigest(),
        "approval": "a9",
        "call": "c9",
    }


def routes_of(app: PartitaApp) -> dict[Route, Any]:
    """All routes of an application, including `OPTIONS` of every path."""
    router = _router_in(app)
    found: dict[Route, Any] = {Route("OPTIONS", path): router for _, path in router.routes()}
    for endpoint in router.endpoints:
        for path in endpoint.paths:
            found |= {Route(method, path): endpoint for method in endpoint.methods}
    return dict(sorted(found.items(), key=lambda item: item[0]))


def _router_in(app: PartitaApp) -> Router:
    """The router inside the application."""
    waiting: list[Any] = [app]
    seen: set[int] = set()
    while waiting:
        one: Any = waiting.pop(0)
        if isinstance(one, Router):
            return one
        if id(one) not in seen and type(one).__module__.startswith("partita.server"):
            seen.add(id(one))
            waiting.extend(getattr(one, "__dict__", {}).values())
    raise AssertionError("the application has no routes")


@asynccontextmanager
async def client_with_key(app: Any, key: str = "") -> AsyncGenerator[httpx.AsyncClient, None]:
    """A client on another machine with a key."""
    transport = httpx.ASGITransport(app=app, client=ELSEWHERE, raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with httpx.AsyncClient(
        transport=transport, base_url=HERE, headers=headers, trust_env=False
    ) as client:
        yield client
