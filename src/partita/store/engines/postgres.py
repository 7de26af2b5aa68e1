"""PostgreSQL: a pool of connections, work that starts over when the server comes back, news by `LISTEN`.

A commit whose answer was lost may or may not have happened. So every write leaves a token of its own, and
whoever lost the answer looks for it first: nothing is lost, and nothing is done twice.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from typing import Any, Generic, TypeVar
from uuid import uuid4

from sqlalchemy import Connection, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from partita.errors import StoreError, UnavailableError

from .availability import Availability, EngineHealth
from .channel import CHANNEL
from .failures import TELLABLE, explained, is_conflict, is_gone
from .location import without_password
from .wake import Listeners, News

T = TypeVar("T")

REMEMBERED = timedelta(hours=1)
"""How long a token is kept: far longer than anybody waits for a server."""

FORGET_EVERY = 2000
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
MOST_CONFLICTS = 12
TAKE_NOTE = text("INSERT INTO write_tokens (token, written_at) VALUES (:token, now()) ON CONFLICT DO NOTHING")
FORGET = text("DELETE FROM write_tokens WHERE written_at < now() - :age")


class PostgresEngine:
    """A server, by URL."""

    def __init__(self, url: str, *, pool_size: int = 10, patience: float = 30.0) -> None:
        self.where = without_password(url).replace("+asyncpg", "")
        self._url = url
        self._patience = patience
        self._listeners = Listeners()
        self._ear: asyncio.Task[None] | None = None
        self._writes = 0
        self._closed = False
        self.health = EngineHealth(lambda: self.where)
        self._engine = self._create(pool_size)

    def _create(self, pool_size: int) -> AsyncEngine:
        try:
            return create_async_engine(
                self._url, pool_size=pool_size, max_overflow=0, pool_timeout=self._patience,
                pool_use_lifo=True, connect_args={"timeout": self._patience, "server_settings": SETTINGS},
            )  # fmt: skip
        except ModuleNotFoundError:
            raise StoreError(
                "the PostgreSQL driver is not installed", hint="pip install 'partita[postgres]'"
            ) from None
        except (ArgumentError, ValueError):  # what it says may hold a piece of the password
            raise StoreError(
                "the URL of the server is wrong",
                where=self.where,
                hint="postgresql://USER:PASSWORD@HOST/DATABASE",
            ) from None

    async def read(self, work: Callable[[Connection], T]) -> T:
        """What the work gives, from one consistent view."""

        async def once() -> T:
            async with self._engine.connect() as connection:
                await connection.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
                return await connection.run_sync(work)

        with self.health.reading:
            return await self._until_it_works(once, self.health.reading)

    async def write(self, work: Callable[[Connection], T], *, urgent: bool = False) -> T:
        """What the work gives, once it is durable; if it raises, nothing of it remains.

        What is urgent is done like the rest: nobody waits in line as long as there are connections.
        """
        attempt = Attempt(work)
        with self.health.writing:
            result = await self._until_it_works(lambda: attempt.run(self._engine), self.health.writing)
        self._writes += 1
        if self._writes % FORGET_EVERY == 0:
            await self._forget()
        return result

    async def _forget(self) -> None:
        """Remove old tokens. That it fails is nobody's loss: the write it follows is done."""
        with suppress(*TELLABLE):
            async with self._engine.begin() as connection:
                await connection.execute(FORGET, {"age": REMEMBERED})

    async def make(self, work: Callable[[Connection], None]) -> None:
        """Do work that makes or changes the tables, in one transaction."""

        async def once() -> None:
            async with self._engine.begin() as connection:
                await connection.run_sync(work)

        await self._until_it_works(once)

    async def alone(self, work: Callable[[Connection], T]) -> T:
        """What the work gives, outside any transaction."""

        async def once() -> T:
            async with self._engine.connect() as connection:
                await connection.execution_options(isolation_level="AUTOCOMMIT")
                return await connection.run_sync(work)

        with self.health.writing:
            return await self._until_it_works(once, self.health.writing)

    async def _until_it_works(
        self, once: Callable[[], Awaitable[T]], availability: Availability | None = None
    ) -> T:
        """Do it; when the server is gone, wait until it is back and do it again, up to our patience."""
        if self._closed:
            raise StoreError("the store is closed", where=self.where, hint="open it again")
        deadline = asyncio.get_running_loop().time() + self._patience
        pause, conflicts = FIRST_PAUSE, 0
        while True:
            try:
                return await once()
            except TELLABLE as error:
                conflicts += is_conflict(error)
                again = is_gone(error) or (is_conflict(error) and conflicts < MOST_CONFLICTS)
                if not again or asyncio.get_running_loop().time() + pause > deadline:
                    raise explained(error, self.where) from error
                self.health.retries += 1
                if availability is not None and is_gone(error):
                    availability.begin_outage(_chained(error, self.where))
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(pause * 2, LONGEST_PAUSE)

    def change_mark(self) -> object | None:
        """Unknown: only a query would tell."""
        return None

    @contextmanager
    def listen(self, topic: str) -> Generator[News, None, None]:
        """News of a topic, from any process."""
        with self._listeners.listen(topic) as news:
            if self._ear is None or self._ear.done():
                self._ear = asyncio.create_task(self._hear())
            yield news

    async def _hear(self) -> None:
        """Hear what the server tells, for as long as anybody listens."""
        while self._listeners and not self._closed:
            with suppress(SQLAlchemyError, OSError, UnavailableError):
                async with self._engine.connect() as connection:
                    await self._hear_on(connection)
            await asyncio.sleep(FIRST_PAUSE)

    async def _hear_on(self, connection: AsyncConnection) -> None:
        raw = await connection.get_raw_connection()
        driver: Any = raw.driver_connection  # asyncpg's own connection: SQLAlchemy has no words for LISTEN
        lost = asyncio.Event()
        await driver.add_listener(CHANNEL, self._heard)
        driver.add_termination_listener(partial(_set, lost))
        self._listeners.tell_all()  # what was told before we could hear
        try:
            while self._listeners and not self._closed and not lost.is_set():
                with suppress(TimeoutError):
                    async with asyncio.timeout(0.5):
                        await lost.wait()
        finally:
            if not lost.is_set():
                await driver.remove_listener(CHANNEL, self._heard)

    def _heard(self, _connection: object, _process: int, _channel: str, topic: str) -> None:
        self._listeners.tell(topic)

    def tell(self, topic: str) -> None:
        """Wake those in this process who wait for a topic."""
        self._listeners.tell(topic)

    async def close(self) -> None:
        """Let go of the connections."""
        if self._closed:
            return
        self._closed = True
        self._listeners.tell_all()
        if self._ear is not None:
            self._ear.cancel()
            with suppress(asyncio.CancelledError):
                await self._ear
        await self._engine.dispose()


def _chained(error: BaseException, where: str) -> UnavailableError:
    """What an outage is logged with."""
    shown = UnavailableError(explained(error, where).what, where=where)
    shown.__cause__ = error
    return shown


def _set(event: asyncio.Event, _connection: object) -> None:
    event.set()


SETTINGS = {"application_name": "partita", "timezone": "UTC", "idle_in_transaction_session_timeout": "60000"}


class Attempt(Generic[T]):
    """One write and its token. Run it again when the server went away: what was done is not done twice."""

    def __init__(self, work: Callable[[Connection], T]) -> None:
        self._work = work
        self._token = str(uuid4())
        self._results: list[T] = []  # of a commit whose answer may have been lost

    async def run(self, engine: AsyncEngine) -> T:
        """Do the work and commit it, unless an earlier commit whose answer was lost turns out to be there."""
        async with engine.connect() as connection:
            # Waits for an earlier attempt that the server is still busy with, and yields to it.
            taken = await connection.execute(TAKE_NOTE, {"token": self._token})
            if taken.rowcount == 0:
                return self._results[-1]
            result = await connection.run_sync(self._work)
            self._results.append(result)
            await connection.commit()
        return result
