"""`open_store`: connect to a database and upgrade its schema."""

import asyncio
import os
from collections.abc import Callable, Generator
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import Any

from partita.errors import NotFoundError, StoreError, UnavailableError
from partita.extras import needs

from .engines.engine import Engine
from .engines.location import Location, check_store_file, locate, no_store_hint
from .engines.sqlite import SqliteEngine
from .logs.appender import Appender
from .migrations import CURRENT, Schema, check_revision, revision_of, upgrade
from .sql.transaction import utc_now
from .store import Store


class open_store:  # noqa: N801 # called like a function; a class so that it can be awaited and entered
    """The store of a URL: `async with open_store(url) as store`, or `store = await open_store(url)`.

    `sqlite:///FILE` or a path, `postgresql://…`, `memory:`; without a URL that of `PARTITA_STORE` or a
    `partita.toml`, else a file in the user's data directory. A store that does not exist is created, or is a
    `NotFoundError` with `create=False`. `patience` is the number of seconds to wait for a lock or a server.
    """

    def __init__(
        self,
        url: str | os.PathLike[str] | None = None,
        *,
        create: bool = True,
        pool_size: int = 10,
        patience: float = 30.0,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._location = locate(url)
        self._create = create
        self._pool_size = pool_size
        self._patience = patience
        self._clock = clock
        self._store: Store | None = None

    def __await__(self) -> Generator[Any, None, Store]:
        return self._open().__await__()

    async def __aenter__(self) -> Store:
        self._store = await self._open()
        return self._store

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._store is not None, "entered before"
        await self._store.close()

    async def _open(self) -> Store:
        engine = await open_engine(
            self._location, create=self._create, pool_size=self._pool_size, patience=self._patience
        )
        return Store(engine, clock=self._clock, appender=Appender(engine))


async def open_engine(
    location: Location,
    *,
    create: bool = True,
    pool_size: int = 10,
    patience: float = 30.0,
    schema: Schema = CURRENT,
) -> Engine:
    """Connect to a database and upgrade its schema. One without tables gets them only if it may `create`."""
    engine: Engine
    if not create:
        check_store_file(location)
    if location.engine == "postgresql":
        with needs("partita[postgres]", "PostgreSQL", StoreError):
            from .engines.postgres import PostgresEngine  # only loaded for such a URL

            engine = PostgresEngine(location.url, pool_size=pool_size, patience=patience)
    else:
        engine = await asyncio.to_thread(SqliteEngine, location.path, patience=patience)
    try:
        await _upgrade(engine, location, schema, create=create or location.is_in_memory)
    except BaseException as error:
        await engine.close()
        if isinstance(error, StoreError) and not error.where:
            error.where = engine.where
        raise
    return engine


async def _upgrade(engine: Engine, location: Location, schema: Schema, *, create: bool) -> None:
    revision = await engine.read(revision_of)
    check_revision(revision, schema)  # before anything is changed
    if revision is None and not create:
        raise NotFoundError("the database has no tables of Partita", hint=no_store_hint(location))
    file = None
    if isinstance(engine, SqliteEngine):
        file = engine.path
        if not engine.is_read_only:
            await engine.use_write_ahead_log()
        elif revision != schema.revision:
            what = "no tables" if revision is None else f"schema {revision}"
            raise UnavailableError(
                f"the store has {what} and can only be read, so it cannot be upgraded to {schema.revision}",
                hint="make the file and its folder writable, or open a copy in another folder",
            )
    if revision != schema.revision:
        await engine.change_schema(partial(upgrade, schema=schema, file=file))
