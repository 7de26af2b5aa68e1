"""The routes that clients of OpenAI call: Chat Completions and the list of models."""

from dataclasses import replace
from typing import Annotated, Any, Final

import msgspec
from litestar import Request, get, post
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import Body, HeaderParameter
from litestar.types import ControllerRouterHandler

from partita.formats.openai_chat.encoding.completion import completion_of
from partita.formats.openai_chat.encoding.encoder import ChatEncoder
from partita.runtime.client_tools import client_tools
from partita.runtime.plugged.agent_request import AgentRequest
from partita.runtime.service import AgentService, Options
from partita.runtime.session.framing import EventFraming
from partita.runtime.session.sse import follow_sse
from partita.server.extra_members import extra_members
from partita.server.forms import chat_framing, offered_tools
from partita.server.hub import Caller, CallerView
from partita.server.replies import Reply
from partita.server.routes.parameters import routes_for_callers
from partita.server.streaming import EventStream
from partita.store.ids import new_id
from partita.stream.sse import DONE
from partita.types.chunks import ErrorChunk
from partita.types.json import Json, dumps
from partita.types.runs import Run

from .answering import AnswerErrors, Chunks, chunks_of, stream_of
from .body import CompletionBody, check_history, read_body
from .errors import answer_openai_error, failure_body
from .turn import begin_turn
from .whole import Made, Sending, WholeAnswer

TAG: Final = "openai"
HEADER: Final = "x-partita-thread-id"

ANSWER: Final = ResponseSpec(
    data_container=dict[str, Any],
    description="A `chat.completion`; with `stream`, server-sent events of `chat.completion.chunk`.",
    generate_examples=False,
)
HELLO: Final = {"model": "demo", "messages": [{"role": "user", "content": "How tall is it?"}]}
WITH_TOOL: Final = {
    "model": "demo",
    "stream": True,
    "messages": [{"role": "user", "content": "Show it on the map."}],
    "tools": [{"type": "function", "function": {"name": "show_map", "parameters": {"type": "object"}}}],
    "metadata": {"thread_id": "chat-1"},
}

Thread = Annotated[
    str | None,
    HeaderParameter(name=HEADER, description="The same as `thread_id` of the metadata."),
]


class Model(msgspec.Struct):
    """An agent, as clients of OpenAI see it."""

    id: str
    owned_by: str = "partita"
    created: int = 0
    object: str = "model"


class Models(msgspec.Struct):
    """The agents there are."""

    data: list[Model]
    object: str = "list"


@get("/v1/models", tags=[TAG], summary="The agents there are, as models")
async def list_models(caller: Caller) -> Reply[Models]:
    """Each agent of this server is a model by its name."""
    return Reply(Models([Model(name) for name in caller.hub.agents.by_name]))


@post(
    "/v1/chat/completions",
    tags=[TAG],
    summary="An answer in the words of Chat Completions",
    status_code=200,
    responses={200: ANSWER},
    exception_handlers={Exception: answer_openai_error},
)
async def create_completion(
    caller: Caller,
    request: Request[Any, Any, Any],
    data: Annotated[
        CompletionBody,
        Body(examples=[Example("a question", value=HELLO), Example("a tool", value=WITH_TOOL)]),
    ],
    thread: Thread = None,
) -> Sending:
    """What the clients of OpenAI call. `model` names an agent. The whole conversation comes each time, and
    nothing is stored; to leave stops the answer. With a thread, what is new is a turn of it, stored as any
    other, and it goes on when the client leaves. Functions that the client brings are its own to run.
    """
    agent = caller.hub.agents.get(data.model)
    loaded = read_body(data)
    tools = offered_tools(loaded.request.tools if loaded.request else (), agent)
    options = caller.run_options(tools=tools, body=await extra_members(request, CompletionBody))
    thread_id = data.thread_id or thread or None
    check_history(data, caller, is_stored=thread_id is not None)
    if thread_id is not None:
        run = await begin_turn(caller, agent, thread_id, loaded.messages, options)
        return _stored(caller, data, agent, options, run)
    owner = caller.principal.resource_id
    await caller.session.check_budget(owner)
    meter = caller.session.meter(owner, options.model)
    alone = replace(options, message_id=new_id(), meter=meter)  # no message of the client's is continued
    asked = AgentRequest(messages=loaded.messages, options=alone)
    chunks = chunks_of(agent, asked, AnswerErrors(caller, agent, asked), meter)
    return _asked(caller, data, agent, chunks, options)


def _asked(
    caller: CallerView, data: CompletionBody, agent: AgentService, chunks: Chunks, options: Options
) -> Sending:
    settings = caller.hub.settings
    encoder = ChatEncoder(
        model=data.model,
        created=int(caller.store.clock().timestamp()),
        usage=data.wants_usage or not data.stream,
        live=_live(agent, options),
    )
    if data.stream:
        body = stream_of(chunks, EventFraming(encoder, DONE), settings.keep_alive)
        return EventStream(body, stall=settings.limits.stall_seconds)
    return WholeAnswer(_whole(chunks, encoder))


def _stored(
    caller: CallerView, data: CompletionBody, agent: AgentService, options: Options, run: Run
) -> Sending:
    settings = caller.hub.settings
    headers = {"x-partita-run-id": run.id}
    live = _live(agent, options)
    if not data.stream:
        created = int(caller.store.clock().timestamp())
        encoder = ChatEncoder(model=data.model, created=created, live=live)
        return WholeAnswer(_whole(_followed(caller, run), encoder), headers)
    body = follow_sse(
        caller.session,
        run.id,
        framing=chat_framing(run, usage=data.wants_usage, live=live, model=data.model),
        keep_alive=settings.keep_alive,
        until_asked=True,
    )
    return EventStream(body, headers=headers, stall=settings.limits.stall_seconds)


async def _followed(caller: CallerView, run: Run) -> Chunks:
    """The chunks of a run until it ends, and why it failed if nobody said so."""
    has_failed = False
    async for seen in caller.session.follow(run.id):
        for one in seen:
            has_failed = has_failed or isinstance(one.chunk, ErrorChunk)
            yield one.chunk
    ended = await caller.session.wait(run.id)
    if ended.status == "failed" and not has_failed:
        yield ErrorChunk(ended.error or ended.status)


def _live(agent: AgentService, options: Options) -> frozenset[str]:
    """The tools whose calls are the client's to run."""
    return client_tools(agent) | {tool.name for tool in options.tools}


async def _whole(chunks: Chunks, encoder: ChatEncoder) -> Made:
    """The whole answer, or what went wrong."""
    events: list[Json] = []
    async for chunk in chunks:
        events += encoder.feed(chunk)
    body = completion_of([*events, *encoder.finish()])
    if "error" in body:
        return Made(502, failure_body(502, body["error"]["message"]))
    return Made(200, dumps(body))


OPENAI: Final[list[ControllerRouterHandler]] = [routes_for_callers(list_models, create_completion)]
