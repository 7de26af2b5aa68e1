"""The calls of models in a run log: the records of each call, and the responses, decoded from their bytes.

A record belongs to a call if it is between the two markers of the call. The records of a sub-agent's calls
are in envelopes (`ChildChunk`). Calls with the same envelopes follow each other; others may overlap.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypeGuard, assert_never, get_args

from msgspec import UNSET

from partita.errors import AgentError, FormatError, StreamError
from partita.formats.call_decoder import CALL, CALL_END, CallDecoder, facts_of, is_marker
from partita.runtime.model_calls import MERGED
from partita.runtime.run_fold import is_ending_chunk
from partita.runtime.session.live_run import is_note
from partita.runtime.session.log_writer import REFUSED
from partita.runtime.session.run_task import FAILURE
from partita.store.logs.run_log import LogRecord
from partita.store.store import Store
from partita.stream.records import Framing
from partita.types.chunks import (
    AgentStreamEvent,
    CancelledEvent,
    ChildChunk,
    Chunk,
    ChunkEvent,
    DataChunk,
    ErrorChunk,
    ErrorEvent,
    MessageAbort,
    RawEvent,
    raw_text,
)
from partita.types.json import JsonObject, is_object
from partita.types.threads import Run

from .recorded_run import RecordedRun, get_run, lineage, read_recorded_run

Address: TypeAlias = tuple[tuple[str, ...], ...]
"""The paths of the envelopes around a chunk, the outermost first; empty for the run's own message."""

TOP: Final[Address] = ()


class CallRecord(NamedTuple):
    """A record of a log, the call that it belongs to, and its chunk without envelopes."""

    kind: Literal["start", "output", "end", "other"]
    """A marker of the call, its output, or a record that belongs to no call."""
    address: Address
    chunk: Chunk | None
    raw: bytes | None


def unwrapped(chunk: Chunk) -> tuple[Address, Chunk]:
    """The address of a chunk, and the chunk without envelopes."""
    address: list[tuple[str, ...]] = []
    while isinstance(chunk, ChildChunk):
        address.append(chunk.path)
        chunk = chunk.chunk
    return tuple(address), chunk


def wrapped(address: Address, chunk: Chunk) -> Chunk:
    """A chunk in the envelopes of an address."""
    for path in reversed(address):
        chunk = ChildChunk(path, chunk)
    return chunk


def sort_records(records: Iterable[LogRecord], last_seq: int) -> Iterable[CallRecord]:
    """The records of a log, each with its call. `last_seq` is the number of the last record."""
    open_calls: set[Address] = set()
    for record in records:
        address, chunk = (TOP, None) if record.chunk is None else unwrapped(record.chunk)
        if chunk is None:
            yield CallRecord(*_call_of_bytes(open_calls, record), None, record.raw)
        elif is_marker(chunk, CALL):
            open_calls.add(address)
            yield CallRecord("start", address, chunk, record.raw)
        elif is_marker(chunk, CALL_END):
            open_calls.discard(address)
            yield CallRecord("end", address, chunk, record.raw)
        elif address not in open_calls or _is_own_note(chunk) or _is_end_of_run(record, last_seq):
            yield CallRecord("other", address, chunk, record.raw)
        else:
            yield CallRecord("output", address, chunk, record.raw)


def _call_of_bytes(open_calls: set[Address], record: LogRecord) -> tuple[Literal["output", "other"], Address]:
    """The call of bytes without a chunk: they have no envelope."""
    if len(open_calls) > 1:
        raise StreamError(
            "several calls were active at once, and it is not known which of them these bytes belong to",
            where=f"entry {record.seq}",
            hint="the log has their chunks",
        )
    return ("output", next(iter(open_calls))) if open_calls else ("other", TOP)


def _is_own_note(chunk: Chunk) -> bool:
    """Whether a chunk is a note that Partita added during a call. A refused chunk came from the model."""
    return is_note(chunk) and not (isinstance(chunk, DataChunk) and chunk.type == REFUSED)


def _is_end_of_run(record: LogRecord, last_seq: int) -> bool:
    """Whether a record is one of those that end a run that did not complete."""
    if record.chunk is None or record.raw is not None:
        return False
    is_end = isinstance(record.chunk, MessageAbort | ErrorChunk)
    return (is_end and record.seq == last_seq) or is_ending_chunk(record.chunk)


def decoder_for(facts: JsonObject) -> CallDecoder:
    """The decoder for the bytes of a call, by the facts in its marker."""
    name, framing = facts.get("format"), facts.get("framing")
    if not isinstance(name, str) or not _is_framing(framing):
        raise FormatError(
            "the marker of a call has no format and framing", hint="the log has the chunks of the call"
        )
    own = {"format", "framing", MERGED}
    return CallDecoder(name, framing, {key: value for key, value in facts.items() if key not in own})


def _is_framing(value: Any) -> TypeGuard[Framing]:
    return value in get_args(Framing)


# Responses


class ModelResponse(NamedTuple):
    """One response of a model in a log."""

    facts: JsonObject | None
    """The data of its marker; `None` if the log has no markers: then all of it is one response."""
    records: Sequence[CallRecord]
    end: AgentStreamEvent | None
    """The event that it ended with, unless it completed."""


async def load_responses(store: Store, run_id: str) -> list[ModelResponse]:
    """The responses of a run, and of the runs that wrote the same messages."""
    responses: list[ModelResponse] = []
    for run in await lineage(store, await get_run(store, run_id)):
        responses += responses_of(await read_recorded_run(store, run))
    if not responses:
        raise AgentError(
            f"run {run_id!r} has no response",
            hint="an imported run has the lines of its agent, and no chunks",
        )
    return responses


def responses_of(recorded: RecordedRun) -> list[ModelResponse]:
    """The responses of one run. Without markers, all output is one response."""
    records = list(sort_records(recorded.records, recorded.last_seq))
    responses = [
        ModelResponse(facts_of(record.chunk), _records_of_call(records, index), None)
        for index, record in enumerate(records)
        if record.kind == "start" and record.address == TOP and record.chunk is not None
    ]
    end = _end(recorded.run, records)
    if not responses:
        has_output = any(record.chunk is not None and not is_note(record.chunk) for record in records)
        return [ModelResponse(None, records, end)] if has_output or end is not None else []
    last = responses[-1].records
    is_closed = bool(last) and last[-1].kind == "end"
    if not is_closed or (isinstance(end, ErrorEvent) and not _continues_after_calls(records)):
        responses[-1] = responses[-1]._replace(end=end)
    elif isinstance(end, ErrorEvent) and _failure_in(records) is not None:
        responses.append(ModelResponse(None, (), end))  # a further call failed without any output
    return responses


def _records_of_call(records: Sequence[CallRecord], start: int) -> list[CallRecord]:
    """The records of a call, by the index of its first marker; the last marker is included."""
    found: list[CallRecord] = []
    for record in records[start + 1 :]:
        if record.address == TOP and record.kind in ("output", "end"):
            found.append(record)
        if record.kind == "end" and record.address == TOP:
            break
    return found


def _continues_after_calls(records: Sequence[CallRecord]) -> bool:
    """Whether the run continued after the last call, for example with the output of a tool."""
    for record in reversed(records):
        if record.kind == "end" and record.address == TOP:
            return False
        if record.chunk is None or isinstance(record.chunk, DataChunk | ErrorChunk | MessageAbort):
            continue
        if not is_ending_chunk(record.chunk):
            return True
    return False


def _end(run: Run, records: Sequence[CallRecord]) -> ErrorEvent | CancelledEvent | None:
    """The event that a run ended with, unless it completed."""
    match run.status:
        case "failed" | "interrupted":
            return _failure_in(records) or ErrorEvent(
                message=run.error or f"the run was {run.status}", name=run.status
            )
        case "cancelled":
            return CancelledEvent(reason=run.error)
        case "completed" | "running" | "pending":
            return None
        case _:
            assert_never(run.status)


def _failure_in(records: Sequence[CallRecord]) -> ErrorEvent | None:
    """The failure that the agent reported."""
    for record in reversed(records):
        chunk = record.chunk
        if isinstance(chunk, DataChunk) and chunk.type == FAILURE and is_object(chunk.data):
            data: JsonObject = chunk.data
            name = data.get("name")
            return ErrorEvent(
                message=str(data.get("message")),
                name=name if isinstance(name, str) else None,
                details=data.get("details", UNSET),
            )
    return None


def events_of(response: ModelResponse) -> list[AgentStreamEvent]:
    """The events of a response: decoded from its bytes, or the stored chunks if it has no marker."""
    if response.facts is None:
        return [
            _stored_event(record)
            for record in response.records
            if record.chunk is None or not is_note(record.chunk)
        ]
    decoder = decoder_for(response.facts)
    events = decoder.start()
    for record in response.records:
        if record.kind == "end":
            events += decoder.finish()
        elif record.raw is not None:  # a chunk without bytes was decoded from those before it
            events += decoder.feed(record.raw)
    return events


def _stored_event(record: CallRecord) -> AgentStreamEvent:
    text = None if record.raw is None else raw_text(record.raw)
    if record.chunk is None:
        return RawEvent(raw_text=text)
    return ChunkEvent(chunk=record.chunk, raw_text=text)
