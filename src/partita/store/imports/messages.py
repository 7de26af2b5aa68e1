"""`import_messages`: messages of any format, into threads.

They keep their ids, so done again it changes nothing. A call and its result are stored as one part.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

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

Threads = Mapping[str, Sequence[Message]]


def by_thread(
    messages: Iterable[Message], *, thread_id: str | None = None, key: str | None = None
) -> Threads:
    """Messages by the thread they go to: the one given, the one that a column names, or their own."""
    found: dict[str, list[Message]] = {}
    for message in messages:
        own = thread_id or (_named(message, key) if key else message.thread_id)
        if not own:
            raise ConversionError(
                "it does not say which thread it is in" if key is None else f"there is no {key!r} in it",
                where=f"message {message.id}",
                hint="name the thread, or the column that does",
            )
        dated = replace(message, thread_id=own, created_at=message.created_at or _moment(message))
        found.setdefault(own, []).append(dated)
    return {own: _folded(own, mine) for own, mine in found.items()}


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


async def import_messages(store: Store, threads: Threads, *, dry_run: bool = False) -> Counts:
    """Write messages where they differ from what is stored, all or nothing; or tell what would be."""
    batches: list[Batch] = []
    for own, messages in threads.items():
        times = [message.created_at for message in messages if message.created_at is not None]
        is_new = await store.get_thread_by_id(own) is None
        thread = Thread(
            id=own,
            created_at=min(times, default=None) if is_new else None,
            updated_at=max(times, default=None),
        )
        batches.append(Batch(thread, [prepare(message, own) for message in messages]))
    return await (store.read(compare, batches) if dry_run else store.write(write, batches))
