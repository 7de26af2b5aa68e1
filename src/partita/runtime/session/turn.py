"""What a turn of a thread begins with, and which message it writes."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from partita.errors import AgentError, NotFoundError
from partita.store.facade.store import Store
from partita.store.ids import new_id
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.parts import StepStartPart

Input: TypeAlias = str | UserMessage | Sequence[Message] | None
"""What a turn begins with: words, messages, or nothing, to go on with what is there."""


class Turn(NamedTuple):
    """The messages to save before the agent works, and the id of the message it will write."""

    messages: tuple[Message, ...]
    message_id: str
    after: str | None = None


async def turn_of(store: Store, thread_id: str, input: Input, after: str | None) -> Turn:
    """The turn that an input asks for. Without one, the last message is answered, or gone on with."""
    if isinstance(input, str):
        said: tuple[Message, ...] = (UserMessage(id=new_id(), content=input, parent_id=after),)
        return Turn(said, new_id())
    if isinstance(input, UserMessage):
        return Turn((input,), new_id())
    if input:
        return Turn(tuple(input), new_id())
    history = await history_of(store, thread_id, after)
    if not history:
        raise AgentError(f"thread {thread_id!r} has nothing to answer", hint="give an input")
    last = history[-1]
    if not isinstance(last, AssistantMessage):
        return Turn((), new_id(), after)
    if not goes_on(last):
        raise AgentError(
            f"thread {thread_id!r} ends with an answer",
            where=f"message {last.id}",
            hint="give an input, or say after which message to answer again",
        )
    return Turn((), last.id, after)


async def history_of(store: Store, thread_id: str, after: str | None = None) -> tuple[Message, ...]:
    """The talk of a thread on its active branch, up to and with a message."""
    page = await store.list_messages(thread_id, limit=None)
    if after is None:
        return page.items
    for place, message in enumerate(page.items):
        if message.id == after:
            return page.items[: place + 1]
    raise NotFoundError(
        f"thread {thread_id!r} has no message {after!r} on its active branch",
        hint="switch to its branch first",
    )


def goes_on(message: AssistantMessage) -> bool:
    """Whether the model has not seen yet what came of the calls that a message ends with."""
    last: list[ToolCallPart] = []
    for part in message.parts:
        if isinstance(part, StepStartPart):
            last = []
        elif isinstance(part, ToolCallPart) and not part.provider_executed:
            last.append(part)
    return bool(last)


def seed_of(history: Sequence[Message], message_id: str) -> AssistantMessage | None:
    """The message that a turn goes on with, if it does."""
    last = history[-1] if history else None
    return last if isinstance(last, AssistantMessage) and last.id == message_id else None
