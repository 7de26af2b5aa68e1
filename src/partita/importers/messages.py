"""`import_messages`: store messages of any format in threads.

They keep their ids, so importing them again changes nothing. A call and its result are stored as one part. A
message that names its owner becomes a message of that owner.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.rows import read_moment
from partita.store.bulk.rows import ThreadRows
from partita.store.bulk.writer import Counts, compare_threads, sum_counts, write_threads
from partita.store.messages.prepared import prepare
from partita.store.store import Store
from partita.types.messages import Message
from partita.types.threads import Thread
from partita.types.tool_results import fold
from partita.types.value import kept_fields

TIMES: Final = ("createdAt", "created_at")
OWNERS: Final = ("resourceId", "resource_id")
THREADS: Final = ("threadId", "thread_id")
"""The columns with the time, the owner and the thread of a message if its format has no fields for them."""


class ThreadMessages(NamedTuple):
    """The messages for one thread of one owner; `None`: it has no owner."""

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
    """Messages by thread: `thread_id`, or the thread in the column `key`, or the one that they name.

    Their owner is `owner`, or the one that they name.
    """
    found: dict[tuple[str | None, str], list[Message]] = {}
    for message in messages:
        thread = thread_id or (
            _column(message, key) if key else message.thread_id or _first(message, THREADS)
        )
        resource = owner or message.resource_id or _first(message, OWNERS)
        if not thread:
            raise ConversionError(
                "a message names no thread" if key is None else f"a message has no {key!r}",
                where=f"message {message.id}",
                hint="name the thread (--thread), or the field that names it (--thread-by)",
            )
        placed = replace(
            message,
            thread_id=thread,
            resource_id=resource,
            created_at=message.created_at or _time(message),
        )
        found.setdefault((resource, thread), []).append(placed)
    return [
        ThreadMessages(resource, thread, _folded(thread, some)) for (resource, thread), some in found.items()
    ]


def _first(message: Message, names: Iterable[str]) -> str | None:
    return next(filter(None, (_column(message, name) for name in names)), None)


def _column(message: Message, key: str) -> str | None:
    value = kept_fields(message.extra).get(key)
    return str(value) if isinstance(value, str | int) else None


def _time(message: Message) -> datetime | None:
    columns = kept_fields(message.extra)
    return next(filter(None, (read_moment(columns.get(name)) for name in TIMES)), None)


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
    """Folded messages. Those that followed a message which was folded into another follow that one."""
    kept = {message.id for message in folded}
    folded_into: dict[str, str] = {}
    last = ""
    for message in messages:
        last = message.id if message.id in kept else last
        folded_into[message.id] = last
    return [
        replace(message, parent_id=folded_into[message.parent_id])
        if message.parent_id in folded_into
        else message
        for message in folded
    ]


async def import_messages(
    store: Store, threads: Iterable[ThreadMessages], *, dry_run: bool = False
) -> Counts:
    """Write messages that differ from the stored ones, all or none. `dry_run`: only count them."""
    batches: list[ThreadRows] = []
    for owner, thread_id, messages in threads:
        own_store = store if owner is None else store.scoped(owner)
        times = [message.created_at for message in messages if message.created_at is not None]
        is_new = await own_store.threads.get(thread_id) is None
        thread = Thread(
            id=thread_id,
            resource_id=owner,
            created_at=min(times, default=None) if is_new else None,
            updated_at=max(times, default=None),
        )
        batches.append(ThreadRows(thread, [prepare(message, thread_id) for message in messages]))
    if dry_run:
        return sum_counts(await store.read(compare_threads, batches))
    return sum_counts(await store.write(write_threads, batches))
