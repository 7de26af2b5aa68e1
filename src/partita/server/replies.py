"""Answers in our own JSON: extras are kept, what is absent is left out."""

import asyncio
from collections.abc import AsyncGenerator
from tempfile import SpooledTemporaryFile
from typing import Any, Final, Generic, NamedTuple, TypeVar

from litestar import Response
from litestar.response.base import ASGIResponse
from litestar.response.streaming import Stream

from partita.store.values import Page
from partita.types.codec import encode
from partita.types.value import Value

T = TypeVar("T")

AT_ONCE: Final = 64 * 1024
"""How many bytes of a file are sent at once."""


class Reply(Response[T]):
    """A value of ours, or JSON, as the body of an answer."""

    def render(self, content: Any, media_type: str, enc_hook: Any = None) -> bytes:
        """The bytes of it."""
        return content if isinstance(content, bytes) else encode(content)


class SpooledFile(NamedTuple):
    """Bytes that may be too many for memory, and how many there are."""

    file: "SpooledTemporaryFile[bytes]"
    size: int

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The bytes, to be sent; then the file is gone."""
        try:
            while piece := await asyncio.to_thread(self.file.read, AT_ONCE):
                yield piece
        finally:
            self.file.close()


class SpooledReply(Reply[T]):
    """A value of ours in JSON, in a file."""

    def __init__(self, value: SpooledFile) -> None:
        super().__init__(b"")  # type: ignore[arg-type] # the type is what the file holds
        self._value = value

    def to_asgi_response(self, *args: Any, **options: Any) -> ASGIResponse:
        """The response, which sends the file piece by piece."""
        length = {"content-length": str(self._value.size)}
        stream = Stream(self._value.pieces(), media_type="application/json", headers=length)
        return stream.to_asgi_response(*args, **options)


class Listing(Value, Generic[T]):
    """A page of a list. `next` is the cursor of the page after it; without one it was the last."""

    items: tuple[T, ...]
    next: str | None = None


def listing(page: Page[T]) -> Listing[T]:
    """A page of the store, to answer with."""
    return Listing(page.items, page.next)
