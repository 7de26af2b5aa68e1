"""`serve`: run the application on a port with uvicorn, until a signal stops it."""

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
from .app_state import AppState
from .protocol import HEADER_SECONDS, bounded_protocol
from .sockets import BACKLOG, BindError, addresses, listen, url_of

LOG: Final = get_logger("partita.server")

PORT: Final = 7272
RUN_DRAIN_SECONDS: Final = 5.0
"""Seconds that runs have to complete on SIGTERM before they are stopped. Ctrl-C stops them at once."""

AGENT_GRACE_SECONDS: Final = 2.0
"""Seconds that their agents then have to clean up."""

STORE_SECONDS: Final = 2.0
"""Seconds within which their messages must then be stored."""

STREAM_DRAIN_SECONDS: Final = 2
"""Seconds after which responses that are still being sent are ended."""

TASK_SECONDS: Final = 1.0
"""Seconds within which cancelled tasks must end."""

FORCED_EXIT_SECONDS: Final = (
    RUN_DRAIN_SECONDS + AGENT_GRACE_SECONDS + STORE_SECONDS + STREAM_DRAIN_SECONDS + 3.0
)
"""Seconds after which the process exits by force: an agent that blocks the event loop cannot be stopped."""

GC_THRESHOLDS: Final = (20_000, 20, 50)
"""The garbage collector runs rarely: streams create many objects and hardly any cycles."""

SWITCH_INTERVAL: Final = 0.0005
"""Seconds after which a busy thread lets another one run. With the default, which is ten times as long, the
thread that writes to SQLite would wait at every statement for an event loop that is never idle."""

OnListening = Callable[[str], None]
"""Receives the URL once the server listens."""

Work = Callable[[AppState], Awaitable[None]]
"""A task that uses the open application."""


def serve(
    app: PartitaApp,
    host: str = "127.0.0.1",
    port: int = PORT,
    *,
    on_listening: OnListening = lambda url: print(f"Partita is at {url}", flush=True),
    before: Work | None = None,
    background: Work | None = None,
) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP. Runs that do not complete soon are then ended as interrupted.

    `before` runs before the first request is accepted, `background` while the server runs.
    """
    sockets = open_sockets(app, host, port)
    serve_on(app, sockets, on_listening=on_listening, before=before, background=background)


def open_sockets(app: PartitaApp, host: str, port: int) -> list[socket.socket]:
    """Sockets to listen on. Addresses of other machines are only for an application that authenticates."""
    found = addresses(host)
    reachable = [address.host for address in found if not address.is_local]
    if reachable and not app.authenticates:
        raise BindError(
            "without keys, the server is for this machine only",
            where=reachable[0],
            hint="create a key with `partita keys create` and serve with --keys, or leave --host out",
        )
    return listen(found, port)


def serve_on(
    app: PartitaApp,
    sockets: list[socket.socket],
    *,
    on_listening: OnListening = lambda _: None,
    before: Work | None = None,
    background: Work | None = None,
) -> None:
    """Serve on open sockets, which are closed at the end."""
    raise_file_limit()
    config = config_of(app)
    server = Server(config, app, on_listening)
    try:
        with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
            runner.run(_serve(app, server, sockets, before, background))
            server.exit_in(TASK_SECONDS, 0)  # everything is stored and closed; an agent may still not end
    finally:
        server.stop_watchdog()


async def _serve(
    app: PartitaApp,
    server: "Server",
    sockets: list[socket.socket],
    before: Work | None,
    background: Work | None,
) -> None:
    try:
        async with app.lifespan():
            if before is not None:
                await before(app.opened())
            task = None if background is None else asyncio.ensure_future(background(app.opened()))
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
    """The configuration of uvicorn: requests are not logged, and proxy headers are not trusted."""
    return uvicorn.Config(
        app,
        http=bounded_protocol(
            app.settings.limits, header_seconds=header_seconds, report=app.metrics.count_refusal
        ),
        ws="none",
        lifespan="off",  # the application is opened before, so that its errors are reported separately
        log_config=None,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=STREAM_DRAIN_SECONDS,
    )


class Server(uvicorn.Server):
    """A server that reports when it listens, and ends runs, and so their streams, before it stops."""

    def __init__(self, config: uvicorn.Config, app: PartitaApp, on_listening: OnListening) -> None:
        super().__init__(config)
        self._app = app
        self._on_listening = on_listening
        self._drains = False
        self._watchdog: threading.Timer | None = None
        self._stop: Callable[[], object] | None = None

    async def main_loop(self) -> None:
        """Wait until the server is to stop, and update the date of responses once a second.

        Uvicorn's own loop runs ten times a second, which is most of the work of an idle server.
        """
        loop, stopping = asyncio.get_running_loop(), asyncio.Event()
        self._stop = partial(loop.call_soon_threadsafe, stopping.set)
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), 1.0)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        await super().startup(sockets)
        gc.collect()
        gc.freeze()  # objects that exist now stay: the collector need not check them again
        gc.set_threshold(*GC_THRESHOLDS)
        sys.setswitchinterval(SWITCH_INTERVAL)
        self._on_listening(url_of((sockets or [])[0]))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, end active runs, then wait for responses that are still being sent."""
        for server in self.servers:
            server.close()
        state = self._app.state
        if state is not None:
            LOG.info("shutting down, with %d runs to end", state.session.running_count())
            state.feed.close()
            drain = RUN_DRAIN_SECONDS if self._drains else 0.0
            closing = state.session.close(drain=drain, grace=AGENT_GRACE_SECONDS)
            with suppress(TimeoutError):
                await asyncio.wait_for(closing, drain + AGENT_GRACE_SECONDS + STORE_SECONDS)
        await super().shutdown(sockets)
        gc.unfreeze()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Stop on signals, or when the terminal closes. A second Ctrl-C stops at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        signals = [signal.SIGINT, signal.SIGTERM]
        if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup ignores it
            signals.append(signal.SIGHUP)
        earlier: list[Any] = [signal.signal(each, self.handle_exit) for each in signals]
        try:
            yield
        finally:
            for each, handler in zip(signals, earlier, strict=True):
                signal.signal(each, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Start to stop because of a signal."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self._drains = sig == signal.SIGTERM
        self.should_exit = True
        if self._stop is not None:
            self._stop()
        if self._watchdog is None:
            self._start_watchdog(FORCED_EXIT_SECONDS, 1)

    def exit_in(self, seconds: float, code: int) -> None:
        """Exit by force after some seconds, if the process is stopping and has not ended by then."""
        if self._watchdog is not None:
            self._watchdog.cancel()
            self._start_watchdog(seconds, code)

    def _start_watchdog(self, seconds: float, code: int) -> None:
        self._watchdog = threading.Timer(seconds, _exit, (code,))
        self._watchdog.daemon = True
        self._watchdog.start()

    def stop_watchdog(self) -> None:
        """Cancel the forced exit."""
        if self._watchdog is not None:
            self._watchdog.cancel()


def _exit(code: int) -> None:
    """End the process. Stored messages are kept; the next process ends the runs that have not ended."""
    os.write(2, b"Partita was stopped by force: an agent did not stop.\n")
    os._exit(code)


def raise_file_limit() -> None:
    """Allow this process as many open files, and so connections, as possible."""
    try:
        import resource
    except ImportError:  # not available on this platform
        return
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems name a limit that they do not allow
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
