"""The store's messages and parts, and the search in them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from partita.store import editing, messages, numbered_messages, parts, saving
from partita.store.ids import new_id
from partita.store.message_ids import delete_by_id
from partita.store.numbered_messages import NumberedMessages, NumberedQuery
from partita.store.prepared import prepare
from partita.store.search import search
from partita.store.search.search import Hit
from partita.store.values import BlobMode, Branch, MessageFilter, Order, Page, PartFilter, StoredPart
from partita.types.messages import Message, MessageType, Part

from .facade import Facade, at_least_one

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


class MessageStore(Facade):
    """Messages: saved, listed, changed, deleted; their parts and words found across threads."""

    async def save_messages(
        self, messages: Sequence[Message], *, thread_id: str | None = None
    ) -> tuple[Message, ...]:
        """Write messages, all or none, and give them as stored: with `seq`, parent, times.

        A message whose id is known in its thread is changed in place, a new one is added at the end of the
        active branch (or under its `parent_id`; `""` starts a new root). The thread must exist.
        """
        prepared = [prepare(message, thread_id) for message in messages]
        return await self.write(saving.save, prepared)

    async def edit_message(self, thread_id: str, message: Message) -> Message:
        """Store another message under the id of one: a new branch beside it, with nothing behind it yet.

        The one that was there stays, with all that followed it, under a new id. A run at work is a
        `BusyError`.
        """
        return await self.write(editing.edit, thread_id, message, new_id())

    async def list_messages(
        self,
        thread_id: str,
        *,
        limit: int | None = 50,
        order: Order = "asc",
        cursor: str | None = None,
        before: int | None = None,
        after: int | None = None,
        around: str | None = None,
        previous: int = 10,
        following: int = 10,
        since: datetime | None = None,
        until: datetime | None = None,
        roles: Sequence[Role] = (),
        types: Sequence[MessageType] = (),
        internal: bool | None = False,
        branch: Branch = "active",
        blobs: BlobMode = "inline",
    ) -> Page[Message]:
        """Messages of a thread, by number.

        `before` and `after` are numbers (`seq`), `since` (inclusive) and `until` times. `around` is the id of
        a message to give with `previous` and `following` neighbours instead of a page. `internal=None` gives
        talk and internal turns alike. With `blobs="reference"` large values stay `blob:` urls.
        """
        wanted = MessageFilter(
            before=before,
            after=after,
            since=since,
            until=until,
            roles=tuple(roles),
            types=tuple(types),
            internal=internal,
            branch=branch,
        )
        if around is not None:
            near = {"previous": max(previous, 0), "following": max(following, 0)}
            return Page(await self.read(messages.around, thread_id, around, wanted, blobs=blobs, **near))
        size = None if limit is None else at_least_one(limit)
        return await self.read(
            messages.list_page, thread_id, wanted, limit=size, order=order, cursor=cursor, blobs=blobs
        )

    async def list_messages_by_number(self, thread_id: str, wanted: NumberedQuery) -> NumberedMessages:
        """A page of the active branch by its number, and how many messages there are; by time."""
        return await self.read(numbered_messages.list_messages, thread_id, wanted)

    async def get_message(
        self, thread_id: str, message_id: str, *, blobs: BlobMode = "inline"
    ) -> Message | None:
        """The message of that id in a thread, or `None`."""
        return await self.read(messages.get, thread_id, message_id, blobs)

    async def update_part(self, thread_id: str, message_id: str, index: int, part: Part) -> Message:
        """Put another part in the place of one."""
        return await self.write(messages.update_part, thread_id, message_id, index, part)

    async def delete_messages(self, thread_id: str, message_ids: Sequence[str]) -> int:
        """Delete messages of a thread; what followed them follows what they followed. Gives how many."""
        return await self.write(messages.delete_messages, thread_id, message_ids)

    async def delete_messages_by_id(self, message_ids: Sequence[str], *, thread_id: str | None = None) -> int:
        """Delete messages of whatever threads; an id that several threads have is a `ConflictError`."""
        return await self.write(delete_by_id, message_ids, thread_id)

    async def find_parts(
        self,
        *,
        thread_id: str | None = None,
        types: Sequence[str] = (),
        tool: str | None = None,
        states: Sequence[str] = (),
        has_error: bool | None = None,
        longer_than: timedelta | None = None,
        shorter_than: timedelta | None = None,
        agent: str | None = None,
        project: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[StoredPart]:
        """Parts across threads, of the newest message first: by kind, tool, state, error, duration."""
        wanted = PartFilter(
            thread_id=thread_id,
            types=tuple(types),
            tool=tool,
            states=tuple(states),
            has_error=has_error,
            longer_than=longer_than,
            shorter_than=shorter_than,
            agent=agent,
            project=project,
            since=since,
            until=until,
        )
        return await self.read(parts.find, wanted, limit=at_least_one(limit), cursor=cursor)

    async def search(
        self,
        query: str,
        *,
        limit: int = 20,
        cursor: str | None = None,
        thread_id: str | None = None,
        roles: Sequence[Role] = (),
        tool: str | None = None,
        agent: str | None = None,
        project: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        fields: Sequence[str] = (),
    ) -> Page[Hit]:
        """Messages and titles that hold all words of a query, the best first, with highlighted snippets.

        `"a phrase"`, `-without`, `prefix*`; the last word is taken as a prefix too.
        """
        return await self.read(
            search.find,
            query,
            limit=at_least_one(limit),
            cursor=cursor,
            thread_id=thread_id,
            roles=roles,
            tool=tool,
            agent=agent,
            project=project,
            since=since,
            until=until,
            fields=fields,
        )
