"""Services that violate the contract, each in one way."""

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

from msgspec.structs import replace

from partita.errors import AgentError
from partita.formats.call_decoder import CallDecoder
from partita.runtime.service import ApprovalDecision, ApprovalRequest, InvokeOptions, Prompt
from partita.types.chunks import (
    AgentStreamEvent,
    Chunk,
    ChunkEvent,
    CompleteEvent,
    DataChunk,
    ErrorEvent,
    MessageFinish,
    MessageStart,
    RawEvent,
    ReasoningStart,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolApprovalRequest,
    ToolInputAvailable,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputDenied,
)
from partita.types.codec import encode
from partita.types.json import JsonObject

Events = AsyncGenerator[AgentStreamEvent, None]
Respond = Callable[[Prompt, InvokeOptions], Events]

HELLO: tuple[Chunk, ...] = (
    MessageStart(),
    StepStart(),
    TextStart("t"),
    TextDelta("t", "Good "),
    TextDelta("t", "morning."),
    TextEnd("t"),
    StepFinish(),
    MessageFinish("stop"),
)


class Service:
    """A service that responds by calling a function."""

    def __init__(self, respond: Respond, name: str = "example") -> None:
        self.name = name
        self._respond = respond

    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        return self._respond(prompt, options or InvokeOptions())


def decoded(chunks: Sequence[Chunk] = HELLO) -> list[AgentStreamEvent]:
    """The events of an agent whose output lines are chunks."""
    decoder = CallDecoder("ai-sdk-chunks", "lines")
    lines = b"".join(encode(chunk) + b"\n" for chunk in chunks)
    return [*decoder.start(), *decoder.feed(lines), *decoder.finish()]


def emitting(*events: AgentStreamEvent) -> Respond:
    async def respond(prompt: Prompt, options: InvokeOptions) -> Events:
        for event in events:
            await asyncio.sleep(0)
            yield event

    return respond


def responding(*chunks: Chunk) -> Respond:
    """A complete response through a decoder."""
    return emitting(*decoded(chunks), CompleteEvent())


def without_end(prompt: Prompt, options: InvokeOptions) -> Events:
    return emitting(*decoded())(prompt, options)


async def raises_midway(prompt: Prompt, options: InvokeOptions) -> Events:
    for event in decoded():
        yield event
    raise OSError("the connection was lost")


async def raises_at_once(prompt: Prompt, options: InvokeOptions) -> Events:
    raise AgentError("the agent is not available")
    yield RawEvent()


async def never_ends(prompt: Prompt, options: InvokeOptions) -> Events:
    for event in decoded():
        yield event
    await asyncio.Event().wait()


async def accepts_text_only(prompt: Prompt, options: InvokeOptions) -> Events:
    assert isinstance(prompt, str), "only text is supported"
    for event in (*decoded(), CompleteEvent()):
        yield event


async def changes_an_emitted_event(prompt: Prompt, options: InvokeOptions) -> Events:
    metadata: JsonObject = {"mood": "calm"}
    for chunk in (MessageStart(None, metadata), *HELLO[1:]):
        await asyncio.sleep(0)
        yield ChunkEvent(chunk=chunk)
    yield CompleteEvent()
    metadata["mood"] = "cross"


async def leaves_a_task(prompt: Prompt, options: InvokeOptions) -> Events:
    HELD.append(asyncio.create_task(asyncio.sleep(3600), name="forgotten"))
    for event in (*decoded(), CompleteEvent()):
        await asyncio.sleep(0)
        yield event


HELD: list["asyncio.Task[None]"] = []
"""Tasks that are not ended by the service, but by the tests."""

PROCESSES: list[asyncio.subprocess.Process] = []


async def leaves_a_process(prompt: Prompt, options: InvokeOptions) -> Events:
    PROCESSES.append(
        await asyncio.create_subprocess_exec(sys.executable, "-c", "import time; time.sleep(3600)")
    )
    for event in (*decoded(), CompleteEvent()):
        await asyncio.sleep(0)
        yield event


async def ignores_cancellation(prompt: Prompt, options: InvokeOptions) -> Events:
    for event in (*decoded(), CompleteEvent()):
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0.01)
        yield event


async def waits_for_an_approval(prompt: Prompt, options: InvokeOptions) -> Events:
    for event in decoded():
        yield event
    if options.approvals is not None:
        await options.approvals.request(ApprovalRequest("a", "c", "open", {}))
    yield CompleteEvent()


async def hangs_when_closed(prompt: Prompt, options: InvokeOptions) -> Events:
    try:
        for event in (*decoded(), CompleteEvent()):
            await asyncio.sleep(0)
            yield event
    except GeneratorExit:
        await asyncio.Event().wait()


class Unclosable:
    """A stream that is not a generator."""

    def __init__(self, events: Events) -> None:
        self._events = events

    def __aiter__(self) -> "Unclosable":
        return self

    async def __anext__(self) -> AgentStreamEvent:
        return await anext(self._events)


class UnclosableService(Service):
    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        return Unclosable(self._respond(prompt, options or InvokeOptions()))


def sharing() -> Service:
    """A service with one list for all responses."""
    words: list[str] = []

    async def respond(prompt: Prompt, options: InvokeOptions) -> Events:
        words.clear()
        for word in ("Good ", "morning."):
            words.append(word)
            await asyncio.sleep(0)
        deltas = [TextDelta("t", word) for word in words]
        for event in (*decoded((*HELLO[:3], *deltas, *HELLO[5:])), CompleteEvent()):
            yield event

    return Service(respond)


def renamed() -> Service:
    return Service(responding(*HELLO), f"example-{next(NUMBERS)}")


NUMBERS = count()


def with_data(value: str) -> Respond:
    """A chunk that is not in the bytes: data in the middle of a call."""
    events = decoded()
    events.insert(4, ChunkEvent(chunk=DataChunk("data-time", value)))
    return emitting(*events, CompleteEvent())


def with_events(change: Callable[[AgentStreamEvent], AgentStreamEvent]) -> Respond:
    return emitting(*map(change, decoded()), CompleteEvent())


DOOR = "Open the door."


def asking(*, asks: bool = True, emits: bool = True, obeys: bool = True, tool: str = "open") -> Respond:
    """A response that requests approval for opening a door."""

    async def respond(prompt: Prompt, options: InvokeOptions) -> Events:
        if prompt != DOOR:
            async for event in responding(*HELLO)(prompt, options):
                yield event
            return
        before: list[Chunk] = [*HELLO[:2], ToolInputStart("c", "open"), ToolInputAvailable("c", "open", {})]
        if emits:
            before.append(ToolApprovalRequest("a", "c"))
        for chunk in before:
            yield ChunkEvent(chunk=chunk)
        decision = ApprovalDecision(True)
        if asks and options.approvals is not None:
            decision = await options.approvals.request(ApprovalRequest("a", "c", tool, {}))
        done = ToolOutputAvailable("c", "open")
        after = [done if decision.approved or not obeys else ToolOutputDenied("c"), *HELLO[6:]]
        for chunk in after:
            yield ChunkEvent(chunk=chunk)
        yield CompleteEvent()

    return respond


def without_close(extra: Chunk) -> Respond:
    """A response with a block that is never closed."""
    return responding(*HELLO[:2], extra, *HELLO[2:])


def stripped(event: AgentStreamEvent) -> AgentStreamEvent:
    return replace(event, raw_text=None)


def garbled(event: AgentStreamEvent) -> AgentStreamEvent:
    return event if event.raw_text is None else replace(event, raw_text='{"type":"start-step"}\n')


EVENT_AFTER_END = emitting(*decoded(), CompleteEvent(), RawEvent())
TWO_ENDS = emitting(*decoded(), CompleteEvent(), CompleteEvent())
FAILED = emitting(*decoded(), ErrorEvent(message="no"))
OPEN_REASONING = without_close(ReasoningStart("r"))
