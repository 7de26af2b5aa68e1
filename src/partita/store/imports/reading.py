"""Opening what someone names as a source: a SQLite file, a PostgreSQL URL, a dump, a folder of dumps."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from partita.errors import StoreError
from partita.store.engines.location import locate

from .dump import ENDINGS, DumpSource, looks_like_json
from .source import Source
from .sqlite_file import MAGIC, SqliteSource
from .system import System

FORMS = "give a SQLite file, a postgresql:// URL, or a dump: .json, .jsonl, .csv, or a folder of them"


@asynccontextmanager
async def open_source(name: str, system: System) -> AsyncGenerator[Source, None]:
    """The source of that name, open for reading only."""
    source = _source(name, system)
    try:
        yield source
    except BaseException:
        await _close_quietly(source)
        raise
    await source.close()


async def _close_quietly(source: Source) -> None:
    """Close a source of which something else is to be told."""
    try:
        await source.close()
    except StoreError:
        return


def _source(name: str, system: System) -> Source:
    location = locate(name) if name else None
    if location is None or (location.engine == "sqlite" and location.path is None):
        raise StoreError("no source given", where=name, hint=FORMS)
    if location.engine == "postgresql":
        from .postgres_server import PostgresSource

        return PostgresSource(location)
    assert location.path is not None, "a file"
    return _file(location.path, system)


def _file(path: Path, system: System) -> Source:
    if path.is_dir():
        return DumpSource(path, system)
    try:
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
    except OSError as error:
        raise StoreError(f"it cannot be read: {error.strerror}", where=str(path), hint=FORMS) from None
    if start == MAGIC:
        return SqliteSource(path)
    if start.strip() and (looks_like_json(path) or path.suffix.lower() in ENDINGS):
        return DumpSource(path, system)
    raise StoreError(
        "neither a SQLite database nor a dump" if start else "an empty file", where=str(path), hint=FORMS
    )
