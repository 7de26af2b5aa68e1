"""Stores in a file and on a real server. That memory is like a file, the tests of the store see to."""

from pathlib import Path

import pytest

from tests.store.conftest import engine, postgres_databases, postgres_server, postgres_url, store

__all__ = ["engine", "postgres_databases", "postgres_server", "postgres_url", "store"]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    found: str = request.getfixturevalue("postgres_url")
    return found
