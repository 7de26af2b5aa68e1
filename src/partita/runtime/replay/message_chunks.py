"""Stored messages told once more as chunks: for runs that were imported, whose logs hold lines and no chunks.

Lost: what no chunk carries, such as how many tokens a piece of reasoning took, and names of files.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from partita.runtime.session.live_run import StoredChunk
from partita.store.logs.timings import Timing
from partita.store.store import Store
from partita.store.values import MessageFilter, PartFilter
from partita.types.chunks import (
    ChildMessage,
    Chunk,
    CustomChunk,
    DataChunk,
    FileChunk,
    MessageFinish,
    MessageStart,
    NetworkExecutionEnd,
    NetworkExecutionStart,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningFileChunk,
    ReasoningStart,
    SourceDocumentChunk,
    SourceUrlChunk,
    SteeringMessageChunk,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolInputAvailable,
    ToolOutputChunk,
)
from partita.types.codec import encode
from partita.types.json import is_object
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    NetworkExecution,
    ToolCallPart,
    has_ended,
    network_call_id,
)
from partita.types.parts import (
    CustomPart,
    DataPart,
    FilePart,
    ReasoningFilePart,
    ReasoningPart,
    SourceDocumentPart,
    SourceUrlPart,
    SteeringMessagePart,
    StepStartPart,
    TextPart,
)
from partita.types.threads import Run

PIECE: Final = re.compile(r"(?:\S+\s*){1,3}|\s+")
BETWEEN: Final = timedelta(milliseconds=30)
"""How far chunks are apart, for nobody wrote down when they came: but for messages and calls."""

PARTS_AT_ONCE: Final = 500


def is_imported(run: Run) -> bool:
    """Whether a run was read from a log of its agent."""
    return is_object((run.metadata or {}).get("log"))


class Stored(NamedTuple):
    """A message of a run, and the message of the thread that it is or stands in."""

    message: Message
    top_id: str


async def stored_messages(store: Store, run: Run) -> list[Stored]:
    """The messages of an imported run, in order. Those of a sub-agent stand below a call."""
    page = await store.messages.list(run.thread_id, MessageFilter(branch="all", internal=None), limit=None)
    found: list[Stored] = []
    waiting = [Stored(message, message.id) for message in reversed(list(page))]
    while waiting:  # no recursion: sub-agents nest at will
        message, top_id = waiting.pop()
        if message.run_id == run.id:
            found.append(Stored(message, top_id))
            continue
        calls = [part for part in message.content.parts if isinstance(part, ToolCallPart)]
        below = [Stored(child, top_id) for call in calls for child in call.children]
        waiting.extend(reversed(below))
    return found


async def retold_run(store: Store, run: Run) -> list[StoredChunk]:
    """The chunks that the messages of an imported run amount to."""
    told = await stored_messages(store, run)
    calls = await call_times(store, run.thread_id)
    return list(_seen(told, run.started_at or datetime.fromtimestamp(0, UTC), calls))


async def call_times(store: Store, thread_id: str) -> dict[tuple[str, str], Timing]:
    """When the calls of a thread began and ended, by message and call."""
    calls: dict[tuple[str, str], Timing] = {}
    cursor: str | None = None
    while True:
        page = await store.messages.find_parts(
            PartFilter(thread_id=thread_id, types=("tool-call",)), limit=PARTS_AT_ONCE, cursor=cursor
        )
        for part in page:
            if part.call_id is not None:
                calls[part.message_id, part.call_id] = Timing(part.started_at, part.ended_at)
        cursor = page.next
        if cursor is None:
            return calls


def _seen(
    told: Sequence[Stored], began: datetime, calls: Mapping[tuple[str, str], Timing]
) -> Iterator[StoredChunk]:
    said = [(message, top_id) for message, top_id in told if isinstance(message, AssistantMessage)]
    ends = [*(message.created_at for message, _ in said[1:]), None]
    seq, time = 0, began
    for (message, top_id), end in zip(said, ends, strict=False):
        time = max(message.created_at or time, time)
        for chunk in retold(message):
            known = _known(chunk, top_id, calls)
            if known is not None:  # what ran on behind the next message does not put that one off
                time = max(time, known if end is None else min(known, end))
            seq += 1
            yield StoredChunk(seq, time, chunk, encode(chunk))
            time += BETWEEN


def _known(chunk: Chunk, message_id: str, calls: Mapping[tuple[str, str], Timing]) -> datetime | None:
    """When a call began or ended, where this is told."""
    match chunk:
        case ToolInputAvailable(tool_call_id=call):
            return calls.get((message_id, call), Timing()).started
        case ToolOutputChunk(tool_call_id=call):
            return calls.get((message_id, call), Timing()).ended
        case _:
            return None


def retold(message: AssistantMessage) -> Iterator[Chunk]:
    """The chunks of a message, its texts in pieces of a few words."""
    yield MessageStart(message.id, message.content.metadata)
    network = message.content.network_execution
    if network is not None:
        yield from _network(network, network_call_id(message.id))
    for number, part in enumerate(message.parts):
        yield from _part(part, str(number))
    yield MessageFinish()


def _network(network: NetworkExecution, call_id: str) -> Iterator[Chunk]:
    yield NetworkExecutionStart(
        network.primitive_type,
        network.primitive_id,
        network.selection_reason,
        network.input,
        network.iteration,
    )
    if network.final_result is not None:
        yield from (ChildMessage((call_id,), child) for child in network.final_result.messages)
    if network.final_result is not None and has_ended(network):
        yield NetworkExecutionEnd(replace(network.final_result, messages=()))


def _part(part: AssistantPart, number: str) -> Iterator[Chunk]:
    match part:
        case StepStartPart():
            yield StepStart()
        case TextPart():
            yield TextStart(number, part.provider_metadata)
            yield from (TextDelta(number, piece) for piece in PIECE.findall(part.text))
            yield TextEnd(number, citations=part.citations)
        case ReasoningPart():
            block = part.id or number
            yield ReasoningStart(block, part.provider_metadata)
            yield from (ReasoningDelta(block, piece) for piece in PIECE.findall(part.text))
            yield ReasoningEnd(block)
        case ToolCallPart():
            yield from _call(part)
        case FilePart(url=url, media_type=kind):
            yield FileChunk(url, kind, part.provider_metadata)
        case ReasoningFilePart(url=url, media_type=kind):
            yield ReasoningFileChunk(url, kind, part.provider_metadata)
        case SourceUrlPart():
            yield SourceUrlChunk(part.source_id, part.url, part.title, part.provider_metadata)
        case SourceDocumentPart():
            yield SourceDocumentChunk(
                part.source_id, part.media_type, part.title, part.filename, part.provider_metadata
            )
        case DataPart():
            yield DataChunk(f"data-{part.name}", part.data, part.id)
        case CustomPart(kind=kind):
            yield CustomChunk(kind, part.provider_metadata)
        case SteeringMessagePart(id=id, parts=parts):
            yield SteeringMessageChunk(id, parts)
        case _:
            pass


def _call(call: ToolCallPart) -> Iterator[Chunk]:
    yield ToolInputAvailable(
        call.id,
        call.name,
        {} if call.input is UNSET else call.input,
        call.provider_executed,
        call.call_provider_metadata,
        call.tool_metadata,
        call.dynamic or None,
        call.title,
    )
    if call.approval is not None:
        yield ToolApprovalRequest(call.approval.id, call.id, reason=call.approval.request_reason)
        if call.approval.approved is not None:
            yield ToolApprovalResponse(call.approval.id, call.approval.approved, call.approval.reason)
    yield from (ChildMessage((call.id,), child) for child in call.children)
    if call.output is not None:
        yield ToolOutputChunk(
            call.id,
            call.output,
            provider_metadata=call.result_provider_metadata,
            preliminary=call.preliminary,
        )
