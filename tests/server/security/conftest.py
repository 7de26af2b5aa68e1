"""An application with data of alice."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from .harbour import Harbour, harbour


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Harbour]:
    async with harbour(tmp_path) as settled:
        yield settled
