"""Replies of clients to calls: decisions on approvals, and outputs of the tools that clients run.

When `submit` returns, the reply is stored, or it was refused. If the run is active, the reply is added to its
log. The run of another process receives it as a signal, and its log has the result. If the run has ended, the
stored message is changed.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple, TypeAlias, assert_never

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from partita.errors import ApprovalError, BusyError, ConflictError
from partita.formats.core.metadata import server_calls
from partita.runtime.error_mask import error_text, public_error
from partita.runtime.run_fold import DECISION
from partita.runtime.service import ApprovalDecision, closed
from partita.runtime.tools.outputs import chunk_of_output, truncate_output
from partita.store.ids import new_id
from partita.store.store import Store
from partita.store.values import RunFilter
from partita.stream.accumulator import Accumulator
from partita.types.chunks import Chunk, DataChunk, MessageMetadata, ToolApprovalResponse
from partita.types.codec import Codec, to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import Approval, ToolOutput
from partita.types.threads import Run

from .live_run import LiveRun
from .recovery import run_progress

HANDLED: Final = "data-partita-heard"
"""The note that a reply of another process was handled: `{token, why}`; `why` says why it was refused."""

RETRY_DELAY: Final = 0.05
"""Seconds until a call is looked up again, if a run has just started to continue its message."""

END_TIMEOUT: Final = 2.0
"""Seconds that a run has to end when a client sends the output of a call that the server may run."""


class ApprovalResponse(NamedTuple):
    """The decision on an approval request. Fields of the call, if given, must match the stored call."""

    approval_id: str
    approved: bool
    by: str | None = None
    reason: str | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    input: Json | UnsetType = UNSET


class ClientOutput(NamedTuple):
    """The output of a call that the client ran. Fields of the call, if given, must match the stored call."""

    tool_call_id: str
    output: ToolOutput
    tool_name: str | None = None
    input: Json | UnsetType = UNSET
    server_tools: frozenset[str] = frozenset()
    """Names of tools that the server runs: an output of theirs is refused."""
    public: bool = False
    """Whether end users may see the text of an error: one of their clients reported it."""


Reply: TypeAlias = ApprovalResponse | ClientOutput


class ClientReplies:
    """Adds replies to the calls of threads."""

    def __init__(self, store: Store, live: Mapping[str, LiveRun], clock: Callable[[], datetime]) -> None:
        self._store = store
        self._live = live
        self._clock = clock

    async def submit(self, thread_id: str, reply: Reply) -> None:
        """Store a reply. One that does not fit its call is refused with an `ApprovalError`."""
        while True:
            if await self._add_to_active_run(thread_id, reply):
                return
            try:
                note = _public_error(reply)
                change = self._store.messages.change_call(
                    thread_id, partial(self._with_reply, reply), note and note.message_metadata
                )
                if await change is None:
                    raise _unknown_call(reply, thread_id)
                return
            except BusyError:
                await asyncio.sleep(RETRY_DELAY)

    def receive(self, live: LiveRun, signal: JsonObject) -> None:
        """Handle a reply that another process sent as a signal."""
        reply = _read_signal(signal)
        if reply is not None:
            live.start_background(self._handle(live, reply, signal.get("token")))

    async def _handle(self, live: LiveRun, reply: Reply, token: object) -> None:
        why = None
        try:
            if not await self._add_to_live_run(live, reply):
                return  # the run has ended: the sender finds that out and changes the stored message
        except ApprovalError as error:
            why = str(error)
        with suppress(ConflictError):
            await _add_chunks(live, [DataChunk(HANDLED, {"token": token, "why": why}, transient=True)])

    async def _add_to_active_run(self, thread_id: str, reply: Reply) -> bool:
        """Add a reply to the running run of a thread. Returns false if none waits for it."""
        page = await self._store.runs.list(RunFilter(thread_id=thread_id, status=("running",)), limit=1)
        for run in page.items:
            live = self._live.get(run.id)
            if live is not None and self._store.owner in (None, live.owner or self._store.owner):
                return await self._add_to_live_run(live, reply)
            return await self._send_to_process(run, reply)
        return False

    # A run of this process

    async def _add_to_live_run(self, live: LiveRun, reply: Reply) -> bool:
        await live.ready.wait()
        chunks = self._chunks(live, reply)
        if not chunks:
            return False
        if isinstance(reply, ClientOutput) and not self._is_for_client(live, reply.tool_call_id):
            return await _wait_for_end(live, reply)
        topic = reply.approval_id if isinstance(reply, ApprovalResponse) else reply.tool_call_id
        if topic in live.replied:
            raise ApprovalError(
                f"{topic!r} already has a reply", hint="the first reply is final; run the agent again"
            )
        live.replied.add(topic)
        try:
            await _add_chunks(live, chunks)
        except ConflictError:  # it has just ended
            await live.ended.wait()
            return False
        if isinstance(reply, ApprovalResponse):
            decision = ApprovalDecision(reply.approved, reply.reason, reply.by, self._clock())
            live.approvals.decide(reply.approval_id, decision)
        return True

    def _chunks(self, live: LiveRun, reply: Reply) -> list[Chunk]:
        """The chunks that add a reply to the log of a run; none if the run does not wait for it."""
        now = self._clock()
        if isinstance(reply, ApprovalResponse):
            request = live.approvals.get(reply.approval_id)
            if request is not None:  # the agent itself emits the response
                check_call(
                    CallFields.from_response(reply),
                    CallFields(request.tool_call_id, request.tool_name, request.input),
                )
                return [decision_note(reply, now)]
        if self._waiting_call(live.fold.snapshot(), reply) is None:
            return []
        if isinstance(reply, ApprovalResponse):
            response = ToolApprovalResponse(reply.approval_id, reply.approved, reply.reason)
            return [decision_note(reply, now), response]
        note = _public_error(reply)
        return [output_chunk(reply)] if note is None else [note, output_chunk(reply)]

    def _is_for_client(self, live: LiveRun, call_id: str) -> bool:
        """Whether the tool of a call is known to be one that the client runs."""
        parts = (part for message in live.fold.snapshot() for part in message.parts)
        calls = [part for part in parts if isinstance(part, ToolCallPart) and part.id == call_id]
        return any(call.name in live.client_tools for call in calls)

    # A run of another process

    async def _send_to_process(self, run: Run, reply: Reply) -> bool:
        """Send the reply to the process of a run, and wait until that has handled it."""
        messages, last_seq = await run_progress(self._store, run)
        if self._waiting_call(messages, reply) is None:
            return False
        token = new_id()
        try:
            await self._store.runs.signal(run.id, {**_signal(reply), "token": token})
        except ConflictError:  # it has ended
            return False
        return await self._is_handled(run.id, token, last_seq)

    async def _is_handled(self, run_id: str, token: str, after: int) -> bool:
        """Whether the reply was accepted before the run ended. A refusal is raised."""
        async with closed(self._store.logs.follow(run_id, after=after)) as batches:
            async for records in batches:
                for record in records:
                    match record.chunk:
                        case DataChunk(type=type_, data=data) if type_ == HANDLED and is_object(data):
                            if data.get("token") == token:
                                why = data.get("why")
                                if isinstance(why, str):
                                    raise ApprovalError(why, hint="load the thread again")
                                return True
                        case _:
                            pass
        return False

    # The call of a reply

    def _waiting_call(self, messages: Sequence[AssistantMessage], reply: Reply) -> ToolCallPart | None:
        """The call that waits for a reply. A reply to a call that waits no longer is refused."""
        for message in reversed(messages):
            for part in message.parts:
                if isinstance(part, ToolCallPart) and self._with_reply(reply, part, message) is not None:
                    return part
        return None

    def _with_reply(self, reply: Reply, call: ToolCallPart, message: AssistantMessage) -> ToolCallPart | None:
        """The call of a message with its reply; `None` if the reply is for another call."""
        match reply:
            case ApprovalResponse():
                return with_decision(call, reply, self._clock())
            case ClientOutput():
                return with_output(call, reply, message)
            case _:
                assert_never(reply)


async def _wait_for_end(live: LiveRun, reply: ClientOutput) -> bool:
    """Wait a moment for the end of a run: calls that it leaves without an output are run by the client."""
    with suppress(TimeoutError):
        await asyncio.wait_for(live.ended.wait(), END_TIMEOUT)
        return False
    raise ApprovalError(
        f"call {reply.tool_call_id!r} is not run by the client",
        where=f"run {live.run.id}",
        hint="the agent is running it",
    )


async def _add_chunks(live: LiveRun, chunks: list[Chunk]) -> None:
    if live.add_chunks is None:
        raise ConflictError(f"run {live.run.id!r} is not running", hint="start another one in its thread")
    await live.add_chunks(chunks)


def _unknown_call(reply: Reply, thread_id: str) -> ApprovalError:
    if isinstance(reply, ApprovalResponse):
        return ApprovalError(
            f"approval {reply.approval_id!r} was not requested",
            where=f"thread {thread_id}",
            hint="send the approval id of a call of this thread",
        )
    return ApprovalError(
        f"no call {reply.tool_call_id!r} waits for an output",
        where=f"thread {thread_id}",
        hint="send the id of a call of this thread",
    )


# Decisions. An approval is decided once, by its own id.


def with_decision(call: ToolCallPart, response: ApprovalResponse, now: datetime) -> ToolCallPart | None:
    """The call with the decision; `None` if the decision is about another call."""
    approval = call.approval
    if approval is None or approval.id != response.approval_id:
        return None
    if call.state != "approval-requested":
        raise _already_decided(approval, call.id)
    check_call(CallFields.from_response(response), CallFields(call.id, call.name, call.input))
    decided = replace(
        approval,
        approved=response.approved,
        reason=response.reason,
        responded_by=response.by,
        responded_at=now,
    )
    return replace(call, state="approval-responded", approval=decided)


def decision_note(response: ApprovalResponse, now: datetime) -> Chunk:
    """The note in the log of the run: who decided, and when."""
    data = {"approvalId": response.approval_id, "by": response.by, "at": now.isoformat()}
    return DataChunk(DECISION, data, transient=True)


def _already_decided(approval: Approval, call_id: str) -> ApprovalError:
    by = f" by {approval.responded_by}" if approval.responded_by else ""
    decision = "approved" if approval.approved else "denied" if approval.approved is False else "withdrawn"
    return ApprovalError(
        f"approval {approval.id!r} was already decided{by}: {decision}",
        where=f"call {call_id}",
        hint="a decision is final; run the agent again",
    )


# Outputs. Only a call that waits for an output accepts one.


def with_output(call: ToolCallPart, reply: ClientOutput, message: AssistantMessage) -> ToolCallPart | None:
    """The call of a message with its output; `None` if the output is that of another call."""
    if call.id != reply.tool_call_id:
        return None
    if call.name in reply.server_tools or call.id in server_calls(message.content.metadata):
        raise ApprovalError(
            f"call {call.id!r} is not run by the client",
            where=f"tool {call.name}",
            hint="the server runs it, once the approval requests of the agent are decided",
        )
    if call.provider_executed or call.state != "input-available":
        state = "run by the provider" if call.provider_executed else call.state
        raise ApprovalError(
            f"call {call.id!r} does not wait for an output: it is {state}",
            where=f"tool {call.name}",
            hint="only a call with a complete input and without an output accepts one",
        )
    check_call(CallFields(None, reply.tool_name, reply.input), CallFields(call.id, call.name, call.input))
    fold = Accumulator(AssistantMessage(id="", content=[call]))
    fold.feed(output_chunk(reply))
    (changed,) = fold.snapshot().parts
    assert isinstance(changed, ToolCallPart), "a call with an output is a call"
    return changed


def output_chunk(reply: ClientOutput) -> Chunk:
    """The chunk with the output, which is truncated if it is too long."""
    return chunk_of_output(reply.tool_call_id, truncate_output(reply.output))


def _public_error(reply: Reply) -> MessageMetadata | None:
    """The chunk that lets end users see the error that their client reported."""
    if not isinstance(reply, ClientOutput) or not reply.public:
        return None
    text = error_text(truncate_output(reply.output))
    return None if text is None else public_error(reply.tool_call_id, text)


# The fields of a call that a client sends with its reply: what the user saw must be what is stored


class CallFields(NamedTuple):
    """Fields of a call, as far as they are known."""

    tool_call_id: str | None
    tool_name: str | None
    input: Json | UnsetType

    @classmethod
    def from_response(cls, response: ApprovalResponse) -> "CallFields":
        """The fields that a decision was sent with."""
        return cls(response.tool_call_id, response.tool_name, response.input)


def check_call(sent: CallFields, stored: CallFields) -> None:
    """Raise an `ApprovalError` if a reply was sent with other fields than the stored call has."""
    for field, value, stored_value in (
        ("call", sent.tool_call_id, stored.tool_call_id),
        ("tool", sent.tool_name, stored.tool_name),
    ):
        if value is not None and value != stored_value:
            raise ApprovalError(
                f"the stored {field} is {stored_value!r}, not {value!r}",
                where=f"call {stored.tool_call_id}",
                hint="send the fields of the stored call, or leave them out",
            )
    if sent.input is not UNSET and not _is_same(sent.input, stored.input):
        raise ApprovalError(
            "the input is not the one of the stored call",
            where=f"call {stored.tool_call_id}",
            hint="load the thread again: the stored call counts",
        )


def _is_same(one: Json, other: Json | UnsetType) -> bool:
    """Whether two values are the same JSON to a client with one type of numbers and no order of members.

    JavaScript sends a call with 1.0 or 10000000000000001 back with 1 and 10000000000000000.
    """
    return other is not UNSET and dumps(_normalized(one)) == dumps(_normalized(other))


def _normalized(value: Json) -> Json:
    if is_object(value):
        return {key: _normalized(value[key]) for key in sorted(value)}
    if is_array(value):
        return [_normalized(item) for item in value]
    return _number(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _number(value: float) -> Json:
    try:
        return float(value) + 0.0  # JSON from JavaScript has no -0
    except OverflowError:
        return value


# Replies as signals to other processes

OUTPUT: Final[Codec[ToolOutput]] = Codec(ToolOutput)


def _signal(reply: Reply) -> JsonObject:
    """A reply as a signal, without the fields of the call, which were checked."""
    match reply:
        case ApprovalResponse():
            fields = {"approval_id": reply.approval_id, "approved": reply.approved}
            return {"kind": "answer", **fields, "by": reply.by, "reason": reply.reason}
        case ClientOutput():
            output = to_json(reply.output)
            return {
                "kind": "output",
                "tool_call_id": reply.tool_call_id,
                "output": output,
                "public": reply.public,
            }
        case _:
            assert_never(reply)


def _read_signal(signal: JsonObject) -> Reply | None:
    """The reply in a signal; `None` for any other signal."""
    match signal:
        case {"kind": "answer", "approval_id": str(id), "approved": bool(approved)}:
            by, reason = signal.get("by"), signal.get("reason")
            return ApprovalResponse(
                id,
                approved,
                by if isinstance(by, str) else None,
                reason if isinstance(reason, str) else None,
            )
        case {"kind": "output", "tool_call_id": str(id), "output": output}:
            return ClientOutput(id, OUTPUT.read(output), public=signal.get("public") is True)
        case _:
            return None
