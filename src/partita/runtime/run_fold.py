"""A run's chunks → its messages. Live, after a crash and on replay it is this, so all three agree.

Most runs are one message. A run may continue a message that exists, and may hold several messages.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import PartitaError
from partita.formats.mastra.network_payload import LEGACY_NETWORK, network_string
from partita.stream.accumulator import MessagesAccumulator, close_message
from partita.types.chunks import (
    Chunk,
    DataChunk,
    ErrorChunk,
    MessageAbort,
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
from partita.types.messages import AssistantMessage, Message, ToolCallPart, has_ended
from partita.types.parts import Approval, InterruptedOutput, Interruption
from partita.types.threads import RunStatus
from partita.types.usage import Usage

DECISION: Final = "data-partita-decision"
"""The note of who answered a question, and when: `{approvalId, by, at}`."""

ENDED: Final = "ended"
"""Where the metadata of a message says how its run ended, unless it ended well."""

NO_END: Final = "the agent stopped without saying how it ended"

INTERRUPTIONS: Final[Mapping[RunStatus, Interruption]] = {
    "cancelled": "aborted",
    "failed": "lost",
    "interrupted": "lost",
}


DELTAS: Final = frozenset({TextDelta, ReasoningDelta, ToolInputDelta})
"""Most of what agents say."""

USAGE: Final[Codec[Usage]] = Codec(Usage)


class RunFold:
    """The messages of a run: those of its chunks, with the run's id, usage and approval decisions."""

    def __init__(
        self, message_id: str, *, run_id: str | None = None, seed: AssistantMessage | None = None
    ) -> None:
        """`message_id` is that of the first message; `seed` is the message that the run continues."""
        self._run_id = run_id
        self._messages = MessagesAccumulator(seed, id=message_id)
        self._decisions: dict[str, JsonObject] = {}
        self._internal: set[str] = set()  # the messages whose start says that they are internal

    def feed(self, chunk: Chunk) -> None:
        """Apply a chunk. One that does not fit changes nothing and raises `StreamError`."""
        self._messages.feed(chunk)
        if type(chunk) in DELTAS:
            return
        if isinstance(chunk, DataChunk) and chunk.type == DECISION and is_object(chunk.data):
            self._decisions[str(chunk.data.get("approvalId"))] = chunk.data
        elif isinstance(chunk, MessageStart):
            said: Json = chunk.message_metadata
            is_internal = is_object(said) and said.get("internal") is True
            (self._internal.add if is_internal else self._internal.discard)(self._messages.current_id)

    def snapshot(self) -> tuple[AssistantMessage, ...]:
        """The messages as they are now."""
        return tuple([self._finished(message) for message in self._messages.snapshot()])

    @property
    def current(self) -> AssistantMessage:
        """The message that chunks go to now."""
        return self._finished(self._messages.current)

    @property
    def current_id(self) -> str:
        """The id of the message that chunks go to now."""
        return self._messages.current_id

    @property
    def errors(self) -> tuple[str, ...]:
        """The texts of the error chunks so far."""
        return self._messages.errors

    def finish(
        self, status: RunStatus = "completed", reason: str | None = None
    ) -> tuple[AssistantMessage, ...]:
        """The messages, closed: what was open is marked as cut, and the last one has the reason."""
        messages = [close_message(message, INTERRUPTIONS.get(status)) for message in self.snapshot()]
        if status == "completed":
            return tuple(messages)
        current = self._messages.current.id
        return tuple([with_ending(each, status, reason) if each.id == current else each for each in messages])

    def _finished(self, message: AssistantMessage) -> AssistantMessage:
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
            internal=message.internal or message.id in self._internal,
        )

    def _decided(self, call: ToolCallPart) -> ToolCallPart:
        """A call with who answered its question, and when."""
        noted = None if call.approval is None else self._decisions.get(call.approval.id)
        if noted is None or call.approval is None:
            return call
        return replace(call, approval=with_decision(call.approval, noted))


def with_decision(approval: Approval, noted: JsonObject) -> Approval:
    """An approval with who answered it and when, as the data of a `DECISION` note says."""
    by = noted.get("by")
    return replace(
        approval,
        responded_by=by if isinstance(by, str) else None,
        responded_at=_moment(noted.get("at")),
    )


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


def ending_chunks(fold: RunFold, status: RunStatus, reason: str | None) -> list[Chunk]:
    """The chunks that tell clients how a run ended, and what comes of its open calls."""
    if status == "completed":
        return []
    known: Json = fold.current.content.metadata
    chunks = _cut_calls(fold.current, status)
    if known is UNSET or is_object(known):
        chunks.append(MessageMetadata({ENDED: ending_of(status, reason)}))
    if status != "failed":
        return [*chunks, MessageAbort(reason)]
    return chunks if reason in fold.errors else [*chunks, ErrorChunk(reason or NO_END)]


def stored_ending(message: AssistantMessage) -> list[Chunk]:
    """The chunks that tell clients how a stored message was cut off: its open calls, and why it ended."""
    network = message.content.network_execution
    chunks: list[Chunk] = [
        ToolOutputChunk(part.id, part.output)
        for part in message.parts
        if isinstance(part, ToolCallPart) and isinstance(part.output, InterruptedOutput)
    ]
    if network is not None and network.final_result is not None and has_ended(network):
        chunks.append(NetworkExecutionEnd(replace(network.final_result, messages=())))
    ended = ending_in(message)
    return chunks if ended is None else [*chunks, MessageMetadata({ENDED: ended})]


def _cut_calls(message: AssistantMessage, status: RunStatus) -> list[Chunk]:
    """The results of calls and of a network execution that were running: without them a client would wait."""
    closed = close_message(message, INTERRUPTIONS.get(status))
    network = closed.content.network_execution
    cut: list[Chunk] = [
        ToolOutputChunk(part.id, part.output)
        for part, before in zip(closed.parts, message.parts, strict=True)
        if part is not before and isinstance(part, ToolCallPart) and part.output is not None
    ]
    if network is not None and network is not message.content.network_execution:
        cut.append(NetworkExecutionEnd(network.final_result))
    return cut


def ending_in(message: AssistantMessage) -> JsonObject | None:
    """How the run of a message ended, `{status, reason?}`, unless it completed."""
    metadata: Json = message.content.metadata
    ended = metadata.get(ENDED) if is_object(metadata) else None
    return ended if is_object(ended) else None


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
