"""Sessions over stores of every kind, and pairs of them that share a database."""

from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest

from partita.runtime.session.session import Session
from partita.store.connection import open_store
from partita.store.store import Store

BEAT = 0.2
"""How often a session of a test holds its runs: often, for some wait for it."""


@pytest.fixture
async def session(store: Store) -> AsyncIterator[Session]:
    """A session of its own."""
    async with Session(store, heartbeat=BEAT, grace=0.2) as opened:
        yield opened


class Pair(NamedTuple):
    """Two sessions, each with a store of its own, over one database: as good as two processes."""

    one: Session
    other: Session


@pytest.fixture
async def pair(url: str) -> AsyncIterator[Pair]:
    async with (
        open_store(url) as first,
        open_store(url) as second,
        Session(first, heartbeat=BEAT, grace=0.2) as one,
        Session(second, heartbeat=BEAT, grace=0.2) as other,
    ):
        yield Pair(one, other)
