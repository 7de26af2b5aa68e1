"""A run's chunks → its messages. Live, after a crash and on replay it is this, so all three agree.

Most runs are one message. A run may go on with a message that is there, and may hold several: each
`start` with another id, after a `finish`, begins the next.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import PartitaError
from partita.formats.mastra.network_forms import LEGACY_NETWORK
from partita.formats.mastra.network_string import network_string
from partita.stream.accumulator import Accumulator, close_message
from partita.types.chunks import (
    Chunk,
    DataChunk,
    MessageFinish,
    MessageMetadata,
    MessageStart,
    NetworkExecutionEnd,
    ReasoningDelta,
    TextDelta,
    ToolInputDelta,
    ToolOutputChunk,
)
from partita.types.codec import Codec
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage, Message, ToolCallPart
from partita.types.runs import RunStatus
from partita.types.tools import InterruptedOutput, Interruption
from partita.types.usage import Usage

DECISION: Final = "data-partita-decision"
"""The note of who answered a question, and when: `{approvalId, by, at}`."""

ENDED: Final = "ended"
"""Where the metadata of a message says how its run ended, unless it ended well."""

INTERRUPTIONS: Final[Mapping[RunStatus, Interruption]] = {
    "cancelled": "aborted",
    "failed": "lost",
    "interrupted": "lost",
}


DELTAS: Final = frozenset({TextDelta, ReasoningDelta, ToolInputDelta})
"""Most of what agents say."""

USAGE: Final[Codec[Usage]] = Codec(Usage)


class RunFold:
    """Feed it the chunks of a run; look at its messages whenever you like."""

    def __init__(
        self, message_id: str, *, run_id: str | None = None, seed: AssistantMessage | None = None
    ) -> None:
        """`message_id` is that of the first message; `seed` is the message the run goes on with."""
        self._run_id = run_id
        self._message_id = message_id
        self._current = Accumulator(seed, id=message_id)
        self._done: list[AssistantMessage] = []
        self._ended = False  # the current message has had its finish
        self._internal = False
        self._decisions: dict[str, JsonObject] = {}

    def feed(self, chunk: Chunk) -> None:
        """Take a chunk. One that does not fit changes nothing and is a `StreamError`."""
        if type(chunk) in DELTAS:
            self._current.feed(chunk)
            return
        if isinstance(chunk, MessageStart) and self._ended and chunk.message_id is not None:
            self._next(chunk)
        elif isinstance(chunk, DataChunk) and chunk.type == DECISION and is_object(chunk.data):
            self._decisions[str(chunk.data.get("approvalId"))] = chunk.data
        self._current.feed(chunk)
        if isinstance(chunk, MessageFinish):
            self._ended = True
        elif isinstance(chunk, MessageStart):
            said = chunk.message_metadata
            self._internal = is_object(said) and said.get("internal") is True

    def _next(self, start: MessageStart) -> None:
        if start.message_id == self._current.snapshot().id:
            return
        self._done.append(self._finished(self._current.snapshot(), internal=self._internal))
        self._current = Accumulator(id=start.message_id or "")
        self._ended = False

    def snapshot(self) -> tuple[AssistantMessage, ...]:
        """The messages as they are now."""
        return (*self._done, self._finished(self._current.snapshot(), internal=self._internal))

    @property
    def errors(self) -> tuple[str, ...]:
        """The texts of the error chunks of the message at hand."""
        return self._current.errors

    def finish(
        self, status: RunStatus = "completed", reason: str | None = None
    ) -> tuple[AssistantMessage, ...]:
        """The messages, closed: whatever was open says that it was cut, and the last one why."""
        messages = [close_message(message, INTERRUPTIONS.get(status)) for message in self.snapshot()]
        if status != "completed":
            messages[-1] = with_ending(messages[-1], status, reason)
        return tuple(messages)

    def _finished(self, message: AssistantMessage, *, internal: bool) -> AssistantMessage:
        said = message.content.metadata
        usage = read_usage(said.get("usage")) if is_object(said) else None
        parts = tuple(
            self._decided(part) if isinstance(part, ToolCallPart) else part for part in message.parts
        )
        content = replace(message.content, parts=parts, usage=usage or message.content.usage)
        if content.network_execution is not None and is_object(said) and said.get(LEGACY_NETWORK) is True:
            content = replace(content, content=network_string(message.id, content.network_execution))
        return replace(
            message,
            content=content,
            run_id=self._run_id or message.run_id,
            internal=internal or message.internal,
        )

    def _decided(self, call: ToolCallPart) -> ToolCallPart:
        """A call with who answered its question, and when."""
        noted = None if call.approval is None else self._decisions.get(call.approval.id)
        if noted is None or call.approval is None:
            return call
        by = noted.get("by")
        approval = replace(
            call.approval,
            responded_by=by if isinstance(by, str) else None,
            responded_at=_moment(noted.get("at")),
        )
        return replace(call, approval=approval)


def fold_run(
    chunks: Iterable[Chunk],
    message_id: str,
    *,
    run_id: str | None = None,
    seed: AssistantMessage | None = None,
    status: RunStatus = "completed",
    reason: str | None = None,
) -> tuple[Message, ...]:
    """The messages that the chunks of a run amount to."""
    fold = RunFold(message_id, run_id=run_id, seed=seed)
    for chunk in chunks:
        fold.feed(chunk)
    return fold.finish(status, reason)


def with_ending(message: AssistantMessage, status: RunStatus, reason: str | None) -> AssistantMessage:
    """A message whose metadata says how its run ended, if there is room for it."""
    said: Json = message.content.metadata
    if said is not UNSET and not is_object(said):
        return message
    metadata = {**(said if is_object(said) else {}), ENDED: ending_of(status, reason)}
    return replace(message, content=replace(message.content, metadata=metadata))


def ending_of(status: RunStatus, reason: str | None) -> JsonObject:
    """What the metadata of a message says of how its run ended."""
    return {"status": status, **({} if reason is None else {"reason": reason})}


def tells_ending(chunk: Chunk) -> bool:
    """Whether a chunk is ours, and tells how a run that was cut left its message: see `Driver`."""
    match chunk:
        case MessageMetadata(message_metadata=said):
            return is_object(said) and said.keys() == {ENDED}
        case ToolOutputChunk(output=output):
            return isinstance(output, InterruptedOutput)
        case NetworkExecutionEnd(final_result=result):
            return result is not None and result.interrupted is not None
        case _:
            return False


def read_usage(raw: Json) -> Usage | None:
    """The usage that metadata tells, if it is one."""
    try:
        return USAGE.read(raw) if is_object(raw) else None
    except PartitaError:
        return None


def _moment(text: Json) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
