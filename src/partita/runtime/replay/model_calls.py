"""The answers of a model that a log holds, to be given again: read from their bytes."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypeGuard, assert_never, get_args

from msgspec import UNSET

from partita.errors import AgentError, FormatError, StreamError
from partita.formats.call_decoder import CALL, CALL_END, CallDecoder, facts_of, is_marker
from partita.runtime.model_calls import MERGED
from partita.runtime.run_fold import is_of_ending
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

from .recorded_run import Recorded, get_run, lineage, recorded

# The calls in a log: which records are a model's own words, and which of them are ours.
#
# Calls of sub-agents are in envelopes. Calls of one address follow each other; those of several may overlap.

Address: TypeAlias = tuple[tuple[str, ...], ...]
"""The paths on the envelopes around a chunk, the outermost first; none for the run's own message."""

TOP: Final[Address] = ()


class Sorted(NamedTuple):
    """A record, the call it belongs to, and its chunk without envelopes."""

    kind: Literal["begin", "said", "end", "own"]
    address: Address
    chunk: Chunk | None
    raw: bytes | None


def unwrapped(chunk: Chunk) -> tuple[Address, Chunk]:
    """A chunk without its envelopes, and what stood on them."""
    address: list[tuple[str, ...]] = []
    while isinstance(chunk, ChildChunk):
        address.append(chunk.path)
        chunk = chunk.chunk
    return tuple(address), chunk


def wrapped(address: Address, chunk: Chunk) -> Chunk:
    """A chunk in the same envelopes."""
    for path in reversed(address):
        chunk = ChildChunk(path, chunk)
    return chunk


def sort_records(records: Iterable[LogRecord], last_seq: int) -> Iterable[Sorted]:
    """The records of a log, whose last one has that number, each with the call it belongs to."""
    at_work: set[Address] = set()
    for record in records:
        address, chunk = (TOP, None) if record.chunk is None else unwrapped(record.chunk)
        if chunk is None:
            yield Sorted(*_heard_in(at_work, record), None, record.raw)
        elif is_marker(chunk, CALL):
            at_work.add(address)
            yield Sorted("begin", address, chunk, record.raw)
        elif is_marker(chunk, CALL_END):
            at_work.discard(address)
            yield Sorted("end", address, chunk, record.raw)
        elif address not in at_work or _is_ours(chunk) or _is_last_word(record, last_seq):
            yield Sorted("own", address, chunk, record.raw)
        else:
            yield Sorted("said", address, chunk, record.raw)


def _heard_in(at_work: set[Address], record: LogRecord) -> tuple[Literal["said", "own"], Address]:
    """The call that bytes without a chunk came in: they have no envelope."""
    if len(at_work) > 1:
        raise StreamError(
            "several calls were at work at once, and their bytes cannot be told apart",
            where=f"entry {record.seq}",
            hint="its chunks are there",
        )
    return ("said", next(iter(at_work))) if at_work else ("own", TOP)


def _is_ours(chunk: Chunk) -> bool:
    """Whether a chunk comes from us, though a call is at work. What was refused comes from the model."""
    return is_note(chunk) and not (isinstance(chunk, DataChunk) and chunk.type == REFUSED)


def _is_last_word(record: LogRecord, last_seq: int) -> bool:
    """Whether it is what a run that was cut is ended with."""
    if record.chunk is None or record.raw is not None:
        return False
    is_end = isinstance(record.chunk, MessageAbort | ErrorChunk)
    return (is_end and record.seq == last_seq) or is_of_ending(record.chunk)


def decoding_of(facts: JsonObject) -> CallDecoder:
    """How the bytes of a call are read, by what its mark says; the rest of that is told again."""
    name, framing = facts.get("format"), facts.get("framing")
    if not isinstance(name, str) or not _is_framing(framing):
        raise FormatError("a call does not say how it is to be read", hint="its chunks are there")
    ours = {"format", "framing", MERGED}
    return CallDecoder(name, framing, {key: value for key, value in facts.items() if key not in ours})


def _is_framing(value: Any) -> TypeGuard[Framing]:
    return value in get_args(Framing)


class Answer(NamedTuple):
    """One answer of a model, as a log has it."""

    facts: JsonObject | None
    """What its mark says; nothing when all that was said is one answer."""
    items: Sequence[Sorted]
    end: AgentStreamEvent | None
    """How it ended, unless it ended well."""


async def load_answers(store: Store, run_id: str) -> list[Answer]:
    """The answers of a run, and of those it went on with or that went on with it."""
    answers: list[Answer] = []
    for run in await lineage(store, await get_run(store, run_id)):
        answers += answers_in(await recorded(store, run))
    if not answers:
        raise AgentError(
            f"run {run_id!r} holds no answer",
            hint="an imported run has the lines of its agent, and no chunks",
        )
    return answers


def answers_in(recorded: Recorded) -> list[Answer]:
    """The answers of one run. Where nothing marks them, all that was said is one."""
    records = recorded.records
    items = list(sort_records(records, records[-1].seq if records else 0))
    answers = [
        Answer(facts_of(item.chunk), _inside(items, place), None)
        for place, item in enumerate(items)
        if item.kind == "begin" and item.address == TOP and item.chunk is not None
    ]
    end = _end(recorded.run, items)
    if not answers:
        said = any(item.chunk is not None and not is_note(item.chunk) for item in items)
        return [Answer(None, items, end)] if said or end is not None else []
    is_closed = bool(answers[-1].items) and answers[-1].items[-1].kind == "end"
    if not is_closed or (isinstance(end, ErrorEvent) and not _has_work_behind(items)):
        answers[-1] = answers[-1]._replace(end=end)
    elif isinstance(end, ErrorEvent) and _failure_in(items) is not None:
        answers.append(Answer(None, (), end))  # it failed before it said a word
    return answers


def _has_work_behind(items: Sequence[Sorted]) -> bool:
    """Whether something was done behind the last answer, such as a call of a tool."""
    for item in reversed(items):
        if item.kind == "end" and item.address == TOP:
            return False
        if item.chunk is None or isinstance(item.chunk, DataChunk | ErrorChunk | MessageAbort):
            continue
        if not is_of_ending(item.chunk):
            return True
    return False


def _inside(items: Sequence[Sorted], begin: int) -> list[Sorted]:
    """What stands between the mark of a call and its end, the end included, of this call alone."""
    inside: list[Sorted] = []
    for item in items[begin + 1 :]:
        if item.address == TOP and item.kind in ("said", "end"):
            inside.append(item)
        if item.kind == "end" and item.address == TOP:
            break
    return inside


def _end(run: Run, items: Sequence[Sorted]) -> ErrorEvent | CancelledEvent | None:
    """How a run ended, unless it ended well."""
    match run.status:
        case "failed" | "interrupted":
            return _failure_in(items) or ErrorEvent(
                message=run.error or f"the run was {run.status}", name=run.status
            )
        case "cancelled":
            return CancelledEvent(reason=run.error)
        case "completed" | "running" | "pending":
            return None
        case _:
            assert_never(run.status)


def _failure_in(items: Sequence[Sorted]) -> ErrorEvent | None:
    """What the agent said of its failure."""
    for item in reversed(items):
        if isinstance(item.chunk, DataChunk) and item.chunk.type == FAILURE and is_object(item.chunk.data):
            said: JsonObject = item.chunk.data
            name = said.get("name")
            return ErrorEvent(
                message=str(said.get("message")),
                name=name if isinstance(name, str) else None,
                details=said.get("details", UNSET),
            )
    return None


def events_of(answer: Answer) -> list[AgentStreamEvent]:
    """The events of an answer: from its bytes, else its chunks as they were."""
    if answer.facts is None:
        return [_as_it_was(item) for item in answer.items if item.chunk is None or not is_note(item.chunk)]
    decoding = decoding_of(answer.facts)
    events = decoding.start()
    for item in answer.items:
        events += _read(item, decoding)
    return events


def _read(item: Sorted, decoding: CallDecoder) -> list[AgentStreamEvent]:
    match item:
        case Sorted(kind="end"):
            return decoding.finish()
        case Sorted(raw=bytes() as raw):
            return decoding.feed(raw)
        case _:
            return []  # it came from bytes that are read before it


def _as_it_was(item: Sorted) -> AgentStreamEvent:
    text = None if item.raw is None else raw_text(item.raw)
    return RawEvent(raw_text=text) if item.chunk is None else ChunkEvent(chunk=item.chunk, raw_text=text)
