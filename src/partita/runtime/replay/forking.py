"""Answering again, elsewhere: a copy of a thread up to a message, and another answer there."""

from partita.errors import AgentError, NotFoundError
from partita.runtime.service import AgentService, Options
from partita.runtime.session.session import Session
from partita.types.messages import Message, UserMessage
from partita.types.runs import Run


async def rerun(
    session: Session,
    agent: AgentService,
    thread_id: str,
    message_id: str,
    *,
    new_id: str | None = None,
    title: str | None = None,
    options: Options | None = None,
) -> Run:
    """Fork a thread at what a user said, or at the question behind an answer, and let an agent answer there.

    The thread stays as it is; the run belongs to the new one.
    """
    store = session.store
    asked = await _question(session, thread_id, message_id)
    thread = await store.fork_thread(thread_id, asked.id, new_id=new_id, title=title)
    return await session.start(agent, thread.id, options=options)


async def _question(session: Session, thread_id: str, message_id: str) -> Message:
    """The message of the user that a message is, or answers."""
    message = await session.store.get_message(thread_id, message_id)
    if message is None:
        raise NotFoundError(
            f"no message {message_id!r} in thread {thread_id!r}",
            hint="list the messages of the thread to see their ids",
        )
    while not isinstance(message, UserMessage):
        above = message.parent_id
        message = None if above is None else await session.store.get_message(thread_id, above)
        if message is None:
            raise AgentError(
                f"message {message_id!r} answers nobody", where=f"thread {thread_id}", hint="name a question"
            )
    return message
