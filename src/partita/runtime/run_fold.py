"""The chunks of a run → its messages. Live runs, recovery and replay all use it, so that they agree.

Most runs are one message. A run may continue an existing message, and may have several messages.
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
from partita.types.messages import ENDED, AssistantMessage, Message, ToolCallPart, ending_in, has_ended
from partita.types.parts import Approval, InterruptedOutput, Interruption
from partita.types.threads import RunStatus
from partita.types.usage import Usage

DECISION: Final = "data-partita-decision"
"""The type of the note of who decided an approval, and when: `{approvalId, by, at}`."""

NO_END: Final = "the agent ended without reporting a result"

INTERRUPTIONS: Final[Mapping[RunStatus, Interruption]] = {
    "cancelled": "aborted",
    "failed": "lost",
    "interrupted": "lost",
}


DELTAS: Final = frozenset({TextDelta, ReasoningDelta, ToolInputDelta})
"""The most frequent chunks."""

USAGE: Final[Codec[Usage]] = Codec(Usage)


class RunFold:
    """The messages of a run, with its id, usage and approval decisions."""

    def __init__(
        self, message_id: str, *, run_id: str | None = None, seed: AssistantMessage | None = None
    ) -> None:
        """`message_id` is that of the first message; `seed` is the message that the run continues."""
        self._run_id = run_id
        self._messages = MessagesAccumulator(seed, id=message_id)
        self._decisions: dict[str, JsonObject] = {}
        self._internal: set[str] = set()  # messages whose start marks them as internal

    def feed(self, chunk: Chunk) -> None:
        """Apply a chunk. One that does not fit changes nothing and raises `StreamError`."""
        self._messages.feed(chunk)
        if type(chunk) in DELTAS:
            return
        if isinstance(chunk, DataChunk) and chunk.type == DECISION and is_object(chunk.data):
            self._decisions[str(chunk.data.get("approvalId"))] = chunk.data
        elif isinstance(chunk, MessageStart):
            metadata: Json = chunk.message_metadata
            is_internal = is_object(metadata) and metadata.get("internal") is True
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
        """The messages, closed: open parts are marked as interrupted, and the last message has the reason."""
        messages = [close_message(message, INTERRUPTIONS.get(status)) for message in self.snapshot()]
        if status == "completed":
            return tuple(messages)
        current = self._messages.current.id
        return tuple([with_ending(each, status, reason) if each.id == current else each for each in messages])

    def _finished(self, message: AssistantMessage) -> AssistantMessage:
        metadata = message.content.metadata
        usage = read_usage(metadata.get("usage")) if is_object(metadata) else None
        parts = tuple(
            self._decided(part) if isinstance(part, ToolCallPart) else part for part in message.parts
        )
        content = replace(message.content, parts=parts, usage=usage or message.content.usage)
        is_legacy = is_object(metadata) and metadata.get(LEGACY_NETWORK) is True
        if content.network_execution is not None and is_legacy:
            content = replace(content, content=network_string(message.id, content.network_execution))
        return replace(
            message,
            content=content,
            run_id=self._run_id or message.run_id,
            internal=message.internal or message.id in self._internal,
        )

    def _decided(self, call: ToolCallPart) -> ToolCallPart:
        """A call with the decision on its approval, if there is one."""
        decision = None if call.approval is None else self._decisions.get(call.approval.id)
        if decision is None or call.approval is None:
            return call
        return replace(call, approval=with_decision(call.approval, decision))


def with_decision(approval: Approval, decision: JsonObject) -> Approval:
    """An approval with who decided it and when; `decision` is the data of a `DECISION` note."""
    by = decision.get("by")
    return replace(
        approval,
        responded_by=by if isinstance(by, str) else None,
        responded_at=_time(decision.get("at")),
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
    """The messages of the chunks of a run."""
    fold = RunFold(message_id, run_id=run_id, seed=seed)
    for chunk in chunks:
        fold.feed(chunk)
    return fold.finish(status, reason)


def with_ending(message: AssistantMessage, status: RunStatus, reason: str | None) -> AssistantMessage:
    """A message with the end of its run in its metadata, unless that is not an object."""
    metadata: Json = message.content.metadata
    if metadata is not UNSET and not is_object(metadata):
        return message
    known: JsonObject = metadata if is_object(metadata) else {}
    ended: JsonObject = {**known, ENDED: ending_of(status, reason)}
    return replace(message, content=replace(message.content, metadata=ended))


def ending_chunks(fold: RunFold, status: RunStatus, reason: str | None) -> list[Chunk]:
    """The chunks that report how a run ended, and the results of its open calls."""
    if status == "completed":
        return []
    metadata: Json = fold.current.content.metadata
    chunks = _interrupted_calls(fold.current, status)
    if metadata is UNSET or is_object(metadata):
        chunks.append(MessageMetadata({ENDED: ending_of(status, reason)}))
    if status != "failed":
        return [*chunks, MessageAbort(reason)]
    return chunks if reason in fold.errors else [*chunks, ErrorChunk(reason or NO_END)]


def stored_ending(message: AssistantMessage) -> list[Chunk]:
    """The chunks that report how a stored message was interrupted: its open calls, and the end of its run."""
    network = message.content.network_execution
    chunks: list[Chunk] = [
        ToolOutputChunk(part.id, part.output)
        for part in message.parts
        if isinstance(part, ToolCallPart) and isinstance(part.output, InterruptedOutput)
    ]
    if network is not None and network.final_result is not None and has_ended(network):
        chunks.append(NetworkExecutionEnd(replace(network.final_result, messages=())))
    ended = ending_in(message.content)
    return chunks if ended is None else [*chunks, MessageMetadata({ENDED: ended})]


def _interrupted_calls(message: AssistantMessage, status: RunStatus) -> list[Chunk]:
    """The results of open calls and of an open network execution: without them a client would wait."""
    closed = close_message(message, INTERRUPTIONS.get(status))
    network = closed.content.network_execution
    chunks: list[Chunk] = [
        ToolOutputChunk(part.id, part.output)
        for part, before in zip(closed.parts, message.parts, strict=True)
        if part is not before and isinstance(part, ToolCallPart) and part.output is not None
    ]
    if network is not None and network is not message.content.network_execution:
        chunks.append(NetworkExecutionEnd(network.final_result))
    return chunks


def ending_of(status: RunStatus, reason: str | None) -> JsonObject:
    """The end of a run, as the metadata of its message has it."""
    return {"status": status, **({} if reason is None else {"reason": reason})}


def is_ending_chunk(chunk: Chunk) -> bool:
    """Whether a chunk is one of `ending_chunks`, except for the last one."""
    match chunk:
        case MessageMetadata(message_metadata=metadata):
            return is_object(metadata) and metadata.keys() == {ENDED}
        case ToolOutputChunk(output=output):
            return isinstance(output, InterruptedOutput)
        case NetworkExecutionEnd(final_result=result):
            return result is not None and result.interrupted is not None
        case _:
            return False


def read_usage(raw: Json) -> Usage | None:
    """The usage in a member of metadata; `None` if it is not a valid usage."""
    try:
        return USAGE.read(raw) if is_object(raw) else None
    except PartitaError:
        return None


def _time(text: Json) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
