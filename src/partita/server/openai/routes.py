"""The routes that clients of OpenAI call: Chat Completions and the list of models."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Final

import msgspec
from litestar import Request, get, post
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import Body, FromPath, HeaderParameter
from litestar.types import ControllerRouterHandler

from partita.errors import NotFoundError
from partita.formats.openai_chat.encoder import ChatEncoder, completion_of
from partita.runtime.client_tools import client_tools, declares_tools
from partita.runtime.plugged.agent_request import AgentRequest
from partita.runtime.service import AgentService, Options
from partita.runtime.session.framing import EventFraming
from partita.server.extra_members import extra_members
from partita.server.forms import offered_tools
from partita.server.hub import Caller, CallerView
from partita.server.problems import Problem, problem_body
from partita.server.replies import Reply
from partita.server.routes.parameters import routes_for_callers
from partita.server.streaming import EventStream
from partita.store.ids import new_id
from partita.stream.sse import DONE
from partita.types.json import Json, dumps

from .answering import AnswerErrors, Chunks, chunks_of, chunks_of_run, stream_of
from .body import CompletionBody, check_history, read_body
from .errors import ROOT, with_error_object
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


@get("/v1/models", tags=[TAG], summary="The agents that can answer, as models")
async def list_models(caller: Caller) -> Reply[Models]:
    """Each agent of this server is a model by its name. Those that lack a key or a program are left out."""
    agents = caller.hub.agents.by_name.items()
    return Reply(Models([Model(name) for name, agent in agents if getattr(agent, "missing", None) is None]))


@get("/v1/models/{model_id:str}", tags=[TAG], summary="An agent, as a model")
async def get_model(caller: Caller, model_id: FromPath[str]) -> Reply[Model]:
    """The agent of that name."""
    _agent(caller, model_id)
    return Reply(Model(model_id))


def _agent(caller: CallerView, name: str) -> AgentService:
    try:
        return caller.hub.agents.get(name)
    except NotFoundError as error:
        raise Problem(
            404, error.what, where="$.model", hint="GET /v1/models lists them", code="model_not_found"
        ) from None


@post(
    "/v1/chat/completions",
    tags=[TAG],
    summary="An answer in the words of Chat Completions",
    status_code=200,
    responses={200: ANSWER},
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
    agent = _agent(caller, data.model)
    loaded = read_body(data)
    tools = offered_tools(loaded.request.tools if loaded.request else (), agent)
    options = caller.run_options(tools=tools, body=await extra_members(request, CompletionBody))
    thread_id = data.thread_id or thread or None
    check_history(data, caller, is_stored=thread_id is not None)
    if thread_id is not None:
        run = await begin_turn(caller, agent, thread_id, loaded.messages, options)
        headers = {"x-partita-run-id": run.id}
        return _answer(caller, data, agent, chunks_of_run(caller, run), options, headers)
    owner = caller.principal.resource_id
    await caller.session.check_budget(owner)
    meter = caller.session.meter(owner, options.model)
    alone = replace(options, message_id=new_id(), meter=meter)  # no message of the client's is continued
    asked = AgentRequest(messages=loaded.messages, options=alone)
    chunks = chunks_of(agent, asked, AnswerErrors(caller, agent, asked), meter)
    return _answer(caller, data, agent, chunks, alone)


def _answer(
    caller: CallerView,
    data: CompletionBody,
    agent: AgentService,
    chunks: Chunks,
    options: Options,
    headers: Mapping[str, str] | None = None,
) -> Sending:
    """The answer that chunks amount to: a stream if the client asks for one, else a whole completion."""
    settings = caller.hub.settings
    encoder = ChatEncoder(
        id=f"chatcmpl-{options.message_id}" if options.message_id else None,
        model=data.model,
        created=int(caller.store.clock().timestamp()),
        usage=data.wants_usage or not data.stream,
        zero_usage=True,
        live=client_tools(agent) | {tool.name for tool in options.tools},
        only_live=declares_tools(agent),
    )
    if data.stream:
        body = stream_of(chunks, EventFraming(encoder, DONE), settings.keep_alive)
        return EventStream(body, headers=headers, stall=settings.limits.stall_seconds)
    return WholeAnswer(_whole(chunks, encoder), headers)


async def _whole(chunks: Chunks, encoder: ChatEncoder) -> Made:
    """The whole answer, or what went wrong."""
    events: list[Json] = []
    async for chunk in chunks:
        events += encoder.feed(chunk)
    body = completion_of([*events, *encoder.finish()])
    if "error" in body:
        return Made(502, with_error_object(ROOT, problem_body(502, body["error"]["message"])))
    return Made(200, dumps(body))


OPENAI: Final[list[ControllerRouterHandler]] = [routes_for_callers(list_models, get_model, create_completion)]
