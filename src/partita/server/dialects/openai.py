"""Clients of OpenAI: Chat Completions, and the list of models.

https://platform.openai.com/docs/api-reference/chat/create
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace as with_fields
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from msgspec import Meta
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from partita.errors import ConversionError, NotFoundError
from partita.formats.format import Loaded
from partita.formats.openai_chat.encoder import ChatEncoder, completion_of
from partita.formats.openai_chat.format import load
from partita.runtime.adapters.agent_request import AgentRequest
from partita.runtime.service import AgentService
from partita.runtime.session.client_replies import ClientOutput
from partita.runtime.session.sse import EventFraming
from partita.runtime.tools.tool import client_tools, declares_tools
from partita.server.callers import ActingCaller, CallerView, require
from partita.server.endpoints import Body, Header, ResponseSpec, extra_members, get, post
from partita.server.problems import ROOT, Problem, problem_body, with_error_object
from partita.server.responses import EventStream, Reply, while_connected
from partita.store.ids import new_id
from partita.stream.sse import DONE
from partita.types.json import Json, JsonObject, dumps, is_object
from partita.types.messages import AssistantMessage, Message, ToolMessage, UserMessage
from partita.types.parts import ToolResultPart
from partita.types.tool_results import expand

from .chunk_stream import Chunks, DirectCallErrors, chunks_of_call, chunks_of_run, encode_chunks
from .dialect import run_headers, run_turn
from .turn import StartedTurn, Turn, offered_tools

THREAD: Final = "thread_id"
INSTRUCTIONS: Final = ("system", "developer")
MAX_SHOWN: Final = 60


class StreamOptions(msgspec.Struct, omit_defaults=True):
    """Options of a stream."""

    include_usage: bool = False


class CompletionBody(msgspec.Struct, kw_only=True):
    """A request of Chat Completions. Other members, such as `temperature`, are passed to the agent."""

    model: Annotated[str, Meta(min_length=1, description="The name of an agent: see `GET /v1/models`.")]
    messages: Annotated[list[dict[str, Any]], Meta(min_length=1, description="The conversation so far.")]
    tools: Annotated[
        list[dict[str, Any]] | None,
        Meta(description="Functions that the client runs: the response ends with calls of them."),
    ] = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[int | None, Meta(description="1, or left out.")] = None
    tool_choice: Annotated[
        Any, Meta(description="`auto`, or `none`: the tools of this request are not offered.")
    ] = None
    response_format: Annotated[Any, Meta(description="`{type: text}`, or left out.")] = None
    functions: Annotated[Any, Meta(description="Not supported: use `tools`.")] = None
    function_call: Annotated[Any, Meta(description="Not supported: use `tool_choice`.")] = None
    metadata: Annotated[
        dict[str, Any] | None,
        Meta(description="With `thread_id`, the new messages are a turn of that thread, and are stored."),
    ] = None

    @property
    def thread_id(self) -> str | None:
        """The thread in `metadata`, if there is one."""
        thread_id = (self.metadata or {}).get(THREAD)
        return thread_id if isinstance(thread_id, str) and thread_id else None

    @property
    def offered_tools(self) -> list[JsonObject]:
        """The tools that the model is to be offered."""
        return [] if self.tool_choice == "none" else [_with_parameters(tool) for tool in self.tools or ()]

    @property
    def tool_names(self) -> frozenset[str]:
        """The names of the offered tools."""
        functions = (tool.get("function") for tool in self.offered_tools)
        return frozenset(str(function["name"]) for function in functions if is_object(function))

    @property
    def wants_usage(self) -> bool:
        """Whether the response has the usage: a complete one always, a stream if it is requested."""
        return not self.stream or (self.stream_options is not None and self.stream_options.include_usage)


def _with_parameters(tool: JsonObject) -> JsonObject:
    """A tool whose function has a schema: without one, its input is an empty object."""
    function = tool.get("function")
    if not is_object(function) or function.get("parameters") is not None:
        return tool
    return {**tool, "function": {**function, "parameters": {"type": "object", "properties": {}}}}


class OpenAi(NamedTuple):
    """The dialect of Chat Completions.

    Messages have no ids, and a client can send any history. In a thread, the messages after the last
    assistant message are new: user messages, and outputs of the calls that it ended with.
    """

    request: Request
    thread_id: str | None
    """The thread of the turn; `None` for a direct call, of which nothing is stored."""

    def read(self, caller: CallerView, body: CompletionBody) -> Turn:
        """The turn with the new messages of the request."""
        assert self.thread_id is not None, "a direct call is not a turn"
        loaded = self._load(caller, body)
        replies, new = _new_messages(loaded.messages)
        if not (replies or new):
            raise ConversionError(
                "the request has no new message",
                where="$.messages",
                hint="end with a message of the user, or with outputs of tools",
            )
        return Turn(
            thread_id=self.thread_id,
            agent=body.model,
            tools=loaded.request.tools if loaded.request else (),
            new=[replace(message, id=new_id(), thread_id=self.thread_id) for message in new],
            replies=replies,
        )

    async def respond(self, caller: CallerView, body: CompletionBody, started: StartedTurn) -> Response:
        """The run as a completion. It continues if the client disconnects."""
        chunks = chunks_of_run(caller, started)
        return await self._response(caller, body, chunks, headers=run_headers(started.run))

    async def respond_directly(self, caller: CallerView, body: CompletionBody) -> Response:
        """The response of an agent that is called with the whole conversation. Nothing is stored."""
        loaded, agent = self._load(caller, body), _agent(caller, body.model)
        owner = caller.principal.resource_id
        options = caller.run_options(
            tools=offered_tools(loaded.request.tools if loaded.request else (), agent),
            body=await extra_members(self.request, CompletionBody),
        )
        await caller.session.check_budget(owner)
        meter = caller.session.meter(owner, options.model)
        options = with_fields(options, message_id=new_id(), meter=meter)
        call = AgentRequest(messages=loaded.messages, options=options)
        chunks = chunks_of_call(agent, call, DirectCallErrors(caller, agent, call), meter)
        return await self._response(caller, body, chunks, id=f"chatcmpl-{options.message_id}")

    def _load(self, caller: CallerView, body: CompletionBody) -> Loaded:
        """The messages and tools of a request. Raises if it has something unsupported or forbidden."""
        _agent(caller, body.model)
        _check_supported(body)
        loaded = load({"messages": body.messages, "tools": body.offered_tools})
        if loaded.request and loaded.request.settings.get("tools"):
            raise ConversionError(
                "a tool is not a function", where="$.tools", hint="the client can only run functions"
            )
        _check_roles(body, caller, is_stored=self.thread_id is not None)
        return loaded

    async def _response(
        self,
        caller: CallerView,
        body: CompletionBody,
        chunks: Chunks,
        *,
        id: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """The response with these chunks: a stream if the client requests one, else a whole completion."""
        settings, agent = caller.state.settings, _agent(caller, body.model)
        encoder = ChatEncoder(
            id=id,
            model=body.model,
            created=int(caller.store.clock().timestamp()),
            usage=body.wants_usage,
            zero_usage=True,
            live=client_tools(agent) | body.tool_names,
            only_live=declares_tools(agent),
        )
        if body.stream:
            events = encode_chunks(chunks, EventFraming(encoder, DONE), settings.keep_alive)
            return EventStream(events, headers=headers, stall=settings.limits.stall_seconds)
        completion = await while_connected(self.request, _complete(chunks, encoder))
        no_store = {"cache-control": "no-store", **(headers or {})}
        if "error" not in completion:
            return Reply(completion, headers=no_store)
        problem = with_error_object(ROOT, problem_body(502, completion["error"]["message"]))
        return Reply(problem, status_code=502, headers=no_store)


def _agent(caller: CallerView, name: str) -> AgentService:
    """The agent that a client names as model."""
    try:
        return caller.state.agents.get(name)
    except NotFoundError as error:
        raise Problem(
            404, error.what, where="$.model", hint="GET /v1/models lists them", code="model_not_found"
        ) from None


def _check_supported(body: CompletionBody) -> None:
    """Refuse members that would change the response and that agents do not support."""
    form: Json = body.response_format
    unsupported = {
        "n": (body.n not in (None, 1), "leave it out: there is one response"),
        "tool_choice": (
            body.tool_choice not in (None, "auto", "none"),
            "use 'auto' or 'none': an agent cannot be forced to call a tool",
        ),
        "response_format": (
            form is not None and not (is_object(form) and form.get("type") == "text"),
            "leave it out, and request JSON in a message",
        ),
        "functions": (bool(body.functions), "use `tools`"),
        "function_call": (body.function_call not in (None, "auto", "none"), "use `tool_choice`"),
    }
    for name, (is_refused, hint) in unsupported.items():
        if is_refused:
            text = dumps(getattr(body, name)).decode()
            shown = text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
            raise Problem(
                400,
                f"{name} {shown} is not supported",
                where=f"$.{name}",
                hint=hint,
                code="unsupported_parameter",
            )


def _check_roles(body: CompletionBody, caller: CallerView, *, is_stored: bool) -> None:
    """Refuse messages that only the server may write, unless the caller may write any message.

    In a thread, messages before the last assistant message are ignored: the server has stored them.
    """
    for index, raw in enumerate(body.messages):
        role, where = raw.get("role"), f"$.messages[{index}]"
        if role in INSTRUCTIONS:
            if not caller.state.settings.client_system:
                require(caller.principal, "write", "give instructions", where=where, hint="leave them out")
        elif role != "user" and not is_stored:
            hint = "name a thread, whose history the server has: metadata.thread_id"
            require(caller.principal, "write", "send a history", where=where, hint=hint)


def _new_messages(messages: Sequence[Message]) -> tuple[list[ClientOutput], list[UserMessage]]:
    """The tool outputs and the messages of the user after the last assistant message."""
    expanded = expand(messages)
    responses = [index for index, one in enumerate(expanded) if isinstance(one, AssistantMessage)]
    new = expanded[responses[-1] + 1 :] if responses else expanded
    outputs = [
        ClientOutput(part.id, part.output, part.name or None)
        for message in new
        if isinstance(message, ToolMessage)
        for part in message.parts
        if isinstance(part, ToolResultPart)
    ]
    return outputs, [message for message in new if isinstance(message, UserMessage)]


async def _complete(chunks: Chunks, encoder: ChatEncoder) -> JsonObject:
    """The completion, or an object with the member `error`."""
    events: list[Json] = []
    async for chunk in chunks:
        events += encoder.feed(chunk)
    return completion_of([*events, *encoder.finish()])


# The routes

TAG: Final = "openai"
HEADER: Final = "x-partita-thread-id"

COMPLETION: Final = ResponseSpec(
    "A `chat.completion`; with `stream`, server-sent events of `chat.completion.chunk`.", JsonObject
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
    Header(name=HEADER, description="The same as `thread_id` of the metadata."),
]


class Model(msgspec.Struct):
    """An agent, as clients of OpenAI see it."""

    id: str
    owned_by: str = "partita"
    created: int = 0
    object: str = "model"


class Models(msgspec.Struct):
    """The available agents."""

    data: list[Model]
    object: str = "list"


@get("/v1/models", tags=[TAG], summary="List the agents, as models")
async def list_models(caller: ActingCaller) -> Models:
    """Each agent is a model with the agent's name. Agents that miss a key or a program are left out."""
    agents = caller.state.agents.by_name.items()
    return Models([Model(name) for name, agent in agents if getattr(agent, "missing", None) is None])


@get("/v1/models/{model_id}", tags=[TAG], summary="Get an agent, as a model")
async def get_model(caller: ActingCaller, model_id: str) -> Model:
    """The agent of that name."""
    _agent(caller, model_id)
    return Model(model_id)


@post("/v1/chat/completions", tags=[TAG], summary="Create a chat completion", responses={200: COMPLETION})
async def create_completion(
    caller: ActingCaller,
    request: Request,
    data: Annotated[CompletionBody, Body(examples=[HELLO, WITH_TOOL])],
    thread: Thread = None,
) -> Response:
    """For clients of OpenAI. `model` is the name of an agent. By default, send the whole conversation each
    time: nothing is stored, and disconnecting stops the response. With a thread, the new messages are a turn
    of it, which is stored, and continues if you disconnect. The client runs the functions that it sends as
    tools.
    """
    dialect = OpenAi(request, data.thread_id or thread or None)
    if dialect.thread_id is None:
        return await dialect.respond_directly(caller, data)
    return await run_turn(dialect, caller, request, data)
