"""An application with data of alice."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from .multi_tenant import MultiTenantServer, multi_tenant_server


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[MultiTenantServer]:
    async with multi_tenant_server(tmp_path) as opened:
        yield opened
