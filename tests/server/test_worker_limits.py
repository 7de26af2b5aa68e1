"""Limits of worker processes: CPU time, memory, number, and the end of their request."""

import asyncio
import gzip
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from time import monotonic
from typing import Final

import httpx
import pytest

from partita.server import worker_pool
from partita.server.app import asgi
from partita.server.settings import MEBIBYTE, Limits
from partita.server.worker_pool import Job, SingleProcess, WorkerPool
from partita.server.worker_process import WorkerError
from partita.store.store import Store
from tests.sampling import FULL
from tests.server.conftest import Serve, client_of
from tests.tables import each_row

JSON: Final = {"content-type": "application/json"}
BYTES: Final = {"content-type": "application/octet-stream"}
MESSAGE: Final = '{"role":"user","content":""}'
LINE: Final = (
    b'{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/a","sessionId":'
    b'"5f0c6f3e-0000-4000-8000-000000000000","version":"2.0.0","gitBranch":"","type":"user",'
    b'"message":{"role":"user","content":"a"},"uuid":"%d","timestamp":"2026-01-01T00:00:00.000Z"}\n'
)
TIGHT: Final = Limits(cpu_seconds=0.2, memory_bytes=32 * MEBIBYTE)

pytestmark = pytest.mark.skipif(
    not worker_pool.CAN_FORK, reason="processes are started in another way on this system"
)


def messages(count: int, to: str = "anthropic") -> bytes:
    return f'{{"to":"{to}","payload":[{",".join([MESSAGE] * count)}]}}'.encode()


def memory() -> int:
    """The size of this process in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def descendants(process: int) -> set[int]:
    """The child processes of a process, and theirs."""
    found: set[int] = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == process and state != "Z":
            found |= {int(folder.name)} | descendants(int(folder.name))
    return found


@pytest.fixture
async def tight(store: Store) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a server with low limits."""
    app = asgi(None, store=store, limits=TIGHT)
    async with app.lifespan(), client_of(app) as client:
        yield client


REFUSED: Final[dict[str, tuple[str, bytes, dict[str, str], str]]] = {
    "too slow to convert": ("/api/convert", messages(15_000), JSON, "more than 0.2 seconds of CPU time"),
    "too large to convert": (
        "/api/convert",
        b"[%b1]" % (b"[]," * 900_000),
        JSON,
        "more than 32 MB of memory",
    ),
    "too slow to inspect": (
        "/api/inspect?to=anthropic",
        f"[{','.join([MESSAGE] * 15_000)}]".encode(),
        JSON,
        "0.2 seconds of CPU time",
    ),
    "expands when it is unpacked": (
        "/api/import?name=a.jsonl",
        gzip.compress(LINE * 20_000),
        BYTES,
        "expands to more than 50 times its size",
    ),
}


@each_row("row", REFUSED)
async def test_expensive_requests_are_refused_and_name_the_limit(tight: httpx.AsyncClient, row: str) -> None:
    path, body, headers, detail = REFUSED[row]
    before = memory()
    response = await tight.post(path, content=body, headers=headers)
    problem = response.json()
    assert response.status_code == 413, problem
    assert detail in problem["detail"]
    assert "Limits(" in problem["hint"]
    assert "partita serve --" in problem["hint"]
    assert memory() - before < 24 * MEBIBYTE
    metrics = (await tight.get("/metrics")).text
    assert "partita_workers_exceeded_total 0.0" not in metrics


async def test_a_job_without_enough_memory_is_not_an_internal_error(store: Store) -> None:
    app = asgi(None, store=store, limits=Limits(cpu_seconds=5, memory_bytes=32 * MEBIBYTE))
    statuses: set[int] = set()
    async with app.lifespan(), client_of(app) as client:
        for count in range(13_000, 14_600, 150 if FULL else 800):
            response = await client.post("/api/convert", content=messages(count), headers=JSON)
            statuses.add(response.status_code)
    assert statuses <= {200, 413}


async def test_an_import_that_exceeded_a_limit_can_be_retried(store: Store) -> None:
    log = b"".join(LINE % number for number in range(600))
    statuses: list[int] = []
    for limits in (Limits(cpu_seconds=0.05), Limits()):
        app = asgi(None, store=store, limits=limits)
        async with app.lifespan(), client_of(app) as client:
            response = await client.post("/api/import?name=a.jsonl", content=log, headers=BYTES)
            statuses.append(response.status_code)
    assert statuses == [413, 200]
    counts = response.json()["messages"]
    assert counts["new"] + counts["unchanged"] == 600


async def test_a_job_ends_when_its_client_disconnects(store: Store, serve: Serve) -> None:
    app = asgi(None, store=store)
    url = await serve(app)
    body = messages(200_000)
    lines = ["POST /api/convert HTTP/1.1", "host: localhost", "content-type: application/json"]
    head = "\r\n".join([*lines, f"content-length: {len(body)}", "", ""])
    await WorkerPool(Limits()).run(10**6, list, os.getpid)  # the fork server is running
    idle = descendants(os.getpid())
    async with asyncio.timeout(30):
        _, writer = await asyncio.open_connection("127.0.0.1", httpx.URL(url).port)
        writer.write(head.encode() + body)
        await writer.drain()
        while not descendants(os.getpid()) - idle:
            await asyncio.sleep(0.02)
        writer.close()
        gone = monotonic()
        while descendants(os.getpid()) - idle:
            await asyncio.sleep(0.02)
    assert monotonic() - gone < 5  # a second, on a machine that is not busy


async def test_further_requests_are_refused_when_the_queue_is_full() -> None:
    pool = WorkerPool(Limits(worker_processes=1, worker_queue=1))
    async with pool.job():
        waiting = asyncio.create_task(pool.run(10**6, list, os.getpid))
        await asyncio.sleep(0)
        with pytest.raises(worker_pool.Problem) as refused:
            await pool.run(10**6, list, os.getpid)
        assert (refused.value.status, list(refused.value.headers)) == (503, ["retry-after"])
        assert not waiting.done()
    assert await waiting != [os.getpid()]


def test_errors_and_exit_codes_of_jobs_are_distinguished() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        list(Job(TIGHT).items(divmod, 1, 0))
    assert "divmod" not in str(raised.value)
    assert isinstance(raised.value.__cause__, WorkerError) or raised.value.__cause__ is None
    with pytest.raises(WorkerError, match="ended with 3"):
        list(Job(TIGHT).items(os._exit, 3))
    with pytest.raises(worker_pool.Problem, match="memory"):
        list(Job(TIGHT).items(bytes, 10**9))


def test_without_fork_each_job_has_a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "ForkedProcess", SingleProcess)
    assert list(Job(Limits()).items(divmod, 7, 2)) == [(3, 1)]
    assert list(Job(Limits()).items(iter, [1, 2])) == [1, 2]
    monkeypatch.setattr(worker_pool, "WALL_TIME_FACTOR", 1.0)
    with pytest.raises(worker_pool.Problem, match="CPU time"):
        list(Job(Limits(cpu_seconds=0.3)).items(signal.pause))


async def test_no_process_survives_a_killed_server() -> None:
    program = (
        "import os, threading, time\n"
        "from partita.server import worker_pool\n"
        "from partita.server.settings import Limits\n"
        "worker_pool.PRELOADED = ()\n"
        "sleep = lambda: list(worker_pool.Job(Limits()).items(time.sleep, 60))\n"
        "threading.Thread(target=sleep, daemon=True).start()\n"
        "print(next(worker_pool.Job(Limits()).items(os.getpid)), flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None
            await asyncio.to_thread(server.stdout.readline)
            workers = descendants(server.pid)
            assert len(workers) >= 2, "the fork server and one job"
        finally:
            server.kill()
    async with asyncio.timeout(10):
        while any(Path(f"/proc/{worker}").exists() for worker in workers):
            await asyncio.sleep(0.02)
