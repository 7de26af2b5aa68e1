"""The route that clients of AG-UI call."""

from typing import Annotated, Any, Final

from litestar import Request, post
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import Body, FromPath
from litestar.types import ControllerRouterHandler

from partita.formats.ag_ui.encoder import AgUiEncoder
from partita.runtime.session.framing import EventFraming
from partita.runtime.session.sse import follow_sse
from partita.server.extra_members import extra_members
from partita.server.forms import offered_tools
from partita.server.hub import Caller
from partita.server.routes.parameters import routes_for_callers
from partita.server.streaming import EventStream
from partita.types.json import JsonObject

from .body import RunInput, read_input
from .turn import begin

EVENTS: Final = ResponseSpec(
    data_container=str,
    media_type="text/event-stream",
    description="Server-sent events of AG-UI.",
    generate_examples=False,
)
HELLO: Final[JsonObject] = {
    "threadId": "chat-1",
    "runId": "run-1",
    "messages": [{"id": "m1", "role": "user", "content": "How tall is it?"}],
    "tools": [],
    "context": [],
    "state": {},
    "forwardedProps": {},
}
ALLOW: Final[JsonObject] = {
    "threadId": "chat-1",
    "runId": "run-2",
    "messages": [],
    "resume": [{"interruptId": "approval-1", "status": "resolved", "payload": {"approved": True}}],
}


@post(
    "/api/ag-ui/{agent_name:str}",
    tags=["ag-ui"],
    summary="A run in the events of AG-UI",
    status_code=200,
    responses={200: EVENTS},
)
async def run_agent(
    caller: Caller,
    request: Request[Any, Any, Any],
    agent_name: FromPath[str],
    data: Annotated[
        RunInput, Body(examples=[Example("a first message", value=HELLO), Example("an answer", value=ALLOW)])
    ],
) -> EventStream:
    """What an `HttpAgent` of AG-UI calls. The thread is stored as any chat is: messages are known by their
    ids, outputs of the client's tools are taken from its messages. A run that waits for somebody ends with an
    interrupt, and goes on with the answer in `resume`. To leave does not stop it.
    """
    agent = caller.hub.agents.get(agent_name)
    loaded = read_input(data)
    tools = offered_tools(loaded.request.tools if loaded.request else (), agent)
    options = caller.run_options(tools=tools, body=await extra_members(request, RunInput))
    run, since, before = await begin(caller, agent_name, data, loaded, options)
    encoder = AgUiEncoder(data.thread_id, data.run_id, run.message_id, before)
    settings = caller.hub.settings
    body = follow_sse(
        caller.session,
        run.id,
        framing=EventFraming(encoder),
        since=since,
        keep_alive=settings.keep_alive,
        until_asked=True,
    )
    return EventStream(body, headers={"x-partita-run-id": run.id}, stall=settings.limits.stall_seconds)


AG_UI: Final[list[ControllerRouterHandler]] = [routes_for_callers(run_agent)]
