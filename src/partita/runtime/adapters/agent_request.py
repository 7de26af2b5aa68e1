"""The request that an agent of another package, or a function, gets; and values that depend on it."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from inspect import isasyncgenfunction, isawaitable, isgeneratorfunction, isroutine, unwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from partita.errors import AgentError
from partita.formats.format import Request
from partita.formats.model_view import model_view
from partita.formats.registry import CHAT, CHAT_SERVERS, get_dump
from partita.runtime.log_context import reference_of
from partita.runtime.principal import Principal
from partita.runtime.service import InvokeOptions, Prompt, prompt_messages
from partita.runtime.session.turn import seed_of
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, Message, UserMessage, text_of

if TYPE_CHECKING:
    from partita.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRequest:
    """The request for one turn: `client.messages.stream(…, **request.to("anthropic"))`."""

    messages: tuple[Message, ...]
    """The whole conversation. If the response continues a message, that is the last one."""
    options: InvokeOptions
    cwd: Path | None = None
    session_id: str | None = None

    @property
    def text(self) -> str:
        """The text of the user's last message."""
        prompts = (message for message in reversed(self.messages) if isinstance(message, UserMessage))
        return next((text_of(message) for message in prompts), "")

    @property
    def continued(self) -> AssistantMessage | None:
        """The message that the response continues, after an approval or a client's output; else `None`."""
        return seed_of(self.messages, self.options.message_id or "")

    @property
    def caller(self) -> Principal:
        """Who sent the request: owner, role, and the claims that `user` returned."""
        return self.options.caller

    @property
    def owner(self) -> str | None:
        """The owner of the thread. Thread ids are unique within an owner only."""
        return self.options.owner

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the HTTP request, names in lower case."""
        return self.options.headers

    @property
    def body(self) -> JsonObject:
        """Members of the request's body that Partita itself does not use."""
        return self.options.body

    @property
    def store(self) -> "Store | None":
        """The store, limited to the data that the caller may see."""
        return self.options.store

    @property
    def conversation_key(self) -> str | None:
        """A key for the conversation that no other owner's thread has: use it in stores of your own."""
        return self.options.conversation_key

    @property
    def thread_id(self) -> str | None:
        """The thread, as the store knows it: unique within its owner only."""
        return self.options.thread_id

    @property
    def run_id(self) -> str | None:
        """The id of the run."""
        return self.options.run_id

    @property
    def reference(self) -> str | None:
        """The reference to this run in the server log, for error texts: see `asgi(on_error=…)`."""
        return None if self.run_id is None else reference_of(self.run_id)

    @property
    def message_id(self) -> str | None:
        """The id of the message that the response will be."""
        return self.options.message_id

    def to(self, format: str) -> Json:
        """The conversation in a format.

        For a provider these are keyword arguments for its client, which the model accepts:
        `system` and `messages` for `anthropic`, `messages` for `openai-chat`, `input` for
        `openai-responses`, `contents` and `config` for `gemini`; and `tools`, if the options name any. The
        model and its settings are the caller's. For any other format this is the payload.
        """
        arguments = CLIENT_ARGUMENTS.get(format)
        dump = get_dump(format, hint=f"use another format, for example one of {', '.join(CLIENT_ARGUMENTS)}")
        if arguments is None:
            return dump(self.messages).payload
        settings: JsonObject = {"model": self.options.model or "", **(arguments.settings or {})}
        view = model_view(prompt_messages(self.messages, self.options.instructions)).messages
        payload: JsonObject = dump(view, Request(self.options.tools, settings, format)).payload
        config = _members(payload, arguments.config)
        return {**_members(payload, arguments.members), **({"config": config} if config else {})}


def request_of(
    prompt: Prompt, cwd: Path | None, session_id: str | None, options: InvokeOptions | None
) -> AgentRequest:
    """The arguments of a service as an `AgentRequest`."""
    messages = tuple(prompt_messages(prompt))
    return AgentRequest(messages=messages, options=options or InvokeOptions(), cwd=cwd, session_id=session_id)


class ClientArguments(NamedTuple):
    """The members of a request that are arguments for the client of a provider's package."""

    members: tuple[str, ...]
    config: tuple[str, ...] = ()
    """Members that the client takes within `config`."""
    settings: JsonObject | None = None
    """Settings that decide how the messages are written."""


CLIENT_ARGUMENTS: Final[Mapping[str, ClientArguments]] = {
    "anthropic": ClientArguments(("system", "messages", "tools", "container")),
    **dict.fromkeys(
        (CHAT, *(f"{CHAT}-{server}" for server in CHAT_SERVERS)), ClientArguments(("messages", "tools"))
    ),
    "openai-responses": ClientArguments(("input", "tools"), settings={"store": False}),
    "gemini": ClientArguments(("contents",), config=("systemInstruction", "tools")),
}
"""By the format of a provider."""


def _members(payload: JsonObject, names: Sequence[str]) -> JsonObject:
    return {name: payload[name] for name in names if name in payload}


def check_value(name: str, value: Any) -> None:
    """Refuse a function that cannot return a value."""
    if isgeneratorfunction(_function(value)):
        raise AgentError(
            f"the function given as `{name}` is a generator",
            hint="return the value, or write an async generator that yields it once",
        )


@asynccontextmanager
async def value_for(value: Any, request: AgentRequest) -> AsyncGenerator[Any]:
    """The value for a request: the value itself, or what a function of the request returns.

    The function may be async. An async generator function, with or without `asynccontextmanager`, yields the
    value, and continues once the agent has ended: it can clean up there.
    """
    if not (isroutine(value) or isinstance(value, partial)):
        yield value
        return
    if isasyncgenfunction(_function(value)):
        result = value(request)
        manager = result if hasattr(result, "__aenter__") else asynccontextmanager(value)(request)
        async with manager as entered:
            yield entered
        return
    result = value(request)
    yield await result if isawaitable(result) else result


def _function(value: Any) -> Any:
    """The function without decorators and `partial`."""
    while isinstance(value, partial):
        value = value.func
    return unwrap(value) if callable(value) else value
