"""Stores in a file and on a real server, and ports nobody has."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.store.conftest import postgres_databases, postgres_server, postgres_url

__all__ = ["postgres_databases", "postgres_server", "postgres_url"]


WHOLE = "PARTITA_CHAOS" in os.environ
"""Whether there is time for all of it."""


@pytest.fixture(params=["sqlite", "postgresql"] if WHOLE else ["sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    found: str = request.getfixturevalue("postgres_url")
    return found


@pytest.fixture
def free_port() -> Callable[[], int]:
    """Gives a port that nobody has."""

    def find() -> int:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            port: int = listening.getsockname()[1]
        return port

    return find
