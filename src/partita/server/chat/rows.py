"""Which stored messages a client's assistant message is: a client has all messages of a run as one."""

from typing import Final

from msgspec.structs import replace

from partita.errors import DecodeError
from partita.formats.ai_sdk.ui.chat import is_continued
from partita.runtime.folding import DECISION
from partita.runtime.replay.retelling import is_imported
from partita.runtime.session.recovery import AFTER
from partita.runtime.session.session import Session
from partita.store import messages, runs
from partita.store.facade.store import Store
from partita.store.transaction import Transaction
from partita.store.turns import QUEUED
from partita.types.chunks import (
    Chunk,
    DataChunk,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolInputAvailable,
    ToolOutputAvailable,
    ToolOutputChunk,
    ToolOutputDenied,
    ToolOutputError,
)
from partita.types.codec import MESSAGES
from partita.types.messages import AssistantMessage, Message, ToolCallPart
from partita.types.runs import Run

EARLIER = 50
"""How many messages before the one that a run continues may be executions of the same network."""

LAST_RUNS: Final = 10
"""Among so many runs of a thread is the last one that was not imported."""

REPLIES: Final = (
    ToolApprovalResponse,
    ToolOutputAvailable,
    ToolOutputChunk,
    ToolOutputDenied,
    ToolOutputError,
)
"""Chunks with which a run continues after a reply of a client."""


def at_work(tx: Transaction, thread_id: str) -> tuple[Run, Message | None] | None:
    """The run at work in a thread, and the message it continues as it was before, both as of one moment.

    A run that ended between two reads would have stored its whole answer, and its log would repeat it.
    """
    run = runs.running(tx, thread_id)
    if run is None:
        return None
    return run, messages.get(tx, run.thread_id, run.message_id or "", "inline")


def last_run(tx: Transaction, thread_id: str) -> Run | None:
    """The last run of a thread that an agent of this server worked on."""
    page = runs.list_runs(tx, thread_id=thread_id, limit=LAST_RUNS)
    return next((run for run in page if not is_imported(run)), None)


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


def queued_ids(run: Run) -> set[str]:
    """The ids of the messages that a run in line will begin with."""
    try:
        return {message.id for message in MESSAGES.read((run.metadata or {}).get(QUEUED, []))}
    except DecodeError:
        return set()


async def replied_at(store: Store, run: Run, copy: AssistantMessage) -> int | None:
    """Behind which number of its log a run continued after the replies in a client's copy of its message.

    The client has everything before. 0 for a run that was started by the replies, `None` for one that had no
    reply.
    """
    calls = {part.id for part in copy.parts if isinstance(part, ToolCallPart) and _is_settled(part)}
    asked, replied = 0, 0
    log = await store.read_log(run.id)
    for record in log:
        match record.chunk:
            case ToolApprovalRequest(tool_call_id=call) | ToolInputAvailable(tool_call_id=call):
                if call in calls:
                    asked, replied = record.seq, 0
            case chunk if asked and not replied and is_reply(chunk):
                replied = record.seq
            case _:
                pass
    if replied and any(isinstance(one.chunk, DataChunk) and one.chunk.type == DECISION for one in log):
        return replied - 1
    if (run.metadata or {}).get(AFTER) == run.message_id:
        return 0
    return replied - 1 if replied and run.finished_at is None else None


def with_approvals(copy: AssistantMessage, stored: AssistantMessage) -> AssistantMessage:
    """A client's copy of a message, with the stored approvals of its calls: who answered them, and when."""
    approvals = {part.id: part.approval for part in stored.parts if isinstance(part, ToolCallPart)}
    parts = tuple(
        replace(part, approval=approvals[part.id])
        if isinstance(part, ToolCallPart) and part.id in approvals
        else part
        for part in copy.parts
    )
    return replace(copy, content=replace(copy.content, parts=parts))


def is_reply(chunk: Chunk | None) -> bool:
    """Whether a run continues with a chunk after a reply of a client."""
    return isinstance(chunk, REPLIES) or (isinstance(chunk, DataChunk) and chunk.type == DECISION)


def _is_settled(call: ToolCallPart) -> bool:
    """Whether a call has an output, or its approval an answer."""
    return call.output is not None or (call.approval is not None and call.approval.approved is not None)
