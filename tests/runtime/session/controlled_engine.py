"""An engine whose writes a test can block or let fail."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

from sqlalchemy import Connection

from partita.store.engines.engine import Engine, Listener
from partita.store.logs.appender import Appender
from partita.store.store import Store

T = TypeVar("T")


class ControlledEngine:
    """Another engine. Writes wait while `gate` is cleared, and raise `failure` while it is set."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.health = engine.health
        self.gate = asyncio.Event()
        self.gate.set()
        self.failure: Exception | None = None
        self.waiting = asyncio.Event()
        """Set once a write waits."""

    @property
    def where(self) -> str:
        return self._engine.where

    async def _pass(self) -> None:
        if not self.gate.is_set():
            self.waiting.set()
        await self.gate.wait()
        if self.failure is not None:
            raise self.failure

    async def read(self, work: Callable[[Connection], T]) -> T:
        return await self._engine.read(work)

    async def write(self, work: Callable[[Connection], T], *, urgent: bool = False) -> T:
        await self._pass()
        return await self._engine.write(work, urgent=urgent)

    async def write_statement(self, work: Callable[[Connection], T]) -> T:
        await self._pass()
        return await self._engine.write_statement(work)

    async def change_schema(self, work: Callable[[Connection], None]) -> None:
        await self._engine.change_schema(work)

    async def autocommit(self, work: Callable[[Connection], T]) -> T:
        await self._pass()
        return await self._engine.autocommit(work)

    def listen(self, topic: str) -> AbstractContextManager[Listener]:
        return self._engine.listen(topic)

    def notify(self, topic: str) -> None:
        self._engine.notify(topic)

    def change_mark(self) -> object | None:
        return self._engine.change_mark()

    async def close(self) -> None:
        """Do nothing: the test that opened the engine closes it."""


def with_controlled_engine(store: Store) -> tuple[Store, ControlledEngine]:
    """The same store over a controlled engine, and that engine."""
    engine = ControlledEngine(store.engine)
    return Store(engine, clock=store.clock, appender=Appender(engine)), engine
