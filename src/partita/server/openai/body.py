"""What a client of Chat Completions sends, and what it means here."""

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from partita.errors import ConversionError
from partita.formats.format import Loaded
from partita.formats.openai_chat.format import load
from partita.server.hub import CallerView
from partita.server.problems import Problem
from partita.server.roles import require
from partita.types.json import Json, JsonObject, dumps, is_object

THREAD: Final = "thread_id"
INSTRUCTIONS: Final = ("system", "developer")
LONGEST_SHOWN: Final = 60


class StreamOptions(msgspec.Struct, omit_defaults=True):
    """What a stream shall tell besides the answer."""

    include_usage: bool = False


class CompletionBody(msgspec.Struct, kw_only=True):
    """A request of Chat Completions. Other members, such as `temperature`, are passed to the agent."""

    model: Annotated[
        str, Meta(min_length=1, description="The agent that shall answer: see `GET /v1/models`.")
    ]
    messages: Annotated[list[dict[str, Any]], Meta(min_length=1, description="The conversation so far.")]
    tools: Annotated[
        list[dict[str, Any]] | None,
        Meta(description="Functions that the client runs: the answer ends with calls of them."),
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
        Meta(description="With `thread_id`, the last messages are a turn of that thread, and are stored."),
    ] = None

    @property
    def thread_id(self) -> str | None:
        """The thread that the request is a turn of, if it is."""
        found = (self.metadata or {}).get(THREAD)
        return found if isinstance(found, str) and found else None

    @property
    def wants_usage(self) -> bool:
        """Whether a stream shall tell what was consumed."""
        return self.stream_options is not None and self.stream_options.include_usage


def read_body(body: CompletionBody) -> Loaded:
    """The messages of a request, and the tools that the model is to be offered."""
    _check_supported(body)
    request: JsonObject = {"messages": body.messages}
    if body.tools is not None and body.tool_choice != "none":
        request["tools"] = [_with_parameters(tool) for tool in body.tools]
    loaded = load(request)
    other = loaded.request.settings.get("tools") if loaded.request else None
    if other:
        raise ConversionError(
            "a tool that is no function", where="$.tools", hint="only functions can be run by the client"
        )
    return loaded


def _check_supported(body: CompletionBody) -> None:
    """Refuse members that would change the answer and that agents do not take."""
    form: Json = body.response_format
    unsupported = {
        "n": (body.n not in (None, 1), "leave it out: there is one answer"),
        "tool_choice": (
            body.tool_choice not in (None, "auto", "none"),
            "use 'auto' or 'none': an agent cannot be forced to call a tool",
        ),
        "response_format": (
            form is not None and not (is_object(form) and form.get("type") == "text"),
            "leave it out, and ask for JSON in a message",
        ),
        "functions": (bool(body.functions), "use `tools`"),
        "function_call": (body.function_call not in (None, "auto", "none"), "use `tool_choice`"),
    }
    for name, (is_refused, hint) in unsupported.items():
        if is_refused:
            raise Problem(
                400,
                f"{name} {shown(getattr(body, name))} is not supported",
                where=f"$.{name}",
                hint=hint,
                code="unsupported_parameter",
            )


def shown(value: Json) -> str:
    """A value in an error, cut if it is long."""
    text = dumps(value).decode()
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def check_history(body: CompletionBody, caller: CallerView, *, is_stored: bool) -> None:
    """Refuse what only the server may say, from a caller who may only send messages of its own.

    In a thread, answers before the last question are ignored: the server has stored them.
    """
    for place, raw in enumerate(body.messages):
        role, where = raw.get("role"), f"$.messages[{place}]"
        if role in INSTRUCTIONS:
            if not caller.hub.settings.client_system:
                require(caller.principal, "write", "give instructions", where=where, hint="leave them out")
        elif role != "user" and not is_stored:
            hint = "name a thread, whose history the server has: metadata.thread_id"
            require(caller.principal, "write", "bring along a history", where=where, hint=hint)


def _with_parameters(tool: JsonObject) -> JsonObject:
    """A function that says nothing of its input takes an empty object."""
    function = tool.get("function")
    if not is_object(function) or function.get("parameters") is not None:
        return tool
    return {**tool, "function": {**function, "parameters": {"type": "object", "properties": {}}}}
