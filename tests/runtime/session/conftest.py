"""Sessions, and pairs of sessions that share a database."""

from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest

from partita.runtime.session.session import Session
from partita.store.connection import open_store
from partita.store.store import Store

HEARTBEAT = 0.2
"""Short, because some tests wait for it."""


@pytest.fixture
async def session(store: Store) -> AsyncIterator[Session]:
    """A session over a new store."""
    async with Session(store, heartbeat=HEARTBEAT, grace=0.2) as opened:
        yield opened


class Pair(NamedTuple):
    """Two sessions over one database, each with its own `Store`, like two processes."""

    one: Session
    other: Session


@pytest.fixture
async def pair(url: str) -> AsyncIterator[Pair]:
    async with (
        open_store(url) as first,
        open_store(url) as second,
        Session(first, heartbeat=HEARTBEAT, grace=0.2) as one,
        Session(second, heartbeat=HEARTBEAT, grace=0.2) as other,
    ):
        yield Pair(one, other)
