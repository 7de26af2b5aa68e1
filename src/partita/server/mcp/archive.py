"""The archive as the tools see it: a store that is opened when needed, limited to a scope, with redaction."""

import asyncio
import contextlib
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from partita.errors import ConflictError, NotFoundError, PartitaError, StoreError
from partita.store.values import ThreadFilter
from partita.types.threads import Thread
from partita.types.times import MachineZone, parse_time_expression

from .redaction import ResultRedactor

if TYPE_CHECKING:  # imported when the store is opened: the response to `initialize` does not wait for it
    from partita.store.store import Store

LAST: Final = "last"
PATIENCE: Final = 5.0
"""How many seconds to wait for a locked database. Clients give up on tools that take much longer."""

CANDIDATES: Final = 8


class Scope(NamedTuple):
    """The agent and the project whose sessions can be read. `None` means all."""

    agent: str | None = None
    project: str | None = None

    def agent_filter(self, requested: str | None) -> str | None:
        """The agent to filter by when a call requests this one."""
        return _narrowed("agent", self.agent, requested)

    def project_filter(self, requested: str | None) -> str | None:
        """The project to filter by when a call requests this one; `.` is the current folder."""
        return _narrowed("project", self.project, None if requested is None else project_of(requested))

    def contains(self, thread: Thread) -> bool:
        """Whether a thread can be read."""
        if self.agent not in (None, thread.agent):
            return False
        if self.project is None:
            return True
        from partita.store.projects import is_project

        return is_project(thread.project, self.project)


def _narrowed(name: str, fixed: str | None, requested: str | None) -> str | None:
    if fixed is not None and requested not in (None, fixed):
        raise NotFoundError(
            f"only the {name} {fixed!r} can be seen here", where=name, hint=f"leave {name!r} out"
        )
    return requested if fixed is None else fixed


def project_of(text: str) -> str:
    """The project as it is stored with threads."""
    if text.startswith(("~", ".")):
        return str(Path(text).expanduser().resolve())
    return text.rstrip("/") or text


class Archive:
    """The sessions that can be read. If the store does not exist yet, each request looks for it again."""

    def __init__(
        self,
        url: str | None = None,
        *,
        resource: str | None = None,
        scope: Scope | None = None,
        redact: bool = True,
        zone: tzinfo | None = None,
        patience: float = PATIENCE,
    ) -> None:
        """The default zone is that of this machine."""
        self._url = url
        self._resource = resource
        self._opening: asyncio.Task[Store] | None = None
        self._redact = redact
        self._patience = patience
        self.scope = scope or Scope()
        self.zone = zone or MachineZone()

    async def store(self) -> "Store":
        """The store, which is opened by the first call. A cancelled call does not stop the opening."""
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        opening = self._opening
        try:
            store = await asyncio.shield(opening)
        except Exception:
            if self._opening is opening:
                self._opening = None
            raise
        return store if self._resource is None else store.scoped(self._resource)

    async def _open(self) -> "Store":
        from partita.store.connection import open_store

        try:
            return await open_store(self._url, create=False, patience=self._patience)
        except NotFoundError as error:
            error.what = "there is no archive yet"
            error.hint = "the user can create one: `partita import` imports the sessions of this machine"
            raise

    async def close(self) -> None:
        """Close the store."""
        if self._opening is not None:
            with contextlib.suppress(
                PartitaError
            ):  # it could not be opened: the call that waited has the error
                await (await self._opening).close()

    async def find(self, session: str) -> Thread:
        """The thread of a session: by its id, by the beginning of its id, or the newest for `last`."""
        store = await self.store()
        if session == LAST:
            found = await store.threads.latest(
                ThreadFilter(agent=self.scope.agent, project=self.scope.project)
            )
            if found is None:
                raise NotFoundError(
                    "there are no sessions yet", hint="`partita import` imports the sessions of this machine"
                )
            return found
        return await self._with_id(session) or await self._with_id_prefix(session)

    async def _with_id(self, id: str) -> Thread | None:
        store = await self.store()
        try:
            thread = await store.threads.get(id)
        except ConflictError as error:
            error.hint = "the user can choose the owner: `partita mcp --resource OWNER`"
            raise
        return thread if thread is not None and self.scope.contains(thread) else None

    async def _with_id_prefix(self, prefix: str) -> Thread:
        store = await self.store()
        ids = await store.threads.starting_with(prefix, limit=CANDIDATES + 1) if prefix else []
        found = [thread for one in ids if (thread := await self._with_id(one.id)) is not None]
        if not found:
            raise NotFoundError(
                f"no session {prefix!r}", hint="list_sessions and search_sessions return the ids of sessions"
            )
        if len(found) > 1:
            named = ", ".join(repr(thread.id) for thread in found[:CANDIDATES])
            raise StoreError(
                f"{prefix!r} is the beginning of several ids", hint=f"use a longer prefix: {named}"
            )
        return found[0]

    def redactor(self) -> ResultRedactor:
        """A redactor for one result. It changes nothing if redaction is off."""
        return ResultRedactor(enabled=self._redact)

    def parse_time(self, text: str | None, name: str) -> datetime | None:
        """Parse the time argument with this name."""
        if text is None:
            return None
        time = parse_time_expression(text, datetime.now(self.zone))
        if time is None:
            raise StoreError(
                f"{text[:80]!r} is not a time",
                where=name,
                hint="write 2026-03-01, 2026-03-01T14:00Z, today, 3h or 7d",
            )
        return time
