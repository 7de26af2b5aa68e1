"""Closing a stream when its reader is done with it, whether it can be closed or not."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


@asynccontextmanager
async def closed(stream: AsyncIterator[T]) -> AsyncGenerator[AsyncIterator[T], None]:
    """The stream, closed at the end of the block: an agent that nobody reads any more cleans up at once."""
    try:
        yield stream
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()
