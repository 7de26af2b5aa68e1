"""A session over a store in a file: what is plugged in does not see the store."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from partita.runtime.session.session import Session
from partita.store.opening import open_store


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[Session]:
    async with open_store(f"sqlite:///{tmp_path / 'store.db'}") as store, Session(store, grace=5) as opened:
        yield opened
