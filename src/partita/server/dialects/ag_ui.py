"""Clients of AG-UI: the body is a `RunAgentInput`, the response a run in the protocol's events."""

from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from partita.formats.ag_ui.encoder import AgUiEncoder
from partita.formats.ag_ui.format import load
from partita.runtime.replay.message_chunks import chunks_of_message
from partita.runtime.session.client_replies import ApprovalResponse
from partita.runtime.session.sse import EventFraming, follow_sse
from partita.server.callers import ActingCaller, CallerView
from partita.server.endpoints import Body, ResponseSpec, post
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import Message, SystemMessage, ToolMessage
from partita.types.tool_results import fold

from .client_messages import ClientMessage
from .dialect import run_stream, run_turn
from .turn import HistoryTurn, StartedTurn, Turn


class ResumeEntry(msgspec.Struct, rename="camel", omit_defaults=True):
    """The response to an interrupt: to an approval that a run waits for."""

    interrupt_id: Annotated[str, Meta(description="The id of the interrupt.")]
    status: Literal["resolved", "cancelled"]
    payload: Annotated[Json, Meta(description="`{approved, reason?}` for a call that needs approval.")] = None

    def approval(self, by: str) -> ApprovalResponse:
        """The approval response. Anything but an explicit approval is a refusal."""
        payload: JsonObject = self.payload if is_object(self.payload) else {"approved": self.payload}
        reason = payload.get("reason")
        approved = self.status == "resolved" and payload.get("approved") is True
        return ApprovalResponse(
            self.interrupt_id, approved, by=by, reason=reason if isinstance(reason, str) else None
        )


class RunInput(msgspec.Struct, rename="camel", kw_only=True):
    """The input of a run. Instructions among the messages are ignored; other members go to the agent."""

    thread_id: Annotated[str, Meta(min_length=1, description="The thread of that id.", examples=["chat-1"])]
    run_id: Annotated[str, Meta(min_length=1, description="The client's id of the run.")]
    messages: Annotated[list[dict[str, Any]], Meta(description="All messages that the client has.")]
    tools: Annotated[list[dict[str, Any]] | None, Meta(description="Tools that the client runs itself.")] = (
        None
    )
    resume: Annotated[
        list[ResumeEntry] | None, Meta(description="Responses to the interrupts of the previous run.")
    ] = None


class AgUi(NamedTuple):
    """The dialect of AG-UI, for requests to one agent."""

    agent_name: str

    def read(self, caller: CallerView, body: RunInput) -> Turn:
        """The turn: approval responses in `resume`, or else the client's messages."""
        loaded = load({"messages": body.messages, "tools": body.tools or []})
        tools = loaded.request.tools if loaded.request else ()
        if body.resume:
            replies = [entry.approval(caller.principal.name) for entry in body.resume]
            return Turn(thread_id=body.thread_id, agent=self.agent_name, tools=tools, replies=replies)
        messages = [message for message in fold(loaded.messages) if _is_conversation(message)]
        return HistoryTurn(
            thread_id=body.thread_id,
            agent=self.agent_name,
            tools=tools,
            messages=[_client_message(message, index) for index, message in enumerate(messages)],
            is_whole=len(messages) > 1,
        )

    async def respond(self, caller: CallerView, body: RunInput, started: StartedTurn) -> Response:
        """The events of the run. The encoder knows the chunks of the message that the run continues."""
        run, continued = started.run, started.continued
        before = () if continued is None else tuple(chunks_of_message(continued))[:-1]
        encoder = AgUiEncoder(body.thread_id, body.run_id, run.message_id, before)
        events = follow_sse(
            caller.session,
            run.id,
            framing=EventFraming(encoder),
            since=started.after,
            keep_alive=caller.state.settings.keep_alive,
            until_approval=True,
        )
        return run_stream(caller, run, events)


def _is_conversation(message: Message) -> bool:
    if isinstance(message, SystemMessage | ToolMessage):
        return False
    return not message.internal and message.type != "event"


def _client_message(message: Message, index: int) -> ClientMessage:
    return ClientMessage(message.id, message.role, f"$.messages[{index}]", lambda: message)


EVENTS: Final = ResponseSpec("Server-sent events of AG-UI.", media_type="text/event-stream")
HELLO: Final[JsonObject] = {
    "threadId": "chat-1",
    "runId": "run-1",
    "messages": [{"id": "m1", "role": "user", "content": "How tall is it?"}],
    "tools": [],
    "context": [],
    "state": {},
    "forwardedProps": {},
}
APPROVE: Final[JsonObject] = {
    "threadId": "chat-1",
    "runId": "run-2",
    "messages": [],
    "resume": [{"interruptId": "approval-1", "status": "resolved", "payload": {"approved": True}}],
}


@post("/api/ag-ui/{agent_name}", tags=["ag-ui"], summary="Run an agent with AG-UI", responses={200: EVENTS})
async def run_agent(
    caller: ActingCaller,
    request: Request,
    agent_name: str,
    data: Annotated[RunInput, Body(examples=[HELLO, APPROVE])],
) -> Response:
    """For `HttpAgent` of AG-UI. The thread is stored like any chat: messages are identified by their ids, and
    outputs of client tools are read from the client's messages. A run that waits for an approval ends with an
    interrupt; send the approval response in `resume`. Disconnecting does not stop the run.
    """
    return await run_turn(AgUi(agent_name), caller, request, data)
