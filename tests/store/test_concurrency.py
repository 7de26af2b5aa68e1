"""Many writers at once: in one process and in several, on one thread and on many."""

import asyncio
import subprocess
import sys
from collections import Counter

import pytest

from partita.store.facade.store import Store
from tests.store.examples import ask

WRITERS = 32
EACH = 8

WRITER = """
import asyncio, sys
from partita.store.opening import open_store
from partita.types.messages import UserMessage

async def main(url, name, threads, each):
    async with open_store(url) as store:
        for number in range(each):
            thread = f"t{number % threads}"
            await store.save_messages([UserMessage(id=f"{name}-{number}", content="x")], thread_id=thread)

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
"""


async def test_writers_of_one_thread(store: Store) -> None:
    await store.create_thread("t0")

    async def write(writer: int) -> None:
        for number in range(EACH):
            await store.save_messages([ask(f"{writer}-{number}-{half}") for half in "ab"], thread_id="t0")

    await asyncio.gather(*(write(writer) for writer in range(WRITERS)))
    page = await store.list_messages("t0", limit=None, branch="all")
    assert Counter(m.id for m in page) == Counter(
        f"{writer}-{number}-{half}" for writer in range(WRITERS) for number in range(EACH) for half in "ab"
    )
    assert [m.seq for m in page] == list(range(1, WRITERS * EACH * 2 + 1))
    for first, second in zip(page.items[::2], page.items[1::2], strict=True):  # batches stay together
        assert first.id[:-1] == second.id[:-1]
    thread = await store.get_thread_by_id("t0")
    assert thread is not None
    assert thread.message_count == WRITERS * EACH * 2


async def test_writers_of_many_threads(store: Store) -> None:
    for number in range(WRITERS):
        await store.create_thread(f"t{number}")

    async def write(writer: int) -> None:
        for number in range(EACH):
            await store.save_messages(
                [ask(f"{writer}-{number}", thread_id=f"t{writer}"), ask(f"{writer}-{number}", thread_id="t0")]
            )

    await asyncio.gather(*(write(writer) for writer in range(1, WRITERS)))
    assert len(await store.list_messages("t0", limit=None)) == (WRITERS - 1) * EACH
    for writer in range(1, WRITERS):
        page = await store.list_messages(f"t{writer}")
        assert [(m.id, m.seq) for m in page] == [(f"{writer}-{number}", number + 1) for number in range(EACH)]


async def test_two_who_write_the_same_message(store: Store) -> None:
    await store.create_thread("t0")
    await asyncio.gather(
        *(store.save_messages([ask("m1", f"version {n}")], thread_id="t0") for n in range(WRITERS))
    )
    page = await store.list_messages("t0")
    assert [(m.id, m.seq) for m in page] == [("m1", 1)]


async def test_two_who_make_the_same_thread(store: Store) -> None:
    results = await asyncio.gather(
        *(store.create_thread("t0") for _ in range(WRITERS)), return_exceptions=True
    )
    assert sum(not isinstance(result, BaseException) for result in results) == 1


@pytest.mark.parametrize("threads", [1, 4])
async def test_several_processes(store: Store, url: str, threads: int) -> None:
    if url == "memory:":
        pytest.skip("memory is one process's own")
    for number in range(threads):
        await store.create_thread(f"t{number}")
    processes, each = 3, 40
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, url, f"p{p}", str(threads), str(each)])
        for p in range(processes)
    ]
    codes = await asyncio.gather(*(asyncio.to_thread(process.wait, 120) for process in running))
    assert codes == [0] * processes
    seen: list[str] = []
    for number in range(threads):
        page = await store.list_messages(f"t{number}", limit=None)
        seqs = [m.seq for m in page]
        assert seqs == list(range(1, len(seqs) + 1))
        seen += [m.id for m in page]
    assert Counter(seen) == Counter(f"p{p}-{n}" for p in range(processes) for n in range(each))
