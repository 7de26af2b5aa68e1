"""Chunks → messages: the reducer for live streams, reloads, imports and replays.

The same chunks always produce the same message, and the message equals that of the AI SDK's reader
(`readUIMessageStream`). A delta costs O(its length): pieces are joined, and partial tool input is parsed,
only when the message is read.
"""

from collections.abc import Iterable, Mapping
from operator import is_
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import StreamError
from partita.types.chunks import (
    Chunk,
    MessageFinish,
    MessageStart,
    ReasoningDelta,
    TextDelta,
    ToolInputDelta,
    type_of,
)
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    NetworkExecution,
    NetworkResult,
    ToolCallPart,
    has_ended,
)
from partita.types.parts import InterruptedOutput, Interruption, ReasoningPart, TextPart
from partita.types.value import Value

from .checkpoint import Checkpoint
from .reducer import handlers_of, ignore
from .state import RULES, State, Version, empty_message

OPEN_STATES = frozenset({"input-streaming", "input-available", "approval-responded"})
"""The states of calls that are not finished. If the stream is interrupted, these calls are."""


class Diagnostic(NamedTuple):
    """Something in a stream that was ignored, and the number of its chunk."""

    chunk: int
    what: str


class Accumulator:
    """Builds a message from chunks: `feed` chunks, read `snapshot()` at any time, call `finish()` once."""

    def __init__(
        self,
        message: AssistantMessage | None = None,
        *,
        id: str = "",
        version: Version = 7,
        lenient: bool = False,
    ) -> None:
        """Start with an empty message of that id, or continue `message`.

        `version` selects the rules of AI SDK 5, 6 or 7. A lenient accumulator ignores invalid chunks and
        lists them in `diagnostics`; a strict one raises `StreamError`.
        """
        self._handlers = handlers_of(version)
        self._state = State(message or empty_message(id), RULES[version])
        self._lenient = lenient
        self._finished = False
        self.fed = 0
        self.diagnostics: list[Diagnostic] = []

    def feed(self, chunk: Chunk) -> bool:
        """Apply a chunk; return whether the message changed. A refused chunk changes nothing."""
        handler = self._handlers.get(type(chunk), ignore)
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
        if handler is ignore:
            self.diagnostics.append(Diagnostic(self.fed, f"chunk type {type_of(chunk)!r} ignored"))
        self.fed += 1
        return changed

    def snapshot(self) -> AssistantMessage:
        """The current message. Open parts keep the state `streaming`."""
        return self._state.snapshot()

    def finish(self, interrupted: Interruption | None = None) -> AssistantMessage:
        """The final message: open texts are done and, if the stream was interrupted, so are open calls."""
        message = self.snapshot()
        self._finished = True
        return close_message(message, interrupted)

    @property
    def errors(self) -> tuple[str, ...]:
        """The texts of the error chunks so far."""
        return tuple(self._state.errors)

    @property
    def finish_reason(self) -> str | None:
        """The finish reason, if the stream has sent one."""
        return self._state.finish_reason

    def checkpoint(self) -> Checkpoint:
        """The state as a value, from which `resume` continues, also in another process."""
        return Checkpoint.of(self._state, self.fed)

    @classmethod
    def resume(cls, checkpoint: Checkpoint, *, version: Version = 7, lenient: bool = False) -> "Accumulator":
        """Continue from a checkpoint."""
        accumulator = cls(checkpoint.message, version=version, lenient=lenient)
        checkpoint.restore(accumulator._state)
        accumulator.fed = checkpoint.fed
        return accumulator


def close_message(message: AssistantMessage, interrupted: Interruption | None = None) -> AssistantMessage:
    """A message of an ended stream: its open parts are closed."""
    content = message.content
    parts = tuple([_closed(part, interrupted) for part in content.parts])
    network = None if content.network_execution is None else _ended(content.network_execution, interrupted)
    if network is content.network_execution and all(map(is_, parts, content.parts)):
        return message
    return replace(message, content=replace(content, parts=parts, network_execution=network))


def close_messages(
    messages: tuple[Message, ...], interrupted: Interruption | None = None
) -> tuple[Message, ...]:
    """Messages of a sub-agent with their open parts closed; the same tuple if there are none."""
    closed = tuple(
        [close_message(one, interrupted) if isinstance(one, AssistantMessage) else one for one in messages]
    )
    return messages if all(map(is_, closed, messages)) else closed


def _ended(execution: NetworkExecution, interrupted: Interruption | None) -> NetworkExecution:
    """An execution with its messages closed; without a result it was interrupted."""
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


_DELTAS = frozenset(
    {TextDelta, ReasoningDelta, ToolInputDelta}
)  # most chunks; they never start another message


class MessagesCheckpoint(Value, kw_only=True):
    """The state of a `MessagesAccumulator` as a value."""

    messages: tuple[Checkpoint, ...]
    """All messages of the stream so far, in order."""
    current: int
    """The index of the message that chunks go to."""
    ended: bool = False
    """Whether the current message has had its `finish`."""
    errors: tuple[str, ...] = ()
    """The error texts of the messages before the current one."""


class MessagesAccumulator:
    """Feed it the chunks of a stream; `snapshot()` and `finish()` return all messages of the stream."""

    def __init__(
        self,
        message: AssistantMessage | None = None,
        *,
        id: str = "",
        known: Mapping[str, Message] | None = None,
        version: Version = 7,
        lenient: bool = False,
    ) -> None:
        """Start with an empty message of that id, or continue `message`.

        `known` has messages by id that are not part of the stream: a `start` with such an id continues the
        message. `version` and `lenient` have the meaning they have in `Accumulator`.
        """
        self._version: Version = version
        self._lenient = lenient
        self._known: Mapping[str, Message] = {} if known is None else known
        self.diagnostics: list[Diagnostic] = []
        """The chunks that were ignored: invalid ones, and those that the version does not know."""
        self._current = Accumulator(message, id=id, version=version, lenient=lenient)
        self._current.diagnostics = self.diagnostics
        self._id = id if message is None else message.id
        self._ended = False  # whether the current message has had its finish
        self._checkpoints: dict[str, Checkpoint | None] = {
            self._id: None
        }  # in order; `None` is the current one
        self._errors: list[str] = []

    def feed(self, chunk: Chunk) -> bool:
        """Apply a chunk; return whether a message changed. A chunk that is refused changes nothing."""
        if type(chunk) in _DELTAS:
            return self._current.feed(chunk)
        if isinstance(chunk, MessageStart) and chunk.message_id not in (None, self._id):
            refusal = self._refusal(chunk.message_id or "")
            if refusal is not None and not self._lenient:
                raise refusal
            if refusal is not None:
                self.diagnostics.append(Diagnostic(self.fed, str(refusal)))
                self._current.fed += 1
                return False
            self._switch(chunk.message_id or "")
        changed = self._current.feed(chunk)
        self._ended = self._ended or isinstance(chunk, MessageFinish)
        return changed

    @property
    def fed(self) -> int:
        """How many chunks the stream had so far."""
        return self._current.fed

    def _refusal(self, id_: str) -> StreamError | None:
        known = None if id_ in self._checkpoints else self._known.get(id_)
        if known is None or isinstance(known, AssistantMessage):
            return None
        return StreamError(
            f"start with the id of a {known.__struct_config__.tag} message: {id_!r}",
            where=f"chunk {self.fed}",
            hint="send another id for the new message",
            chunk_type="start",
            chunk_id=id_,
        )

    def _switch(self, id_: str) -> None:
        """Make another message the current one. The previous one is kept unless it is empty."""
        left = self._current.checkpoint()
        if self._ended or not is_empty(left.message):
            self._checkpoints[self._id] = left
        else:
            del self._checkpoints[self._id]
        self._errors += left.errors
        checkpoint, known = self._checkpoints.get(id_), self._known.get(id_)
        if checkpoint is not None:
            self._resume(replace(checkpoint, errors=()))
        else:
            begun = known if isinstance(known, AssistantMessage) else _after(left.message, id_)
            self._current = Accumulator(begun, version=self._version, lenient=self._lenient)
            self._current.diagnostics = self.diagnostics
        self._current.fed = left.fed  # chunks are numbered through the whole stream
        self._checkpoints[id_] = None
        self._id, self._ended = id_, False

    def _resume(self, checkpoint: Checkpoint) -> None:
        self._current = Accumulator.resume(checkpoint, version=self._version, lenient=self._lenient)
        self._current.diagnostics = self.diagnostics

    def snapshot(self) -> tuple[AssistantMessage, ...]:
        """The current messages in order of appearance. Open parts keep the state `streaming`."""
        return tuple(
            [
                self._current.snapshot() if checkpoint is None else checkpoint.message
                for checkpoint in self._checkpoints.values()
            ]
        )

    @property
    def current(self) -> AssistantMessage:
        """The current message, which chunks are applied to."""
        return self._current.snapshot()

    @property
    def current_id(self) -> str:
        """The id of the current message."""
        return self._id

    def finish(self, interrupted: Interruption | None = None) -> tuple[AssistantMessage, ...]:
        """The final messages: open texts are done and, if the stream was interrupted, so are open calls."""
        messages = self.snapshot()
        self._current.finish()
        return tuple([close_message(message, interrupted) for message in messages])

    @property
    def errors(self) -> tuple[str, ...]:
        """The texts of the error chunks so far."""
        return (*self._errors, *self._current.errors)

    def checkpoint(self) -> MessagesCheckpoint:
        """The state as a value, from which `restore` continues."""
        return MessagesCheckpoint(
            messages=tuple([each or self._current.checkpoint() for each in self._checkpoints.values()]),
            current=list(self._checkpoints).index(self._id),
            ended=self._ended,
            errors=tuple(self._errors),
        )

    def restore(self, checkpoint: MessagesCheckpoint) -> None:
        """Return to the state of a checkpoint."""
        current = checkpoint.messages[checkpoint.current]
        self._checkpoints = {each.message.id: each for each in checkpoint.messages}
        self._id = current.message.id
        self._checkpoints[self._id] = None
        self._resume(current)
        self._ended, self._errors = checkpoint.ended, list(checkpoint.errors)


def accumulate_messages(
    chunks: Iterable[Chunk], *, id: str = "", version: Version = 7
) -> tuple[AssistantMessage, ...]:
    """All messages of a stream, complete or not. `id` is used for a first message without an id."""
    accumulator = MessagesAccumulator(id=id, version=version)
    for chunk in chunks:
        accumulator.feed(chunk)
    return accumulator.snapshot()


def accumulate(chunks: Iterable[Chunk], *, version: Version = 7) -> AssistantMessage:
    """The message of a stream, complete or not. A stream with several messages is refused."""
    messages = accumulate_messages(chunks, version=version)
    if len(messages) > 1:
        raise StreamError(
            f"the stream has {len(messages)} messages", hint="accumulate_messages() returns all of them"
        )
    return messages[0] if messages else empty_message("")


def is_empty(message: AssistantMessage) -> bool:
    """Whether no chunk has added anything to a message."""
    content = message.content
    return not content.parts and content.metadata is UNSET and content.network_execution is None


def _after(message: AssistantMessage, id_: str) -> AssistantMessage:
    """An empty message that follows `message` in its thread."""
    return replace(empty_message(id_, like=message), internal=False)
