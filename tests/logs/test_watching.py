"""Watching files for changes, with events of the operating system and by polling."""

import asyncio
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

import pytest
import watchfiles
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.logs.watching import changes, watcher
from partita.logs.watching.changes import EventListener, Events, FileIndex, silent_file_system
from partita.logs.watching.watcher import Watcher, WatchMethod, watch

PATIENCE = 60.0
"""How many seconds a change may take on a very busy machine before it counts as missed."""

LONG = 10_000.0

WatchedChanges: TypeAlias = set[tuple[watchfiles.Change, str]]


class Following:
    """The changes that were reported so far."""

    def __init__(self) -> None:
        self.reported: list[frozenset[Path]] = []
        self.methods: list[WatchMethod] = []
        self._news = asyncio.Condition()

    async def take(self, roots: list[Path], **options: Any) -> None:
        async for changed in watch(roots, on_method=self.methods.append, **options):
            async with self._news:
                self.reported.append(changed)
                self._news.notify_all()

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(holds)

    async def sees(self, *paths: Path) -> None:
        """Wait until all these changes were reported, and remove them."""
        await self.until(lambda: set(paths) <= {path for reported in self.reported for path in reported})
        self.reported.clear()


@asynccontextmanager
async def following(*roots: Path, **options: Any) -> AsyncGenerator[Following, None]:
    following, stop = Following(), asyncio.Event()
    task = asyncio.create_task(following.take(list(roots), stop=stop, **options))
    try:
        await following.until(lambda: bool(following.reported))
        assert following.reported == [frozenset()]  # the first set is empty: watching has begun
        following.reported.clear()
        yield following
    finally:
        stop.set()
        await asyncio.wait_for(task, PATIENCE)
        assert not listeners()


def listeners() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "partita-listener"]


@pytest.fixture(params=["events", "polling"])
def options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Each way alone: without rescans, events must report every change."""
    forced = request.param == "polling"
    return {"force_polling": forced, "poll_interval": 0.05, "rescan_interval": LONG}


async def test_created_changed_and_removed_files_are_reported(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    old = tmp_path / "old.jsonl"
    old.write_text("{}\n")
    async with following(tmp_path, **options) as follower:
        new = tmp_path / "new.jsonl"
        new.write_text("{}\n")
        await follower.sees(new)
        with old.open("a") as file:
            file.write("{}\n")
        await follower.sees(old)
        new.unlink()
        await follower.sees(new)
    assert [method.name for method in follower.methods] == [
        "polling" if options["force_polling"] else "events"
    ]


async def test_a_replaced_file_is_reported(tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "session.json"
    path.write_text("{}")
    async with following(tmp_path, **options) as follower:
        (tmp_path / "other").write_text("[]")
        (tmp_path / "other").replace(path)
        await follower.sees(path)


async def test_files_in_new_folders_are_not_missed(tmp_path: Path, options: dict[str, Any]) -> None:
    async with following(tmp_path, **options) as follower:
        paths: list[Path] = []
        for number in range(30):
            folder = tmp_path / str(number) / "a" / "b"
            folder.mkdir(parents=True)
            paths.append(folder / "first.jsonl")
            paths[-1].write_text("{}\n")
        await follower.sees(*paths)


async def test_moved_folders_are_reported_as_files(tmp_path: Path, options: dict[str, Any]) -> None:
    watched, elsewhere = tmp_path / "watched", tmp_path / "elsewhere"
    (elsewhere / "deep").mkdir(parents=True)
    (elsewhere / "deep" / "x.jsonl").write_text("{}\n")
    watched.mkdir()
    async with following(watched, **options) as follower:
        elsewhere.rename(watched / "in")
        await follower.sees(watched / "in" / "deep" / "x.jsonl")
        (watched / "in").rename(elsewhere)
        await follower.sees(watched / "in" / "deep" / "x.jsonl")


async def test_a_root_that_is_created_later_is_watched(tmp_path: Path, options: dict[str, Any]) -> None:
    root = tmp_path / "not" / "yet"
    async with following(root, tmp_path / "never", **options) as follower:
        (root / "sub").mkdir(parents=True)
        (root / "sub" / "first.jsonl").write_text("{}\n")
        await follower.sees(root / "sub" / "first.jsonl")
        (root / "sub" / "second.jsonl").write_text("{}\n")
        await follower.sees(root / "sub" / "second.jsonl")


async def test_a_root_that_is_removed_and_created_is_still_watched(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    root = tmp_path / "root"
    for round_ in range(3):
        root.mkdir(exist_ok=True)
        async with following(root, **options) as follower:
            (root / f"{round_}.jsonl").write_text("{}\n")
            await follower.sees(root / f"{round_}.jsonl")
            shutil.rmtree(root)
            await follower.sees(root / f"{round_}.jsonl")
            root.mkdir()
            (root / "again.jsonl").write_text("{}\n")
            await follower.sees(root / "again.jsonl")
            with (root / "again.jsonl").open("a") as file:
                file.write("{}\n")
            await follower.sees(root / "again.jsonl")


async def test_a_root_that_is_a_link_keeps_its_name(tmp_path: Path, options: dict[str, Any]) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    async with following(tmp_path / "link", **options) as follower:
        (tmp_path / "real" / "x.jsonl").write_text("{}\n")
        await follower.sees(tmp_path / "link" / "x.jsonl")


async def test_a_database_is_reported_when_written_not_when_read(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    path, ahead = tmp_path / "opencode.db", tmp_path / "opencode.db-wal"
    async with following(path, ahead, **options) as follower:
        writer = sqlite3.connect(path, isolation_level=None)
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE session(id)")
        await follower.sees(path, ahead)
        writer.execute("INSERT INTO session VALUES (1)")
        await follower.sees(ahead)
        writer.close()
        await follower.sees(ahead)
        for _ in range(3):
            reader = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            assert reader.execute("SELECT * FROM session").fetchall() == [(1,)]
            await asyncio.sleep(0.2)
            reader.close()
        (tmp_path / "opencode.db").touch()
        await follower.until(lambda: bool(follower.reported))
        assert frozenset[Path]().union(*follower.reported) == {path}


async def test_nothing_is_reported_without_changes(tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("{}\n")
    async with following(tmp_path, **options) as follower:
        path.chmod(0o600)
        path.read_text()
        (tmp_path / "folder").mkdir()
        (tmp_path / "last").touch()
        await follower.until(lambda: bool(follower.reported))
        assert follower.reported == [frozenset({tmp_path / "last"})]


async def test_a_loop_of_links_ends(tmp_path: Path, options: dict[str, Any]) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "up").symlink_to(tmp_path)
    async with following(tmp_path, **options) as follower:
        (tmp_path / "folder" / "x.jsonl").write_text("{}\n")
        await follower.sees(tmp_path / "folder" / "x.jsonl")


# The end of watching.


async def test_watching_ends_if_stopped_before_it_starts(tmp_path: Path) -> None:
    stop = asyncio.Event()
    stop.set()
    assert [changed async for changed in watch([tmp_path], stop=stop)] == [frozenset()]


async def test_it_ends_when_cancelled(tmp_path: Path, options: dict[str, Any]) -> None:
    following = Following()
    task = asyncio.create_task(following.take([tmp_path], **options))
    await following.until(lambda: bool(following.reported))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not listeners()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_it_ends_when_cancelled_while_it_begins(tmp_path: Path) -> None:
    task = asyncio.create_task(Following().take([tmp_path], stop=asyncio.Event()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not listeners()


async def test_it_ends_when_closed(tmp_path: Path, options: dict[str, Any]) -> None:
    watching = watch([tmp_path], **options)
    assert await anext(watching) == frozenset()
    await watching.aclose()
    assert not listeners()


# Missing events.


def no_events(*_: str, stop_event: threading.Event, **__: Any) -> Iterator[WatchedChanges]:
    """A listener that reports no change."""
    while not stop_event.wait(0.01):
        yield set()


FAILURES: dict[str, Exception] = {
    "too many listeners": RuntimeError("Too many open files"),
    "too many folders": FileNotFoundError("OS file watch limit reached"),
    "not installed": ImportError("no watchfiles"),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
async def test_it_polls_when_it_cannot_listen(
    failure: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: str, **__: Any) -> Iterator[WatchedChanges]:
        raise failure

    monkeypatch.setattr(watchfiles, "watch", fail)
    async with following(tmp_path, poll_interval=0.05) as follower:
        assert follower.methods == [WatchMethod("polling", str(failure))]
        (tmp_path / "x").write_text("x")
        await follower.sees(tmp_path / "x")


async def test_it_polls_when_listening_fails_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = threading.Event()

    def fail_when_full(*_: str, stop_event: threading.Event, **__: Any) -> Iterator[WatchedChanges]:
        while not stop_event.wait(0.01):
            if full.is_set():
                raise RuntimeError("full")
            yield set()

    monkeypatch.setattr(watchfiles, "watch", fail_when_full)
    async with following(tmp_path, poll_interval=0.05, rescan_interval=LONG) as follower:
        full.set()
        (tmp_path / "x").write_text("x")
        await follower.sees(tmp_path / "x")
        (tmp_path / "x").write_text("more")
        await follower.sees(tmp_path / "x")
        assert follower.methods == [WatchMethod("events"), WatchMethod("polling", "full")]


async def test_it_polls_on_a_file_system_without_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts, root = tmp_path / "mounts", tmp_path / "root"
    mounts.write_text(f"1 0 0:1 / {os.path.realpath(root)} rw - nfs4 server:/home rw\n")
    monkeypatch.setattr(changes, "MOUNTS", mounts)
    async with following(root, poll_interval=0.05) as follower:
        assert follower.methods == [WatchMethod("events")]
        root.mkdir()
        (root / "x").write_text("x")
        await follower.sees(root / "x")
        assert follower.methods[1:] == [
            WatchMethod("polling", f"{root} is on nfs4, which does not report changes")
        ]


async def test_a_change_without_an_event_is_found_by_a_rescan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchfiles, "watch", no_events)
    async with following(tmp_path, poll_interval=0.05, rescan_interval=0.2) as follower:
        (tmp_path / "x").write_text("x")
        await follower.sees(tmp_path / "x")
        assert follower.methods == [WatchMethod("events")]


class ScriptedListener:
    """A listener with the events that a test sets."""

    def __init__(self) -> None:
        self.failure: BaseException | None = None
        self.paths: set[str] = set()

    def take(self) -> Events:
        paths, self.paths = frozenset(self.paths), set()
        return Events(paths, frozenset())

    def close(self) -> None:
        """Nothing to stop."""


class Scene:
    """A watcher, its events, and a clock."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.listener = ScriptedListener()
        monkeypatch.setattr(watcher, "EventListener", self._listen)
        monkeypatch.setattr(watcher, "time", SimpleNamespace(monotonic=lambda: self.now))
        self.watcher = Watcher([str(root)], rescan_interval=30, force_polling=False, wake=lambda: None)
        self.watcher.start()

    def _listen(self, *_: object) -> ScriptedListener:
        return self.listener

    def scan(self, after: float, *events: Path) -> set[Path]:
        self.now += after
        self.listener.paths.update(map(str, events))
        return set(map(Path, self.watcher.scan()))


def test_it_polls_if_events_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    path.write_text("x")
    scene = Scene(tmp_path, monkeypatch)
    path.write_text("more")
    assert scene.scan(1) == set()
    assert scene.scan(30) == {path}
    assert scene.scan(1) == set()
    assert scene.watcher.method == WatchMethod("events")
    scene.scan(2)
    assert scene.watcher.method == WatchMethod("polling", f"no event for a change of {path}")
    path.write_text("even more")
    assert scene.scan(0.1) == {path}


@pytest.mark.parametrize("reported", ["", "x"], ids=["for its folder", "for itself"])
def test_a_late_event_is_not_a_reason_to_poll(
    reported: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    path.write_text("x")
    scene = Scene(tmp_path, monkeypatch)
    path.write_text("more")
    assert scene.scan(30) == {path}
    assert scene.scan(1, tmp_path / reported) == set()
    scene.scan(10)
    assert scene.watcher.method == WatchMethod("events")


def test_a_new_file_without_an_event_is_not_a_reason_to_poll(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene(tmp_path, monkeypatch)
    (tmp_path / "x").write_text("x")  # as in a folder that the system did not listen to yet
    assert scene.scan(30) == {tmp_path / "x"}
    scene.scan(10)
    assert scene.watcher.method == WatchMethod("events")


def test_a_new_folder_is_scanned_a_second_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "folder"
    scene = Scene(tmp_path, monkeypatch)
    folder.mkdir()
    assert scene.scan(0.1, folder) == set()
    (folder / "x").write_text("after the scan, and before the system watches the folder")
    assert scene.scan(0.1) == set()
    assert scene.scan(1) == {folder / "x"}
    (folder / "y").write_text("later, and reported by the system")
    assert scene.scan(1) == set()
    assert scene.scan(1, folder / "y") == {folder / "y"}


def test_a_closed_watcher_finds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(tmp_path, monkeypatch)
    scene.watcher.close()
    (tmp_path / "x").write_text("x")
    assert scene.scan(30, tmp_path / "x") == set()


def test_the_start_of_the_listener_is_awaited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: str, stop_event: threading.Event, **__: Any) -> Iterator[WatchedChanges]:
        time.sleep(0.3)
        yield {(watchfiles.Change.added, str(tmp_path / "x"))}
        stop_event.wait()

    monkeypatch.setattr(watchfiles, "watch", slow)
    woken = threading.Event()
    listener = EventListener([str(tmp_path)], woken.set)
    assert woken.wait(PATIENCE)
    assert listener.take().paths == {str(tmp_path / "x")}
    listener.close()


MOUNTS = """\
20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw
21 20 0:30 / /home rw - nfs4 server:/home rw,vers=4
22 21 0:31 / /home/me/my\\040disk rw - fuse.sshfs host: rw
23 21 8:2 / /home/local rw master:1 - xfs /dev/disk rw
24 20 0:32 / /mnt/c rw - 9p drive rw
25 20 0:33 / /mnt/c rw - ext4 /dev/over rw
not a line
"""
FOLDERS = {
    "/": None,
    "/work": None,
    "/home": "nfs4",
    "/homes": None,
    "/home/me/.claude": "nfs4",
    "/home/me/my disk/x": "fuse.sshfs",
    "/home/local/me": None,
    "/mnt/c/x": None,
}


@pytest.mark.parametrize(("folder", "expected"), FOLDERS.items(), ids=FOLDERS)
@pytest.mark.skipif(os.name == "nt", reason="paths of another system")
def test_file_systems_without_events(folder: str, expected: str | None) -> None:
    assert silent_file_system(folder, MOUNTS) == expected


def test_a_system_without_a_list_of_mounts_has_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MOUNTS", tmp_path / "missing")
    assert silent_file_system(str(tmp_path)) is None


# Changes since the last scan.

NAMES = ("a", "b", "c/d", "c/e", "c/f/g")
steps = st.lists(
    st.tuples(st.sampled_from(("write", "remove", "remove folder")), st.sampled_from(NAMES)), max_size=6
)


@given(st.lists(steps, max_size=4))
@settings(max_examples=30)
def test_scanning_by_events_finds_the_changes_of_a_full_scan(
    tmp_path_factory: pytest.TempPathFactory, rounds: list[list[tuple[str, str]]]
) -> None:
    root = tmp_path_factory.mktemp("inventory")
    reported, everywhere = FileIndex([str(root)]), FileIndex([str(root)])
    size = 0
    for round_ in rounds:
        touched: set[str] = set()
        for act, name in round_:
            path = root / name
            size += 1
            if act == "write":
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("x" * size)
            elif act == "remove":
                path.unlink(missing_ok=True)
            else:
                path = root / name.split("/", maxsplit=1)[0]
                if path.is_dir():
                    shutil.rmtree(path)
            touched.add(str(path))
        assert reported.scan(touched) == everywhere.rescan()
    assert reported.rescan() == {}
