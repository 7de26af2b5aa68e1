"""What a plugged-in agent is asked: a conversation, in whatever form the agent wants it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from partita.errors import AgentError, FormatError
from partita.formats.answers.model_view import model_view
from partita.formats.builtin import CHAT, CHAT_SERVERS
from partita.formats.format import Request, ToolSpec
from partita.formats.registry import get_format
from partita.runtime.log_context import reference_of
from partita.runtime.principal import Principal
from partita.runtime.service import Options, Prompt
from partita.runtime.session.turn import seed_of
from partita.types.json import Json, JsonObject
from partita.types.messages import AssistantMessage, Message, SystemMessage, UserMessage, text_of

if TYPE_CHECKING:
    from partita.store.facade.store import Store

Build: TypeAlias = Callable[[Sequence[Message], Sequence[ToolSpec], str], JsonObject]
"""A conversation as a model may see it, and the tools to tell it of → arguments of a vendor's client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRequest:
    """One turn, as an agent is asked for it: `client.messages.stream(…, **request.to("anthropic"))`."""

    messages: tuple[Message, ...]
    """The whole conversation. If the answer continues a message, that is the last one."""
    options: Options
    cwd: Path | None = None
    session_id: str | None = None

    @property
    def text(self) -> str:
        """The words of the user's last message."""
        asked = (message for message in reversed(self.messages) if isinstance(message, UserMessage))
        return next((text_of(message) for message in asked), "")

    @property
    def continued(self) -> AssistantMessage | None:
        """The message that the answer continues, when calls of it were answered; else none."""
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
        """The run that the answer is."""
        return self.options.run_id

    @property
    def reference(self) -> str | None:
        """The reference to this run in the server log, for error texts: see `asgi(on_error=…)`."""
        return None if self.run_id is None else reference_of(self.run_id)

    @property
    def message_id(self) -> str | None:
        """The id of the message that the answer will be."""
        return self.options.message_id

    def to(self, format: str) -> Json:
        """The conversation in a format.

        For a provider these are keyword arguments for its client, made so that the model accepts them:
        `system` and `messages` for `anthropic`, `messages` for `openai-chat`, `input` for
        `openai-responses`, `contents` and `config` for `gemini`; and `tools`, if the options name any. The
        model and its settings are the caller's. For any other format it is the payload.
        """
        build = BUILDERS.get(format)
        if build is not None:
            said = SystemMessage(id="instructions", content=self.options.instructions or "")
            talk = (said, *self.messages) if self.options.instructions else self.messages
            return build(model_view(talk).messages, self.options.tools, self.options.model or "")
        dump = get_format(format).dump
        if dump is None:
            raise FormatError(
                f"{format} can be read but not written", hint=f"name another, or one of {', '.join(BUILDERS)}"
            )
        return dump(self.messages).payload


def request_of(
    prompt: Prompt, cwd: Path | None, session_id: str | None, options: Options | None
) -> AgentRequest:
    """What a service is asked, as an `AgentRequest`."""
    messages = (UserMessage(id="prompt", content=prompt),) if isinstance(prompt, str) else tuple(prompt)
    if not messages:
        raise AgentError("nothing to ask", hint="give words, or a conversation whose last message asks")
    return AgentRequest(messages=messages, options=options or Options(), cwd=cwd, session_id=session_id)


def _anthropic(view: Sequence[Message], tools: Sequence[ToolSpec], model: str) -> JsonObject:
    from partita.formats.anthropic.format import dump

    payload = dump(view, Request(tuple(tools), {"model": model})).payload
    return _of(payload, "system", "messages", "tools", "container")


def _chat(server: str | None, view: Sequence[Message], tools: Sequence[ToolSpec], model: str) -> JsonObject:
    """Each server with Chat Completions has a dialect."""
    from partita.formats.openai_chat.dialects import DIALECTS, OPENAI
    from partita.formats.openai_chat.format import dump

    dialect = OPENAI if server is None else DIALECTS[server]
    payload = dump(view, Request(tuple(tools), {"model": model}), dialect=dialect).payload
    return _of(payload, "messages", "tools")


def _responses(view: Sequence[Message], tools: Sequence[ToolSpec], model: str) -> JsonObject:
    from partita.formats.openai_responses.format import dump

    payload = dump(view, Request(tuple(tools), {"model": model, "store": False})).payload
    return _of(payload, "input", "tools")


def _gemini(view: Sequence[Message], tools: Sequence[ToolSpec], model: str) -> JsonObject:
    """The vendor's client takes all but the contents as its `config`."""
    from partita.formats.gemini.format import dump

    payload = dump(view, Request(tuple(tools), {"model": model})).payload
    config = _of(payload, "systemInstruction", "tools")
    return {**_of(payload, "contents"), **({"config": config} if config else {})}


def _of(payload: JsonObject, *names: str) -> JsonObject:
    return {name: payload[name] for name in names if name in payload}


BUILDERS: Final[Mapping[str, Build]] = {
    "anthropic": _anthropic,
    CHAT: partial(_chat, None),
    **{f"{CHAT}-{server}": partial(_chat, server) for server in CHAT_SERVERS},
    "openai-responses": _responses,
    "gemini": _gemini,
}
