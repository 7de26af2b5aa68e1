"""Chunks in, message out: the one reducer, for live streams, reloads, imports and replays alike.

The same chunks always give the same message, and the message equals what the AI SDK's own reader
(`readUIMessageStream`) makes of them. A delta costs O(its own length): pieces are put aside and
joined, and partial tool input parsed, only when someone looks.
"""

from operator import is_
from typing import NamedTuple

from msgspec.structs import replace

from partita.errors import StreamError
from partita.types.chunks import Chunk, type_of
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    NetworkExecution,
    NetworkResult,
    ToolCallPart,
    has_ended,
)
from partita.types.parts import ReasoningPart, TextPart
from partita.types.tools import InterruptedOutput, Interruption

from .checkpoint import Checkpoint
from .reducer import handlers_of, pass_over
from .rules import RULES, Version
from .state import State, empty_message

OPEN_STATES = frozenset({"input-streaming", "input-available", "approval-responded"})
"""A call in one of these was at work, or about to be, when the stream broke off."""


class Diagnostic(NamedTuple):
    """Something in a stream that was passed over, and the number of the chunk it was in."""

    chunk: int
    what: str


class Accumulator:
    """Feed it chunks, look at the message whenever you like, finish it once."""

    def __init__(
        self,
        message: AssistantMessage | None = None,
        *,
        id: str = "",
        version: Version = 7,
        lenient: bool = False,
    ) -> None:
        """Begin with an empty message of that id, or go on with `message`.

        `version` chooses whose rules hold: those of AI SDK 5, 6 or 7. A lenient accumulator passes over
        chunks that do not fit and lists them in `diagnostics`; a strict one raises `StreamError`.
        """
        self._handlers = handlers_of(version)
        self._state = State(message or empty_message(id), RULES[version])
        self._lenient = lenient
        self._finished = False
        self.fed = 0
        self.diagnostics: list[Diagnostic] = []

    def feed(self, chunk: Chunk) -> bool:
        """Take a chunk; whether the message changed for those who watch it. A refused one changes nothing."""
        handler = self._handlers.get(type(chunk), pass_over)
        try:
            if self._finished:
                raise StreamError("the message is finished", hint="one Accumulator per message")
            changed = handler(self._state, chunk)
        except StreamError as error:
            error.where = error.where or f"chunk {self.fed}"
            if not self._lenient:
                raise
            self.diagnostics.append(Diagnostic(self.fed, str(error)))
            changed = False
        if handler is pass_over:
            self.diagnostics.append(Diagnostic(self.fed, f"chunk type {type_of(chunk)!r} passed over"))
        self.fed += 1
        return changed

    def snapshot(self) -> AssistantMessage:
        """The message as it is now. What is open stays open in it."""
        return self._state.snapshot()

    def finish(self, interrupted: Interruption | None = None) -> AssistantMessage:
        """The message, closed: open texts are done, and if the work was interrupted, open calls say so."""
        message = self.snapshot()
        self._finished = True
        return close_message(message, interrupted)

    @property
    def errors(self) -> tuple[str, ...]:
        """The texts of the error chunks so far."""
        return tuple(self._state.errors)

    @property
    def finish_reason(self) -> str | None:
        """Why the message ended, once the stream has said so."""
        return self._state.finish_reason

    def checkpoint(self) -> Checkpoint:
        """Everything needed to go on from here later, in another process if need be."""
        return Checkpoint.of(self._state, self.fed)

    @classmethod
    def resume(cls, checkpoint: Checkpoint, *, version: Version = 7, lenient: bool = False) -> "Accumulator":
        """Go on from a checkpoint as if nothing had happened."""
        accumulator = cls(checkpoint.message, version=version, lenient=lenient)
        checkpoint.restore(accumulator._state)
        accumulator.fed = checkpoint.fed
        return accumulator


def close_message(message: AssistantMessage, interrupted: Interruption | None = None) -> AssistantMessage:
    """A message that nothing more comes for: nothing in it is open."""
    content = message.content
    parts = tuple([_closed(part, interrupted) for part in content.parts])
    network = None if content.network_execution is None else _ended(content.network_execution, interrupted)
    if network is content.network_execution and all(map(is_, parts, content.parts)):
        return message
    return replace(message, content=replace(content, parts=parts, network_execution=network))


def close_messages(
    messages: tuple[Message, ...], interrupted: Interruption | None = None
) -> tuple[Message, ...]:
    """Messages of a sub-agent that nothing more comes for; the same tuple if nothing is open in them."""
    closed = tuple(
        [close_message(one, interrupted) if isinstance(one, AssistantMessage) else one for one in messages]
    )
    return messages if all(map(is_, closed, messages)) else closed


def _ended(execution: NetworkExecution, interrupted: Interruption | None) -> NetworkExecution:
    """An execution with its messages closed; one that has no result was interrupted."""
    result = execution.final_result or NetworkResult()
    messages = close_messages(result.messages, interrupted)
    if interrupted is not None and not has_ended(execution):
        result = replace(result, messages=messages, interrupted=interrupted)
    elif messages is not result.messages:
        result = replace(result, messages=messages)
    else:
        return execution
    return replace(execution, final_result=result)


def _closed(part: AssistantPart, interrupted: Interruption | None) -> AssistantPart:
    if isinstance(part, ToolCallPart) and part.children:
        children = close_messages(part.children, interrupted)
        part = part if children is part.children else replace(part, children=children)
    match part:
        case TextPart(state="streaming") | ReasoningPart(state="streaming"):
            return replace(part, state="done")
        case ToolCallPart(state=state) if interrupted is not None and state in OPEN_STATES:
            return replace(part, state="output-error", output=InterruptedOutput(interrupted))
        case _:
            return part
