"""A stored run as a model: it returns the recorded responses again.

So a run can be repeated without an API key: `Agent(ReplayService(store, run_id), tools=…)` runs its tools,
and the model returns what it returned then.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from partita.errors import AgentError
from partita.formats.model_view import model_view
from partita.runtime.run_fold import read_usage
from partita.runtime.service import AgentService, InvokeOptions, Prompt
from partita.runtime.session.session import Session
from partita.store.connection import open_store
from partita.store.ids import new_id
from partita.store.store import Store
from partita.store.threads.branches import no_message
from partita.types.chunks import (
    AgentStreamEvent,
    Chunk,
    ChunkEvent,
    CompleteEvent,
    ErrorEvent,
    MessageFinish,
    MessageStart,
)
from partita.types.json import is_object
from partita.types.messages import AssistantMessage, Message, UserMessage
from partita.types.threads import Run
from partita.types.usage import Usage

from .model_calls import ModelResponse, events_of, load_responses

NO_MORE: Final = "the recorded run has no more steps"


class ReplayService:
    """Returns the responses of a stored run. Which one depends only on the conversation."""

    supports_client_tools = True  # it calls the tools that were called then

    def __init__(self, store: Store | None, run_id: str, *, name: str = "replay") -> None:
        """Without a store, the run is read from the user's default store."""
        self.name = name
        self.model = "replay"
        self._store = store
        self._run_id = run_id
        self._responses: Sequence[ModelResponse] | None = None

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncGenerator[AgentStreamEvent, None]:
        """The recorded response at this point of the conversation."""
        if self._responses is None:
            self._responses = await self._load()
        step = 0 if isinstance(prompt, str) else responses_after_prompt(prompt)
        if step >= len(self._responses):
            yield ErrorEvent(message=NO_MORE, name="replay-ended")
            return
        response = self._responses[step]
        usage: Usage | None = None
        with_new_id = MessageIds(None if options is None else options.message_id)
        for event in events_of(response):
            if isinstance(event, ChunkEvent):
                usage = _usage_in(event.chunk) or usage
            yield with_new_id(event)
        yield response.end or CompleteEvent(agent_type=self.name, usage=usage)

    async def _load(self) -> Sequence[ModelResponse]:
        async with AsyncExitStack() as stack:
            store = self._store
            if store is None:
                store = await stack.enter_async_context(open_store())
            return await load_responses(store, self._run_id)


class MessageIds:
    """Replaces the ids of messages, which belong to the recorded messages."""

    def __init__(self, first: str | None) -> None:
        self._next = first
        self._ids: dict[str, str | None] = {}

    def __call__(self, event: AgentStreamEvent) -> AgentStreamEvent:
        """The event; the start of a message has a new id."""
        chunk = event.chunk if isinstance(event, ChunkEvent) else None
        if not isinstance(chunk, MessageStart) or chunk.message_id is None:
            return event
        if chunk.message_id not in self._ids:
            self._ids[chunk.message_id], self._next = self._next, new_id()
        return replace(event, chunk=replace(chunk, message_id=self._ids[chunk.message_id]))


def make(name: str, argument: str) -> ReplayService:
    """The agent of a name `replay:RUN` (see `partita.runtime.registry`)."""
    if not argument:
        raise AgentError("no run is named", where=name, hint="replay:RUN, the id of a stored run")
    return ReplayService(None, argument)


def responses_after_prompt(messages: Sequence[Message]) -> int:
    """The number of responses of a model after the last message of the user."""
    responses = 0
    for message in model_view(messages).messages:
        if isinstance(message, UserMessage):
            responses = 0
        elif isinstance(message, AssistantMessage):
            responses += 1
    return responses


def _usage_in(chunk: Chunk) -> Usage | None:
    metadata = chunk.message_metadata if isinstance(chunk, MessageFinish) else None
    return read_usage(metadata.get("usage")) if is_object(metadata) else None


# Another response, in a fork of the thread


async def rerun(
    session: Session,
    agent: AgentService,
    thread_id: str,
    message_id: str,
    *,
    new_id: str | None = None,
    title: str | None = None,
    options: InvokeOptions | None = None,
) -> Run:
    """Fork a thread at a user message, or at the one that a response responds to, and run an agent there.

    The thread does not change; the run belongs to the fork.
    """
    store = session.store
    prompt = await _user_message(session, thread_id, message_id)
    thread = await store.threads.fork(thread_id, prompt.id, new_id=new_id, title=title)
    return await session.start(agent, thread.id, options=options)


async def _user_message(session: Session, thread_id: str, message_id: str) -> Message:
    """The user message that a message is or responds to."""
    message = await session.store.messages.get(thread_id, message_id)
    if message is None:
        raise no_message(thread_id, message_id)
    while not isinstance(message, UserMessage):
        parent = message.parent_id
        message = None if parent is None else await session.store.messages.get(thread_id, parent)
        if message is None:
            raise AgentError(
                f"no user message before message {message_id!r}",
                where=f"thread {thread_id}",
                hint="give the id of a user message, or of a response to one",
            )
    return message
