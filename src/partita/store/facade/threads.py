"""The store's threads."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from partita.store import branches, copying, excerpts, facets, numbered_pages, summaries, threads
from partita.store.excerpts import Excerpt
from partita.store.facets import Facets
from partita.store.ids import new_id as fresh_id
from partita.store.numbered_pages import Numbered, NumberedPage, ThreadTime
from partita.store.summaries import ThreadSummary
from partita.store.values import Order, Page, ThreadFilter
from partita.types.json import Json, JsonObject
from partita.types.threads import Thread

from .facade import Facade, at_least_one


class ThreadStore(Facade):
    """Threads: made, found, listed, changed, copied, deleted."""

    async def create_thread(
        self,
        id: str | None = None,
        *,
        title: str | None = None,
        metadata: JsonObject | None = None,
        agent: str | None = None,
        project: str | None = None,
        resource_id: str | None = None,
    ) -> Thread:
        """A new thread; an id that is taken is a `ConflictError`."""
        thread = Thread(
            id=fresh_id() if id is None else id,
            title=title,
            metadata=metadata,
            agent=agent,
            project=project,
            resource_id=resource_id,
        )
        return await self.write(threads.create, thread)

    async def save_thread(self, thread: Thread) -> Thread:
        """Write a thread, new or known by its id. Counters and the active leaf are the store's own."""
        return await self.write(threads.save, thread)

    async def get_thread_by_id(self, thread_id: str) -> Thread | None:
        """The thread of that id, or `None`."""
        return await self.read(threads.get, thread_id)

    async def list_threads(
        self,
        *,
        resource_id: str | None = None,
        agent: str | None = None,
        project: str | None = None,
        text: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        has_errors: bool | None = None,
        metadata: Mapping[str, Json] | None = None,
        model: str | None = None,
        tool: str | None = None,
        pinned: bool | None = None,
        ids: Sequence[str] | None = None,
        limit: int = 50,
        cursor: str | None = None,
        order: Order = "desc",
    ) -> Page[Thread]:
        """Threads by when something was last said in them, newest first.

        `text` is searched in titles and messages. With `model` or `tool`: in which it answered, or was
        called. `pinned` is a member of the metadata.
        """
        wanted = ThreadFilter(
            resource_id=resource_id,
            agent=agent,
            project=project,
            text=text,
            since=since,
            until=until,
            has_errors=has_errors,
            metadata=tuple((metadata or {}).items()),
            model=model,
            tool=tool,
            pinned=pinned,
            ids=None if ids is None else tuple(ids),
        )
        return await self.read(
            threads.list_page, wanted, limit=at_least_one(limit), cursor=cursor, order=order
        )

    async def list_summaries(
        self,
        wanted: ThreadFilter | None = None,
        *,
        limit: int = 50,
        cursor: str | None = None,
        order: Order = "desc",
    ) -> Page[ThreadSummary]:
        """Threads as `list_threads` gives them, each with what a list says of it."""
        return await self.read(
            summaries.list_page,
            wanted or ThreadFilter(),
            limit=at_least_one(limit),
            cursor=cursor,
            order=order,
        )

    async def thread_facets(self, wanted: ThreadFilter | None = None) -> Facets:
        """How many threads there are by agent, project, model, tool and time, under a filter."""
        return await self.read(facets.facets, wanted or ThreadFilter())

    async def list_threads_by_number(
        self,
        page: NumberedPage,
        *,
        by: ThreadTime = "created_at",
        order: Order = "desc",
        resource_id: str | None = None,
        metadata: Mapping[str, Json] | None = None,
    ) -> Numbered[Thread]:
        """A page of threads by its number, and how many threads there are."""
        return await self.read(
            numbered_pages.list_threads,
            page,
            by=by,
            order=order,
            resource_id=resource_id,
            metadata=metadata or {},
        )

    async def count_threads(self) -> int:
        """How many threads there are."""
        return await self.read(threads.count)

    async def set_title(self, thread_id: str, title: str | None) -> Thread:
        """Give a thread another title."""
        return await self.write(threads.set_title, thread_id, title)

    async def update_metadata(self, thread_id: str, changes: JsonObject) -> Thread:
        """Change members of a thread's metadata; `None` removes one."""
        return await self.write(threads.merge_metadata, thread_id, changes)

    async def delete_thread(self, thread_id: str) -> bool:
        """Delete a thread and all that hangs on it; blobs nobody else refers to go too."""
        return await self.write(threads.delete_thread, thread_id)

    async def clone_thread(
        self, thread_id: str, *, new_id: str | None = None, title: str | None = None
    ) -> Thread:
        """A copy of a thread with all its branches; its metadata says under `clone` where it is from."""
        return await self.write(copying.clone, thread_id, new_id or fresh_id(), title)

    async def copy_excerpt(
        self,
        thread_id: str,
        wanted: Excerpt,
        *,
        new_id: str | None = None,
        title: str | None = None,
        metadata: JsonObject | None = None,
    ) -> Thread:
        """A new thread with copies, under new ids, of what is shown of a thread, or of some of it."""
        return await self.write(excerpts.copy, thread_id, new_id or fresh_id(), title, metadata or {}, wanted)

    async def fork_thread(
        self, thread_id: str, message_id: str, *, new_id: str | None = None, title: str | None = None
    ) -> Thread:
        """A new thread with everything up to a message, on the branch that leads to it."""
        return await self.write(copying.fork, thread_id, message_id, new_id or fresh_id(), title)

    async def switch_branch(self, thread_id: str, message_id: str) -> Thread:
        """Make the branch through a message the active one; below it, the latest answers."""
        return await self.write(branches.switch, thread_id, message_id)
