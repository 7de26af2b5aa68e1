"""The rollouts of Codex that were started by a call in another: which they are, and where they lie.

A rollout is named by the local time and the id of its thread, and lies in a folder of its day. Ids have the
time in them, so that a thread is found by looking into few folders, and a file is opened for its head alone.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from partita.errors import PartitaError
from partita.formats.codex.thread import millis_of, parent_of, sign_of
from partita.logs.lines.blocks import open_log
from partita.logs.lines.heads import WINDOW, values_of
from partita.logs.places.log_file import is_uuid
from partita.types.json import Json, is_object
from partita.types.times import read_time

ROLLOUT: Final = "rollout-"
STAMP: Final = len("rollout-2026-01-31T23-59-59-")
MARK: Final = b'"parent_thread_id"'
"""What the header of a sub-agent has. In a text inside it, the quotes would be escaped."""

TIMED: Final = b'"timestamp":"'
"""How the time of a record begins."""

PACKED: Final = (".zst", ".gz")
A_DAY: Final = timedelta(days=1)
LATEST: Final = datetime(9000, 1, 1, tzinfo=UTC).timestamp() * 1000
"""In milliseconds: what an id says beyond is no time."""


class Rollout(NamedTuple):
    """A rollout in a folder, by its name."""

    thread: str
    path: Path


def thread_in(name: str) -> str | None:
    """The thread that the name of a rollout says."""
    thread = name[STAMP : STAMP + 36]
    return thread if name.startswith(ROLLOUT) and is_uuid(thread) else None


def parent_in(path: Path) -> str | None:
    """The thread whose call started that of a rollout; `None` for a session, or if it cannot be read."""
    try:
        head = _head(path)
    except (OSError, PartitaError):
        return None
    end = head.find(b"\n")
    if head.find(MARK, 0, end if end >= 0 else len(head)) < 0:
        return None
    header = _header(head[:end] if end >= 0 else head)
    return parent_of(header) if is_object(header) else None


def sign_in(values: Iterable[Json]) -> str:
    """By what a call may know a sub-agent that it does not name, from the first values of its rollout."""
    header = next(iter(values), None)
    payload = header.get("payload") if is_object(header) else None
    return sign_of(payload) if is_object(payload) else ""


def _head(path: Path) -> bytes:
    """The first bytes of a rollout."""
    if path.suffix in PACKED:
        return next(iter(open_log(path)), b"")[:WINDOW]
    file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        return os.read(file, WINDOW)
    finally:
        os.close(file)


def _header(line: bytes) -> Json:
    """What the first line says, be it whole or cut."""
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        values = values_of(line.decode(errors="replace"), cut=True)
        record = values[0] if values else None
    return record.get("payload") if is_object(record) else None


# Where they lie


def rollouts_below(session: Path) -> Iterator[Rollout]:
    """The rollouts of the sub-agents of a session, and of theirs, by name."""
    thread = thread_in(session.name)
    if thread is None:
        return
    found: dict[str, Path] = {}
    for rollout in _later(session.absolute(), thread):
        found.setdefault(rollout.thread, rollout.path)
    parents = {name: parent_in(path) for name, path in found.items()} | {thread: None}
    for name, path in found.items():
        if top_of(name, parents) == thread:
            yield Rollout(name, path)


def top_of(thread: str, parents: Mapping[str, str | None]) -> str:
    """The thread that another works for at last, of those that are there; itself if it works for none."""
    top, met = thread, {thread}
    while (above := parents.get(top)) is not None and above in parents:
        if above in met:
            return thread
        met.add(above)
        top = above
    return top


def root_of(rollout: Path) -> Path:
    """The rollout of the session that a sub-agent works for at last; the same one if it works for none."""
    rollout = rollout.absolute()
    met = {rollout}
    while (parent := parent_in(rollout)) is not None:
        above = find_thread(parent, rollout)
        if above is None or above in met:
            break
        met.add(above)
        rollout = above
    return rollout


def find_thread(thread: str, near: Path) -> Path | None:
    """The rollout of a thread, in the tree that another rollout lies in, or beside it."""
    began = _moment(thread)
    days = None if began is None else (began - A_DAY, began + A_DAY)
    folders = _folders(near, days)
    return next((one.path for folder in folders for one in _listed(folder) if one.thread == thread), None)


def _later(session: Path, thread: str) -> Iterator[Rollout]:
    """The rollouts that began while a session lasted."""
    try:
        written = _last_word(session)
    except (OSError, OverflowError):
        return
    first = _moment(thread) or _named_moment(session.name) or written
    last = max(first, written) + A_DAY
    for folder in _folders(session, (first - A_DAY, last)):
        for rollout in _listed(folder):
            time = _moment(rollout.thread)
            if rollout.thread != thread and (time is None or first <= time <= last):
                yield rollout


def _last_word(session: Path) -> datetime:
    """When a session was last written to: by its last record, for a copied file has the time of copying."""
    with session.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - WINDOW))
        tail = file.read(WINDOW)
        at = tail.rfind(TIMED)
        stamp = tail[at + len(TIMED) :].partition(b'"')[0] if at >= 0 else b""
        written = read_time(stamp.decode(errors="replace"))
        return written or datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, UTC)


def _listed(folder: Path) -> list[Rollout]:
    """The rollouts in a folder, the plain one if there is a compressed one too."""
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 # names alone, and fast
    except OSError:
        return []
    found = ((thread_in(name), name) for name in names if ".jsonl" in name)
    return [Rollout(thread, folder / name) for thread, name in found if thread is not None]


def _folders(near: Path, days: tuple[datetime, datetime] | None) -> Iterator[Path]:
    """The folders that may hold rollouts of those days (or all of them), the nearest first."""
    yield near.parent
    tree = _tree(near)
    if tree is None:
        return
    archive = tree.with_name("archived_sessions")
    if archive != near.parent:
        yield archive
    if days is None:
        yield from (folder for folder in sorted(tree.glob("*/*/*")) if folder != near.parent)
        return
    day, last = days[0].date(), days[1].date()
    while day <= last:
        folder = _folder(tree, day)
        if folder != near.parent:
            yield folder
        day += A_DAY


def _folder(tree: Path, day: date) -> Path:
    return tree / f"{day.year:04}" / f"{day.month:02}" / f"{day.day:02}"


def _tree(near: Path) -> Path | None:
    """The folder `sessions` that a rollout lies in, or that it was archived from."""
    if near.parent.name == "archived_sessions":
        return near.parent.with_name("sessions")
    return next((folder for folder in near.parents[3:4] if folder.name == "sessions"), None)


def _moment(thread: str) -> datetime | None:
    """When a thread began, if its id tells."""
    millis = millis_of(thread)
    return None if millis is None or millis > LATEST else datetime.fromtimestamp(millis / 1000, UTC)


def _named_moment(name: str) -> datetime | None:
    """When a rollout began, by its name: in local time, so within a day."""
    try:
        named = datetime.strptime(f"{name[len(ROLLOUT) : STAMP - 1]}Z", "%Y-%m-%dT%H-%M-%S%z")
        return named - A_DAY
    except (ValueError, OverflowError):
        return None
