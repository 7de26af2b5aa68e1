"""`import_messages`: messages of any format, into threads.

They keep their ids, so done again it changes nothing. A call and its result are stored as one part. A message
that names its owner becomes a message of that owner.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.rows import read_moment
from partita.store.facade.store import Store
from partita.store.prepared import prepare
from partita.types.fold import fold
from partita.types.messages import Message
from partita.types.threads import Thread
from partita.types.value import unkept

from .report import Counts
from .writing import Batch, compare, write

MOMENTS: Final = ("createdAt", "created_at")
"""Where rows keep the time of a message whose format knows none."""

OWNERS: Final = ("resourceId", "resource_id")
THREADS: Final = ("threadId", "thread_id")
"""Where rows keep the owner and the thread of a message whose format knows none."""


class ThreadMessages(NamedTuple):
    """The messages that go to one thread of one owner; `None`: it has no owner."""

    owner: str | None
    thread_id: str
    messages: Sequence[Message]


def by_thread(
    messages: Iterable[Message],
    *,
    thread_id: str | None = None,
    key: str | None = None,
    owner: str | None = None,
) -> list[ThreadMessages]:
    """Messages by the thread they go to: the one given, the one that a column names, or their own.

    They belong to the `owner` that is given, or else to the one that they name.
    """
    found: dict[tuple[str | None, str], list[Message]] = {}
    for message in messages:
        own = thread_id or (_named(message, key) if key else message.thread_id or _first(message, THREADS))
        whose = owner or message.resource_id or _first(message, OWNERS)
        if not own:
            raise ConversionError(
                "it does not say which thread it is in" if key is None else f"there is no {key!r} in it",
                where=f"message {message.id}",
                hint="name the thread, or the column that does",
            )
        placed = replace(
            message,
            thread_id=own,
            resource_id=whose,
            created_at=message.created_at or _moment(message),
        )
        found.setdefault((whose, own), []).append(placed)
    return [ThreadMessages(whose, own, _folded(own, mine)) for (whose, own), mine in found.items()]


def _first(message: Message, names: Iterable[str]) -> str | None:
    return next(filter(None, (_named(message, name) for name in names)), None)


def _named(message: Message, key: str) -> str | None:
    value = unkept(message.extra).get(key)
    return str(value) if isinstance(value, str | int) else None


def _moment(message: Message) -> datetime | None:
    aside = unkept(message.extra)
    return next(filter(None, (read_moment(aside.get(name)) for name in MOMENTS)), None)


def _folded(thread_id: str, messages: Sequence[Message]) -> Sequence[Message]:
    known: set[str] = set()
    for message in messages:
        if message.id in known:
            raise ConversionError(
                f"two messages of thread {thread_id!r} have the id {message.id!r}", hint="give each its own"
            )
        known.add(message.id)
    return _relinked(messages, fold(messages))


def _relinked(messages: Sequence[Message], folded: Sequence[Message]) -> Sequence[Message]:
    """Folded messages, none of which follows one that went into another: they follow that other one."""
    left = {message.id for message in folded}
    stands: dict[str, str] = {}
    last = ""
    for message in messages:
        last = message.id if message.id in left else last
        stands[message.id] = last
    return [
        replace(message, parent_id=stands[message.parent_id]) if message.parent_id in stands else message
        for message in folded
    ]


async def import_messages(
    store: Store, threads: Iterable[ThreadMessages], *, dry_run: bool = False
) -> Counts:
    """Write messages where they differ from what is stored, all or nothing; or tell what would be."""
    batches: list[Batch] = []
    for owner, own, messages in threads:
        mine = store if owner is None else store.scoped(owner)
        times = [message.created_at for message in messages if message.created_at is not None]
        is_new = await mine.get_thread_by_id(own) is None
        thread = Thread(
            id=own,
            resource_id=owner,
            created_at=min(times, default=None) if is_new else None,
            updated_at=max(times, default=None),
        )
        batches.append(Batch(thread, [prepare(message, own) for message in messages]))
    return await (store.read(compare, batches) if dry_run else store.write(write, batches))
