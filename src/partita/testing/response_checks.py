"""Checks of the events of one response: its end, its message, and its raw bytes."""

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
            f"the response failed: {why}",
            where=f"event {len(collected.events)}",
            hint="give the candidate a prompt for which it succeeds",
        )


def end_of(collected: Collected) -> AgentStreamEvent:
    """The event that ends a response. It must be the last one."""
    where = f"event {len(collected.events)}"
    if collected.raised is not None:
        raise ContractError(
            f"it raised {type(collected.raised).__name__}: {collected.raised}",
            where=where,
            hint="report a failure as an ErrorEvent; raise only for incorrect use",
        ) from collected.raised
    for number, event in enumerate(collected.events, 1):
        if isinstance(event, ENDS):
            if number < len(collected.events):
                raise ContractError(
                    f"{type(collected.events[number]).__name__} comes after {type(event).__name__}",
                    where=f"event {number + 1}",
                    hint="emit no events after the final one",
                )
            return event
    raise ContractError(
        "it stops without a final event",
        where=where,
        hint="end with one CompleteEvent, ErrorEvent or CancelledEvent",
    )


async def emits_fitting_chunks(candidate: Candidate) -> None:
    """Every chunk fits the ones before it, so the chunks so far always form a message."""
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
                    hint="let the decoder emit MessageStart() first",
                )
            case _:
                pass


async def closes_all_blocks(candidate: Candidate) -> None:
    """In a complete response no text, reasoning, tool input or step stays open."""
    collected = await collect(candidate)
    if not collected.is_complete:
        return
    for (_, kind, name), number in _open_blocks(collected.events).items():
        raise ContractError(
            f"{kind} {name!r} is never closed" if name else f"a {kind} is never closed",
            where=f"event {number}",
            hint="close it when the agent does, or in the decoder's finish()",
        )


def _open_blocks(events: Sequence[AgentStreamEvent]) -> dict[tuple[Address, str, str], int]:
    """The blocks that are open at the end, with the number of the event that opened them."""
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
    """An event with a message of the agent also has its raw text, as it was received."""
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
                hint="decode the bytes with CallDecoder: its events have both",
            )


def _contains(raw: bytes, message: object) -> bool:
    """Whether the bytes decode to the message, in any framing."""
    for make in READERS.values():
        reader = make()
        if any(record.event == message for record in (*reader.feed(raw), *reader.finish())):
            return True
    return False


async def can_be_decoded_again(candidate: Candidate) -> None:
    """The raw bytes, decoded in the format named by the markers of the call, give the same chunks."""
    collected = await collect(candidate)
    records = _log_of(collected.events)
    for item, record in zip(sort_records(records, 0), records, strict=True):
        if item.kind == "other" and record.raw is not None:
            raise ContractError(
                "bytes of the agent are outside the markers of a call",
                where=f"event {record.seq}",
                hint="decode them with CallDecoder, between start() and finish()",
            )
    recorded = RecordedRun(
        Run(id="run", thread_id="thread", status="completed", message_id=MESSAGE_ID), records
    )
    try:
        decoded = list(RunDecoder(recorded).chunks())
    except PartitaError as error:
        raise ContractError(f"it cannot be decoded again: {error.what}", hint=error.hint) from error
    emitted = [record for record in records if record.chunk is not None]
    for record, chunk in zip_longest(emitted, decoded):
        if record is None or record.chunk != chunk:
            expected = "nothing" if record is None else repr(record.chunk)
            raise ContractError(
                f"decoded again, {chunk!r:.120} comes instead of {expected:.120}",
                where=f"event {len(collected.events) if record is None else record.seq}",
                hint="between the markers every chunk must come from the decoder and the bytes only",
            )


def _log_of(events: Sequence[AgentStreamEvent]) -> list[LogRecord]:
    """The log records of events."""
    now = datetime.now(UTC)
    return [
        LogRecord(number, now, _chunk_with_id(event), raw_bytes(event))
        for number, event in enumerate(events, 1)
        if isinstance(event, ChunkEvent | RawEvent)
    ]


def _chunk_with_id(event: ChunkEvent | RawEvent) -> Chunk | None:
    if isinstance(event, RawEvent):
        return None
    if isinstance(event.chunk, MessageStart) and event.chunk.message_id is None:
        return replace(event.chunk, message_id=MESSAGE_ID)
    return event.chunk


async def fails_with_an_event(candidate: Candidate) -> None:
    """A service whose agent fails reports it in the last event, and does not raise."""
    assert candidate.failing is not None, "the check applies"
    collected = await collect(dataclasses.replace(candidate, make=candidate.failing))
    end = end_of(collected)
    if not isinstance(end, ErrorEvent) or not end.message:
        raise ContractError(
            f"its failure ends with {type(end).__name__}"
            if not isinstance(end, ErrorEvent)
            else "its error has no message",
            where=f"event {len(collected.events)}",
            hint="end with ErrorEvent(message=…) that describes the failure",
        )
