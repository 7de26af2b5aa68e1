"""Checks of the events of one response: how it ends, its message, and the bytes that it is made of."""

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import PartitaError, StreamError
from partita.runtime.rebuild.run_decoder import RunDecoder
from partita.runtime.replay.model_calls import Address, sort_records, unwrapped
from partita.runtime.replay.recorded_run import RecordedRun
from partita.runtime.run_fold import RunFold
from partita.store.logs.run_log import LogRecord
from partita.stream.records import READERS
from partita.types.chunks import (
    AgentStreamEvent,
    Chunk,
    ChunkEvent,
    CompleteEvent,
    DataChunk,
    ErrorEvent,
    MessageStart,
    RawEvent,
    ReasoningEnd,
    ReasoningStart,
    StepFinish,
    StepReset,
    StepStart,
    TextEnd,
    TextStart,
    ToolInputAvailable,
    ToolInputError,
    ToolInputStart,
    raw_bytes,
    type_of,
)
from partita.types.threads import Run

from .contract import ENDS, MESSAGE_ID, Candidate, Collected, ContractError, collect

OPENS: Final[Mapping[type[object], str]] = {
    TextStart: "text",
    ReasoningStart: "reasoning",
    ToolInputStart: "tool input",
    StepStart: "step",
}
CLOSES: Final[Mapping[type[object], str]] = {
    TextEnd: "text",
    ReasoningEnd: "reasoning",
    ToolInputAvailable: "tool input",
    ToolInputError: "tool input",
    StepFinish: "step",
}


async def ends_once(candidate: Candidate) -> None:
    """The last event is the only one that ends the response, and it reports success."""
    collected = await collect(candidate)
    end = end_of(collected)
    if not isinstance(end, CompleteEvent):
        why = end.message if isinstance(end, ErrorEvent) else "it was cancelled"
        raise ContractError(
            f"the prompt was not answered: {why}",
            where=f"event {len(collected.events)}",
            hint="give the candidate a prompt that it answers well",
        )


def end_of(collected: Collected) -> AgentStreamEvent:
    """The event that ends a response, if it is the last one."""
    where = f"event {len(collected.events)}"
    if collected.raised is not None:
        raise ContractError(
            f"it raised {type(collected.raised).__name__}: {collected.raised}",
            where=where,
            hint="tell a failure as an ErrorEvent, and raise only for wrong use",
        ) from collected.raised
    for number, event in enumerate(collected.events, 1):
        if isinstance(event, ENDS):
            if number < len(collected.events):
                raise ContractError(
                    f"{type(collected.events[number]).__name__} comes behind {type(event).__name__}",
                    where=f"event {number + 1}",
                    hint="nothing may follow the event that tells the end",
                )
            return event
    raise ContractError(
        "it stops without saying how it ended",
        where=where,
        hint="end with one CompleteEvent, ErrorEvent or CancelledEvent",
    )


async def folds(candidate: Candidate) -> None:
    """Every chunk fits the chunks before it, so the chunks so far are a message at any point."""
    collected = await collect(candidate)
    fold = RunFold(MESSAGE_ID)
    for number, event in enumerate(collected.events, 1):
        if isinstance(event, ChunkEvent):
            try:
                fold.feed(event.chunk)
            except StreamError as error:
                raise ContractError(
                    f"the chunk {type_of(event.chunk)!r} does not fit: {error.what}",
                    where=f"event {number}",
                    hint=error.hint,
                ) from error


async def begins_with_start(candidate: Candidate) -> None:
    """The first chunk of a message is `start`; only transient data may come before it."""
    for number, event in enumerate((await collect(candidate)).events, 1):
        match event:
            case ChunkEvent(chunk=MessageStart()):
                return
            case ChunkEvent(chunk=DataChunk(transient=True)):
                pass
            case ChunkEvent(chunk=chunk):
                raise ContractError(
                    f"the message begins with {type_of(chunk)!r}",
                    where=f"event {number}",
                    hint="let the decoder give MessageStart() first",
                )
            case _:
                pass


async def closes_what_it_opens(candidate: Candidate) -> None:
    """In a complete response no text, reasoning, tool input or step is left open."""
    collected = await collect(candidate)
    if not collected.is_complete:
        return
    for (_, kind, name), number in _left_open(collected.events).items():
        raise ContractError(
            f"{kind} {name!r} is never closed" if name else f"a {kind} is never closed",
            where=f"event {number}",
            hint="close it when the agent does, or in the decoder's finish()",
        )


def _left_open(events: Sequence[AgentStreamEvent]) -> dict[tuple[Address, str, str], int]:
    """What is open at the end, and the number of the event that opened it."""
    found: dict[tuple[Address, str, str], int] = {}
    for number, event in enumerate(events, 1):
        if not isinstance(event, ChunkEvent):
            continue
        address, chunk = unwrapped(event.chunk)
        kind = type(chunk)
        if kind in OPENS:
            found[address, OPENS[kind], _id(chunk)] = number
        elif kind in CLOSES:
            found.pop((address, CLOSES[kind], _id(chunk)), None)
        elif isinstance(chunk, StepReset):
            found = {key: place for key, place in found.items() if key[0] != address or key[1] == "step"}
    return found


def _id(chunk: Chunk) -> str:
    known: object = getattr(chunk, "tool_call_id", None) or getattr(chunk, "id", None)
    return known if isinstance(known, str) else ""


async def keeps_raw_text(candidate: Candidate) -> None:
    """An event that shows a message of the agent has its text too, as it was sent."""
    for number, event in enumerate((await collect(candidate)).events, 1):
        message = event.raw_agent_message
        if message is UNSET:
            continue
        raw = event.raw_text if event.raw_text is None else raw_bytes(event) or b""
        if raw is None or not _contains(raw, message):
            raise ContractError(
                "the agent's message has no raw_text"
                if raw is None
                else "raw_text is not the agent's message",
                where=f"event {number}",
                hint="put the bytes through CallDecoder: its events have both",
            )


def _contains(raw: bytes, message: object) -> bool:
    """Whether bytes are that message, in any framing."""
    for make in READERS.values():
        reader = make()
        if any(record.event == message for record in (*reader.feed(raw), *reader.finish())):
            return True
    return False


async def can_be_read_again(candidate: Candidate) -> None:
    """The raw bytes, put through the decoder that the marks of a call name, give the same chunks."""
    collected = await collect(candidate)
    records = _log_of(collected.events)
    for item, record in zip(sort_records(records, 0), records, strict=True):
        if item.kind == "other" and record.raw is not None:
            raise ContractError(
                "bytes of the agent stand outside the marks of a call",
                where=f"event {record.seq}",
                hint="put them through CallDecoder, between start() and finish()",
            )
    recorded = RecordedRun(
        Run(id="run", thread_id="thread", status="completed", message_id=MESSAGE_ID), records
    )
    try:
        again = list(RunDecoder(recorded).chunks())
    except PartitaError as error:
        raise ContractError(f"it cannot be read again: {error.what}", hint=error.hint) from error
    said = [record for record in records if record.chunk is not None]
    for record, chunk in zip_longest(said, again):
        if record is None or record.chunk != chunk:
            then = "nothing" if record is None else repr(record.chunk)
            raise ContractError(
                f"read again, {chunk!r:.120} comes where {then:.120} was",
                where=f"event {len(collected.events) if record is None else record.seq}",
                hint="between the marks every chunk must come from the decoder, and from the bytes alone",
            )


def _log_of(events: Sequence[AgentStreamEvent]) -> list[LogRecord]:
    """The log that events would make."""
    now = datetime.now(UTC)
    return [
        LogRecord(number, now, _identified(event), raw_bytes(event))
        for number, event in enumerate(events, 1)
        if isinstance(event, ChunkEvent | RawEvent)
    ]


def _identified(event: ChunkEvent | RawEvent) -> Chunk | None:
    if isinstance(event, RawEvent):
        return None
    if isinstance(event.chunk, MessageStart) and event.chunk.message_id is None:
        return replace(event.chunk, message_id=MESSAGE_ID)
    return event.chunk


async def fails_with_an_event(candidate: Candidate) -> None:
    """A service whose agent fails reports it in the last event, and raises nothing."""
    assert candidate.failing is not None, "it applies"
    collected = await collect(dataclasses.replace(candidate, make=candidate.failing))
    end = end_of(collected)
    if not isinstance(end, ErrorEvent) or not end.message:
        raise ContractError(
            f"its failure ends with {type(end).__name__}"
            if not isinstance(end, ErrorEvent)
            else "it says nothing",
            where=f"event {len(collected.events)}",
            hint="end with ErrorEvent(message=…) that says what went wrong",
        )
