"""A turn of a thread: the messages that it starts with, and the message that it writes."""

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from partita.errors import AgentError, NotFoundError
from partita.store.ids import new_id
from partita.store.memory import MemoryStore
from partita.types.json import Json, is_object
from partita.types.messages import ENDED, AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.parts import StepStartPart

STOPPED_BY: Final = "stoppedBy"
"""The member of the metadata of a message with the limit that its run reached."""

Input: TypeAlias = str | UserMessage | Sequence[Message] | None
"""The input of a turn: a text, messages, or nothing to continue the thread."""


class Turn(NamedTuple):
    """The messages to save before the agent is called, and the id of the message that it will write."""

    messages: tuple[Message, ...]
    message_id: str
    after: str | None = None
    """The last message that the agent sees, if that is not the last one of the thread."""


async def turn_of(store: MemoryStore, thread_id: str, input: Input, after: str | None) -> Turn:
    """The turn for an input. Without one, the agent responds to the last message, or continues it."""
    if isinstance(input, str):
        return Turn((UserMessage(id=new_id(), content=input, parent_id=after),), new_id())
    if isinstance(input, UserMessage):
        return Turn((input,), new_id())
    if input:
        return Turn(tuple(input), new_id())
    history = await history_of(store, thread_id, after)
    if not history:
        raise AgentError(f"thread {thread_id!r} has no messages", hint="give an input")
    last = history[-1]
    if not isinstance(last, AssistantMessage):
        return Turn((), new_id(), after)
    if not can_continue(last):
        raise AgentError(
            f"thread {thread_id!r} ends with a complete response",
            where=f"message {last.id}",
            hint=_hint_to_continue(history),
        )
    return Turn((), last.id, after)


def _hint_to_continue(history: Sequence[Message]) -> str:
    """What to do if the last message is complete: an older call may have had its approval since."""
    for message in reversed(history):
        for part in message.parts:
            if isinstance(part, ToolCallPart) and part.state == "approval-responded":
                return (
                    f"call {part.id!r} of an earlier message has its approval: after={message.id!r} runs it"
                )
    return "give an input, or with `after` the message to respond to again"


def check_turn(turn: Turn, history: Sequence[Message]) -> None:
    """Raise an `AgentError` if the thread has changed since the turn was requested."""
    last = history[-1] if history else None
    if turn.messages or last is None:
        return
    expected = (
        last.id == turn.message_id and can_continue(last) if isinstance(last, AssistantMessage) else True
    )
    if not expected:
        raise AgentError(
            "the thread has changed since this turn was requested",
            where=f"message {last.id}",
            hint="load it again: the turn may have been run already",
        )


async def history_of(store: MemoryStore, thread_id: str, after: str | None = None) -> tuple[Message, ...]:
    """The messages of a thread on its active branch, up to and including one."""
    return up_to(tuple(await store.list_messages(thread_id, limit=None)), thread_id, after)


def up_to(messages: tuple[Message, ...], thread_id: str, after: str | None) -> tuple[Message, ...]:
    """The messages of a thread up to and including one."""
    if after is None:
        return messages
    for index, message in enumerate(messages):
        if message.id == after:
            return messages[: index + 1]
    raise NotFoundError(
        f"thread {thread_id!r} has no message {after!r} on its active branch",
        hint="switch to its branch first",
    )


def can_continue(message: AssistantMessage) -> bool:
    """Whether a message ends with calls whose outputs the model has not seen yet."""
    last: list[ToolCallPart] = []
    for part in message.parts:
        if isinstance(part, StepStartPart):
            last = []
        elif isinstance(part, ToolCallPart) and not part.provider_executed:
            last.append(part)
    return bool(last)


def seed_of(history: Sequence[Message], message_id: str) -> AssistantMessage | None:
    """The message that a turn continues; `None` if it writes a new one."""
    last = history[-1] if history else None
    return without_ending(last) if isinstance(last, AssistantMessage) and last.id == message_id else None


def without_ending(message: AssistantMessage) -> AssistantMessage:
    """A message without the metadata about the end of an earlier run of it."""
    metadata: Json = message.content.metadata
    if not is_object(metadata) or not {ENDED, STOPPED_BY} & metadata.keys():
        return message
    kept = {key: value for key, value in metadata.items() if key not in (ENDED, STOPPED_BY)}
    return replace(message, content=replace(message.content, metadata=kept))
