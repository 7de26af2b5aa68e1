"""The server as a process: it prints its URL, responds, and stops on signals."""

import asyncio
import signal
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
import pytest_asyncio

from partita.runtime.session.session import Session
from partita.server.app import asgi
from partita.server.runner import open_sockets, raise_file_limit
from partita.server.sockets import BindError
from partita.store.connection import open_store
from partita.types.threads import Run
from tests.processes import Forked
from tests.sampling import FULL
from tests.server.conftest import scripted, text_part
from tests.server.runner.program import run_blocking, run_brief, run_server, run_stubborn
from tests.store.empty_store import empty_store
from tests.tables import each_row

LONG = {
    "id": "c",
    "messages": [{"id": "u", "role": "user", "parts": [{"type": "text", "text": "a long one"}]}],
}
HEAD = (
    b"POST /api/chat HTTP/1.1\r\nhost: localhost\r\n"
    b"content-type: application/json\r\ncontent-length: %d\r\n\r\n"
)
STOP_SECONDS = 15.0
"""Seconds that stopping may take on a busy machine; the stream alone would take longer."""


class Running:
    """A server in a separate process."""

    def __init__(self, process: Forked, url: str) -> None:
        self.process = process
        self.url = url

    async def stop(self, sent: signal.Signals) -> tuple[int, str]:
        self.process.send(sent)
        code = await self.process.wait(STOP_SECONDS)
        return code, await self.process.errors()


@asynccontextmanager
async def running(folder: Path, program: Callable[[str], None] = run_server) -> AsyncGenerator[Running, None]:
    process = Forked(program, empty_store(folder))
    try:
        line = (await process.line()).decode()
        assert line.startswith("Partita is at "), await process.errors()
        yield Running(process, line.removeprefix("Partita is at ").strip())
    finally:
        await process.kill()


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path) as started:
        yield started


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def same_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    """A server for tests that only send requests."""
    async with running(tmp_path_factory.mktemp("server")) as started:
        yield started


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT], ids=lambda sent: sent.name)
async def test_a_stop_ends_streams_and_marks_their_runs_as_interrupted(
    server: Running, sent: signal.Signals, tmp_path: Path
) -> None:
    async with (
        httpx.AsyncClient(base_url=server.url, timeout=30) as client,
        client.stream("POST", "/api/chat", json=LONG) as response,
    ):
        lines = response.aiter_lines()
        while "text-delta" not in await anext(lines):
            pass
        code, stderr = await server.stop(sent)
        rest = [line async for line in lines if line]
    assert (code, stderr) == (0, "")
    assert '"type":"abort"' in rest[-2]
    assert rest[-1] == "data: [DONE]"
    async with open_store(str(tmp_path / "store.db")) as store:
        (run,) = (await store.runs.list()).items
    assert run.status == "interrupted"


class Stopped(NamedTuple):
    """The result of sending a signal to a server during a response."""

    code: int
    seconds: float
    received: str
    run: Run


async def stopped_in_the_middle(
    folder: Path, program: Callable[[str], None], sent: signal.Signals
) -> Stopped:
    received = ""
    async with (
        running(folder, program) as server,
        httpx.AsyncClient(base_url=server.url, timeout=30) as client,
        client.stream("POST", "/api/chat", json=LONG) as response,
    ):
        pieces = response.aiter_text()
        while "text-delta" not in received:
            received += await anext(pieces)
        await asyncio.sleep(0.3)
        began = time.monotonic()
        code, _ = await server.stop(sent)
        seconds = time.monotonic() - began
        with suppress(httpx.RemoteProtocolError):
            async for piece in pieces:
                received += piece
    async with open_store(str(folder / "store.db")) as store:
        (run,) = (await store.runs.list()).items
    return Stopped(code, seconds, received, run)


async def test_on_sigterm_a_response_can_complete(tmp_path: Path) -> None:
    stopped = await stopped_in_the_middle(tmp_path, run_brief, signal.SIGTERM)
    assert (stopped.code, stopped.run.status) == (0, "completed")
    assert "Done." in stopped.received
    assert '"type":"finish"' in stopped.received


async def test_an_agent_that_does_not_stop_does_not_prevent_stopping(tmp_path: Path) -> None:
    stopped = await stopped_in_the_middle(tmp_path, run_stubborn, signal.SIGINT)
    assert (stopped.code, stopped.run.status) == (0, "interrupted")
    assert '"type":"abort"' in stopped.received


if FULL:  # it takes a quarter of a minute

    async def test_an_agent_that_blocks_the_event_loop_does_not_prevent_exit(tmp_path: Path) -> None:
        stopped = await stopped_in_the_middle(tmp_path, run_blocking, signal.SIGTERM)
        assert stopped.code == 1
        assert stopped.seconds < STOP_SECONDS
        async with open_store(str(tmp_path / "store.db")) as store, Session(store) as session:
            async with asyncio.timeout(5):  # at once: the process is gone
                assert (await session.wait(stopped.run.id)).status == "interrupted"


async def test_a_client_that_does_not_read_does_not_prevent_stopping(server: Running) -> None:
    port = httpx.URL(server.url).port
    assert port is not None
    body = str(LONG).replace("'", '"').encode()
    with socket.create_connection(("127.0.0.1", port)) as silent:
        silent.sendall(HEAD % len(body) + body)
        await asyncio.sleep(0.3)
        code, _ = await server.stop(signal.SIGTERM)
    assert code == 0


async def test_it_listens_on_both_loopback_addresses(same_server: Running) -> None:
    port = httpx.URL(same_server.url).port
    async with httpx.AsyncClient(timeout=30) as client:
        for host in ["127.0.0.1", "[::1]"] if socket.has_ipv6 else ["127.0.0.1"]:
            response = await client.get(
                f"http://{host}:{port}/api/threads", headers={"host": f"localhost:{port}"}
            )
            assert response.status_code == 200


async def test_headers_are_limited_before_the_application(same_server: Running) -> None:
    async with httpx.AsyncClient(base_url=same_server.url, timeout=30) as client:
        response = await client.get("/api/threads", headers={f"x-{number}": "1" for number in range(500)})
    assert response.status_code == 431
    assert response.headers["connection"] == "close"


async def test_many_connections_are_accepted(same_server: Running) -> None:
    began = time.monotonic()
    async with httpx.AsyncClient(base_url=same_server.url, timeout=60) as client:
        responses = await asyncio.gather(*(client.get("/api/threads") for _ in range(50)))
    assert {response.status_code for response in responses} == {200}, time.monotonic() - began


REFUSED: list[str] = ["0.0.0.0", "::", ""]


@each_row("host", REFUSED, ids=repr)
def test_without_keys_other_addresses_are_refused(host: str, tmp_path: Path) -> None:
    app = asgi(scripted([text_part("Hello.")]), store=str(tmp_path / "store.db"))
    with pytest.raises(BindError) as caught:
        open_sockets(app, host, 0)
    assert "partita keys create" in caught.value.hint


@each_row("protected", ["keys", "user"])
def test_with_authentication_all_addresses_are_allowed(protected: str, tmp_path: Path) -> None:
    store = str(tmp_path / "store.db")
    agent = scripted([text_part("Hello.")])
    app = (
        asgi(agent, store=store, keys=True)
        if protected == "keys"
        else asgi(agent, store=store, user=lambda _: "somebody")
    )
    for one in open_sockets(app, "0.0.0.0", 0):
        one.close()


def test_the_limit_of_open_files_is_raised() -> None:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, hard), hard))
        raise_file_limit()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == hard
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
