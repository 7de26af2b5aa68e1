"""A run as server-sent events, for the response of any web framework."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import Final, Protocol, TypeVar

from partita.errors import DecodeError
from partita.formats.ai_sdk.ui.chat_encoder import ChatEncoder
from partita.formats.format import Encoder
from partita.runtime.run_fold import stored_ending
from partita.stream.encoder import SseEncoder
from partita.stream.sse import HEADERS, comment, frame
from partita.stream.targets import Target
from partita.types.chunks import (
    Chunk,
    ErrorChunk,
    FileChunk,
    MessageAbort,
    MessageFinish,
    ReasoningFileChunk,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolOutputAvailable,
    ToolOutputChunk,
    ToolOutputDenied,
    ToolOutputError,
)
from partita.types.codec import encode
from partita.types.json import Json, dumps
from partita.types.messages import AssistantMessage
from partita.types.threads import Run

from .live_run import StoredChunk
from .session import Session

T = TypeVar("T")

KEEP_ALIVE: Final = 15.0
"""Seconds of silence after which an SSE comment is sent."""

KEEP_ALIVE_COMMENT: Final = comment("keep-alive")

APPROVAL_DELAY: Final = 0.5
"""A run with an open approval request that emits nothing for so many seconds waits for the decision."""

SSE_HEADERS: Final = HEADERS
"""The headers of a response that carries a run."""

ENDS: Final = (MessageFinish, MessageAbort, ErrorChunk)
"""Chunks with which a stream may end."""

APPROVAL_CHUNKS: Final[frozenset[type[Chunk]]] = frozenset(
    {
        ToolApprovalRequest,
        ToolApprovalResponse,
        ToolOutputAvailable,
        ToolOutputChunk,
        ToolOutputError,
        ToolOutputDenied,
    }
)
"""Chunks that open or close an approval request."""

FILES: Final[frozenset[type[Chunk]]] = frozenset({FileChunk, ReasoningFileChunk})

MAX_DIGITS: Final = 19
MAX_SHOWN: Final = 80


class Framing(Protocol):
    """Encodes chunks as the bytes of a stream."""

    def encode(self, chunk: Chunk, json: bytes | None = None) -> bytes:
        """The events of a chunk, whose JSON may be known."""
        ...

    def encode_all(self, chunks: Iterable[tuple[Chunk, bytes]]) -> list[bytes]:
        """The events of each of these chunks."""
        ...

    def finish(self) -> bytes:
        """The events that end the stream."""
        ...

    def keep_alive(self) -> bytes:
        """Bytes without an event."""
        ...


class EventFraming:
    """The events of an encoder of any format, as server-sent events."""

    def __init__(self, encoder: Encoder, end: bytes = b"") -> None:
        """`end` is sent after the last event."""
        self._encoder = encoder
        self._end = end

    def encode(self, chunk: Chunk, json: bytes | None = None) -> bytes:
        """The events of a chunk."""
        return _framed(self._encoder.feed(chunk))

    def encode_all(self, chunks: Iterable[tuple[Chunk, bytes]]) -> list[bytes]:
        """The events of each of these chunks."""
        return [self.encode(chunk) for chunk, _ in chunks]

    def finish(self) -> bytes:
        """The events that end the stream."""
        return _framed(self._encoder.finish()) + self._end

    def keep_alive(self) -> bytes:
        """An SSE comment."""
        return KEEP_ALIVE_COMMENT


def _framed(events: Iterable[Json]) -> bytes:
    return b"".join([frame(dumps(event)) for event in events])


async def follow_sse(
    session: Session,
    run_id: str,
    *,
    version: Target | str | int | None = 7,
    after: int = 0,
    before: Iterable[Chunk] = (),
    ids: bool = False,
    keep_alive: float = KEEP_ALIVE,
    until_approval: bool = False,
    framing: Framing | None = None,
    since: int = 0,
    message_id: str | None = None,
    continued: AssistantMessage | None = None,
    files: Callable[[Chunk], Awaitable[Chunk]] | None = None,
) -> AsyncGenerator[bytes, None]:
    """The events of a run for a client of that release of the AI SDK: those stored so far, then live ones.

    The run continues if the stream is closed. The client has the chunks up to the number `after`. The chunks
    `before` are sent first. With `ids`, events have an id, so that a client can reconnect: see
    `last_event_seq`. With `until_approval`, the stream ends when the run waits for an approval: `useChat`
    sends the decision once its stream has ended. A `framing` writes another format. With `since`, the
    stream starts after that number, as if there were no earlier chunks. `continued` is the message that the
    run continues, as it was before; the client has it as `message_id`. `files` is called with each chunk
    that is a file, and returns the chunk to send.
    """
    encoder = framing or (
        SseEncoder() if version is None else ChatEncoder(version, message_id=message_id, continued=continued)
    )
    approvals, last, quiet = OpenApprovals(), None, 0.0
    tick = min(keep_alive, APPROVAL_DELAY) if until_approval else keep_alive
    if data := b"".join([encoder.encode(chunk) for chunk in before]):
        yield data
    # Chunks that the client has are encoded but not sent, so that a reconnect does not change later events.
    held: Sequence[StoredChunk] = ()
    async with aclosing(session.follow(run_id, after=since, idle=tick, approvals=framing is None)) as batches:
        async for batch in batches:
            if batch:
                last, quiet = batch[-1].chunk, 0.0
                approvals.update(batch)
                has_files = not FILES.isdisjoint([type(one.chunk) for one in batch])
                chunks = [await _file(one, files) for one in batch] if files and has_files else batch
                ready, held = _without_last_error([*held, *chunks])
                data = _events(encoder, ready, after, run_id if ids else None)
            elif until_approval and approvals:
                yield encoder.finish()
                return
            else:
                quiet += tick
                data = encoder.keep_alive() if quiet >= keep_alive else b""
                quiet = 0.0 if data else quiet
            if data:
                yield data
    if held:
        yield _events(encoder, held, after, run_id if ids else None)
    if not isinstance(last, ENDS):
        ending = await stored_end(session, run_id)
        seq = await session.last_seq(run_id) + 1
        if seq > after:
            events = b"".join([encoder.encode(chunk) for chunk in ending])
            yield _with_id(events, run_id.encode(), seq) if ids and events else events
    yield encoder.finish()


async def _file(stored: StoredChunk, files: Callable[[Chunk], Awaitable[Chunk]]) -> StoredChunk:
    if type(stored.chunk) not in FILES:
        return stored
    chunk = await files(stored.chunk)
    return stored if chunk is stored.chunk else stored._replace(chunk=chunk, json=encode(chunk))


def _without_last_error(chunks: Sequence[StoredChunk]) -> tuple[Sequence[StoredChunk], Sequence[StoredChunk]]:
    """The chunks to send, and an error that is the last one: a client stops reading at an error, and its
    next request must find the run ended.
    """
    return (chunks[:-1], chunks[-1:]) if isinstance(chunks[-1].chunk, ErrorChunk) else (chunks, ())


class OpenApprovals:
    """The approval requests of a run without a decision; true if there are any."""

    def __init__(self) -> None:
        self._calls: dict[str, str] = {}  # by approval

    def __bool__(self) -> bool:
        return bool(self._calls)

    def update(self, chunks: Iterable[StoredChunk]) -> None:
        """Apply the next chunks of the run."""
        for chunk in [one.chunk for one in chunks if type(one.chunk) in APPROVAL_CHUNKS]:
            match chunk:
                case ToolApprovalRequest(approval_id=approval, tool_call_id=call):
                    self._calls[approval] = call
                case ToolApprovalResponse(approval_id=approval):
                    self._calls.pop(approval, None)
                case _:  # a call with an output needs no decision
                    ended = getattr(chunk, "tool_call_id", None)
                    self._calls = {key: call for key, call in self._calls.items() if call != ended}


async def stored_end(session: Session, run_id: str) -> list[Chunk]:
    """The last chunks of a run whose log has no end: its process was killed, and another one has ended it."""
    run = await session.get_run(run_id)
    if run is None:
        return []
    message = session.view(await session.store.messages.get(run.thread_id, run.message_id or ""))
    return [*stored_ending(message), *end_of(run)] if isinstance(message, AssistantMessage) else end_of(run)


def end_of(run: Run) -> list[Chunk]:
    """The chunk that ends the stream of a run that did not complete."""
    if run.status not in ("failed", "cancelled", "interrupted"):
        return []
    return [ErrorChunk(run.error or run.status) if run.status == "failed" else MessageAbort(run.error)]


def last_event_seq(event_id: str | None, run_id: str) -> int:
    """The number in a run's log after which a client continues whose last event had this id.

    An event id is `RUN:NUMBER`, as in our streams, or the number alone; 0 for an event of another run.
    """
    if not event_id:
        return 0
    run, _, seq = event_id.rpartition(":")
    if not (seq.isascii() and seq.isdigit() and len(seq) < MAX_DIGITS) or (":" in event_id and not run):
        raise DecodeError(
            f"{event_id[:MAX_SHOWN]!r} is not the id of an event",
            where="header Last-Event-ID",
            hint="send the last `id` of the stream, or a number; leave it out to start from the beginning",
        )
    return int(seq) if run in ("", run_id) else 0


def _events(encoder: Framing, chunks: Sequence[StoredChunk], after: int, run_id: str | None) -> bytes:
    encoded = encoder.encode_all([(chunk, json) for _, _, chunk, json in chunks])
    if run_id is None:
        return b"".join([events for events, one in zip(encoded, chunks, strict=True) if one.seq > after])
    id_ = run_id.encode()
    return b"".join(
        [
            _with_id(events, id_, one.seq)
            for events, one in zip(encoded, chunks, strict=True)
            if one.seq > after and events
        ]
    )


def _with_id(events: bytes, run_id: bytes, seq: int) -> bytes:
    """Events whose last one has an id: a client that received it has received all of them."""
    earlier, separator, last = events[:-2].rpartition(b"\n\n")
    return b"%b%bid: %b:%d\n%b\n\n" % (earlier, separator, run_id, seq, last)


async def with_silence(items: AsyncIterator[T], seconds: float | None) -> AsyncGenerator[T | None, None]:
    """The items of a stream, and `None` after each silence of so many seconds."""
    while True:
        waiting = asyncio.ensure_future(anext(items, None))
        try:
            while not (await asyncio.wait([waiting], timeout=seconds))[0]:
                yield None
            item = await waiting
        finally:
            if not waiting.done():
                waiting.cancel()
                await asyncio.wait([waiting])
            if not waiting.cancelled():
                waiting.exception()  # retrieved, so that asyncio does not log it
        if item is None:
            return
        yield item
