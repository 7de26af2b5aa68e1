"""What an agent is: something that takes a prompt and answers with a stream of events."""

import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from partita.formats.format import ToolSpec
from partita.types.events import AgentStreamEvent
from partita.types.json import Json, JsonObject
from partita.types.messages import Message
from partita.types.usage import Usage

from .principal import LOCAL, Principal

if TYPE_CHECKING:
    from partita.store.facade.store import Store  # heavy, and most agents do not use it

Prompt: TypeAlias = str | Sequence[Message]
"""What an agent is asked: words, or a conversation whose last message asks."""


class Question(NamedTuple):
    """May this call run? Asked by an agent in the middle of its work."""

    approval_id: str
    tool_call_id: str
    tool_name: str
    input: Json
    reason: str | None = None


class Decision(NamedTuple):
    """The answer to a question: who gave it, when and why."""

    approved: bool
    reason: str | None = None
    by: str | None = None
    at: datetime | None = None


class Desk(Protocol):
    """Where an agent's questions are answered."""

    async def ask(self, question: Question) -> Decision:
        """The decision, however long it takes. Those who watch learn of the question from the chunks."""
        ...


class UsageMeter(Protocol):
    """Counts what a run uses, and says whether it may use more."""

    def use(self, usage: Usage, model: str | None) -> None:
        """Count a response of a model."""
        ...

    def refusal(self) -> str | None:
        """Why no further step may begin; `None` if one may."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How an agent shall work. What it cannot heed it passes over, unless it would do harm."""

    model: str | None = None
    instructions: str | None = None
    tools: tuple[ToolSpec, ...] = ()
    settings: JsonObject = field(default_factory=dict[str, Json])
    """In the agent's own names: temperature, permission mode, and the like."""
    desk: Desk | None = None
    """Without one, every question is answered with no."""
    environment: Mapping[str, str] | None = None
    """Variables for an agent that is a program, beside those of this process."""
    thread_id: str | None = None
    run_id: str | None = None
    message_id: str | None = None
    """The id of the message that the answer will be."""
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
    """Where an agent that calls models reports each response, if the run has a budget."""

    @property
    def conversation_key(self) -> str | None:
        """A key for the conversation that no other owner's thread has, for stores of an agent's own."""
        return None if self.thread_id is None else conversation_key(self.owner, self.thread_id)


def conversation_key(owner: str | None, thread_id: str) -> str:
    """A key derived from an owner and a thread id: different pairs have different keys."""
    named = "" if owner is None else f"{len(owner)}:{owner}"
    return hashlib.sha256(f"{named}/{thread_id}".encode()).hexdigest()


class AgentService(Protocol):
    """An agent. Closing the stream, or cancelling who reads it, stops the agent and cleans up after it.

    A failure of the agent is an `ErrorEvent`; only wrong use of the service is raised.
    """

    @property
    def name(self) -> str:
        """What it is called: `anthropic`, `claude-code`."""
        ...

    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: Options | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        """The events of one answer, the last of them `complete`, `error` or `cancelled`.

        `session_id` is the agent's own name for a conversation to go on with.
        """
        ...
