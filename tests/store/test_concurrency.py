"""Concurrent writers: in one process and in several, on one thread and on many."""

import asyncio
from collections import Counter

import pytest

from partita.store.store import Store
from partita.store.values import MessageFilter
from tests.store.engines import in_a_file_and_on_a_server
from tests.store.examples import user_message
from tests.store.workers import exit_code, started, write_messages

WRITERS = 32
EACH = 8


async def test_concurrent_writers_of_one_thread(store: Store) -> None:
    await store.threads.create("t0")

    async def write(writer: int) -> None:
        for number in range(EACH):
            await store.messages.save(
                [user_message(f"{writer}-{number}-{half}") for half in "ab"], thread_id="t0"
            )

    await asyncio.gather(*(write(writer) for writer in range(WRITERS)))
    page = await store.messages.list("t0", MessageFilter(branch="all"), limit=None)
    assert Counter(m.id for m in page) == Counter(
        f"{writer}-{number}-{half}" for writer in range(WRITERS) for number in range(EACH) for half in "ab"
    )
    assert [m.seq for m in page] == list(range(1, WRITERS * EACH * 2 + 1))
    for first, second in zip(
        page.items[::2], page.items[1::2], strict=True
    ):  # the messages of a batch are adjacent
        assert first.id[:-1] == second.id[:-1]
    thread = await store.threads.get("t0")
    assert thread is not None
    assert thread.message_count == WRITERS * EACH * 2


async def test_concurrent_writers_of_many_threads(store: Store) -> None:
    for number in range(WRITERS):
        await store.threads.create(f"t{number}")

    async def write(writer: int) -> None:
        for number in range(EACH):
            await store.messages.save(
                [
                    user_message(f"{writer}-{number}", thread_id=f"t{writer}"),
                    user_message(f"{writer}-{number}", thread_id="t0"),
                ]
            )

    await asyncio.gather(*(write(writer) for writer in range(1, WRITERS)))
    assert len(await store.messages.list("t0", limit=None)) == (WRITERS - 1) * EACH
    for writer in range(1, WRITERS):
        page = await store.messages.list(f"t{writer}")
        assert [(m.id, m.seq) for m in page] == [(f"{writer}-{number}", number + 1) for number in range(EACH)]


async def test_concurrent_writes_of_the_same_message(store: Store) -> None:
    await store.threads.create("t0")
    await asyncio.gather(
        *(store.messages.save([user_message("m1", f"version {n}")], thread_id="t0") for n in range(WRITERS))
    )
    page = await store.messages.list("t0")
    assert [(m.id, m.seq) for m in page] == [("m1", 1)]


async def test_concurrent_creation_of_the_same_thread(store: Store) -> None:
    results = await asyncio.gather(
        *(store.threads.create("t0") for _ in range(WRITERS)), return_exceptions=True
    )
    assert sum(not isinstance(result, BaseException) for result in results) == 1


@in_a_file_and_on_a_server
@pytest.mark.parametrize("threads", [1, 4])
async def test_writers_in_several_processes(store: Store, url: str, threads: int) -> None:
    for number in range(threads):
        await store.threads.create(f"t{number}")
    processes, each = 3, 40
    running = [started(write_messages, url, f"p{p}", threads, each) for p in range(processes)]
    assert await asyncio.gather(*map(exit_code, running)) == [0] * processes
    seen: list[str] = []
    for number in range(threads):
        page = await store.messages.list(f"t{number}", limit=None)
        seqs = [m.seq for m in page]
        assert seqs == list(range(1, len(seqs) + 1))
        seen += [m.id for m in page]
    assert Counter(seen) == Counter(f"p{p}-{n}" for p in range(processes) for n in range(each))
