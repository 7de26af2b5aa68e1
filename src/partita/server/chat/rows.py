"""Which stored messages a client's assistant message is: a client has all messages of a run as one."""

from partita.formats.ai_sdk.ui.chat import is_continued
from partita.runtime.session.session import Session
from partita.store import messages, runs
from partita.store.facade.store import Store
from partita.store.transaction import Transaction
from partita.types.messages import Message
from partita.types.runs import Run

EARLIER = 50
"""How many messages before the one that a run continues may be executions of the same network."""


def at_work(tx: Transaction, thread_id: str) -> tuple[Run, Message | None] | None:
    """The run at work in a thread, and the message it continues as it was before, both as of one moment.

    A run that ended between two reads would have stored its whole answer, and its log would repeat it.
    """
    run = runs.running(tx, thread_id)
    if run is None:
        return None
    return run, messages.get(tx, run.thread_id, run.message_id or "", "inline")


async def rows_from(store: Store, message: Message) -> list[Message]:
    """A stored message, and those after it on the active branch that a client has joined with it."""
    if message.run_id is None or message.seq is None:
        return [message]
    page = await store.list_messages(message.thread_id or "", limit=None, after=message.seq - 1)
    if not page.items or page.items[0].id != message.id:
        return [message]  # it is on another branch
    rows = [page.items[0]]
    for following in page.items[1:]:
        if not is_continued(rows[-1], following):
            break
        rows.append(following)
    return rows


async def rows_before(store: Store, message: Message) -> list[Message]:
    """The stored messages that a client has joined with one, up to that one, the first of them first."""
    if message.seq is None:
        return [message]
    page = await store.list_messages(message.thread_id or "", limit=EARLIER, before=message.seq, order="desc")
    rows = [message]
    for earlier in page.items:
        if not is_continued(earlier, rows[0]):
            break
        rows.insert(0, earlier)
    return rows


async def ids_of(session: Session, run: Run) -> set[str]:
    """The ids that clients may have for the message of a run at work."""
    produced = [message.id for message in (await session.so_far(run)).messages if not message.internal]
    ids = {run.message_id or "", *produced}
    stored = await session.store.get_message(run.thread_id, run.message_id or "")
    if stored is not None:  # the run continues it
        ids.update(row.id for row in await rows_before(session.store, stored))
    return ids
