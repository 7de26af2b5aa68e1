"""Changing one tool call of a thread, wherever in it it stands, in one transaction."""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from msgspec import UNSET
from msgspec.structs import replace
from sqlalchemy import Row, select

from partita.errors import BusyError
from partita.stream.metadata import merge_metadata
from partita.types.json import Json, is_object
from partita.types.messages import AssistantMessage, ToolCallPart

from . import saving, threads
from .message_rows import read_messages
from .prepared import prepare
from .runs import IS_OURS
from .tables import messages, runs
from .transaction import Transaction

AT_ONCE = 20

Change: TypeAlias = Callable[[ToolCallPart, AssistantMessage], ToolCallPart | None]
"""A call of a message as it becomes; `None` when it is not the one that is meant."""


def change_call(
    tx: Transaction, thread_id: str, change: Change, metadata: Json = None
) -> AssistantMessage | None:
    """The message whose call was changed: the newest that `change` takes. `None` when it takes none.

    `metadata` is merged into that of the message.

    A message that a run goes on with is the run's: to change it is a `BusyError`. The run would not see it.
    """
    thread = threads.find(tx, thread_id, lock=True)
    for message in _with_calls(tx, thread):
        for number, part in enumerate(message.parts):
            changed = change(part, message) if isinstance(part, ToolCallPart) else None
            if changed is not None:
                _refuse_if_busy(tx, thread, message.id)
                parts = (*message.parts[:number], changed, *message.parts[number + 1 :])
                content = replace(message.content, parts=parts)
                if metadata is not None and (content.metadata is UNSET or is_object(content.metadata)):
                    content = replace(content, metadata=merge_metadata(content.metadata, metadata))
                whole = replace(message, content=content)
                saved = saving.save(tx, [prepare(whole, thread.id)])[0]
                assert isinstance(saved, AssistantMessage), "it keeps its role"
                return saved
    return None


def _refuse_if_busy(tx: Transaction, thread: Row[Any], message_id: str) -> None:
    mine = (runs.c.owner == thread.owner, runs.c.thread_id == thread.id, runs.c.message_id == message_id)
    row = tx.row(select(runs.c.id).where(*mine, runs.c.status == "running", IS_OURS).limit(1))
    if row is not None:
        raise BusyError(
            f"run {row.id!r} goes on with message {message_id!r}", hint="tell the run, or wait for it"
        )


def _with_calls(tx: Transaction, thread: Row[Any]) -> Iterator[AssistantMessage]:
    """The messages of a thread that call tools, the newest first."""
    query = (
        select(messages)
        .where(
            messages.c.owner == thread.owner,
            messages.c.thread_id == thread.id,
            messages.c.has_tool_calls.is_(True),
        )
        .order_by(messages.c.seq.desc())
        .limit(AT_ONCE)
    )
    before = thread.next_seq
    while rows := tx.rows(query.where(messages.c.seq < before)):
        for message in read_messages(tx, rows, "inline"):
            if isinstance(message, AssistantMessage):
                yield message
        before = rows[-1].seq
