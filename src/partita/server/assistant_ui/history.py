"""Messages that a page brings: kept, unless the server knows them better."""

from msgspec.structs import replace

from partita.errors import ConflictError, ConversionError
from partita.formats.ai_sdk.ui.format import load_message
from partita.runtime.principal import Principal
from partita.server.open_calls import check_calls
from partita.server.roles import require
from partita.store import messages, saving, threads
from partita.store.prepared import prepare
from partita.store.transaction import Transaction
from partita.types.messages import Message, SystemMessage, UserMessage

from .rows import Row, checked_format, content_of


def read_row(row: Row) -> Message:
    """The message of a row."""
    checked_format(row.format)
    message = load_message({**row.content, "id": row.id}, "$.content")
    if isinstance(message, SystemMessage):
        raise ConversionError(
            "a system message from a page",
            where="$.content.role",
            hint="instructions are given to the agent, on the server",
        )
    return message


def keep(tx: Transaction, thread_id: str, row: Row, message: Message, principal: Principal) -> Message:
    """Store a message, or leave the one that is there.

    What a run wrote stays as it is: a page only repeats what it received. Any other message is replaced when
    it says something else now; it keeps its place and its times. Only a caller who may write can replace a
    message, or add one that is not a user's.
    """
    threads.find(tx, thread_id, lock=True)  # so that nobody changes it between the look and the change
    known = messages.get(tx, thread_id, row.id, "inline")
    if known is None:
        if not isinstance(message, UserMessage):
            require(principal, "write", "add an answer", where="$.content.role")
        return _add(tx, thread_id, row, message)
    if known.run_id is not None or _says_the_same(known, row):
        return known
    require(principal, "write", f"change message {row.id!r}", where="$.content")
    check_calls(message, known)
    changed = replace(
        message, thread_id=thread_id, resource_id=known.resource_id, created_at=known.created_at
    )
    return saving.save(tx, [prepare(changed, thread_id)])[0]


def _add(tx: Transaction, thread_id: str, row: Row, message: Message) -> Message:
    check_calls(message, None)
    parent = row.parent_id
    if parent is not None and messages.get(tx, thread_id, parent, "reference") is None:
        raise ConflictError(
            f"no message {parent!r} to follow", where="$.parent_id", hint="append what comes first, first"
        )
    placed = replace(message, thread_id=thread_id, parent_id=parent or "")
    return saving.save(tx, [prepare(placed, thread_id)])[0]


def _says_the_same(known: Message, row: Row) -> bool:
    return content_of([known], row.format) == row.content
