"""The protocol that a family of clients implements: read a request, and write a run as the response.

    body → `ClientDialect.read` → `Turn` → `start_turn` → `StartedTurn` → `ClientDialect.respond` → response

`AiSdk`, `OpenAi` and `AgUi` implement it. Clients of Mastra and assistant-ui send their messages to
`POST /api/chat` in the AI SDK's protocol; their other routes read and change what is stored. A completion of
OpenAI without a thread is the only request that is not a turn: it calls the agent, and nothing is stored.
"""

from collections.abc import AsyncGenerator
from typing import Protocol, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from partita.server.callers import CallerView
from partita.server.endpoints import extra_members
from partita.server.responses import EventStream
from partita.types.threads import Run

from .turn import StartedTurn, Turn, start_turn

BodyT_contra = TypeVar("BodyT_contra", bound=msgspec.Struct, contravariant=True)
BodyT = TypeVar("BodyT", bound=msgspec.Struct)


class ClientDialect(Protocol[BodyT_contra]):
    """The protocol of a family of clients, for requests with a body of the type `BodyT_contra`."""

    def read(self, caller: CallerView, body: BodyT_contra) -> Turn:
        """The turn of a request: new messages, replies to calls, and options."""
        ...

    async def respond(self, caller: CallerView, body: BodyT_contra, started: StartedTurn) -> Response:
        """The response: the chunks of the run that the client does not have yet, until the run ends."""
        ...


async def run_turn(
    dialect: ClientDialect[BodyT], caller: CallerView, request: Request, body: BodyT
) -> Response:
    """Start, resume or find the run of a request, and respond with it."""
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
