"""The rows of whole threads, prepared before the transaction, in any process: no database is needed."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, assert_never

from msgspec.structs import replace

from partita.errors import PartitaError
from partita.store.blobs.moves import BLOB, THRESHOLD, Moved, move_out
from partita.store.logs.blocks import (
    FAST_LEVEL,
    MIN_FILE_LENGTH,
    StoredEntry,
    encode_block,
    extract_files,
    split_blocks,
)
from partita.store.messages.prepared import CallTimes, MovedValues, Prepared, prepare
from partita.store.schema import to_microseconds
from partita.store.search.fields import NO_FIELDS, index_fields
from partita.store.values import ConsumptionRecord, Source
from partita.types.json import dumps, loads
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolContent,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    ImagePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningFilePart,
    SteeringMessagePart,
    TextOutput,
    ToolOutput,
    ToolResultPart,
)
from partita.types.threads import Run, Thread

NOTHING_MOVED = MovedValues((), ())
_EMPTY = {
    SystemMessage: SystemContent(parts=()),
    UserMessage: UserContent(parts=()),
    AssistantMessage: AssistantContent(parts=()),
    ToolMessage: ToolContent(parts=()),
}


class Block(NamedTuple):
    """Encoded entries of a log."""

    entries: int
    encoding: str
    data: bytes


class RunRows(NamedTuple):
    """A run and the lines of its log from a number on."""

    run: Run
    first_seq: int
    blocks: Sequence[Block]
    files: Mapping[str, bytes]  # extracted from the lines, by hash

    @property
    def last_seq(self) -> int:
        """The number of the last line."""
        return self.first_seq - 1 + sum(block.entries for block in self.blocks)


class ThreadRows(NamedTuple):
    """A thread to be written, or the new part of one, with everything that belongs to it."""

    thread: Thread
    messages: Sequence[Prepared] = ()
    runs: Sequence[RunRows] = ()
    consumptions: Sequence[ConsumptionRecord] = ()
    sources: Sequence[Source] = ()
    failures: Sequence[str] = ()  # messages that cannot be stored, and why

    @property
    def weight(self) -> int:
        """The approximate number of bytes to write."""
        return sum(len(one.content) for one in self.messages) + sum(
            len(block.data) for run in self.runs for block in run.blocks
        )


def pack_run(run: Run, first_seq: int, lines: Iterable[tuple[datetime | None, bytes]]) -> RunRows:
    """A run with its lines in blocks. A line without a time has that of the one before."""
    files: dict[str, bytes] = {}
    entries: list[StoredEntry] = []
    microseconds = to_microseconds(run.created_at or datetime.fromtimestamp(0, UTC))
    for time, raw in lines:
        if time is not None:
            microseconds = to_microseconds(time)
        # All agents mark files with one of these names.
        if len(raw) >= MIN_FILE_LENGTH and (b"base64" in raw or b"nlineData" in raw):
            extracted = extract_files(raw)
            files.update(extracted.files)
            entries.append(StoredEntry(microseconds, None, extracted.rest, extracted.cuts))
        else:
            entries.append(StoredEntry(microseconds, None, raw))
    return pack_entries(run, first_seq, entries, files)


def pack_entries(
    run: Run, first_seq: int, entries: Sequence[StoredEntry], files: Mapping[str, bytes]
) -> RunRows:
    """A run with the entries of its log in blocks."""
    blocks = [Block(len(some), *encode_block(some, FAST_LEVEL)) for some in split_blocks(entries)]
    return RunRows(run, first_seq, blocks, files)


def prepare_message(
    message: Message, thread_id: str, times: Mapping[str, CallTimes] | None, *, lite: bool
) -> Prepared:
    """A message ready to be written. With `lite`, the tokens for the search index of SQLite are included.

    Internal events are stored, but not searchable.
    """
    prepared = prepare(message, thread_id)
    fields = prepared.fields
    if message.internal and message.type == "event":
        fields = NO_FIELDS
    elif lite:
        fields = index_fields(fields)
    without_content = replace(message, content=_EMPTY[type(message)])
    prepared = prepared._replace(message=without_content, fields=fields, times=times)
    if not prepared.large or BLOB in prepared.content:
        return prepared
    return _without_large_values(prepared) if _may_move(message) else prepared._replace(moved=NOTHING_MOVED)


def _may_move(message: Message) -> bool:
    """Whether a message may have values that move to blobs. This is cheaper than trying."""
    for part in message.content.parts:
        match part:
            case ImagePart() | FilePart() | ReasoningFilePart():
                if len(part.url) > THRESHOLD:
                    return True
            case ToolCallPart(output=output):
                if part.children or (output is not None and _is_large(output)):
                    return True
            case SteeringMessagePart() | ToolResultPart():
                return True
            case _:
                pass
    return isinstance(message, AssistantMessage) and message.content.network_execution is not None


def _is_large(output: ToolOutput) -> bool:
    match output:
        case TextOutput(value=text) | ErrorTextOutput(value=text):
            return len(text) > THRESHOLD
        case ExecutionDeniedOutput() | InterruptedOutput():
            return False
        case JsonOutput() | ErrorJsonOutput() | ContentOutput():
            return True
        case _:
            assert_never(output)


def _without_large_values(prepared: Prepared) -> Prepared:
    """The message with its large values moved out."""
    content = loads(prepared.content)
    moved = [item for item in move_out(content, lambda _: False) if isinstance(item, Moved)]
    moves = tuple(item.move for item in moved)
    values = tuple((item.move.hash, item.data, item.move.media_type) for item in moved)
    return prepared._replace(
        content=dumps(content).decode() if moved else prepared.content, moved=MovedValues(moves, values)
    )


def prepare_messages(
    messages: Iterable[Message], thread_id: str, times: Mapping[str, CallTimes], *, lite: bool
) -> tuple[list[Prepared], list[str]]:
    """Messages ready to be written, and the errors of those that cannot be."""
    ready: list[Prepared] = []
    failures: list[str] = []
    for message in messages:
        try:
            ready.append(prepare_message(message, thread_id, times, lite=lite))
        except PartitaError as error:
            failures.append(f"message {message.id}: {error}")
    return ready, failures
