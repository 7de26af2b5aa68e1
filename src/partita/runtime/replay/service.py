"""A stored run in the place of a model: what it answered then, it answers again.

So a run can be done over without a key: `Agent(ReplayService(store, run_id), tools=…)` calls its tools for
real, and the model says what it said.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from partita.errors import AgentError, NotFoundError
from partita.formats.model_view import model_view
from partita.runtime.run_fold import read_usage
from partita.runtime.service import AgentService, InvokeOptions, Prompt
from partita.runtime.session.session import Session
from partita.store.connection import open_store
from partita.store.ids import new_id
from partita.store.store import Store
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

from .model_calls import Answer, events_of, load_answers

NO_MORE: Final = "the recorded run has no more steps"


class ReplayService:
    """Answers with what a stored run holds. Which of its answers, the conversation decides alone."""

    supports_client_tools = True  # it calls what was called then

    def __init__(self, store: Store | None, run_id: str, *, name: str = "replay") -> None:
        """Without a store, the run is looked for in the user's own."""
        self.name = name
        self.model = "replay"
        self._store = store
        self._run_id = run_id
        self._answers: Sequence[Answer] | None = None

    async def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncGenerator[AgentStreamEvent, None]:
        """The answer that was given at this point of the conversation."""
        if self._answers is None:
            self._answers = await self._load()
        step = 0 if isinstance(prompt, str) else steps_behind(prompt)
        if step >= len(self._answers):
            yield ErrorEvent(message=NO_MORE, name="replay-ended")
            return
        answer = self._answers[step]
        usage: Usage | None = None
        rename = Renaming(None if options is None else options.message_id)
        for event in events_of(answer):
            if isinstance(event, ChunkEvent):
                usage = _usage_in(event.chunk) or usage
            yield rename(event)
        yield answer.end or CompleteEvent(agent_type=self.name, usage=usage)

    async def _load(self) -> Sequence[Answer]:
        async with AsyncExitStack() as stack:
            store = self._store
            if store is None:
                store = await stack.enter_async_context(open_store())
            return await load_answers(store, self._run_id)


class Renaming:
    """Gives the messages of an answer ids of their own: those of the recording have theirs already."""

    def __init__(self, first: str | None) -> None:
        self._next = first
        self._names: dict[str, str | None] = {}

    def __call__(self, event: AgentStreamEvent) -> AgentStreamEvent:
        """The event; a start of a message says another id."""
        chunk = event.chunk if isinstance(event, ChunkEvent) else None
        if not isinstance(chunk, MessageStart) or chunk.message_id is None:
            return event
        if chunk.message_id not in self._names:
            self._names[chunk.message_id], self._next = self._next, new_id()
        return replace(event, chunk=replace(chunk, message_id=self._names[chunk.message_id]))


def make(name: str, rest: str) -> ReplayService:
    """The run that is named, of the user's own store."""
    if not rest:
        raise AgentError("no run is named", where=name, hint="replay:RUN, the id of a stored run")
    return ReplayService(None, rest)


def steps_behind(messages: Sequence[Message]) -> int:
    """How many answers of a model stand behind what the user said last."""
    steps = 0
    for message in model_view(messages).messages:
        if isinstance(message, UserMessage):
            steps = 0
        elif isinstance(message, AssistantMessage):
            steps += 1
    return steps


def _usage_in(chunk: Chunk) -> Usage | None:
    said = chunk.message_metadata if isinstance(chunk, MessageFinish) else None
    return read_usage(said.get("usage")) if is_object(said) else None


# Answering again, elsewhere: a copy of a thread up to a message, and another answer there.


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
    """Fork a thread at what a user said, or at the question behind an answer, and let an agent answer there.

    The thread stays as it is; the run belongs to the new one.
    """
    store = session.store
    asked = await _question(session, thread_id, message_id)
    thread = await store.threads.fork(thread_id, asked.id, new_id=new_id, title=title)
    return await session.start(agent, thread.id, options=options)


async def _question(session: Session, thread_id: str, message_id: str) -> Message:
    """The message of the user that a message is, or answers."""
    message = await session.store.messages.get(thread_id, message_id)
    if message is None:
        raise NotFoundError(
            f"no message {message_id!r} in thread {thread_id!r}",
            hint="list the messages of the thread to see their ids",
        )
    while not isinstance(message, UserMessage):
        above = message.parent_id
        message = None if above is None else await session.store.messages.get(thread_id, above)
        if message is None:
            raise AgentError(
                f"message {message_id!r} answers nobody", where=f"thread {thread_id}", hint="name a question"
            )
    return message
