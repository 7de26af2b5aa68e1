"""The archive as the tools see it: a store that is opened when it is needed, narrowed, without secrets."""

import asyncio
import contextlib
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Final

from partita.errors import ConflictError, NotFoundError, PartitaError, StoreError, UnavailableError
from partita.store.values import ThreadFilter
from partita.types.threads import Thread
from partita.types.times import parse_time_expression

from .cleaning import Cleaner
from .scope import Scope

if TYPE_CHECKING:  # it takes longer to load than a client should wait for the first answer
    from partita.store.store import Store

LAST: Final = "last"
PATIENCE: Final = 5.0
"""How many seconds a lock is waited for: a model that waits longer has given up."""

CANDIDATES: Final = 8


class Archive:
    """What may be read. The store need not exist yet: each request looks again until there is one."""

    def __init__(
        self,
        url: str | None = None,
        *,
        resource: str | None = None,
        scope: Scope | None = None,
        redact: bool = True,
        zone: tzinfo = UTC,
        patience: float = PATIENCE,
    ) -> None:
        self._url = url
        self._resource = resource
        self._opening: asyncio.Task[Store] | None = None
        self._redact = redact
        self._patience = patience
        self.scope = scope or Scope()
        self.zone = zone

    async def store(self) -> "Store":
        """The store, opened if it is not yet. Who gives up waiting does not stop it for others."""
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        opening = self._opening
        try:
            whole = await asyncio.shield(opening)
        except Exception:
            if self._opening is opening:
                self._opening = None
            raise
        return whole if self._resource is None else whole.scoped(self._resource)

    async def _open(self) -> "Store":
        from partita.store.connection import open_store
        from partita.store.engines.location import locate

        path = locate(self._url).path
        if path is not None and _is_empty(path):
            raise NotFoundError(
                "there is no archive yet",
                where=str(path),
                hint="the user can make one: `partita import` brings in the sessions of this machine",
            )
        return await open_store(self._url, patience=self._patience)

    async def close(self) -> None:
        """Let go of the store."""
        if self._opening is not None:
            with contextlib.suppress(PartitaError):  # nobody asks any more
                await (await self._opening).close()

    async def find(self, given: str) -> Thread:
        """The session that is meant: by its id, by the beginning of its id, or as the last one."""
        store = await self.store()
        if given == LAST:
            page = await store.threads.list(
                ThreadFilter(agent=self.scope.agent, project=self.scope.project), limit=1
            )
            if not page.items:
                raise NotFoundError("there are no sessions yet", hint="`partita import` brings some in")
            return page.items[0]
        return await self._exact(given) or await self._beginning_with(given)

    async def _exact(self, id: str) -> Thread | None:
        store = await self.store()
        try:
            thread = await store.threads.get(id)
        except ConflictError as error:
            error.hint = "the user can say whose: `partita mcp --resource OWNER`"
            raise
        return thread if thread is not None and self.scope.holds(thread) else None

    async def _beginning_with(self, given: str) -> Thread:
        store = await self.store()
        ids = await store.threads.starting_with(given, limit=CANDIDATES + 1) if given else []
        found = [thread for one in ids if (thread := await self._exact(one.id)) is not None]
        if not found:
            raise NotFoundError(
                f"no session {given!r}", hint="list_sessions and search_sessions give the ids of sessions"
            )
        if len(found) > 1:
            named = ", ".join(repr(thread.id) for thread in found[:CANDIDATES])
            raise StoreError(
                f"{given!r} begins the ids of several sessions", hint=f"give more of it: {named}"
            )
        return found[0]

    def cleaner(self) -> Cleaner:
        """What takes secrets out of an answer, if they are to be taken out."""
        return Cleaner(redact=self._redact)

    def moment(self, text: str | None, name: str) -> datetime | None:
        """The moment that an argument means."""
        if text is None:
            return None
        moment = parse_time_expression(text, datetime.now(self.zone))
        if moment is None:
            raise StoreError(
                f"{text[:80]!r} is no time",
                where=name,
                hint="write 2026-03-01, 2026-03-01T14:00Z, today, 3h or 7d",
            )
        return moment


def _is_empty(path: Path) -> bool:
    """Whether there is nothing to read yet."""
    try:
        return not path.exists() or (path.is_file() and not path.stat().st_size)
    except OSError as error:
        raise UnavailableError(
            f"the archive cannot be read: {error.strerror}", where=str(path), hint="check its permissions"
        ) from None
