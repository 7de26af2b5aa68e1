"""An empty store in a file: its schema is created once for each process, and copied for each test."""

import asyncio
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from partita.store.connection import open_store


def empty_store(folder: Path, name: str = "store.db") -> str:
    """The URL of a new store in this folder."""
    path = folder / name
    path.touch(mode=0o600)
    path.write_bytes(_contents())
    return f"sqlite:///{path}"


@cache
def _contents() -> bytes:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as thread:
        path = Path(folder) / "store.db"
        thread.submit(asyncio.run, _create(path)).result()  # the caller may have a running event loop
        return path.read_bytes()


async def _create(path: Path) -> None:
    async with open_store(path):
        pass
