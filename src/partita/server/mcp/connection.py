"""One client: its requests answered side by side, each as soon as it is ready, unless it was cancelled."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final

from partita.errors import DecodeError
from partita.types.json import Json, JsonObject, is_array, loads

from .archive import Archive
from .methods import answer, initialized
from .rpc import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    Notification,
    Request,
    RequestId,
    RpcError,
    failure,
    line,
    success,
    told_apart,
)
from .versions import HANDSHAKE, Dialect, dialect_of, offered

AT_ONCE: Final = 8
"""How many requests are worked on at once; the others wait."""

LOG: Final = logging.getLogger("partita.mcp")


class Connection:
    """What was agreed on with a client, and what is being answered."""

    def __init__(self, archive: Archive, send: Callable[[bytes], None]) -> None:
        self._archive = archive
        self._send = send
        self._dialect = Dialect(HANDSHAKE[-1])
        self._answering: dict[RequestId, asyncio.Task[JsonObject]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._room = asyncio.Semaphore(AT_ONCE)

    def take(self, text: bytes) -> None:
        """A line from the client."""
        if not text.strip():
            return
        try:
            value = loads(text)
        except DecodeError as error:
            self._refuse(RpcError(PARSE_ERROR, str(error)))
            return
        if is_array(value):
            self._take_batch(value)
        else:
            task = self._take_one(value)
            if task is not None:
                self._start(self._send_when_ready(task))

    def too_long(self, most: int) -> None:
        """A line came that nobody would want to hold."""
        self._refuse(RpcError(INVALID_REQUEST, f"a line has more than {most} bytes"))

    async def finish(self) -> None:
        """Wait until everything is answered."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def stop(self) -> None:
        """Answer nothing any more."""
        for task in (*self._answering.values(), *self._tasks):
            task.cancel()
        await self.finish()

    def _take_batch(self, values: list[Json]) -> None:
        if not values or not self._dialect.batches:
            why = "is empty" if not values else f"is no part of version {self._dialect.version}"
            self._refuse(RpcError(INVALID_REQUEST, f"a batch {why}"))
            return
        tasks = [task for value in values if (task := self._take_one(value)) is not None]
        if tasks:
            self._start(self._send_together(tasks))

    def _take_one(self, value: Json) -> asyncio.Task[JsonObject] | None:
        """The task that makes the answer; none when there is nothing to answer."""
        try:
            message = told_apart(value)
            match message:
                case Request() if message.id in self._answering:
                    raise RpcError(INVALID_REQUEST, f"the id {message.id!r} is in use")
                case Request():
                    return self._begin(message)
                case Notification(method="notifications/cancelled"):
                    self._cancel(message.params.get("requestId"))
                case Notification() | None:
                    pass
        except RpcError as error:
            self._refuse(error)
        return None

    def _begin(self, request: Request) -> asyncio.Task[JsonObject]:
        if request.method == "initialize":  # at once: what follows may depend on it
            self._dialect = offered(request.params.get("protocolVersion"))
            work = _ready(success(request.id, initialized(self._dialect)))
        else:
            work = self._answer(request, self._dialect)
        task = self._start(work)
        self._answering[request.id] = task
        task.add_done_callback(lambda _: self._answering.pop(request.id, None))
        return task

    async def _answer(self, request: Request, agreed: Dialect) -> JsonObject:
        try:
            dialect = dialect_of(request.params, agreed)
            async with self._room:
                return success(request.id, await answer(request, dialect, self._archive))
        except RpcError as error:
            return failure(request.id, error)
        except Exception as error:  # a mistake of ours must not leave the client waiting
            LOG.exception("%s failed", request.method)
            return failure(request.id, RpcError(INTERNAL_ERROR, f"{type(error).__name__} in the server"))

    def _cancel(self, id: Json) -> None:
        task = self._answering.get(id) if isinstance(id, str | int) else None
        if task is not None:
            task.cancel()

    async def _send_when_ready(self, task: asyncio.Task[JsonObject]) -> None:
        await asyncio.wait([task])
        if not task.cancelled():
            self._send(line(task.result()))

    async def _send_together(self, tasks: list[asyncio.Task[JsonObject]]) -> None:
        await asyncio.wait(tasks)
        replies = [task.result() for task in tasks if not task.cancelled()]
        if replies:
            self._send(line(replies))

    def _refuse(self, error: RpcError) -> None:
        self._send(line(failure(None, error)))

    def _start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


async def _ready(reply: JsonObject) -> JsonObject:
    return reply
