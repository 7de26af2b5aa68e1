"""Does a store get slower as it grows? The same queries on a small store and on a large one.

    python -m benchmarks.store_scale [LARGE]     (default 100,000 messages; 1,000,000 for the published table)

The large store has the small one's threads and many more; a search is for a word that the same number of
messages hold in both.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from statistics import median
from time import perf_counter
from typing import Any

from partita.store.connection import open_store
from partita.store.store import Store
from partita.types.messages import Message, UserMessage

from .store_messages import short
from .store_places import PLACES
from .table import print_table

SMALL, LARGE = 1_000, 100_000
PER_THREAD, PIECE, BATCH, ROUNDS = 250, 50, 1_000, 60
LONG = "t0"
"""The thread of a fifth of all messages."""

QUERIES: dict[str, Callable[[Store], Awaitable[Any]]] = {
    "the last 50 messages of the longest thread": lambda s: s.messages.list(LONG, order="desc", limit=50),
    "the last 10 messages of another thread": lambda s: s.messages.list("t2", order="desc", limit=10),
    "the last 50 threads": lambda s: s.threads.list(),
    "a word in 20 messages": lambda s: s.search("lighthousekeeper"),
}


async def fill(store: Store, count: int) -> None:
    """Save this many messages; twenty of them contain a rare word."""
    threads = max(count * 4 // 5 // PER_THREAD, 59) + 1
    for number in range(threads):
        await store.threads.create(f"t{number}", title=f"Thread {number}")
    for start in range(0, count, BATCH):
        batch = [_message(number, count, threads) for number in range(start, min(start + BATCH, count))]
        await store.messages.save(batch)


def _message(number: int, count: int, threads: int) -> Message:
    message = short(number)
    piece = number // PIECE
    thread = LONG if piece % 5 == 0 else f"t{1 + piece % (threads - 1)}"
    special = number % (count // 20) == 3
    content = "Ask the lighthousekeeper." if special else message.content
    return UserMessage(id=message.id, thread_id=thread, content=content)  # type: ignore[arg-type]


async def milliseconds(store: Store) -> dict[str, float]:
    """The median time of each query."""
    found: dict[str, float] = {}
    for name, ask in QUERIES.items():
        times: list[float] = []
        for _ in range(ROUNDS):
            begun = perf_counter()
            await ask(store)
            times.append((perf_counter() - begun) * 1000)
        found[name] = median(times)
    return found


async def measure(large: int) -> list[list[str]]:
    """One row for each engine and question."""
    rows: list[list[str]] = []
    for engine, place in PLACES.items():
        times: list[dict[str, float]] = []
        for count in (SMALL, large):
            with place() as url:
                async with open_store(url) as store:
                    await fill(store, count)
                    if engine == "PostgreSQL":
                        await store.compact()  # and with it, statistics for the planner
                    times.append(await milliseconds(store))
        rows += [
            [
                f"{engine}: {name}",
                f"{times[0][name]:.2f}",
                f"{times[1][name]:.2f}",
                f"{times[1][name] / times[0][name]:.2f}×",
            ]
            for name in QUERIES
        ]
    return rows


def main(large: int = LARGE) -> None:
    """Measure and print."""
    print_table(
        f"A store of {SMALL:,} messages beside one of {large:,} (milliseconds, median of {ROUNDS})",
        ["question", f"{SMALL:,}", f"{large:,}", "ratio"],
        asyncio.run(measure(large)),
    )


if __name__ == "__main__":
    main(int(sys.argv[1].replace(",", "")) if len(sys.argv) > 1 else LARGE)
