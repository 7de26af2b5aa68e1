"""A run as server-sent events, for the response of any web framework."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import Final, Protocol

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

# Chunks as server-sent events in any format that can be streamed.

KEEP_ALIVE_COMMENT: Final = comment("keep-alive")


class Framing(Protocol):
    """Makes the bytes of a stream."""

    def encode(self, chunk: Chunk, json: bytes | None = None) -> bytes:
        """The events of a chunk, whose JSON may be at hand."""
        ...

    def encode_all(self, chunks: Iterable[tuple[Chunk, bytes]]) -> list[bytes]:
        """The events of each of these chunks."""
        ...

    def finish(self) -> bytes:
        """The events that end the stream."""
        ...

    def keep_alive(self) -> bytes:
        """Bytes that mean nothing."""
        ...


class EventFraming:
    """The events of an encoder, framed."""

    def __init__(self, encoder: Encoder, end: bytes = b"") -> None:
        """`end` comes behind the last event."""
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
        """Bytes that mean nothing."""
        return KEEP_ALIVE_COMMENT


def _framed(events: Iterable[Json]) -> bytes:
    return b"".join([frame(dumps(event)) for event in events])


SSE_HEADERS: Final = HEADERS
"""The headers of a response that carries a run."""

ENDS: Final = (MessageFinish, MessageAbort, ErrorChunk)
"""Chunks with which a stream may end."""

TURNS: Final[frozenset[type[Chunk]]] = frozenset(
    {
        ToolApprovalRequest,
        ToolApprovalResponse,
        ToolOutputAvailable,
        ToolOutputChunk,
        ToolOutputError,
        ToolOutputDenied,
    }
)
"""Chunks that say what a run waits for, or no longer."""

FILES: Final[frozenset[type[Chunk]]] = frozenset({FileChunk, ReasoningFileChunk})

ASKED: Final = 0.5
"""A run that has asked and says nothing for so many seconds waits for its answer."""

MOST_DIGITS: Final = 19
LONGEST_SHOWN: Final = 80

KEEP_ALIVE: Final = 15.0
"""After so many seconds without a word, a client is told that the stream is alive."""


async def follow_sse(
    session: Session,
    run_id: str,
    *,
    version: Target | str | int | None = 7,
    after: int = 0,
    before: Iterable[Chunk] = (),
    ids: bool = False,
    keep_alive: float = KEEP_ALIVE,
    until_asked: bool = False,
    framing: Framing | None = None,
    since: int = 0,
    message_id: str | None = None,
    continued: AssistantMessage | None = None,
    files: Callable[[Chunk], Awaitable[Chunk]] | None = None,
) -> AsyncGenerator[bytes, None]:
    """The events of a run for a client of that release of the AI SDK: what was said, then what comes.

    Chunks `before` come first. With `ids`, events carry their place, for a client that comes back with the
    last one it saw: see `place_of`. With `until_asked`, the stream ends when the run waits for an approval:
    `useChat` sends the answer once it has nothing to read. To stop reading does not stop the run. A `framing`
    writes another format; `since` is the number behind which it begins, as if nothing had come before.
    `continued` is the message that the run continues, as it was before; the client has it as `message_id`.
    `files` is called with each chunk that is a file, and returns the chunk to send.
    """
    encoder = framing or (
        SseEncoder() if version is None else ChatEncoder(version, message_id=message_id, continued=continued)
    )
    questions, last, quiet = Questions(), None, 0.0
    tick = min(keep_alive, ASKED) if until_asked else keep_alive
    if told := b"".join([encoder.encode(chunk) for chunk in before]):
        yield told
    # A client that comes back is written to as if it had never gone: what it has seen is read, not sent.
    held: Sequence[StoredChunk] = ()
    async with aclosing(session.follow(run_id, after=since, idle=tick, approvals=framing is None)) as steps:
        async for seen in steps:
            if seen:
                last, quiet = seen[-1].chunk, 0.0
                questions.hear(seen)
                has_files = not FILES.isdisjoint([type(one.chunk) for one in seen])
                shown = [await _file(one, files) for one in seen] if files and has_files else seen
                said, held = _but_last_word([*held, *shown])
                told = _events(encoder, said, after, run_id if ids else None)
            elif until_asked and questions.are_open:
                yield encoder.finish()
                return
            else:
                quiet += tick
                told = encoder.keep_alive() if quiet >= keep_alive else b""
                quiet = 0.0 if told else quiet
            if told:
                yield told
    if held:
        yield _events(encoder, held, after, run_id if ids else None)
    if not isinstance(last, ENDS):
        ending = await stored_end(session, run_id)
        seq = await session.last_seq(run_id) + 1
        if seq > after:
            events = b"".join([encoder.encode(chunk) for chunk in ending])
            yield _placed(events, run_id.encode(), seq) if ids and events else events
    yield encoder.finish()


async def _file(seen: StoredChunk, files: Callable[[Chunk], Awaitable[Chunk]]) -> StoredChunk:
    if type(seen.chunk) not in FILES:
        return seen
    chunk = await files(seen.chunk)
    return seen if chunk is seen.chunk else seen._replace(chunk=chunk, json=encode(chunk))


def _but_last_word(seen: Sequence[StoredChunk]) -> tuple[Sequence[StoredChunk], Sequence[StoredChunk]]:
    """What may be sent, and an error if it comes last: a client reads no further, and what it does next must
    find the run ended.
    """
    return (seen[:-1], seen[-1:]) if isinstance(seen[-1].chunk, ErrorChunk) else (seen, ())


class Questions:
    """The approvals that a run has asked for and not had."""

    def __init__(self) -> None:
        self._calls: dict[str, str] = {}  # by approval

    @property
    def are_open(self) -> bool:
        """Whether there are any."""
        return bool(self._calls)

    def hear(self, seen: Iterable[StoredChunk]) -> None:
        """Go along with the run."""
        for chunk in [one.chunk for one in seen if type(one.chunk) in TURNS]:
            match chunk:
                case ToolApprovalRequest(approval_id=approval, tool_call_id=call):
                    self._calls[approval] = call
                case ToolApprovalResponse(approval_id=approval):
                    self._calls.pop(approval, None)
                case _:  # whatever came of a call, nobody waits for an answer any more
                    settled = getattr(chunk, "tool_call_id", None)
                    self._calls = {key: call for key, call in self._calls.items() if call != settled}


async def stored_end(session: Session, run_id: str) -> list[Chunk]:
    """How a run ended whose log has no end: its process was killed, and another one has ended it."""
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


def place_of(event_id: str | None, run_id: str) -> int:
    """The number in a run's log behind which a client continues that has received this event last.

    An event id is `RUN:NUMBER`, as in our streams, or the number alone; 0 for an event of another run.
    """
    if not event_id:
        return 0
    run, _, seq = event_id.rpartition(":")
    if not (seq.isascii() and seq.isdigit() and len(seq) < MOST_DIGITS) or (":" in event_id and not run):
        raise DecodeError(
            f"{event_id[:LONGEST_SHOWN]!r} is not the id of an event",
            where="header Last-Event-ID",
            hint="send the last `id` of the stream, or a number; leave it out to start from the beginning",
        )
    return int(seq) if run in ("", run_id) else 0


def _events(encoder: Framing, seen: Sequence[StoredChunk], after: int, run_id: str | None) -> bytes:
    said = encoder.encode_all([(chunk, json) for _, _, chunk, json in seen])
    if run_id is None:
        return b"".join([events for events, one in zip(said, seen, strict=True) if one.seq > after])
    place = run_id.encode()
    return b"".join(
        [
            _placed(events, place, one.seq)
            for events, one in zip(said, seen, strict=True)
            if one.seq > after and events
        ]
    )


def _placed(events: bytes, run_id: bytes, seq: int) -> bytes:
    """Events whose last one carries its place: who has seen it has seen all of them."""
    earlier, separator, last = events[:-2].rpartition(b"\n\n")
    return b"%b%bid: %b:%d\n%b\n\n" % (earlier, separator, run_id, seq, last)
