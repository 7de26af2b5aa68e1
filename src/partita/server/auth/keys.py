"""Keys of the store: `Authorization: Bearer pk_…`, or `x-api-key`."""

import hashlib
import time
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from partita.runtime.principal import Principal
from partita.server.plain import Scope
from partita.store.facade.store import Store

REMEMBERED: Final = 1.5
"""Seconds for which a key is taken for what it was: then one looks whether it was revoked."""

MOST: Final = 4096
"""How many keys are remembered at once."""

LONGEST: Final = 128
BEARER: Final = "bearer "


class Known(NamedTuple):
    """A key that was good a moment ago."""

    principal: Principal
    until: float


class KeyAuth:
    """Looks keys up in the store. Missing, wrong, expired or revoked: each is looked up, and is nobody."""

    is_open = False

    def __init__(self, store: Callable[[], Store], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self.known: dict[bytes, Known] = {}  # by hash, so that no secret stays in memory

    async def __call__(self, scope: Scope) -> Principal | None:
        """Who asks; `None` without a key that may be used."""
        text = shown_key(scope["headers"])
        mark = hashlib.sha256(text.encode()).digest()
        now = self._clock()
        known = self.known.get(mark)
        if known is not None and now < known.until:
            return known.principal
        self.known.pop(mark, None)
        key = await self._store().check_key(text)
        if key is None:
            return None
        principal = Principal(key.resource_id, key.role, key_id=key.id)
        while len(self.known) >= MOST:
            del self.known[next(iter(self.known))]  # the one that was looked up first
        self.known[mark] = Known(principal, now + REMEMBERED)
        return principal


def shown_key(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The key that a request shows; empty when it shows none, or several."""
    bearers: list[str] = []
    others: list[str] = []
    for name, value in headers:
        if name == b"authorization":
            text = value.decode("latin-1")
            if text[: len(BEARER)].lower() == BEARER:
                bearers.append(text[len(BEARER) :].strip())
        elif name == b"x-api-key":
            others.append(value.decode("latin-1").strip())
    found = bearers or others
    return found[0] if len(found) == 1 and len(found[0]) <= LONGEST else ""
