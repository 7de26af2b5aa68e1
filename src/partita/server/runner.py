"""`serve`: the application on a port of this machine, by uvicorn, until somebody stops it."""

import asyncio
import gc
import os
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any, Final

import uvicorn

from partita.runtime.log_context import get_logger

from .app import PartitaApp
from .hub import Hub
from .protocol import HEADER_SECONDS, bounded
from .sockets import BACKLOG, BindError, addresses, listen, url_of

LOG: Final = get_logger("partita.server")

PORT: Final = 7272
RUNS_END_IN: Final = 5.0
"""Seconds for the runs to complete on SIGTERM; then they are stopped. On Ctrl-C they are stopped at once."""

AGENTS_STOP_IN: Final = 2.0
"""Then for their agents to clean up,"""

STORED_IN: Final = 2.0
"""for what they said to be stored,"""

STREAMS_END_IN: Final = 2
"""and for the answers that are still being sent."""

TASKS_END_IN: Final = 1.0
"""And at last for tasks that are cancelled."""

EXIT_IN: Final = RUNS_END_IN + AGENTS_STOP_IN + STORED_IN + STREAMS_END_IN + 3.0
"""Seconds after which the process ends by force: an agent that blocks the event loop cannot be stopped."""

SELDOM: Final = (20_000, 20, 50)
"""How seldom the collector looks for cycles: streams make many things, and hardly any of those."""

TURN: Final = 0.0005
"""Seconds after which a busy thread lets another one in. With ten times as much, which is usual, the thread
that writes to SQLite would wait at every statement for an event loop that is never idle."""

Tell = Callable[[str], None]
"""Hears the address, once the server listens."""

Work = Callable[[Hub], Awaitable[None]]
"""Something to be done while the server runs."""


def serve(
    app: PartitaApp,
    host: str = "127.0.0.1",
    port: int = PORT,
    *,
    tell: Tell = lambda url: print(f"Partita is at {url}", flush=True),
    before: Work | None = None,
    beside: Work | None = None,
) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP. Runs that do not complete soon are then ended as interrupted.

    `before` is done before anybody is answered, `beside` while the server runs.
    """
    serve_on(app, open_sockets(app, host, port), tell=tell, before=before, beside=beside)


def open_sockets(app: PartitaApp, host: str, port: int) -> list[socket.socket]:
    """Sockets to listen on: beyond this machine only for an application that asks who it is."""
    places = addresses(host)
    open_to_all = [place.host for place in places if not place.is_local]
    if open_to_all and not app.authenticates:
        raise BindError(
            "without keys, the server is for this machine alone",
            where=open_to_all[0],
            hint="make a key with `partita keys create` and serve with --keys, or leave --host out",
        )
    return listen(places, port)


def serve_on(
    app: PartitaApp,
    sockets: list[socket.socket],
    *,
    tell: Tell = lambda _: None,
    before: Work | None = None,
    beside: Work | None = None,
) -> None:
    """Serve on sockets that are open already; they are closed at the end."""
    raise_file_limit()
    config = config_of(app)
    server = Server(config, app, tell)
    try:
        with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
            runner.run(_serve(app, server, sockets, before, beside))
            server.exit_in(TASKS_END_IN, 0)  # all is stored and closed; an agent may refuse to end
    finally:
        server.ended()


async def _serve(
    app: PartitaApp,
    server: "Server",
    sockets: list[socket.socket],
    before: Work | None,
    beside: Work | None,
) -> None:
    try:
        async with app.lifespan():
            if before is not None:
                await before(app.opened())
            task = None if beside is None else asyncio.ensure_future(beside(app.opened()))
            try:
                await server.serve(sockets)
            finally:
                if task is not None:
                    task.cancel()
                    await asyncio.wait([task])
    finally:
        for one in sockets:
            one.close()


def config_of(app: PartitaApp, *, header_seconds: float = HEADER_SECONDS) -> uvicorn.Config:
    """How uvicorn shall work: nothing of a request is logged, nobody is believed about who sent it."""
    return uvicorn.Config(
        app,
        http=bounded(app.settings.limits, header_seconds=header_seconds, tell=app.metrics.refused),
        ws="none",
        lifespan="off",  # opened before, so that what is wrong with it is told by itself
        log_config=None,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=STREAMS_END_IN,
    )


class Server(uvicorn.Server):
    """A server that tells when it listens, and ends the runs, and so their streams, before it stops."""

    def __init__(self, config: uvicorn.Config, app: PartitaApp, tell: Tell) -> None:
        super().__init__(config)
        self._app = app
        self._tell = tell
        self._drains = False
        self._watchdog: threading.Timer | None = None
        self._stop: Callable[[], object] | None = None

    async def main_loop(self) -> None:
        """Wait until the server is to stop; once a second the date of responses is set.

        Uvicorn looks ten times a second, which is most of what an idle server would do.
        """
        loop, stopping = asyncio.get_running_loop(), asyncio.Event()
        self._stop = partial(loop.call_soon_threadsafe, stopping.set)
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), 1.0)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        gc.collect()
        gc.freeze()  # what is here now stays: the collector need not look at it again
        gc.set_threshold(*SELDOM)
        sys.setswitchinterval(TURN)
        self._tell(url_of((sockets or [])[0]))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen no more, end the runs at work, then what is still being sent."""
        for server in self.servers:
            server.close()
        hub = self._app.hub
        if hub is not None:
            LOG.info("shutting down, with %d runs to end", hub.session.working())
            hub.feed.close()
            drain = RUNS_END_IN if self._drains else 0.0
            closing = hub.session.close(drain=drain, grace=AGENTS_STOP_IN)
            with suppress(TimeoutError):
                await asyncio.wait_for(closing, drain + AGENTS_STOP_IN + STORED_IN)
        await super().shutdown(sockets)
        gc.unfreeze()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Stop when asked to, or when the terminal goes; a second Ctrl-C stops at once. It is no error."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        signals = [signal.SIGINT, signal.SIGTERM]
        if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # so by nohup
            signals.append(signal.SIGHUP)
        earlier: list[Any] = [signal.signal(each, self.handle_exit) for each in signals]
        try:
            yield
        finally:
            for each, handler in zip(signals, earlier, strict=True):
                signal.signal(each, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take note of a signal."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self._drains = sig == signal.SIGTERM
        self.should_exit = True
        if self._stop is not None:
            self._stop()
        if self._watchdog is None:
            self._start_watchdog(EXIT_IN, 1)

    def exit_in(self, seconds: float, code: int) -> None:
        """End the process by force after some seconds, if it was asked to stop and has not ended then."""
        if self._watchdog is not None:
            self._watchdog.cancel()
            self._start_watchdog(seconds, code)

    def _start_watchdog(self, seconds: float, code: int) -> None:
        self._watchdog = threading.Timer(seconds, _exit, (code,))
        self._watchdog.daemon = True
        self._watchdog.start()

    def ended(self) -> None:
        """The process has nothing more to wait for."""
        if self._watchdog is not None:
            self._watchdog.cancel()


def _exit(code: int) -> None:
    """End the process. What was stored is there; runs that had not ended, the next process ends."""
    os.write(2, b"Partita was stopped by force: an agent did not stop.\n")
    os._exit(code)


def raise_file_limit() -> None:
    """Let this process have as many connections as it may."""
    try:
        import resource
    except ImportError:  # not on this platform
        return
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems name a limit that they do not allow
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
