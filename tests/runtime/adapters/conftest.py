"""A session over a store in a file."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from partita.runtime.session.session import Session
from partita.store.connection import open_store
from tests.store.empty_store import empty_store


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[Session]:
    async with open_store(empty_store(tmp_path)) as store, Session(store, grace=5) as opened:
        yield opened
