"""Lines from a stream, answers to another: each has a thread, so that neither keeps requests waiting."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Coroutine, Generator
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO, Final, Protocol, TypeAlias

from .archive import Archive
from .connection import Connection

LONGEST: Final = 4 * 1024 * 1024
"""How many bytes a line may have."""

AT_ONCE: Final = 64 * 1024

Lines: TypeAlias = asyncio.Queue[bytes | None]


class Stream(Protocol):
    """Bytes in or out, as many at a time as there are."""

    def read(self, size: int, /) -> bytes | None:
        """Some bytes; none at the end."""
        ...

    def write(self, data: bytes, /) -> int | None:
        """Write bytes, and tell how many."""
        ...


async def serve(archive: Archive, reader: Stream, writer: Stream) -> None:
    """Answer until the reader ends, somebody asks to stop, or nobody reads the answers any more."""
    lines: Lines = asyncio.Queue()
    answers: SimpleQueue[bytes | None] = SimpleQueue()
    stopped = asyncio.Event()
    connection = Connection(archive, answers.put)
    loop = asyncio.get_running_loop()
    Thread(target=_read, args=(reader, loop, lines), daemon=True, name="partita-mcp-read").start()
    writing = Thread(
        target=_write, args=(writer, answers, loop, stopped), daemon=True, name="partita-mcp-write"
    )
    writing.start()
    with _stopped_by_signals(stopped):
        await _until(stopped, _take_all(connection, lines))
    await connection.stop()
    answers.put(None)
    if not stopped.is_set():
        await asyncio.to_thread(writing.join)
    await archive.close()


async def _take_all(connection: Connection, lines: Lines) -> None:
    while (text := await lines.get()) is not None:
        if len(text) > LONGEST:
            connection.too_long(LONGEST)
        else:
            connection.take(text)
    await connection.finish()


async def _until(stopped: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    """Do work, but no longer than until somebody asks to stop."""
    doing, waiting = asyncio.ensure_future(work), asyncio.ensure_future(stopped.wait())
    await asyncio.wait([doing, waiting], return_when=asyncio.FIRST_COMPLETED)
    for task in (doing, waiting):
        task.cancel()
    await asyncio.gather(doing, waiting, return_exceptions=True)


@contextlib.contextmanager
def _stopped_by_signals(stopped: asyncio.Event) -> Generator[None, None, None]:
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # not here: Ctrl-C raises
        for each in signals:
            loop.add_signal_handler(each, stopped.set)
    yield
    with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
        for each in signals:
            loop.remove_signal_handler(each)


def _read(reader: Stream, loop: asyncio.AbstractEventLoop, lines: Lines) -> None:
    """Hand on every line; of one that is too long, as much as shows that it is. `None`: there are no more."""
    begun = b""
    with contextlib.suppress(OSError, ValueError, RuntimeError):  # the stream, or the loop, is gone
        while piece := reader.read(AT_ONCE):
            *whole, begun = (begun[: LONGEST + 1] + piece).split(b"\n")
            for text in whole:
                loop.call_soon_threadsafe(lines.put_nowait, text)
        loop.call_soon_threadsafe(lines.put_nowait, begun)
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(lines.put_nowait, None)


def _write(
    writer: Stream,
    answers: "SimpleQueue[bytes | None]",
    loop: asyncio.AbstractEventLoop,
    stopped: asyncio.Event,
) -> None:
    try:
        while (text := answers.get()) is not None:
            while text:
                text = text[writer.write(text) or 0 :]
    except (OSError, ValueError):  # nobody reads any more
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(stopped.set)


def unbuffered(stream: BinaryIO) -> Stream:
    """What is below a standard stream: while a thread waits in the stream itself, no process can end."""
    with contextlib.suppress(OSError, AttributeError):
        os.set_blocking(stream.fileno(), True)
    raw: Stream = getattr(stream, "raw", stream)
    return raw
