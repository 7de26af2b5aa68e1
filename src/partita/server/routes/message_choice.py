"""Which messages of a thread a request asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeAlias, get_args

from partita.formats.ai_sdk.ui.chat import is_continued
from partita.server.endpoints import Depends, Query
from partita.server.problems import Problem
from partita.store.sql.texts import storable
from partita.store.store import Store
from partita.store.values import BlobMode, Branch, MessageFilter, Page, Role
from partita.types.messages import Message, MessageType

from .parameters import MOST, SEVERAL, Cursor, Direction, Since, Until, chosen, moment_of

PAGE: Final = 50
MOST_IDS: Final = 100
MOST_SEQ: Final = 2**53 - 1  # as large as a number of JavaScript can be

ROLES: Final[tuple[Role, ...]] = get_args(Role)
TYPES: Final[tuple[MessageType, ...]] = get_args(MessageType)

Internal: TypeAlias = Literal["false", "true", "all"]
INTERNAL: Final[Mapping[Internal, bool | None]] = {"false": False, "true": True, "all": None}

Before: TypeAlias = Annotated[
    int | None, Query(ge=0, le=MOST_SEQ, description="Those with a smaller number (`seq`).")
]
After: TypeAlias = Annotated[
    int | None, Query(ge=0, le=MOST_SEQ, description="Those with a larger number (`seq`).")
]
Roles: TypeAlias = Annotated[list[str] | None, Query(description=f"{', '.join(ROLES)}. {SEVERAL}")]
Types: TypeAlias = Annotated[list[str] | None, Query(description=f"{', '.join(TYPES)}. {SEVERAL}")]
Shown: TypeAlias = Annotated[Branch, Query(description="The one that is shown, or all of them.")]
Among: TypeAlias = Annotated[Internal, Query(description="What agents said among themselves.")]

Bare: TypeAlias = Annotated[
    bool, Query(description="Just the array. Without `limit`, all messages are in it.")
]
Size: TypeAlias = Annotated[
    int | None, Query(ge=1, le=MOST, description=f"How many at most; {PAGE} unless said.")
]
From: TypeAlias = Annotated[Direction, Query(description="From the first, or from the last message on.")]
Around: TypeAlias = Annotated[
    str | None, Query(description="The id of a message, to be given with its neighbours.")
]
Near: TypeAlias = Annotated[int, Query(ge=0, le=MOST, description="How many beside `around`.")]
Ids: TypeAlias = Annotated[
    list[str] | None,
    Query(description=f"Just these, of any branch: `ids=m1&ids=m2`, {MOST_IDS} at most."),
]
Blobs: TypeAlias = Annotated[
    BlobMode,
    Query(description="`reference`: `blob:` urls stand for what is large; `files`: for files."),
]
AnyBlobs: TypeAlias = Annotated[
    BlobMode | None,
    Query(
        description="`reference`: `blob:` urls stand for what is large; `files`: for files only; `inline`: "
        "nothing is left out. Without it, formats of `useChat` have files as addresses of this server."
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageChoice:
    """Messages by their ids, around one of them, or a page of them."""

    wanted: MessageFilter
    limit: int | None  # `None`: all of them
    cursor: str | None
    order: Direction
    around: str | None
    previous: int
    following: int
    ids: tuple[str, ...] | None
    blobs: BlobMode | None  # `None`: as is usual for what is asked for
    bare: bool  # nothing else is to be told

    @property
    def backwards(self) -> bool:
        """Whether the last comes first."""
        return self.order == "desc" and self.around is None and self.ids is None

    async def read(self, store: Store, thread_id: str, usual: BlobMode = "inline") -> Page[Message]:
        """The messages of a thread that are asked for."""
        blobs = self.blobs or usual
        if self.ids is not None:
            return Page(await store.messages.get_many(thread_id, self.ids, blobs=blobs))
        if self.around is not None:
            near = {"previous": self.previous, "following": self.following}
            found = await store.messages.around(thread_id, self.around, self.wanted, blobs=blobs, **near)
            return Page(found)
        return await self._page(store, thread_id, self.limit, self.cursor, blobs)

    async def read_whole_runs(self, store: Store, thread_id: str) -> Page[Message]:
        """The same, but a page does not end between two messages of one run."""
        page = await self.read(store, thread_id, "files")
        items, following = list(page.items), page.next
        while items and following is not None:
            more = await self._page(store, thread_id, 1, following, self.blobs or "files")
            neighbours = (items[-1], *more.items)
            if not more.items or not is_continued(*(neighbours[::-1] if self.backwards else neighbours)):
                break
            items, following = [*items, *more.items], more.next
        return Page(tuple(items), following)

    async def _page(
        self, store: Store, thread_id: str, limit: int | None, cursor: str | None, blobs: BlobMode
    ) -> Page[Message]:
        return await store.messages.list(
            thread_id, self.wanted, limit=limit, order=self.order, cursor=cursor, blobs=blobs
        )


def message_filter(
    *,
    before: Before = None,
    after: After = None,
    roles: Roles = None,
    types: Types = None,
    since: Since = None,
    until: Until = None,
    branch: Shown = "active",
    internal: Among = "false",
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
    wanted: Annotated[MessageFilter, Depends(message_filter)],
    *,
    bare: Bare = False,
    limit: Size = None,
    cursor: Cursor = None,
    order: From = "asc",
    around: Around = None,
    previous: Near = 10,
    following: Near = 10,
    ids: Ids = None,
    blobs: AnyBlobs = None,
) -> MessageChoice:
    """What a request asks for."""
    return MessageChoice(
        wanted=wanted,
        limit=limit or (None if bare else PAGE),
        cursor=cursor,
        order=order,
        around=around,
        previous=previous,
        following=following,
        ids=None if ids is None else _few(ids),
        blobs=blobs,
        bare=bare,
    )


def _few(ids: list[str]) -> tuple[str, ...]:
    if len(ids) > MOST_IDS:
        raise Problem(
            400,
            f"{len(ids)} messages are asked for",
            where="query ids",
            hint=f"ask for {MOST_IDS} at a time",
        )
    return tuple(one for one in ids if storable(one, "the message id"))


Choice: TypeAlias = Annotated[MessageChoice, Depends(message_choice)]
"""An argument of an endpoint: the messages to return."""
