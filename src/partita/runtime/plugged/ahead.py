"""Reading ahead, for packages that forget what nobody has read yet when something fails."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TypeVar

T = TypeVar("T")


async def read_ahead(stream: AsyncIterator[T]) -> AsyncGenerator[T]:
    """The same things, read as soon as they are there, however slowly they are taken."""
    read: asyncio.Queue[tuple[T] | None] = asyncio.Queue()

    async def read_all() -> None:
        try:
            async for thing in stream:
                read.put_nowait((thing,))
        finally:
            read.put_nowait(None)

    reading = asyncio.create_task(read_all())
    try:
        while (found := await read.get()) is not None:
            yield found[0]
        await reading
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
