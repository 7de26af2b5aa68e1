"""What a turn of a thread begins with, and which message it writes."""

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from partita.errors import AgentError, NotFoundError
from partita.runtime.run_fold import ENDED
from partita.store.ids import new_id
from partita.store.memory import MemoryStore
from partita.types.json import Json, is_object
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage
from partita.types.parts import StepStartPart

STOPPED_BY: Final = "stoppedBy"
"""Where the metadata of a message says what limit its run came to."""

Input: TypeAlias = str | UserMessage | Sequence[Message] | None
"""What a turn begins with: words, messages, or nothing, to go on with what is there."""


class Turn(NamedTuple):
    """The messages to save before the agent works, and the id of the message it will write."""

    messages: tuple[Message, ...]
    message_id: str
    after: str | None = None


async def turn_of(store: MemoryStore, thread_id: str, input: Input, after: str | None) -> Turn:
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
            f"thread {thread_id!r} ends with an answer", where=f"message {last.id}", hint=_instead(history)
        )
    return Turn((), last.id, after)


def _instead(history: Sequence[Message]) -> str:
    """What to do where there is nothing to go on with: an older call may have been allowed since."""
    for message in reversed(history):
        for part in message.parts:
            if isinstance(part, ToolCallPart) and part.state == "approval-responded":
                return (
                    f"call {part.id!r} was answered when the talk had gone on: after={message.id!r} runs it"
                )
    return "give an input, or say after which message to answer again"


def check_turn(turn: Turn, history: Sequence[Message]) -> None:
    """Refuse to go on with a thread that has changed since the turn was asked for."""
    last = history[-1] if history else None
    if turn.messages or last is None:
        return
    expected = last.id == turn.message_id and goes_on(last) if isinstance(last, AssistantMessage) else True
    if not expected:
        raise AgentError(
            "the thread has changed since this turn was asked for",
            where=f"message {last.id}",
            hint="look at it again: the turn may have been done already",
        )


async def history_of(store: MemoryStore, thread_id: str, after: str | None = None) -> tuple[Message, ...]:
    """The messages of a thread on its active branch, up to and including one."""
    return up_to(tuple(await store.list_messages(thread_id, limit=None)), thread_id, after)


def up_to(talk: tuple[Message, ...], thread_id: str, after: str | None) -> tuple[Message, ...]:
    """The talk of a thread up to and with a message."""
    if after is None:
        return talk
    for place, message in enumerate(talk):
        if message.id == after:
            return talk[: place + 1]
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
    return without_ending(last) if isinstance(last, AssistantMessage) and last.id == message_id else None


def without_ending(message: AssistantMessage) -> AssistantMessage:
    """A message that goes on: it no longer says how an earlier run of it ended."""
    said: Json = message.content.metadata
    if not is_object(said) or not {ENDED, STOPPED_BY} & said.keys():
        return message
    kept = {key: value for key, value in said.items() if key not in (ENDED, STOPPED_BY)}
    return replace(message, content=replace(message.content, metadata=kept))
