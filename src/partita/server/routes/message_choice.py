"""The parameters that select messages of a thread."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeAlias, get_args

from partita.formats.ai_sdk.ui.chat import is_continued
from partita.server.endpoints import Depends, Query
from partita.server.problems import Problem
from partita.store.sql.texts import storable
from partita.store.store import Store
from partita.store.values import BlobMode, Branch, MessageFilter, Page
from partita.types.messages import Message, MessageType

from .parameters import (
    MAX_ITEMS,
    MAX_SEQ,
    REPEATABLE,
    ROLES,
    Cursor,
    Direction,
    Roles,
    Since,
    Until,
    chosen,
    moment_of,
)

PAGE: Final = 50
MAX_IDS: Final = 100

TYPES: Final[tuple[MessageType, ...]] = get_args(MessageType)

Internal: TypeAlias = Literal["false", "true", "all"]
INTERNAL: Final[Mapping[Internal, bool | None]] = {"false": False, "true": True, "all": None}

Before: TypeAlias = Annotated[
    int | None, Query(ge=0, le=MAX_SEQ, description="Only messages with a smaller number (`seq`).")
]
After: TypeAlias = Annotated[
    int | None, Query(ge=0, le=MAX_SEQ, description="Only messages with a larger number (`seq`).")
]
Types: TypeAlias = Annotated[
    list[str] | None, Query(description=f"Only these types: {', '.join(TYPES)}. {REPEATABLE}")
]
OfBranch: TypeAlias = Annotated[Branch, Query(description="The active branch, or all branches.")]
OfInternal: TypeAlias = Annotated[
    Internal, Query(description="Leave out internal messages, which agents exchange; only those; or `all`.")
]

Bare: TypeAlias = Annotated[
    bool, Query(description="Return the array alone. Without `limit`, it has all messages.")
]
Size: TypeAlias = Annotated[
    int | None, Query(ge=1, le=MAX_ITEMS, description=f"The number of messages at most. Default: {PAGE}.")
]
Order: TypeAlias = Annotated[Direction, Query(description="Start with the first, or with the last message.")]
Around: TypeAlias = Annotated[
    str | None, Query(description="The id of a message to return together with its neighbours.")
]
Near: TypeAlias = Annotated[
    int, Query(ge=0, le=MAX_ITEMS, description="The number of messages on this side of `around`.")
]
Ids: TypeAlias = Annotated[
    list[str] | None,
    Query(description=f"Only these messages, of any branch: `ids=m1&ids=m2`, at most {MAX_IDS}."),
]
Blobs: TypeAlias = Annotated[
    BlobMode,
    Query(description="`reference`: large values are replaced by `blob:` URLs; `files`: only files are."),
]
AnyBlobs: TypeAlias = Annotated[
    BlobMode | None,
    Query(
        description="`reference`: large values are replaced by `blob:` URLs; `files`: only files are; "
        "`inline`: nothing is. By default, formats of `useChat` have URLs of this server for files."
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageChoice:
    """Messages by their ids, around one of them, or a page of them."""

    filter: MessageFilter
    limit: int | None  # `None`: all
    cursor: str | None
    order: Direction
    around: str | None
    previous: int
    following: int
    ids: tuple[str, ...] | None
    blobs: BlobMode | None  # `None`: the default of the format
    bare: bool

    @property
    def is_reversed(self) -> bool:
        """Whether the last message comes first."""
        return self.order == "desc" and self.around is None and self.ids is None

    async def read(self, store: Store, thread_id: str, default: BlobMode = "inline") -> Page[Message]:
        """The selected messages of a thread."""
        blobs = self.blobs or default
        if self.ids is not None:
            return Page(await store.messages.get_many(thread_id, self.ids, blobs=blobs))
        if self.around is not None:
            near = {"previous": self.previous, "following": self.following}
            found = await store.messages.around(thread_id, self.around, self.filter, blobs=blobs, **near)
            return Page(found)
        return await self._page(store, thread_id, self.limit, self.cursor, blobs)

    async def read_whole_runs(self, store: Store, thread_id: str) -> Page[Message]:
        """The same, extended so that a page does not end between two messages of one run."""
        page = await self.read(store, thread_id, "files")
        items, following = list(page.items), page.next
        while items and following is not None:
            more = await self._page(store, thread_id, 1, following, self.blobs or "files")
            neighbours = (items[-1], *more.items)
            if not more.items or not is_continued(*(neighbours[::-1] if self.is_reversed else neighbours)):
                break
            items, following = [*items, *more.items], more.next
        return Page(tuple(items), following)

    async def _page(
        self, store: Store, thread_id: str, limit: int | None, cursor: str | None, blobs: BlobMode
    ) -> Page[Message]:
        return await store.messages.list(
            thread_id, self.filter, limit=limit, order=self.order, cursor=cursor, blobs=blobs
        )


def message_filter(
    *,
    before: Before = None,
    after: After = None,
    roles: Roles = None,
    types: Types = None,
    since: Since = None,
    until: Until = None,
    branch: OfBranch = "active",
    internal: OfInternal = "false",
) -> MessageFilter:
    """The conditions of a request, all of which must hold."""
    return MessageFilter(
        before=before,
        after=after,
        roles=chosen(roles, ROLES, "roles"),
        types=chosen(types, TYPES, "types"),
        since=moment_of(since, "since"),
        until=moment_of(until, "until"),
        branch=branch,
        internal=INTERNAL[internal],
    )


def message_choice(
    filter: Annotated[MessageFilter, Depends(message_filter)],
    *,
    bare: Bare = False,
    limit: Size = None,
    cursor: Cursor = None,
    order: Order = "asc",
    around: Around = None,
    previous: Near = 10,
    following: Near = 10,
    ids: Ids = None,
    blobs: AnyBlobs = None,
) -> MessageChoice:
    """The messages that a request selects."""
    return MessageChoice(
        filter=filter,
        limit=limit or (None if bare else PAGE),
        cursor=cursor,
        order=order,
        around=around,
        previous=previous,
        following=following,
        ids=None if ids is None else _checked(ids),
        blobs=blobs,
        bare=bare,
    )


def _checked(ids: list[str]) -> tuple[str, ...]:
    if len(ids) > MAX_IDS:
        raise Problem(
            400,
            f"{len(ids)} messages are too many for one request",
            where="query ids",
            hint=f"request {MAX_IDS} at a time",
        )
    return tuple(one for one in ids if storable(one, "the message id"))


Choice: TypeAlias = Annotated[MessageChoice, Depends(message_choice)]
"""An argument of an endpoint: the messages to return."""
