"""Chunks per second from `POST /api/chat` to many clients: Partita with its durable log, and two others.

    python -m benchmarks.server

All are served by uvicorn (httptools, uvloop) in one process each, one after another, on the same machine in
one run; the clients are in this process. The bare one sends bytes that were made beforehand.
"""

import asyncio
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

from benchmarks.table import print_table

from .apps import RATE
from .load import ResponseTimes, ask

CLIENTS, ROUNDS, WORDS = 32, 4, 1000
SLOW_CLIENTS, SLOW_WORDS = 1000, 200
PAUSE = 0.02


class Result(NamedTuple):
    """The number of deltas per second at all clients, and the responses."""

    rate: float
    answers: list[ResponseTimes]


@contextmanager
def served(name: str, words: int) -> Generator[int, None, None]:
    """An application, served at a port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.server.apps", name, str(port), str(words), folder]
        process = subprocess.Popen(command)
        try:
            _wait_for(port, process)
            yield port
        finally:
            process.terminate()
            process.wait(20)


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert process.poll() is None, "it did not start"
            time.sleep(PAUSE)
        else:
            return


async def throughput(port: int, clients: int, rounds: int, tag: str) -> Result:
    """All clients at once, each with several requests."""
    began = time.perf_counter()
    chats = [[f"{tag}-{client}-{number}" for number in range(rounds)] for client in range(clients)]
    answers = [one for many in await asyncio.gather(*(ask(port, some) for some in chats)) for one in many]
    return Result(sum(one.deltas for one in answers) / (time.perf_counter() - began), answers)


async def first_chunks(port: int, count: int, tag: str) -> list[float]:
    """The time until the first delta of one client, in seconds, sorted."""
    answers = await ask(port, [f"{tag}-{number}" for number in range(count)])
    return sorted(one.first for one in answers)


def measure(name: str, words: int = WORDS, rounds: int = ROUNDS) -> Result:
    """One application under load, after a warm-up."""
    with served(name, words) as port:
        asyncio.run(throughput(port, 4, 2, "warm"))
        result = asyncio.run(throughput(port, CLIENTS, rounds, "load"))
    assert {one.deltas for one in result.answers} == {words}, "a response was incomplete"
    return result


def waiting(name: str) -> list[float]:
    """The time until the first delta of short responses, one after the other."""
    with served(name, 3) as port:
        asyncio.run(first_chunks(port, 50, "warm"))
        return asyncio.run(first_chunks(port, 300, "first"))


def slow_streams() -> list[float]:
    """The delay of each of many streams behind its agent, which is as fast as a model, in seconds."""
    with served("slow", SLOW_WORDS) as port:
        asyncio.run(throughput(port, 4, 1, "warm"))
        answers = asyncio.run(throughput(port, SLOW_CLIENTS, 1, "slow")).answers
    assert {one.deltas for one in answers} == {SLOW_WORDS}, "a response was incomplete"
    return sorted(one.last - one.first - (SLOW_WORDS - 1) / RATE for one in answers)


def main() -> None:
    """Measure and print."""
    ours, bare, adapter = measure("partita"), measure("starlette"), measure("pydantic_ai", rounds=1)
    rows = [
        ("Starlette, bytes made beforehand, nothing kept", bare),
        ("Partita, every chunk stored before it is sent", ours),
        ("Pydantic AI, its adapter for the same client, nothing kept", adapter),
    ]
    print_table(
        f"{CLIENTS} clients, answers of {WORDS} deltas",
        ("", "deltas a second", "of the bare one"),
        [(name, f"{one.rate:,.0f}", f"{one.rate / bare.rate:.0%}") for name, one in rows],
    )
    print(f"\n  Partita is {ours.rate / adapter.rate:.1f} times as fast as the adapter.")
    mine, least = waiting("partita"), waiting("starlette")
    print_table(
        "Time to the first delta, one client",
        ("", "median", "99 of 100"),
        [
            (name, *(f"{1000 * times[len(times) * part // 100]:.2f} ms" for part in (50, 99)))
            for name, times in (("Starlette", least), ("Partita", mine))
        ],
    )
    late = slow_streams()
    print(f"\n  {SLOW_CLIENTS:,} streams at once, {RATE:.0f} deltas a second each, {SLOW_WORDS} deltas.")
    print(f"  From its first delta to its last a stream took longer than its agent: {_spread(late)}.")


def _spread(seconds: list[float]) -> str:
    return f"{1000 * seconds[len(seconds) // 2]:.0f} ms at the median, {1000 * seconds[-1]:.0f} ms at most"
