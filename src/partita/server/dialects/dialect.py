"""What a family of clients has to state: how its requests are read, and how a run is written for it.

    body → `ClientDialect.read` → `Turn` → `start_turn` → `StartedTurn` → `ClientDialect.respond` → response

Clients of Mastra and assistant-ui send their messages to `POST /api/chat`, in the AI SDK's protocol. Their
other routes are plain routes over the store.
"""

from collections.abc import AsyncGenerator
from typing import Final, Protocol, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from partita.errors import FormatError
from partita.formats.ag_ui.encoder import AgUiEncoder
from partita.formats.openai_chat.encoder import ChatEncoder
from partita.formats.registry import all_formats, get_format
from partita.runtime.session.sse import EventFraming
from partita.server.callers import CallerView
from partita.server.endpoints import extra_members
from partita.server.responses import EventStream
from partita.stream.sse import DONE
from partita.types.threads import Run

from .turn import StartedTurn, Turn, start_turn

BodyT_contra = TypeVar("BodyT_contra", bound=msgspec.Struct, contravariant=True)
BodyT = TypeVar("BodyT", bound=msgspec.Struct)


class ClientDialect(Protocol[BodyT_contra]):
    """The protocol of a family of clients, for requests with a body of the type `BodyT_contra`."""

    def read(self, caller: CallerView, body: BodyT_contra) -> Turn:
        """The turn that a request asks for: new messages, replies to calls, and options."""
        ...

    async def respond(self, caller: CallerView, body: BodyT_contra, started: StartedTurn) -> Response:
        """The response: what the client does not have of the run yet, then what comes."""
        ...


async def take_turn(
    dialect: ClientDialect[BodyT], caller: CallerView, request: Request, body: BodyT
) -> Response:
    """Start or resume the run that a request asks for, and respond with it."""
    turn = dialect.read(caller, body)
    started = await start_turn(caller, turn, await extra_members(request, type(body)))
    return await dialect.respond(caller, body, started)


def run_stream(caller: CallerView, run: Run, events: AsyncGenerator[bytes, None]) -> EventStream:
    """The response with the events of a run."""
    return EventStream(events, headers=run_headers(run), stall=caller.state.settings.limits.stall_seconds)


def run_headers(run: Run) -> dict[str, str]:
    """The headers that name a run and its thread, without characters that headers cannot have."""
    thread_id = run.thread_id.encode("ascii", errors="ignore").decode()
    printable = thread_id.translate(dict.fromkeys((*range(32), 127)))
    return {"x-partita-run-id": run.id, "x-partita-thread-id": printable}


# A run in a format that is named: for `GET /api/runs/{run_id}/stream?as=…`

AI_SDK: Final = "ai-sdk"
"""The format of a run unless another one is named: chunks, for a release of the AI SDK."""

CHAT: Final = "openai-chat"
AG_UI: Final = "ag-ui"


def framing_for(name: str | None, run: Run) -> EventFraming | None:
    """The encoder of a run in a format; `None` for the chunks of the AI SDK."""
    if name in (None, AI_SDK):
        return None
    format_ = get_format(name or AI_SDK)
    if format_.name == AG_UI:
        return EventFraming(AgUiEncoder(run.thread_id, run.id, run.message_id))
    if format_.name == CHAT:
        created = 0 if run.created_at is None else int(run.created_at.timestamp())
        return EventFraming(ChatEncoder(model=run.agent, created=created, live=()), DONE)
    if format_.encoder is None:
        known = ", ".join([AI_SDK, *(one.name for one in all_formats().values() if one.encoder is not None)])
        raise FormatError(f"{format_.name} cannot be streamed", hint=f"use one of {known}")
    return EventFraming(format_.encoder())
