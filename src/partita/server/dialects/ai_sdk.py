"""Clients of the AI SDK: the routes that `useChat` calls to send, resume and stop.

https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol
"""

from collections.abc import AsyncGenerator, Iterable, Sequence
from functools import partial
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from partita.formats.ai_sdk.ui.chat import APPROVALS, chat_message
from partita.formats.ai_sdk.ui.chat_encoder import ChatEncoder
from partita.formats.ai_sdk.ui.format import load_message
from partita.formats.format import ToolSpec
from partita.runtime.replay.message_chunks import chunks_of_message
from partita.runtime.session.run_stream import stored_chunks
from partita.runtime.session.sse import ENDS, end_of, follow_sse, last_event_seq
from partita.server.callers import Caller, CallerView
from partita.server.endpoints import Body, Header, ResponseSpec, get, post
from partita.server.file_urls import chunk_with_file_url
from partita.server.responses import EventStream
from partita.store.runs.rows import ACTIVE
from partita.stream.targets import CHUNKS, Target
from partita.types.chunks import (
    Chunk,
    MessageFinish,
    MessageMetadata,
    ToolApprovalRequest,
    ToolApprovalResponse,
)
from partita.types.json import JsonObject, is_object
from partita.types.messages import AssistantMessage, Message
from partita.types.threads import Run

from .client_messages import ClientMessage, active_run, ids_of, last_run, rows_before
from .dialect import run_stream, run_turn
from .turn import HistoryTurn, StartedTurn, stop_run


class ClientTool(msgspec.Struct, omit_defaults=True):
    """A tool that the client runs."""

    description: str | None = None
    parameters: Annotated[dict[str, Any] | None, Meta(description="JSON Schema of its input.")] = None


class ChatBody(msgspec.Struct, rename="camel", kw_only=True):
    """A request of `useChat`: all messages of the client, or the last one alone.

    Other members are passed to the agent, as `AgentRequest.body`.
    """

    id: Annotated[
        str, Meta(min_length=1, description="The chat: the thread of that id.", examples=["chat-1"])
    ]
    messages: Annotated[
        list[dict[str, Any]] | None, Meta(description="All messages of the client, as UI messages.")
    ] = None
    message: Annotated[dict[str, Any] | None, Meta(description="Or the last message alone.")] = None
    trigger: Literal["submit-message", "regenerate-message"] = "submit-message"
    message_id: Annotated[
        str | None, Meta(description="The message that is edited, continued, or regenerated.")
    ] = None
    agent: Annotated[str | None, Meta(description="The name of the agent, if the server has several.")] = None
    cwd: Annotated[
        str | None,
        Meta(
            description="The folder in which the agent works: one that the server allows, or below one. "
            "Default: that of the last run of the chat."
        ),
    ] = None

    tools: Annotated[
        dict[str, ClientTool] | None,
        Meta(description="Tools that the client runs, by name, as `AssistantChatTransport` sends them."),
    ] = None
    system: Annotated[
        str | None,
        Meta(description="Instructions that replace those of the agent. Not for the role `chat`."),
    ] = None


class AiSdk(NamedTuple):
    """The dialect of a release of the AI SDK."""

    target: Target
    key: str | None = None
    """The idempotency key of the request."""

    def read(self, caller: CallerView, body: ChatBody) -> HistoryTurn:
        """The turn with all messages of the client, or the last one alone."""
        raws = [body.message] if body.message is not None else body.messages or []
        tools = [
            ToolSpec(name=name, description=tool.description, input_schema=tool.parameters)
            for name, tool in (body.tools or {}).items()
        ]
        return HistoryTurn(
            thread_id=body.id,
            agent=body.agent,
            tools=tools,
            instructions=body.system,
            messages=[_client_message(raw, index) for index, raw in enumerate(raws)],
            is_whole=body.message is None and len(raws) > 1,
            trigger=body.trigger,
            message_id=body.message_id,
            cwd=body.cwd,
            key=self.key,
        )

    async def respond(self, caller: CallerView, body: ChatBody, started: StartedTurn) -> EventStream:
        """The run from where the client has it. Of a repeated request, the stored response."""
        run, after, message_id, continued = started
        if message_id is None and run.status not in ACTIVE:
            return await self.stored_response(caller, run)
        before = self._approvals([continued]) if continued else ()
        return self.stream(caller, run, before, after=after, message_id=message_id, continued=continued)

    async def stored_response(self, caller: CallerView, run: Run) -> EventStream:
        """The stored response of a run that has ended, and its end."""
        message = await caller.store.messages.get(run.thread_id, run.message_id or "")
        chunks = [*await self.chunks_before(caller, message), *(end_of(run) or [MessageFinish()])]
        addressed = [await chunk_with_file_url(caller, chunk) for chunk in chunks]
        encoder = ChatEncoder(self.target)

        async def events() -> AsyncGenerator[bytes, None]:
            yield b"".join([encoder.encode(chunk) for chunk in addressed]) + encoder.finish()

        return run_stream(caller, run, events())

    def stream(
        self,
        caller: CallerView,
        run: Run,
        before: Iterable[Chunk] = (),
        *,
        after: int = 0,
        ids: bool = False,
        message_id: str | None = None,
        continued: AssistantMessage | None = None,
    ) -> EventStream:
        """The chunks of a run after a number in its log; without one, also those `before` its message."""
        events = follow_sse(
            caller.session,
            run.id,
            version=self.target,
            before=() if after else before,
            after=after,
            ids=ids,
            keep_alive=caller.state.settings.keep_alive,
            until_approval=True,
            message_id=message_id,
            continued=continued,
            files=partial(chunk_with_file_url, caller),
        )
        return run_stream(caller, run, events)

    async def chunks_before(self, caller: CallerView, message: Message | None) -> Sequence[Chunk]:
        """A stored message, and those that a client has joined with it, as chunks without an end."""
        stored = [] if message is None else await rows_before(caller.store, message)
        rows = [row for row in stored if isinstance(row, AssistantMessage)]
        chunks = [chunk for row in rows for chunk in chunks_of_message(row)][:-1] + self._approvals(rows)
        if self.target.knows(CHUNKS[ToolApprovalResponse]):
            return chunks
        # Release 6 has no chunk for an approved call: it would request the approval a second time.
        approved = {
            one.approval_id for one in chunks if isinstance(one, ToolApprovalResponse) and one.approved
        }
        return [
            one
            for one in chunks
            if not (isinstance(one, ToolApprovalRequest) and one.approval_id in approved)
        ]

    def _approvals(self, rows: Sequence[AssistantMessage]) -> list[Chunk]:
        """Who responded to the approvals of these messages, and when: a client knows only the response."""
        metadata = [chat_message(row, self.target.major).content.metadata for row in rows]
        return [
            MessageMetadata({APPROVALS: one[APPROVALS]})
            for one in metadata
            if is_object(one) and APPROVALS in one
        ]


def _client_message(raw: JsonObject, index: int) -> ClientMessage:
    where = f"$.messages[{index}]"
    return ClientMessage(raw.get("id"), raw.get("role"), where, partial(load_message, raw, where, index))


def _dialect(caller: CallerView, version: str | None, key: str | None = None) -> AiSdk:
    return AiSdk(caller.state.settings.client if version is None else Target.parse(version), key)


# The routes

VERSION: Final = "x-ai-sdk-version"

IdempotencyKey = Annotated[
    str | None,
    Header(
        name="idempotency-key",
        min_length=1,
        max_length=255,
        description="A key of this request. A request with the same key gets the response of the same run.",
    ),
]

Version = Annotated[
    str | None,
    Header(name=VERSION, description="The release of the AI SDK that the client has: `7`, `5.0.92`."),
]

EVENTS: Final = ResponseSpec("Server-sent events: UI message chunks.", media_type="text/event-stream")

NOTHING: Final = ResponseSpec("No run is active.")

HELLO: Final = {
    "id": "chat-1",
    "messages": [{"id": "m1", "role": "user", "parts": [{"type": "text", "text": "How tall is it?"}]}],
    "trigger": "submit-message",
}


@post(
    "/api/chat",
    tags=["chat"],
    summary="Send a message and stream the response",
    responses={200: EVENTS},
)
async def send(
    caller: Caller,
    request: Request,
    data: Annotated[ChatBody, Body(examples=[HELLO])],
    version: Version = None,
    key: IdempotencyKey = None,
) -> Response:
    """For `useChat`: sends a new or edited message, outputs of client tools or approval responses, or
    regenerates a response. Send all messages of the client, or the last one alone; they are identified by
    their ids. The run continues if the client disconnects: resume it, or stop it. A repeated request gets the
    same response.
    """
    return await run_turn(_dialect(caller, version, key), caller, request, data)


@get(
    "/api/chat/{chat_id}/stream",
    tags=["chat"],
    summary="Resume the stream of a response",
    responses={200: EVENTS, 204: NOTHING},
)
async def resume(
    caller: Caller,
    request: Request,
    chat_id: str,
    version: Version = None,
    last_event_id: Annotated[str | None, Header(name="last-event-id")] = None,
) -> EventStream:
    """Streams the active run from its first chunk, with the same message id, then live. If the server was
    stopped or killed during the last run, streams its response and its end. Otherwise, the response is 204.
    With `Last-Event-ID` (an event id of the stream, or the number in it), streams what follows that event,
    also of the last run if it has ended.
    """
    found = await caller.store.read(active_run, chat_id)
    dialect = _dialect(caller, version)
    if found is not None:
        run, message = found
        after = last_event_seq(last_event_id, run.id)
        ids = last_event_id is not None or "text/event-stream" in request.headers.get("accept", "")
        chunks = await dialect.chunks_before(caller, message)
        before = [await chunk_with_file_url(caller, chunk) for chunk in chunks]
        return dialect.stream(caller, run, before, after=after, ids=ids)
    last = await caller.store.read(last_run, chat_id)
    after = last_event_seq(last_event_id, "" if last is None else last.id)
    if last is None:
        return EventStream(None)
    if not last_event_id:
        is_cut = last.status == "interrupted"
        return await dialect.stored_response(caller, last) if is_cut else EventStream(None)
    if not 0 < after < await _end_of_log(caller, last):
        return EventStream(None)
    return dialect.stream(caller, last, after=after, ids=True)


async def _end_of_log(caller: CallerView, run: Run) -> int:
    """The number of the last event of a run that has ended. If its log has no end, the end gets one."""
    records = await caller.store.logs.read(run.id)
    shown = [one for one in stored_chunks(records) if not one.is_note]
    if end_of(run) and not (shown and isinstance(shown[-1].chunk, ENDS)):
        return records[-1].seq + 1 if records else 1
    return shown[-1].seq if shown else 0


class StopBody(msgspec.Struct, rename="camel", kw_only=True):
    """The run to stop. If it is not active, nothing is stopped."""

    run_id: str | None = None
    message_id: str | None = None
    reason: str | None = None


class Stopped(msgspec.Struct, rename="camel", omit_defaults=True):
    """Whether a run was stopped, and which."""

    stopped: bool
    run_id: str | None = None


@post("/api/chat/{chat_id}/stop", tags=["chat"], summary="Stop a response")
async def stop(caller: Caller, chat_id: str, data: Annotated[StopBody | None, Body()] = None) -> Stopped:
    """Stops the active run of a chat; its messages are kept. Name the run, or its message, so that a late
    request does not stop the next run. If no run is active, nothing happens.
    """
    requested = data or StopBody()
    run = await caller.session.active_run(chat_id)
    if run is None or requested.run_id not in (None, run.id):
        return Stopped(stopped=False)
    if requested.message_id is not None and requested.message_id not in await ids_of(caller.session, run):
        return Stopped(stopped=False)
    await stop_run(caller.session, run, requested.reason)
    return Stopped(stopped=True, run_id=run.id)
