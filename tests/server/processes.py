"""Processes of their own, forked from one that has loaded the server: each starts in milliseconds."""

import asyncio
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.server.loaded"])


class Forked:
    """A process that runs a function. Its standard output and standard error can be read."""

    def __init__(self, function: Callable[..., None], *arguments: Any) -> None:
        _load()
        self._output, output = CONTEXT.Pipe(duplex=False)
        self._errors, errors = CONTEXT.Pipe(duplex=False)
        self._process: BaseProcess = CONTEXT.Process(
            target=_run, args=(output, errors, function, arguments), daemon=True
        )
        self._process.start()
        output.close()
        errors.close()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid or 0

    @property
    def code(self) -> int | None:
        """Its exit code, that of a signal negative; `None` while it runs."""
        return self._process.exitcode

    async def line(self, seconds: float = 60) -> bytes:
        """The next line of its standard output."""
        return await asyncio.wait_for(asyncio.to_thread(_line, self._output.fileno()), seconds)

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    async def kill(self) -> None:
        """`kill -9`."""
        self._process.kill()
        await self.wait()

    async def wait(self, seconds: float = 60) -> int:
        """Its exit code, once it has ended."""
        await asyncio.to_thread(self._process.join, seconds)
        code = self._process.exitcode
        assert code is not None, f"it did not end within {seconds} seconds"
        return code

    async def errors(self) -> str:
        """All of its standard error, once it has ended."""
        return (await asyncio.to_thread(_rest, self._errors.fileno())).decode()


@cache
def _load() -> None:
    """Wait until the process that forks has loaded everything."""
    process = CONTEXT.Process(target=_do_nothing)
    process.start()
    process.join()


def _do_nothing() -> None:
    pass


def _run(
    output: Connection, errors: Connection, function: Callable[..., None], arguments: tuple[Any, ...]
) -> None:
    os.dup2(output.fileno(), 1)
    os.dup2(errors.fileno(), 2)
    output.close()
    errors.close()
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    signal.signal(signal.SIGINT, signal.default_int_handler)
    function(*arguments)


def _line(number: int) -> bytes:
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(number, 1)):
        line += byte
    return line


def _rest(number: int) -> bytes:
    pieces: list[bytes] = []
    while piece := os.read(number, 1 << 16):
        pieces.append(piece)
    return b"".join(pieces)
