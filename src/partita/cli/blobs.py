"""Large values of a store, fetched when they are drawn."""

from partita.errors import NotFoundError
from partita.store.facade.store import Store

from .opened import Wait


class StoredBlobs:
    """The blobs of a store, for drawings."""

    def __init__(self, store: Store, wait: Wait) -> None:
        self._store = store
        self._wait = wait

    def size(self, url: str) -> int | None:
        """How many bytes a blob has; `None` when it is gone."""
        try:
            return self._wait(self._store.describe_blob(url)).size
        except NotFoundError:
            return None

    def read(self, url: str) -> bytes | None:
        """The bytes of a blob; `None` when it is gone."""
        try:
            return self._wait(self._store.get_blob(url))
        except NotFoundError:
            return None
