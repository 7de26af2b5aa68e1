"""Services that break the contract, each in one way."""

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
Answer = Callable[[Prompt, InvokeOptions], Events]

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
    """A service whose answer is a function."""

    def __init__(self, answer: Answer, name: str = "tried") -> None:
        self.name = name
        self._answer = answer

    def invoke(
        self,
        prompt: Prompt,
        *,
        cwd: Path | None = None,
        session_id: str | None = None,
        options: InvokeOptions | None = None,
    ) -> AsyncIterator[AgentStreamEvent]:
        return self._answer(prompt, options or InvokeOptions())


def decoded(chunks: Sequence[Chunk] = HELLO) -> list[AgentStreamEvent]:
    """What an agent says whose lines are chunks."""
    decoding = CallDecoder("ai-sdk-chunks", "lines")
    lines = b"".join(encode(chunk) + b"\n" for chunk in chunks)
    return [*decoding.start(), *decoding.feed(lines), *decoding.finish()]


def telling(*events: AgentStreamEvent) -> Answer:
    async def answer(prompt: Prompt, options: InvokeOptions) -> Events:
        for event in events:
            await asyncio.sleep(0)
            yield event

    return answer


def saying(*chunks: Chunk) -> Answer:
    """An answer through a decoder, complete."""
    return telling(*decoded(chunks), CompleteEvent())


def without_end(prompt: Prompt, options: InvokeOptions) -> Events:
    return telling(*decoded())(prompt, options)


async def that_raises(prompt: Prompt, options: InvokeOptions) -> Events:
    for event in decoded():
        yield event
    raise OSError("the line went dead")


async def that_raises_at_once(prompt: Prompt, options: InvokeOptions) -> Events:
    raise AgentError("the agent is not there")
    yield RawEvent()


async def silent(prompt: Prompt, options: InvokeOptions) -> Events:
    for event in decoded():
        yield event
    await asyncio.Event().wait()


async def for_words_only(prompt: Prompt, options: InvokeOptions) -> Events:
    assert isinstance(prompt, str), "words are all it knows"
    for event in (*decoded(), CompleteEvent()):
        yield event


async def that_changes_its_words(prompt: Prompt, options: InvokeOptions) -> Events:
    said: JsonObject = {"mood": "calm"}
    for chunk in (MessageStart(None, said), *HELLO[1:]):
        await asyncio.sleep(0)
        yield ChunkEvent(chunk=chunk)
    yield CompleteEvent()
    said["mood"] = "cross"


async def that_leaves_a_task(prompt: Prompt, options: InvokeOptions) -> Events:
    HELD.append(asyncio.create_task(asyncio.sleep(3600), name="forgotten"))
    for event in (*decoded(), CompleteEvent()):
        await asyncio.sleep(0)
        yield event


HELD: list["asyncio.Task[None]"] = []
"""Tasks and processes that nobody ends; the tests do."""

PROCESSES: list[asyncio.subprocess.Process] = []


async def that_leaves_a_process(prompt: Prompt, options: InvokeOptions) -> Events:
    PROCESSES.append(
        await asyncio.create_subprocess_exec(sys.executable, "-c", "import time; time.sleep(3600)")
    )
    for event in (*decoded(), CompleteEvent()):
        await asyncio.sleep(0)
        yield event


async def that_hears_no_cancellation(prompt: Prompt, options: InvokeOptions) -> Events:
    for event in (*decoded(), CompleteEvent()):
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0.01)
        yield event


async def that_waits_for_an_approval(prompt: Prompt, options: InvokeOptions) -> Events:
    for event in decoded():
        yield event
    if options.approvals is not None:
        await options.approvals.request(ApprovalRequest("a", "c", "open", {}))
    yield CompleteEvent()


async def that_waits_when_closed(prompt: Prompt, options: InvokeOptions) -> Events:
    try:
        for event in (*decoded(), CompleteEvent()):
            await asyncio.sleep(0)
            yield event
    except GeneratorExit:
        await asyncio.Event().wait()


class Unclosable:
    """A stream that is no generator."""

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
        return Unclosable(self._answer(prompt, options or InvokeOptions()))


def sharing() -> Service:
    """A service with one list for all its answers."""
    words: list[str] = []

    async def answer(prompt: Prompt, options: InvokeOptions) -> Events:
        words.clear()
        for word in ("Good ", "morning."):
            words.append(word)
            await asyncio.sleep(0)
        said = [TextDelta("t", word) for word in words]
        for event in (*decoded((*HELLO[:3], *said, *HELLO[5:])), CompleteEvent()):
            yield event

    return Service(answer)


def renamed() -> Service:
    return Service(saying(*HELLO), f"tried-{next(NUMBERS)}")


NUMBERS = count()


def later(mark: str) -> Answer:
    """Chunks that the bytes do not tell of: a note in the middle of a call."""
    events = decoded()
    events.insert(4, ChunkEvent(chunk=DataChunk("data-time", mark)))
    return telling(*events, CompleteEvent())


def raws(change: Callable[[AgentStreamEvent], AgentStreamEvent]) -> Answer:
    return telling(*map(change, decoded()), CompleteEvent())


DOOR = "Open the door."


def asking(*, asks: bool = True, shows: bool = True, heeds: bool = True, about: str = "open") -> Answer:
    """An answer that asks whether a door may be opened."""

    async def answer(prompt: Prompt, options: InvokeOptions) -> Events:
        if prompt != DOOR:
            async for event in saying(*HELLO)(prompt, options):
                yield event
            return
        before: list[Chunk] = [*HELLO[:2], ToolInputStart("c", "open"), ToolInputAvailable("c", "open", {})]
        if shows:
            before.append(ToolApprovalRequest("a", "c"))
        for chunk in before:
            yield ChunkEvent(chunk=chunk)
        decision = ApprovalDecision(True)
        if asks and options.approvals is not None:
            decision = await options.approvals.request(ApprovalRequest("a", "c", about, {}))
        done = ToolOutputAvailable("c", "open")
        after = [done if decision.approved or not heeds else ToolOutputDenied("c"), *HELLO[6:]]
        for chunk in after:
            yield ChunkEvent(chunk=chunk)
        yield CompleteEvent()

    return answer


def closing_nothing(extra: Chunk) -> Answer:
    """An answer with something that is never closed."""
    return saying(*HELLO[:2], extra, *HELLO[2:])


def stripped(event: AgentStreamEvent) -> AgentStreamEvent:
    return replace(event, raw_text=None)


def garbled(event: AgentStreamEvent) -> AgentStreamEvent:
    return event if event.raw_text is None else replace(event, raw_text='{"type":"start-step"}\n')


BEHIND = telling(*decoded(), CompleteEvent(), RawEvent())
TWICE = telling(*decoded(), CompleteEvent(), CompleteEvent())
FAILED = telling(*decoded(), ErrorEvent(message="no"))
OPEN_REASONING = closing_nothing(ReasoningStart("r"))
