"""Stores in a file and in PostgreSQL, and free ports."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.store.conftest import postgres_databases, postgres_server, postgres_url

__all__ = ["postgres_databases", "postgres_server", "postgres_url"]


RUN_ALL = "PARTITA_CHAOS" in os.environ
"""Whether the full tests are requested."""


@pytest.fixture(params=["sqlite", "postgresql"] if RUN_ALL else ["sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    found: str = request.getfixturevalue("postgres_url")
    return found


@pytest.fixture
def free_port() -> Callable[[], int]:
    """A function that returns a free port."""

    def find() -> int:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port: int = listener.getsockname()[1]
        return port

    return find
