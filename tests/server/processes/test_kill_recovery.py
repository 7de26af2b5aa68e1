"""`kill -9` during many streams: what clients received is stored, and reconnecting clients receive the end.

`PARTITA_CHAOS` asks for a hundred, on both engines; the tests make do with ten.
"""

import asyncio
import os
from collections.abc import Callable

from partita.store.connection import open_store
from partita.store.store import Store
from partita.store.values import RunFilter
from partita.types.chunks import MessageAbort
from partita.types.messages import AssistantMessage, text_of

from .server_process import server_process, start_server
from .stream_readers import Reader

STREAMS = 100 if "PARTITA_CHAOS" in os.environ else 10
COUNT = "10000 0.01"
LEASE = 2.0


async def logged(store: Store, chat: str) -> str:
    """The text in the log of a chat's run."""
    (run,) = (await store.runs.list(RunFilter(thread_id=chat))).items
    return "".join(getattr(record.chunk, "delta", "") for record in await store.logs.read(run.id))


async def test_what_clients_received_is_stored(url: str, free_port: Callable[[], int]) -> None:
    port = free_port()
    readers = [Reader(port, f"c{number}") for number in range(STREAMS)]
    async with server_process(url, port, LEASE) as first:
        reading = asyncio.gather(*(reader.send(COUNT) for reader in readers))
        async with asyncio.timeout(60):
            await asyncio.gather(*(reader.wait_for_chunks(8) for reader in readers))
        await first.kill()
        await reading
    async with open_store(url) as store:
        for reader in readers:
            assert (await logged(store, reader.chat)).startswith(reader.text)
    again = await start_server(url, port, LEASE)
    try:
        back = [Reader(port, reader.chat) for reader in readers]
        async with asyncio.timeout(60 + 10 * LEASE):
            await asyncio.gather(*(reader.resume() for reader in back))
        for before, after in zip(readers, back, strict=True):
            assert after.status in (200, 204)
            if after.status == 200:
                assert after.text.startswith(before.text)
                assert isinstance(after.chunks[-1], MessageAbort)
        async with open_store(url) as store:
            for reader in readers:
                await _check_stored(store, reader)
    finally:
        await again.kill()


async def _check_stored(store: Store, reader: Reader) -> None:
    """Check that the run ended as interrupted, and that its message has everything that was received."""
    (run,) = (await store.runs.list(RunFilter(thread_id=reader.chat))).items
    assert run.status == "interrupted"
    message = await store.messages.get(reader.chat, run.message_id or "")
    assert isinstance(message, AssistantMessage)
    assert text_of(message).startswith(reader.text)
