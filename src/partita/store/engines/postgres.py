"""PostgreSQL: a pool of connections, retries when the server comes back, notifications by `LISTEN`.

A commit whose response was lost may or may not have been done. Every write therefore inserts a token of its
own, and a retry looks for it first: nothing is lost, and nothing is done twice.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from typing import Any, Final, Generic, TypeVar
from uuid import uuid4

from sqlalchemy import Connection, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from partita.errors import StoreError, UnavailableError

from .driver_errors import DRIVER_ERRORS, is_conflict, is_gone, store_error
from .engine import CHANNEL, Availability, EngineHealth, Listener, Listeners
from .location import without_password

T = TypeVar("T")

TOKEN_AGE: Final = timedelta(hours=1)
"""How long tokens are kept: far longer than a retry takes."""

WRITES_PER_CLEANUP: Final = 2000
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
MAX_CONFLICTS: Final = 12
INSERT_TOKEN: Final = text(
    "INSERT INTO write_tokens (token, written_at) VALUES (:token, now()) ON CONFLICT DO NOTHING"
)
DELETE_TOKENS: Final = text("DELETE FROM write_tokens WHERE written_at < now() - :age")
SETTINGS: Final = {
    "application_name": "partita",
    "timezone": "UTC",
    "idle_in_transaction_session_timeout": "60000",
}


class PostgresEngine:
    """A database on a server."""

    def __init__(self, url: str, *, pool_size: int = 10, patience: float = 30.0) -> None:
        self.where = without_password(url).replace("+asyncpg", "")
        self._url = url
        self._patience = patience
        self._listeners = Listeners()
        self._receiver: asyncio.Task[None] | None = None
        self._writes = 0
        self._closed = False
        self.health = EngineHealth(lambda: self.where)
        self._engine = self._create_engine(pool_size)

    def _create_engine(self, pool_size: int) -> AsyncEngine:
        try:
            return create_async_engine(
                self._url,
                pool_size=pool_size,
                max_overflow=0,
                pool_timeout=self._patience,
                pool_use_lifo=True,
                connect_args={"timeout": self._patience, "server_settings": SETTINGS},
            )
        except (ArgumentError, ValueError):  # their text may contain a part of the password
            raise StoreError(
                "the URL of the server is wrong",
                where=self.where,
                hint="postgresql://USER:PASSWORD@HOST/DATABASE",
            ) from None

    # Work

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run work in a read-only transaction with one consistent view, and return its result."""

        async def attempt() -> T:
            async with self._engine.connect() as connection:
                await connection.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
                return await connection.run_sync(work)

        with self.health.reading:
            return await self._with_retries(attempt, self.health.reading)

    async def write(self, work: Callable[[Connection], T], *, urgent: bool = False) -> T:
        """Run work in a transaction and return its result once it is durable. All or nothing is written.

        Urgent work is like other work: both wait for a connection only.
        """
        write = Write(work)
        with self.health.writing:
            result = await self._with_retries(lambda: write.attempt(self._engine), self.health.writing)
        self._writes += 1
        if self._writes % WRITES_PER_CLEANUP == 0:
            await self._delete_old_tokens()
        return result

    async def write_statement(self, work: Callable[[Connection], T]) -> T:
        """Run work as `write` does: a retry needs the token."""
        return await self.write(work)

    async def _delete_old_tokens(self) -> None:
        with suppress(*DRIVER_ERRORS):  # it is tried again later
            async with self._engine.begin() as connection:
                await connection.execute(DELETE_TOKENS, {"age": TOKEN_AGE})

    async def change_schema(self, work: Callable[[Connection], None]) -> None:
        """Run work that creates or changes tables, in one transaction."""

        async def attempt() -> None:
            async with self._engine.begin() as connection:
                await connection.run_sync(work)

        await self._with_retries(attempt)

    async def autocommit(self, work: Callable[[Connection], T]) -> T:
        """Run statements that are not allowed in a transaction, and return the result."""

        async def attempt() -> T:
            async with self._engine.connect() as connection:
                await connection.execution_options(isolation_level="AUTOCOMMIT")
                return await connection.run_sync(work)

        with self.health.writing:
            return await self._with_retries(attempt, self.health.writing)

    async def _with_retries(
        self, attempt: Callable[[], Awaitable[T]], availability: Availability | None = None
    ) -> T:
        """Repeat an attempt after a lost connection or a conflict, for as long as the patience lasts."""
        if self._closed:
            raise StoreError("the store is closed", where=self.where, hint="open it again")
        deadline = asyncio.get_running_loop().time() + self._patience
        pause, conflicts = FIRST_PAUSE, 0
        while True:
            try:
                return await attempt()
            except DRIVER_ERRORS as error:
                conflicts += is_conflict(error)
                may_retry = is_gone(error) or (is_conflict(error) and conflicts < MAX_CONFLICTS)
                if not may_retry or asyncio.get_running_loop().time() + pause > deadline:
                    raise store_error(error, self.where) from error
                self.health.retries += 1
                if availability is not None and is_gone(error):
                    availability.begin_outage(_outage(error, self.where))
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(pause * 2, LONGEST_PAUSE)

    # Notifications

    @contextmanager
    def listen(self, topic: str) -> Generator[Listener, None, None]:
        """Receive the notifications of a topic, from any process."""
        with self._listeners.listen(topic) as listener:
            if self._receiver is None or self._receiver.done():
                self._receiver = asyncio.create_task(self._receive())
            yield listener

    def notify(self, topic: str) -> None:
        """Notify the listeners of a topic in this process."""
        self._listeners.notify(topic)

    def change_mark(self) -> object | None:
        """Unknown: it would take a query."""
        return None

    async def _receive(self) -> None:
        """Receive notifications of the server while there are listeners."""
        while self._listeners and not self._closed:
            with suppress(SQLAlchemyError, OSError, UnavailableError):
                async with self._engine.connect() as connection:
                    await self._receive_on(connection)
            await asyncio.sleep(FIRST_PAUSE)

    async def _receive_on(self, connection: AsyncConnection) -> None:
        raw = await connection.get_raw_connection()
        driver: Any = raw.driver_connection  # asyncpg's connection: SQLAlchemy has no API for LISTEN
        lost = asyncio.Event()
        await driver.add_listener(CHANNEL, self._on_notification)
        driver.add_termination_listener(partial(_set, lost))
        self._listeners.notify_all()  # notifications from before LISTEN are lost
        try:
            while self._listeners and not self._closed and not lost.is_set():
                with suppress(TimeoutError):
                    async with asyncio.timeout(0.5):
                        await lost.wait()
        finally:
            if not lost.is_set():
                await driver.remove_listener(CHANNEL, self._on_notification)

    def _on_notification(self, _connection: object, _process: int, _channel: str, topic: str) -> None:
        self._listeners.notify(topic)

    async def close(self) -> None:
        """Close the connections."""
        if self._closed:
            return
        self._closed = True
        self._listeners.notify_all()
        if self._receiver is not None:
            self._receiver.cancel()
            with suppress(asyncio.CancelledError):
                await self._receiver
        await self._engine.dispose()


class Write(Generic[T]):
    """A write with its token, which may be attempted several times and is done once."""

    def __init__(self, work: Callable[[Connection], T]) -> None:
        self._work = work
        self._token = str(uuid4())
        self._results: list[T] = []  # of attempts whose commit may have been done

    async def attempt(self, engine: AsyncEngine) -> T:
        """Run the work and commit it, unless an earlier attempt was committed."""
        async with engine.connect() as connection:
            # Waits for an earlier attempt that the server has not finished.
            inserted = await connection.execute(INSERT_TOKEN, {"token": self._token})
            if inserted.rowcount == 0:
                return self._results[-1]
            result = await connection.run_sync(self._work)
            self._results.append(result)
            await connection.commit()
        return result


def _outage(error: BaseException, where: str) -> UnavailableError:
    """The error that is logged for an outage."""
    outage = UnavailableError(store_error(error, where).what, where=where)
    outage.__cause__ = error
    return outage


def _set(event: asyncio.Event, _connection: object) -> None:
    event.set()
