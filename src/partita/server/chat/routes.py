"""The routes that `useChat` calls: send, resume, stop."""

from collections.abc import AsyncGenerator, Sequence
from functools import partial
from typing import Annotated, Any, Final

import msgspec
from litestar import Request, get, post
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import Body, FromPath, HeaderParameter, JSONBody
from litestar.types import ControllerRouterHandler

from partita.formats.ai_sdk.ui.chat import APPROVALS, chat_message
from partita.formats.ai_sdk.ui.chat_encoder import ChatEncoder
from partita.runtime.replay.retelling import retold
from partita.runtime.session.following import seen_of
from partita.runtime.session.sse import ENDS, end_of, follow_sse, place_of
from partita.server.extra_members import extra_members
from partita.server.files import addressed_chunk
from partita.server.hub import Caller
from partita.server.problems import Problem
from partita.server.replies import Reply
from partita.server.streaming import EventStream
from partita.store.runs import AT_WORK
from partita.stream.targets import CHUNKS, Target
from partita.types.chunks import (
    Chunk,
    MessageFinish,
    MessageMetadata,
    ToolApprovalRequest,
    ToolApprovalResponse,
)
from partita.types.json import is_object
from partita.types.messages import AssistantMessage, Message
from partita.types.runs import Run

from .body import ChatBody, StopBody
from .rows import at_work, ids_of, last_run, rows_before
from .turn import ChatTurn

VERSION: Final = "x-ai-sdk-version"

IdempotencyKey = Annotated[
    str | None,
    HeaderParameter(
        name="idempotency-key",
        min_length=1,
        max_length=255,
        description="A key of this request. Sent again with the same key, it is answered by the same run.",
    ),
]

Version = Annotated[
    str | None,
    HeaderParameter(
        name=VERSION, description="The release of the AI SDK that the client has: `7`, `5.0.92`."
    ),
]

EVENTS: Final = ResponseSpec(
    data_container=str,
    media_type="text/event-stream",
    description="Server-sent events: UI message chunks.",
    generate_examples=False,
)

NOTHING: Final = ResponseSpec(
    data_container=None, description="There is nothing to read.", generate_examples=False
)

HELLO: Final = {
    "id": "chat-1",
    "messages": [{"id": "m1", "role": "user", "parts": [{"type": "text", "text": "How tall is it?"}]}],
    "trigger": "submit-message",
}


class Stopped(msgspec.Struct, rename="camel", omit_defaults=True):
    """What became of a wish to stop: whether there was anything to stop, and what it was."""

    stopped: bool
    run_id: str | None = None


@post(
    "/api/chat",
    tags=["chat"],
    summary="Send a message, and read the answer",
    status_code=200,
    responses={200: EVENTS},
)
async def send(
    caller: Caller,
    request: Request[Any, Any, Any],
    data: Annotated[ChatBody, Body(examples=[Example("a first message", value=HELLO)])],
    version: Version = None,
    key: IdempotencyKey = None,
) -> EventStream:
    """What `useChat` calls: a new message, an edited one, an answer to be given again, outputs of client
    tools and answers to approvals. All messages of the client may come, or the last one alone; they are
    known by their ids. The answer goes on when the client leaves: resume it, or stop it. A request that is
    repeated gets the same answer again.
    """
    options = caller.run_options(
        tools=data.client_tools, instructions=data.system, body=await extra_members(request, ChatBody)
    )
    begun = await ChatTurn(caller, data, options, key).begin()
    target = _target(caller, version)
    if begun.message_id is None and begun.run.status not in AT_WORK:
        return await _ended(caller, begun.run, target)
    before = _approvals([begun.continued], target) if begun.continued else ()
    return _stream(
        caller,
        begun.run,
        target,
        before,
        after=begun.after,
        message_id=begun.message_id,
        continued=begun.continued,
    )


@get(
    "/api/chat/{chat_id:str}/stream",
    tags=["chat"],
    summary="Go on reading an answer",
    responses={200: EVENTS, 204: NOTHING},
)
async def resume(
    caller: Caller,
    request: Request[Any, Any, Any],
    chat_id: FromPath[str],
    version: Version = None,
    last_event_id: Annotated[str | None, HeaderParameter(name="last-event-id")] = None,
) -> EventStream:
    """The answer at work, from its first chunk and with the same message id, then live. If the last answer
    was cut off because the server was stopped or killed: that answer and how it ended. Otherwise 204. With
    `Last-Event-ID`, an id of the stream or the number in it: what comes behind it, also of the last answer
    when it has ended.
    """
    found = await caller.store.read(at_work, chat_id)
    target = _target(caller, version)
    if found is None:
        last = await caller.store.read(last_run, chat_id)
        if last is None:
            place_of(last_event_id, "")
            return EventStream(None)
        if not last_event_id:
            is_cut = last.status == "interrupted"
            return await _ended(caller, last, target) if is_cut else EventStream(None)
        after = place_of(last_event_id, last.id)
        if not 0 < after < await _end_of_log(caller, last):
            return EventStream(None)
        return _stream(caller, last, target, after=after, ids=True)
    run, message = found
    after = place_of(last_event_id, run.id)
    plain = last_event_id is not None or "text/event-stream" in request.headers.get("accept", "")
    before = [await addressed_chunk(caller, one) for one in await _chunks_before(caller, message, target)]
    return _stream(caller, run, target, before, after=after, ids=plain)


@post("/api/chat/{chat_id:str}/stop", tags=["chat"], summary="Stop an answer", status_code=200)
async def stop(
    caller: Caller, chat_id: FromPath[str], data: JSONBody[StopBody | None] = None
) -> Reply[Stopped]:
    """Stop the run at work in a chat; what it has said stays. Name the run, or its message, so that a stop
    that comes late does not hit the next one. To stop nothing is no error.
    """
    wanted = data or StopBody()
    run = await caller.session.active_run(chat_id)
    if run is None or wanted.run_id not in (None, run.id):
        return Reply(Stopped(stopped=False))
    if wanted.message_id is not None and wanted.message_id not in await ids_of(caller.session, run):
        return Reply(Stopped(stopped=False))
    if (await caller.session.stop(run.id, wanted.reason)).status in AT_WORK:
        raise Problem(
            503, f"run {run.id!r} has not stopped yet", hint="try again later", headers={"retry-after": "5"}
        )
    return Reply(Stopped(stopped=True, run_id=run.id))


async def _chunks_before(caller: Caller, message: Message | None, target: Target) -> Sequence[Chunk]:
    """What the message held before its run, as chunks: a client that reconnects receives all of it."""
    return () if message is None else _chunks_of(await rows_before(caller.store, message), target)


def _chunks_of(messages: Sequence[Message], target: Target) -> Sequence[Chunk]:
    """Stored messages that a client has as one, as chunks without an end."""
    rows = [row for row in messages if isinstance(row, AssistantMessage)]
    chunks: list[Chunk] = [*(chunk for row in rows for chunk in retold(row))][:-1]
    chunks += _approvals(rows, target)
    if target.knows(CHUNKS[ToolApprovalResponse]):
        return chunks
    # Release 6 has no chunk for an allowed call: it would ask for approval again.
    allowed = {one.approval_id for one in chunks if isinstance(one, ToolApprovalResponse) and one.approved}
    return [
        one for one in chunks if not isinstance(one, ToolApprovalRequest) or one.approval_id not in allowed
    ]


async def _ended(caller: Caller, run: Run, target: Target) -> EventStream:
    """The stored answer of a run that has ended, and how it ended."""
    message = await caller.store.get_message(run.thread_id, run.message_id or "")
    rows = [] if message is None else await rows_before(caller.store, message)
    before = _chunks_of(rows, target)
    chunks = [await addressed_chunk(caller, one) for one in (*before, *(end_of(run) or [MessageFinish()]))]
    encoder = ChatEncoder(target)

    async def events() -> AsyncGenerator[bytes, None]:
        yield b"".join([encoder.encode(chunk) for chunk in chunks]) + encoder.finish()

    return _events(caller, run, events())


async def _end_of_log(caller: Caller, run: Run) -> int:
    """The number of the last event of a run that has ended: of its end, too, if the log has none."""
    records = await caller.store.read_log(run.id)
    shown = [one for one in seen_of(records) if not one.is_note]
    if end_of(run) and not (shown and isinstance(shown[-1].chunk, ENDS)):
        return records[-1].seq + 1 if records else 1
    return shown[-1].seq if shown else 0


def _approvals(rows: Sequence[AssistantMessage], target: Target) -> list[Chunk]:
    """Who answered the approvals of these messages, and when: a client knows only what was answered."""
    metadata = [chat_message(row, target.major).content.metadata for row in rows]
    return [
        MessageMetadata({APPROVALS: one[APPROVALS]})
        for one in metadata
        if is_object(one) and APPROVALS in one
    ]


def _target(caller: Caller, version: str | None) -> Target:
    return caller.hub.settings.client if version is None else Target.parse(version)


def _stream(
    caller: Caller,
    run: Run,
    target: Target,
    before: Sequence[Chunk] = (),
    *,
    after: int = 0,
    ids: bool = False,
    message_id: str | None = None,
    continued: AssistantMessage | None = None,
) -> EventStream:
    settings = caller.hub.settings
    body: AsyncGenerator[bytes, None] = follow_sse(
        caller.session,
        run.id,
        version=target,
        before=() if after else before,
        after=after,
        ids=ids,
        keep_alive=settings.keep_alive,
        until_asked=True,
        message_id=message_id,
        continued=continued,
        files=partial(addressed_chunk, caller),
    )
    return _events(caller, run, body)


def _events(caller: Caller, run: Run, body: AsyncGenerator[bytes, None]) -> EventStream:
    headers = {"x-partita-run-id": run.id, "x-partita-thread-id": _printable(run.thread_id)}
    return EventStream(body, headers=headers, stall=caller.hub.settings.limits.stall_seconds)


def _printable(text: str) -> str:
    """A text that may stand in a header."""
    return text.encode("ascii", errors="ignore").decode().translate(dict.fromkeys((*range(32), 127)))


CHAT: Final[list[ControllerRouterHandler]] = [send, resume, stop]
