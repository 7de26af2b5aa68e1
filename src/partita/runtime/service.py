"""The interface of agents: a prompt and options in, a stream of events out."""

import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypeVar

from partita.errors import AgentError
from partita.formats.format import ToolSpec
from partita.types.chunks import AgentStreamEvent
from partita.types.json import Json, JsonObject
from partita.types.messages import Message, SystemMessage, UserMessage
from partita.types.usage import Usage

from .principal import LOCAL, Principal

if TYPE_CHECKING:
    from partita.store.store import Store  # heavy, and most agents do not use it

Prompt: TypeAlias = str | Sequence[Message]
"""A text, or messages of which the last is to be answered."""


def prompt_messages(prompt: Prompt, instructions: str | None = None) -> list[Message]:
    """The messages of a prompt, after the instructions."""
    messages: list[Message] = (
        [UserMessage(id="prompt", content=prompt)] if isinstance(prompt, str) else [*prompt]
    )
    if not messages:
        hint = "give a text, or messages of which the last is to be answered"
        raise AgentError("the prompt is empty", hint=hint)
    return [SystemMessage(id="instructions", content=instructions), *messages] if instructions else messages


class ApprovalRequest(NamedTuple):
    """A tool call that an agent may only run once it is approved."""

    approval_id: str
    tool_call_id: str
    tool_name: str
    input: Json
    reason: str | None = None


class ApprovalDecision(NamedTuple):
    """Whether a tool call may run, and who decided it, when and why."""

    approved: bool
    reason: str | None = None
    by: str | None = None
    at: datetime | None = None


class ApprovalGate(Protocol):
    """Decides the approval requests of an agent."""

    async def request(self, request: ApprovalRequest) -> ApprovalDecision:
        """Wait for the decision, however long it takes.

        The agent emits a `ToolApprovalRequest` chunk as well: clients learn of the request from it.
        """
        ...


class UsageMeter(Protocol):
    """Counts what a run uses, and decides whether it may use more."""

    def use(self, usage: Usage, model: str | None) -> None:
        """Count a response of a model."""
        ...

    def refusal(self) -> str | None:
        """Why no further step may start; `None` if one may."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class InvokeOptions:
    """Options of an invocation. Agents ignore options that they do not support, unless that would do harm."""

    model: str | None = None
    instructions: str | None = None
    tools: tuple[ToolSpec, ...] = ()
    settings: JsonObject = field(default_factory=dict[str, Json])
    """Named as in the agent's own API: temperature, permission mode, and the like."""
    approvals: ApprovalGate | None = None
    """Decides approval requests. Without one, every request is denied."""
    environment: Mapping[str, str] | None = None
    """Variables for an agent that is a program, in addition to those of this process."""
    thread_id: str | None = None
    run_id: str | None = None
    message_id: str | None = None
    """The id of the message that the response will be."""
    owner: str | None = None
    """The owner of the thread. Thread ids are unique within an owner only."""
    caller: Principal = LOCAL
    """Who sent the request. An administrator may continue a thread of another owner."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """The headers of the HTTP request, names in lower case."""
    body: JsonObject = field(default_factory=dict[str, Json])
    """Members of the request's body that Partita itself does not use, such as `body` of `useChat`."""
    store: "Store | None" = None
    """The store, limited to the data that the caller may see."""
    meter: UsageMeter | None = None
    """Counts the responses of models, if the run has a budget."""

    @property
    def conversation_key(self) -> str | None:
        """A key for the conversation that no other owner's thread has, for stores outside of Partita."""
        return None if self.thread_id is None else conversation_key(self.owner, self.thread_id)


def conversation_key(owner: str | None, thread_id: str) -> str:
    """A key derived from an owner and a thread id: different pairs have different keys."""
    prefix = "" if owner is None else f"{len(owner)}:{owner}"
    return hashlib.sha256(f"{prefix}/{thread_id}".encode()).hexdigest()


class AgentService(Protocol):
    """An agent. Closing the stream, or cancelling its reader, stops the agent and cleans up.

    A failure of the agent is an `ErrorEvent`. Only wrong use of the service raises an exception.
    """

    @property
    def name(self) -> str:
        """The name of the agent, such as `anthropic` or `claude-code`."""
        ...

    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """The events of one response, the last of them `complete`, `error` or `cancelled`.

        `session_id` is the agent's own id of a conversation to continue.
        """
        ...


T = TypeVar("T")


@asynccontextmanager
async def closed(stream: AsyncIterator[T]) -> AsyncGenerator[AsyncIterator[T], None]:
    """The stream, which is closed at the end of the block, so that the agent cleans up at once."""
    try:
        yield stream
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()
