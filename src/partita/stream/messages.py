"""Chunks in, messages out: folds a stream that may hold several messages, as the streams of networks do.

`Accumulator` follows the AI SDK's reader, which keeps one message and drops it when a `start` has another id.
`MessagesAccumulator` keeps them all: such a `start` begins the next message, and a `start` with the id of an
earlier message continues that message.
"""

from collections.abc import Iterable, Mapping

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
)
from partita.types.messages import AssistantMessage, Message
from partita.types.tools import Interruption
from partita.types.value import Value

from .accumulator import Accumulator, Diagnostic, close_message
from .checkpoint import Checkpoint
from .rules import Version
from .state import empty_message

_DELTAS = frozenset({TextDelta, ReasoningDelta, ToolInputDelta})  # most chunks; they stay in their message


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
        """Begin with an empty message of that id, or continue `message`.

        `known` holds messages by id that are not part of the stream: a `start` with such an id continues the
        message. `version` and `lenient` have the meaning they have in `Accumulator`.
        """
        self._version: Version = version
        self._lenient = lenient
        self._known: Mapping[str, Message] = {} if known is None else known
        self.diagnostics: list[Diagnostic] = []
        """The chunks that were skipped: they did not fit, or the version does not know them."""
        self._current = Accumulator(message, id=id, version=version, lenient=lenient)
        self._current.diagnostics = self.diagnostics
        self._id = id if message is None else message.id
        self._ended = False  # whether the current message has had its finish
        self._places: dict[str, Checkpoint | None] = {self._id: None}  # in order; `None` is the current one
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
        known = None if id_ in self._places else self._known.get(id_)
        if known is None or isinstance(known, AssistantMessage):
            return None
        return StreamError(
            f"start with the id of a {known.__struct_config__.tag} message: {id_!r}",
            where=f"chunk {self.fed}",
            hint="give the answer an id of its own",
            chunk_type="start",
            chunk_id=id_,
        )

    def _switch(self, id_: str) -> None:
        """Set the current message aside, or drop it if it is empty, and make another the current one."""
        left = self._current.checkpoint()
        if self._ended or not is_empty(left.message):
            self._places[self._id] = left
        else:
            del self._places[self._id]
        self._errors += left.errors
        checkpoint, known = self._places.get(id_), self._known.get(id_)
        if checkpoint is not None:
            self._resume(replace(checkpoint, errors=()))
        else:
            begun = known if isinstance(known, AssistantMessage) else _after(left.message, id_)
            self._current = Accumulator(begun, version=self._version, lenient=self._lenient)
            self._current.diagnostics = self.diagnostics
        self._current.fed = left.fed  # chunks are numbered through the whole stream
        self._places[id_] = None
        self._id, self._ended = id_, False

    def _resume(self, checkpoint: Checkpoint) -> None:
        self._current = Accumulator.resume(checkpoint, version=self._version, lenient=self._lenient)
        self._current.diagnostics = self.diagnostics

    def snapshot(self) -> tuple[AssistantMessage, ...]:
        """The messages as they are now, in order of appearance. What is open stays open in them."""
        return tuple(
            [
                self._current.snapshot() if checkpoint is None else checkpoint.message
                for checkpoint in self._places.values()
            ]
        )

    @property
    def current(self) -> AssistantMessage:
        """The message that chunks go to now."""
        return self._current.snapshot()

    @property
    def current_id(self) -> str:
        """The id of that message."""
        return self._id

    def finish(self, interrupted: Interruption | None = None) -> tuple[AssistantMessage, ...]:
        """The messages, closed: open texts are done and, if the stream was interrupted, so are open calls."""
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
            messages=tuple([each or self._current.checkpoint() for each in self._places.values()]),
            current=list(self._places).index(self._id),
            ended=self._ended,
            errors=tuple(self._errors),
        )

    def restore(self, checkpoint: MessagesCheckpoint) -> None:
        """Return to the state of a checkpoint."""
        current = checkpoint.messages[checkpoint.current]
        self._places = {each.message.id: each for each in checkpoint.messages}
        self._id = current.message.id
        self._places[self._id] = None
        self._resume(current)
        self._ended, self._errors = checkpoint.ended, list(checkpoint.errors)


def accumulate_messages(
    chunks: Iterable[Chunk], *, id: str = "", version: Version = 7
) -> tuple[AssistantMessage, ...]:
    """All messages of a stream, as far as it came. `id` is that of a first message without an id."""
    accumulator = MessagesAccumulator(id=id, version=version)
    for chunk in chunks:
        accumulator.feed(chunk)
    return accumulator.snapshot()


def accumulate(chunks: Iterable[Chunk], *, version: Version = 7) -> AssistantMessage:
    """The message of a whole stream, as far as it came. A stream with several messages is refused."""
    messages = accumulate_messages(chunks, version=version)
    if len(messages) > 1:
        raise StreamError(
            f"the stream has {len(messages)} messages", hint="accumulate_messages() returns all of them"
        )
    return messages[0] if messages else empty_message("")


def is_empty(message: AssistantMessage) -> bool:
    """Whether no chunk has put anything into a message."""
    content = message.content
    return not content.parts and content.metadata is UNSET and content.network_execution is None


def _after(message: AssistantMessage, id_: str) -> AssistantMessage:
    """An empty message that follows `message` in its thread."""
    return replace(empty_message(id_, like=message), internal=False)
