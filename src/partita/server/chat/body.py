"""What the transport of the AI SDK sends: the chat, its messages or the last one, and what is wanted."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from partita.errors import DecodeError
from partita.formats.format import ToolSpec
from partita.types.json import JsonObject


class ClientTool(msgspec.Struct, omit_defaults=True):
    """A tool that the client runs."""

    description: str | None = None
    parameters: Annotated[dict[str, Any] | None, Meta(description="JSON Schema of its input.")] = None


class ChatBody(msgspec.Struct, rename="camel", kw_only=True):
    """A request of `useChat`: all messages of the client, or the last alone.

    Other members are passed to the agent, as `AgentRequest.body`.
    """

    id: Annotated[
        str, Meta(min_length=1, description="The chat: the thread of that id.", examples=["chat-1"])
    ]
    messages: Annotated[
        list[dict[str, Any]] | None, Meta(description="All messages of the client, as UI messages.")
    ] = None
    message: Annotated[dict[str, Any] | None, Meta(description="Or the last message alone.")] = None
    trigger: Literal["submit-message", "regenerate-message"] = "submit-message"
    message_id: Annotated[
        str | None, Meta(description="The message that is edited, gone on with, or answered again.")
    ] = None
    agent: Annotated[str | None, Meta(description="Which agent shall answer, if there are several.")] = None
    cwd: Annotated[
        str | None,
        Meta(
            description="The folder in which the agent works: one that the server allows, or below it. "
            "Without it, that of the last run of the chat."
        ),
    ] = None

    tools: Annotated[
        dict[str, ClientTool] | None,
        Meta(description="Tools that the client runs, by name, as `AssistantChatTransport` sends them."),
    ] = None
    system: Annotated[
        str | None,
        Meta(description="Instructions of the client, instead of the agent's own. The role `chat` may not."),
    ] = None

    @property
    def client_tools(self) -> list[ToolSpec]:
        """The tools that the client runs."""
        return [
            ToolSpec(name=name, description=tool.description, input_schema=tool.parameters)
            for name, tool in (self.tools or {}).items()
        ]

    @property
    def said(self) -> list[JsonObject]:
        """The messages that came, the acting one last."""
        if self.message is not None:
            return [self.message]
        return self.messages or []

    @property
    def is_whole(self) -> bool:
        """Whether the client told all it has, and not just its last message."""
        return self.message is None and len(self.messages or []) > 1


class StopBody(msgspec.Struct, rename="camel", kw_only=True):
    """Which run shall stop. One that is named and not at work any more is left alone, and so is the next."""

    run_id: str | None = None
    message_id: str | None = None
    reason: str | None = None


def id_of(raw: JsonObject, place: int) -> str:
    """The id of a message that came."""
    known_as = raw.get("id")
    if not isinstance(known_as, str) or not known_as:
        raise DecodeError(
            "a message without an id", where=f"$.messages[{place}].id", hint="useChat gives every message one"
        )
    return known_as
