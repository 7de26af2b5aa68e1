"""Answers in our own JSON: extras are kept, what is absent is left out."""

from typing import Any, Generic, TypeVar

from litestar import Response

from partita.store.values import Page
from partita.types.codec import encode
from partita.types.value import Value

T = TypeVar("T")


class Reply(Response[T]):
    """A value of ours, or JSON, as the body of an answer."""

    def render(self, content: Any, media_type: str, enc_hook: Any = None) -> bytes:
        """The bytes of it."""
        return content if isinstance(content, bytes) else encode(content)


class Listing(Value, Generic[T]):
    """A page of a list. `next` is the cursor of the page after it; without one it was the last."""

    items: tuple[T, ...]
    next: str | None = None


def listing(page: Page[T]) -> Listing[T]:
    """A page of the store, to answer with."""
    return Listing(page.items, page.next)
