"""Stored messages → chunks: for imported runs, whose logs have lines of their agents and no chunks.

Fields that chunks do not have are left out, such as the token count of reasoning, and names of files.
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
"""A few words of a text: the text of one delta."""

INTERVAL: Final = timedelta(milliseconds=30)
"""The time between two chunks. Only the times of messages and calls are known."""

PAGE_SIZE: Final = 500


def is_imported(run: Run) -> bool:
    """Whether a run was imported from a log of its agent."""
    return is_object((run.metadata or {}).get("log"))


class RunMessage(NamedTuple):
    """A message of a run, and the message of the thread that it is or is nested in."""

    message: Message
    top_id: str


async def messages_of_run(store: Store, run: Run) -> list[RunMessage]:
    """The messages of an imported run, in order. Those of a sub-agent are nested in a call."""
    page = await store.messages.list(run.thread_id, MessageFilter(branch="all", internal=None), limit=None)
    found: list[RunMessage] = []
    waiting = [RunMessage(message, message.id) for message in reversed(list(page))]
    while waiting:  # no recursion: sub-agents may be nested deeply
        message, top_id = waiting.pop()
        if message.run_id == run.id:
            found.append(RunMessage(message, top_id))
            continue
        calls = [part for part in message.content.parts if isinstance(part, ToolCallPart)]
        nested = [RunMessage(child, top_id) for call in calls for child in call.children]
        waiting.extend(reversed(nested))
    return found


async def chunks_of_imported_run(store: Store, run: Run) -> list[StoredChunk]:
    """Chunks for the messages of an imported run, with times that are partly estimated."""
    messages = await messages_of_run(store, run)
    calls = await call_times(store, run.thread_id)
    return list(_stored_chunks(messages, run.started_at or datetime.fromtimestamp(0, UTC), calls))


async def call_times(store: Store, thread_id: str) -> dict[tuple[str, str], Timing]:
    """The times of the calls of a thread, by message and call."""
    calls: dict[tuple[str, str], Timing] = {}
    cursor: str | None = None
    while True:
        page = await store.messages.find_parts(
            PartFilter(thread_id=thread_id, types=("tool-call",)), limit=PAGE_SIZE, cursor=cursor
        )
        for part in page:
            if part.call_id is not None:
                calls[part.message_id, part.call_id] = Timing(part.started_at, part.ended_at)
        cursor = page.next
        if cursor is None:
            return calls


def _stored_chunks(
    messages: Sequence[RunMessage], started: datetime, calls: Mapping[tuple[str, str], Timing]
) -> Iterator[StoredChunk]:
    responses = [(message, top_id) for message, top_id in messages if isinstance(message, AssistantMessage)]
    next_times = [*(message.created_at for message, _ in responses[1:]), None]
    seq, time = 0, started
    for (message, top_id), next_time in zip(responses, next_times, strict=False):
        time = max(message.created_at or time, time)
        for chunk in chunks_of_message(message):
            known = _call_time(chunk, top_id, calls)
            if known is not None:  # a call that ended after the next message does not delay that one
                time = max(time, known if next_time is None else min(known, next_time))
            seq += 1
            yield StoredChunk(seq, time, chunk, encode(chunk))
            time += INTERVAL


def _call_time(chunk: Chunk, message_id: str, calls: Mapping[tuple[str, str], Timing]) -> datetime | None:
    """The time of a chunk that starts or ends a call, if it is known."""
    match chunk:
        case ToolInputAvailable(tool_call_id=call):
            return calls.get((message_id, call), Timing()).started
        case ToolOutputChunk(tool_call_id=call):
            return calls.get((message_id, call), Timing()).ended
        case _:
            return None


def chunks_of_message(message: AssistantMessage) -> Iterator[Chunk]:
    """The chunks for a message, with texts in pieces of a few words."""
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
