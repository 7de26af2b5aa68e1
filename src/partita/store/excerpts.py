"""Copies of the shown branch of a thread, or of some of it, as a new thread with message ids of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from partita.types.json import JsonObject
from partita.types.messages import Message
from partita.types.threads import Thread
from partita.types.times import json_date

from . import messages, saving, threads
from .copying import CLONE
from .ids import new_id
from .prepared import prepare
from .transaction import Transaction
from .values import MessageFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """Which messages go to a copy. What is not given does not narrow."""

    newest: int | None = None
    start: datetime | None = None
    end: datetime | None = None
    ids: frozenset[str] | None = None

    def of(self, talk: Sequence[Message]) -> Sequence[Message]:
        """Those of the messages that go to the copy."""
        taken = [message for message in talk if self._takes(message)]
        return taken if self.newest is None else taken[max(len(taken) - self.newest, 0) :]

    def _takes(self, message: Message) -> bool:
        made = message.created_at
        return (
            (self.ids is None or message.id in self.ids)
            and (self.start is None or (made is not None and made >= self.start))
            and (self.end is None or (made is not None and made <= self.end))
        )


def copy(
    tx: Transaction, thread_id: str, copy_id: str, title: str | None, metadata: JsonObject, wanted: Excerpt
) -> Thread:
    """A new thread of the same owner, with copies of messages. No run wrote them."""
    source = threads.from_row(threads.find(tx, thread_id))
    everything = MessageFilter(internal=None)
    page = messages.list_page(
        tx, thread_id, everything, limit=None, order="asc", cursor=None, blobs="reference"
    )
    talk = wanted.of(page.items)
    threads.create(
        tx,
        replace(
            source,
            id=copy_id,
            title=source.title if title is None else title,
            metadata={**(source.metadata or {}), **metadata, CLONE: _origin(tx, source, talk)},
            created_at=None,
            updated_at=None,
        ),
    )
    copies = [
        replace(message, id=new_id(), thread_id=copy_id, parent_id=None, run_id=None, seq=None)
        for message in talk
    ]
    saving.save(tx, [prepare(message, copy_id) for message in copies])
    return threads.from_row(threads.find(tx, copy_id, source.resource_id))


def _origin(tx: Transaction, source: Thread, talk: Sequence[Message]) -> JsonObject:
    """Where a copy is from, in our words and in those of Mastra, whose clients ask for it."""
    origin: JsonObject = {"threadId": source.id, "sourceThreadId": source.id, "clonedAt": json_date(tx.now)}
    return {**origin, "lastMessageId": talk[-1].id} if talk else origin
