"""Messages that a client sends, compared with the stored ones: new messages, and replies to tool calls.

What a client sends as history is not trusted. Only messages of the user are new. The copy of an assistant
message is only searched for replies to calls that wait for one; these are checked against the stored call.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias, assert_never

from msgspec.structs import replace

from partita.errors import ConversionError, DecodeError
from partita.formats.ai_sdk.ui.chat import is_continued
from partita.runtime.principal import Principal
from partita.runtime.replay.message_chunks import is_imported
from partita.runtime.run_fold import DECISION
from partita.runtime.session.client_replies import ApprovalResponse, ClientOutput
from partita.runtime.session.recovery import AFTER
from partita.runtime.session.session import Session
from partita.runtime.session.turn import can_continue
from partita.server.callers import CallerView, require
from partita.server.file_urls import same_files
from partita.store.messages import queries as messages
from partita.store.runs import rows as runs
from partita.store.runs.turns import QUEUED
from partita.store.sql.transaction import Transaction
from partita.store.store import Store
from partita.store.threads.threads import ThreadContext
from partita.store.values import MessageFilter, RunFilter
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
from partita.types.json import Json
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolCallPart
from partita.types.threads import Run

Reply: TypeAlias = ApprovalResponse | ClientOutput
"""What a client replies to a call that waits: an approval response, or an output."""


class ClientMessage(NamedTuple):
    """A message as a client sent it. It is decoded on demand: most of a history is never needed."""

    raw_id: Json
    role: Json
    where: str
    """Its path in the request."""
    decode: Callable[[], Message]

    @property
    def id(self) -> str:
        """The id, which every message must have."""
        if not isinstance(self.raw_id, str) or not self.raw_id:
            raise DecodeError(
                "a message without an id",
                where=f"{self.where}.id",
                hint="send an id with each message, as useChat does",
            )
        return self.raw_id

    def read(self, thread_id: str) -> Message:
        """The message. Its owner and its position in the thread are not for the client to choose."""
        message = self.decode()
        check_not_system(message, self.where)
        return replace(message, id=self.id, thread_id=thread_id, parent_id=None, run_id=None, internal=False)


def check_not_system(message: Message, where: str) -> None:
    """Refuse a system message. `where` is the path of the message in the request."""
    if isinstance(message, SystemMessage):
        raise ConversionError(
            "a system message from a client",
            where=f"{where}.role",
            hint="set the instructions of the agent on the server",
        )


def same_parts(left: Message, right: Message) -> bool:
    """Whether two messages have the same role and the same parts."""
    return type(left) is type(right) and (left.parts == right.parts or same_files(left, right))


def check_roles(sent: Sequence[ClientMessage], principal: Principal) -> None:
    """Refuse instructions and tool messages of a caller that may send user messages only."""
    for message in sent:
        if message.role not in ("user", "assistant"):
            what = f"send a message of the role {str(message.role)[:20]!r}"
            require(principal, "write", what, where=f"{message.where}.role")


def check_seed(message: AssistantMessage, where: str, principal: Principal) -> None:
    """Refuse a response that the server did not write, unless the caller may write any message; and always
    one with a call that could still be run.
    """
    require(
        principal,
        "write",
        f"add response {message.id!r}, which is not of this chat",
        where=where,
        hint="load the messages of the chat again",
    )
    for index, part in enumerate(message.parts):
        if isinstance(part, ToolCallPart) and part.output is None:
            raise ConversionError(
                f"call {part.id!r} of a message that this server did not write has no output",
                where=f"{where}.parts[{index}]",
                hint="only a call that the server knows can continue",
            )


# The stored messages of a client's message: a client joins all messages of a run.

EARLIER: Final = 50
"""How many messages before the one that a run continues may be executions of the same network."""

LAST_RUNS: Final = 10
"""How many runs of a thread are searched for the last one that was not imported."""


def active_run(tx: Transaction, thread_id: str) -> tuple[Run, Message | None] | None:
    """The active run of a thread and the message that it continues, as it was before, read together.

    A run that ended between two reads would have stored its whole response, and its log would repeat it.
    """
    run = runs.running(tx, thread_id)
    if run is None:
        return None
    return run, messages.get(tx, run.thread_id, run.message_id or "")


def last_run(tx: Transaction, thread_id: str) -> Run | None:
    """The last run of a thread that an agent of this server worked on."""
    page = runs.list_runs(tx, RunFilter(thread_id=thread_id), limit=LAST_RUNS)
    return next((run for run in page if not is_imported(run)), None)


async def rows_from(store: Store, message: Message) -> list[Message]:
    """A stored message, and those after it on the active branch that a client joins with it."""
    if message.run_id is None or message.seq is None:
        return [message]
    page = await store.messages.list(
        message.thread_id or "", MessageFilter(after=message.seq - 1), limit=None
    )
    if not page.items or page.items[0].id != message.id:
        return [message]  # it is on another branch
    rows = [page.items[0]]
    for following in page.items[1:]:
        if not is_continued(rows[-1], following):
            break
        rows.append(following)
    return rows


async def rows_before(store: Store, message: Message) -> list[Message]:
    """The stored messages that a client joins with one, up to that one, in order."""
    if message.seq is None:
        return [message]
    page = await store.messages.list(
        message.thread_id or "", MessageFilter(before=message.seq), limit=EARLIER, order="desc"
    )
    rows = [message]
    for earlier in page.items:
        if not is_continued(earlier, rows[0]):
            break
        rows.insert(0, earlier)
    return rows


async def ids_of(session: Session, run: Run) -> set[str]:
    """The ids that clients may have for the message of an active run."""
    produced = [message.id for message in (await session.progress(run)).messages if not message.internal]
    ids = {run.message_id or "", *produced}
    stored = await session.store.messages.get(run.thread_id, run.message_id or "")
    if stored is not None:  # the run continues it
        ids.update(row.id for row in await rows_before(session.store, stored))
    return ids


def queued_ids(run: Run) -> set[str]:
    """The ids of the messages that a queued run will start with."""
    try:
        return {message.id for message in MESSAGES.read((run.metadata or {}).get(QUEUED, []))}
    except DecodeError:
        return set()


# Replies to calls

WAITING: Final = ("approval-requested", "input-available")
"""States of calls that wait for a reply."""

REPLIES: Final = (
    ToolApprovalResponse,
    ToolOutputAvailable,
    ToolOutputChunk,
    ToolOutputDenied,
    ToolOutputError,
)
"""Chunks with which a run continues after a reply of a client."""


async def add_replies(
    caller: CallerView, thread_id: str, sent: Sequence[ClientMessage], context: ThreadContext
) -> int:
    """Store the replies in a client's messages to calls that wait for one; returns their number."""
    added = 0
    copies = [message for message in sent if message.role == "assistant"]
    if not copies or not (context.waiting or context.run):
        return added
    active_calls, ids = await _waiting_calls(caller.session, context.run)
    for copy in copies:
        calls = active_calls if copy.id in ids else await _stored_calls(caller.store, copy.id, context)
        if not calls:
            continue
        for reply in replies_in(copy.read(thread_id), calls, caller.principal.name):
            added += 1
            await add_reply(caller, thread_id, reply)
    return added


async def add_reply(caller: CallerView, thread_id: str, reply: Reply) -> None:
    """Store a reply, whether its run waits for it or has ended; an error if no call waits for it."""
    match reply:
        case ApprovalResponse():
            await caller.session.add_approval_response(thread_id, reply)
        case ClientOutput(call_id, output, tool_name, input):
            await caller.session.add_tool_output(
                thread_id,
                call_id,
                output,
                tool_name=tool_name,
                input=input,
                server_tools=caller.server_tools,
            )
        case _:
            assert_never(reply)


def replies_in(message: Message, waiting: Sequence[str], by: str) -> list[Reply]:
    """The replies in a client's copy of a message to those of its calls that wait for one."""
    if not isinstance(message, AssistantMessage):
        return []
    found = [
        _reply(part, by) for part in message.parts if isinstance(part, ToolCallPart) and part.id in waiting
    ]
    return [reply for reply in found if reply is not None]


def _reply(call: ToolCallPart, by: str) -> Reply | None:
    match call.state:
        case "output-available" | "output-error" if call.output is not None:
            return ClientOutput(call.id, call.output, call.name, call.input)
        case "approval-responded" if call.approval is not None and call.approval.approved is not None:
            return ApprovalResponse(
                call.approval.id,
                call.approval.approved,
                by=by,
                reason=call.approval.reason,
                tool_call_id=call.id,
                tool_name=call.name,
                input=call.input,
            )
        case _:
            return None


async def _waiting_calls(session: Session, run: Run | None) -> tuple[list[str], set[str]]:
    """The calls of the active run that wait for a reply, and the ids that its message may have."""
    if run is None:
        return [], set()
    calls = [
        part.id
        for message in (await session.progress(run)).messages
        for part in message.parts
        if isinstance(part, ToolCallPart) and part.state in WAITING
    ]
    return calls, await ids_of(session, run)


async def _stored_calls(store: Store, message_id: str, context: ThreadContext) -> list[str]:
    """The stored calls that wait for a reply, of all messages that the client has joined."""
    stored = context.messages.get(message_id)
    if not context.waiting or stored is None:
        return context.waiting.get(message_id, [])
    return [call for row in await rows_from(store, stored) for call in context.waiting.get(row.id, ())]


def is_replied(message: AssistantMessage) -> bool:
    """Whether the calls that a message ends with have their replies, which no model has seen yet."""
    return can_continue(message) and not any(
        isinstance(part, ToolCallPart) and part.state in WAITING for part in message.parts
    )


async def replied_at(store: Store, run: Run, copy: AssistantMessage) -> int | None:
    """The number in a run's log after which it continued with the replies in a client's copy of its message.

    The client has everything up to that number. It is 0 for a run that the replies have started, and `None`
    if the run had no reply.
    """
    calls = {part.id for part in copy.parts if isinstance(part, ToolCallPart) and _has_reply(part)}
    requested, replied = 0, 0
    log = await store.logs.read(run.id)
    for record in log:
        match record.chunk:
            case ToolApprovalRequest(tool_call_id=call) | ToolInputAvailable(tool_call_id=call):
                if call in calls:
                    requested, replied = record.seq, 0
            case chunk if requested and not replied and is_reply(chunk):
                replied = record.seq
            case _:
                pass
    if replied and any(isinstance(one.chunk, DataChunk) and one.chunk.type == DECISION for one in log):
        return replied - 1
    if (run.metadata or {}).get(AFTER) == run.message_id:
        return 0
    return replied - 1 if replied and run.finished_at is None else None


def is_reply(chunk: Chunk | None) -> bool:
    """Whether a run continues with a chunk after a reply of a client."""
    return isinstance(chunk, REPLIES) or (isinstance(chunk, DataChunk) and chunk.type == DECISION)


def _has_reply(call: ToolCallPart) -> bool:
    """Whether a call has an output, or its approval a response."""
    return call.output is not None or (call.approval is not None and call.approval.approved is not None)


def with_approvals(copy: AssistantMessage, stored: AssistantMessage) -> AssistantMessage:
    """A client's copy of a message with the stored approvals: who responded to them, and when."""
    approvals = {part.id: part.approval for part in stored.parts if isinstance(part, ToolCallPart)}
    parts = tuple(
        replace(part, approval=approvals[part.id])
        if isinstance(part, ToolCallPart) and part.id in approvals
        else part
        for part in copy.parts
    )
    return replace(copy, content=replace(copy.content, parts=parts))
