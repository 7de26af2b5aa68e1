"""A pytest plugin that runs tests in several processes: `--workers 3`.

The tests are collected once, and the workers are forked from the process that has collected them. Each works
through a stretch of the tests, because neighbours load the same packages, and then helps with the others. One
that has become large is replaced.
"""

import atexit
import os
import pickle
import resource
import selectors
import socket
import struct
import sys
import threading
import traceback
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest
from _pytest.capture import CaptureManager
from _pytest.terminal import TerminalReporter

MOST: Final = 12
"""The most tests of a module that a worker gets at once, unless the module has its own fixtures."""

LARGE: Final = 380 * 1024 * 1024
"""Bytes of memory above which a worker is replaced."""

SHORT: Final = 0.05
"""Seconds below which the set-up of a test is not reported."""

STATM: Final = Path("/proc/self/statm")
HEADER: Final = struct.Struct("!I")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--workers`."""
    parser.addoption("--workers", type=int, default=0, help="run the tests in this many processes")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the collected tests if there are workers."""
    workers: int = session.config.option.workers
    if not workers or not session.items or session.config.option.collectonly or session.testsfailed:
        return None
    Controller(session).run(workers)
    return True


@pytest.fixture(scope="session")
def worker_id() -> str:
    """Return a name that is unique among the processes of this run."""
    return f"{os.getpid()}"


@pytest.fixture(scope="session")
def testrun_uid(request: pytest.FixtureRequest) -> str:
    """Return a name that all processes of this run share."""
    return str(request.config.stash.get(RUN, os.getpid()))


RUN: Final = pytest.StashKey[int]()


class Channel:
    """Sends and receives values between two processes."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection

    def send(self, value: Any) -> None:
        """Send a value."""
        data = pickle.dumps(value)
        self.connection.sendall(HEADER.pack(len(data)) + data)

    def receive(self) -> Any:
        """Return the next value; raise `EOFError` when the other process has ended."""
        (length,) = HEADER.unpack(self._bytes(HEADER.size))
        return pickle.loads(self._bytes(length))

    def _bytes(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            piece = self.connection.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)


class Worker:
    """A worker process as seen by the controller."""

    def __init__(self, pid: int, channel: Channel, stretch: deque[range]) -> None:
        self.pid = pid
        self.channel = channel
        self.stretch = stretch
        self.units: deque[range] = deque()
        self.running: str | None = None
        self.next = 0
        """The index of the first test that has not started."""


class Controller:
    """Gives tests to workers, and passes their reports to pytest."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._config = session.config
        self._stretches: list[deque[range]] = []
        self._selector = selectors.DefaultSelector()
        self._workers: dict[int, Worker] = {}
        self._ended = 0
        self._folder: Path = session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined] # pyright: ignore
        self._config.stash[RUN] = os.getpid()

    def run(self, workers: int) -> None:
        """Run all tests."""
        reporter = self._config.pluginmanager.getplugin("terminalreporter")
        if isinstance(reporter, TerminalReporter):
            reporter.showfspath = False  # several modules run at once
        if processes := sys.modules.get("tests.processes"):
            processes.fork_server()  # one for all workers
        waiting = list(units(self._session.items))
        length = -(-len(waiting) // workers)
        self._stretches = [deque(waiting[i : i + length]) for i in range(0, len(waiting), length)]
        try:
            for stretch in self._stretches:
                self._start(stretch)
            while self._workers:
                for key, _ in self._selector.select():
                    self._receive(key.data)
                if self._session.shouldfail or self._session.shouldstop:
                    for stretch in self._stretches:
                        stretch.clear()
        finally:
            for worker in self._workers.values():
                worker.channel.connection.close()
            for worker in self._workers.values():
                os.waitpid(worker.pid, 0)
            self._selector.close()
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)
        if self._ended != len(self._session.items):
            pytest.exit(f"only {self._ended} of {len(self._session.items)} tests were run", returncode=3)

    def _start(self, stretch: deque[range]) -> None:
        ours, theirs = socket.socketpair()
        sys.stdout.flush()
        sys.stderr.flush()
        assert threading.active_count() == 1, "a fork copies only one thread"
        pid = os.fork()
        if pid == 0:
            ours.close()
            self._selector.close()
            for other in self._workers.values():
                other.channel.connection.close()
            become_worker(self._session, Channel(theirs), self._folder / f"worker-{os.getpid()}")
        theirs.close()
        worker = Worker(pid, Channel(ours), stretch)
        self._workers[pid] = worker
        self._selector.register(ours, selectors.EVENT_READ, worker)
        for _ in range(2):
            self._give(worker)

    def _give(self, worker: Worker) -> None:
        """Give more tests to a worker, or report that there are none."""
        longest = max(self._stretches, key=len)
        unit = worker.stretch.popleft() if worker.stretch else longest.pop() if longest else None
        if unit is not None:
            if not worker.units:
                worker.next = unit.start
            worker.units.append(unit)
        with suppress(OSError):  # it has ended, which the next read detects
            worker.channel.send(unit)

    def _receive(self, worker: Worker) -> None:
        hook, items = self._config.hook, self._session.items
        match _message(worker.channel):
            case "begun", int(place):
                item = items[place]
                worker.running, worker.next = item.nodeid, place + 1
                hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
            case "report", data:
                report = hook.pytest_report_from_serializable(config=self._config, data=data)
                hook.pytest_runtest_logreport(report=report)
            case "ended", int(place):
                worker.running = None
                self._ended += 1
                hook.pytest_runtest_logfinish(nodeid=items[place].nodeid, location=items[place].location)
            case "done", _:
                worker.units.popleft()
                if worker.units:
                    worker.next = worker.units[0].start
                self._give(worker)
            case "failed", why:
                pytest.exit(f"a worker failed:\n{why}", returncode=3)
            case _:
                self._end(worker)

    def _end(self, worker: Worker) -> None:
        """Give the remaining tests of an ended worker to others."""
        self._selector.unregister(worker.channel.connection)
        worker.channel.connection.close()
        del self._workers[worker.pid]
        _, status = os.waitpid(worker.pid, 0)
        if worker.running is not None:
            self._ended += 1
            code = os.waitstatus_to_exitcode(status)
            item = next(item for item in self._session.items if item.nodeid == worker.running)
            report = pytest.TestReport(
                item.nodeid,
                item.location,
                {},
                "failed",
                f"the process that ran it ended with {code}",
                "call",
            )
            self._config.hook.pytest_runtest_logreport(report=report)
        left = [range(worker.next, worker.units[0].stop), *list(worker.units)[1:]] if worker.units else []
        worker.stretch.extendleft(reversed([unit for unit in left if unit]))
        if any(self._stretches):
            self._start(worker.stretch)


def _message(channel: Channel) -> tuple[str, Any]:
    try:
        message: tuple[str, Any] = channel.receive()
    except (EOFError, ConnectionError):
        return "gone", None
    return message


def units(items: Sequence[pytest.Item]) -> Iterator[range]:
    """Return the indexes of tests that run consecutively in one process."""
    start = 0
    for _, group in groupby(items, key=lambda item: item.nodeid.partition("::")[0]):
        tests = list(group)
        most = len(tests) if any(map(_shares, tests)) else MOST
        for place in range(start, start + len(tests), most):
            yield range(place, min(place + most, start + len(tests)))
        start += len(tests)


def _shares(item: pytest.Item) -> bool:
    """Return whether a test has a fixture that other tests of its module reuse."""
    if not isinstance(item, pytest.Function):
        return True
    definitions = item._fixtureinfo.name2fixturedefs  # pyright: ignore[reportPrivateUsage]
    return any(
        one.scope in ("module", "package", "class") for found in definitions.values() for one in found[-1:]
    )


def become_worker(session: pytest.Session, channel: Channel, folder: Path) -> NoReturn:
    """Run the tests that arrive over a channel, and exit."""
    code = 0
    atexit._clear()  # pyright: ignore[reportPrivateUsage] # exit handlers of the controller
    try:
        own = session.config
        capture = own.pluginmanager.getplugin("capturemanager")
        if isinstance(capture, CaptureManager):  # files of the controller
            capture.stop_global_capturing()
            capture.start_global_capturing()
        reports = Reports(own, channel)
        own.pluginmanager.unregister(name="terminalreporter")
        own.pluginmanager.register(reports, name="terminalreporter")
        folder.mkdir(exist_ok=True)
        own._tmp_path_factory._basetemp = folder  # type: ignore[attr-defined] # pyright: ignore
        _work(session, channel)
        session._setupstate.teardown_exact(None)  # pyright: ignore[reportPrivateUsage]
        threading._shutdown()  # type: ignore[attr-defined] # pyright: ignore
        atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    except (EOFError, ConnectionError, KeyboardInterrupt):  # the controller has ended, or is about to
        code = 130
    except BaseException:
        code = 1
        channel.send(("failed", traceback.format_exc()))
    os._exit(code)


def _work(session: pytest.Session, channel: Channel) -> None:
    unit: range | None = channel.receive()
    while unit is not None:
        following: range | None = channel.receive()
        for place in unit:
            after = place + 1 if place + 1 < unit.stop else None if following is None else following.start
            channel.send(("begun", place))
            session.config.hook.pytest_runtest_protocol(
                item=session.items[place], nextitem=None if after is None else session.items[after]
            )
            channel.send(("ended", place))
        channel.send(("done", None))
        if memory() > LARGE:
            return
        unit = following


class Reports:
    """Sends the reports of a worker to the controller."""

    def __init__(self, config: pytest.Config, channel: Channel) -> None:
        self._config = config
        self._channel = channel
        self._tw = config.get_terminal_writer()  # compared values are described with it

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Send a report, except for those of fast fixtures."""
        if report.when != "call" and report.passed and report.duration < SHORT:
            return
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._channel.send(("report", data))


def memory() -> int:
    """Return the memory of this process in bytes, or its peak if only that is known."""
    try:
        return int(STATM.read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
