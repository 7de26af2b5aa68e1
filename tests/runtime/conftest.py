"""The URL of a store in a file; for tests marked `on_both_engines` also of one on a server."""

from pathlib import Path

import pytest

from tests.store.conftest import engine, postgres_databases, postgres_server, postgres_url, store
from tests.store.empty_store import empty_store

__all__ = ["engine", "postgres_databases", "postgres_server", "postgres_url", "store"]


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return empty_store(tmp_path)
    found: str = request.getfixturevalue("postgres_url")
    return found
