"""Codex. Its home: https://developers.openai.com/codex/config-advanced

| path below the home | holds |
|---|---|
| `sessions/YYYY/MM/DD/rollout-TIME-THREAD.jsonl` | a thread: a session, or a sub-agent |
| `….jsonl.zst` | the same, compressed by Codex when it was not used for long |
| `archived_sessions/rollout-….jsonl` | archived threads |

The name of a rollout has the local time and the id of its thread; its folder is that of the day. Ids contain
the time too, so few folders are searched for a thread, and files are opened only for their header.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from partita.errors import PartitaError
from partita.formats.codex.wire import parent_thread, uuid7_millis
from partita.formats.detection.agent_logs import is_bare_item
from partita.lazy import lazy_function
from partita.logs.lines.blocks import read_head
from partita.logs.lines.heads import WINDOW, values_of
from partita.types.json import Json, JsonObject, is_object
from partita.types.times import parse_iso

from .source import (
    Environment,
    Folders,
    LogFile,
    LogFormat,
    LogSource,
    PathInfo,
    SubAgentFiles,
    is_uuid,
    stem_of,
    stream_decoder,
)

AGENT: Final = "codex"
PREFIX: Final = "rollout-"
NAMED: Final = len("rollout-2026-01-31T23-59-59-")
"""The length of a name up to the id of the thread."""

_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


# Where the logs are


def _homes(environment: Environment) -> Iterator[Path]:
    yield environment.path("CODEX_HOME") or environment.home / ".codex"


def _may_contain(folders: Folders) -> bool:
    return not folders or folders[0] in ("sessions", "archived_sessions")


def _classify(folders: Folders, name: str) -> PathInfo | None:
    if not name.startswith(PREFIX) or not name.endswith((".jsonl", ".jsonl.zst")):
        return None
    return PathInfo("session", thread_in(name))


def _is_named(name: str) -> bool:
    return name.startswith(PREFIX)


def _recognize(record: JsonObject, name: str) -> str | None:
    return "bare items in a rollout" if name.startswith(PREFIX) and is_bare_item(record) else None


def thread_in(name: str) -> str | None:
    """The id of the thread in the name of a rollout."""
    thread = name[NAMED : NAMED + 36]
    return thread if name.startswith(PREFIX) and is_uuid(thread) else None


def _session_id(stem: str, records: Sequence[JsonObject]) -> str | None:
    """The id in the header, which has had an envelope since 0.30; else the one in the name."""
    if records:
        payload = records[0].get("payload")
        found: Json = payload.get("id") if is_object(payload) else records[0].get("id")
        if isinstance(found, str):
            return found
    named = _UUID.findall(stem)
    return str(named[-1]) if named else None


# Headers


MARK: Final = b'"parent_thread_id"'
"""In the header of a sub-agent. Inside of a text, the quotes would be escaped."""


def parent_in(path: Path) -> str | None:
    """The thread whose call started that of a rollout; `None` for a session, or if it cannot be read."""
    try:
        head = read_head(path, WINDOW)
    except (OSError, PartitaError):
        return None
    end = head.find(b"\n")
    if head.find(MARK, 0, end if end >= 0 else len(head)) < 0:
        return None
    header = _header(head[:end] if end >= 0 else head)
    return parent_thread(header) if is_object(header) else None


def _header(line: bytes) -> Json:
    """The payload of the first line, which may be cut."""
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        values = values_of(line.decode(errors="replace"), cut=True)
        record = values[0] if values else None
    return record.get("payload") if is_object(record) else None


# Sub-agents


class Rollout(NamedTuple):
    """A rollout in a folder, with the id of its thread."""

    thread: str
    path: Path


def _agent_name(path: Path) -> str:
    return thread_in(path.name) or stem_of(path)


def _find_agents(session: Path) -> Iterator[Path]:
    """The rollouts of the sub-agents of a session, and of their sub-agents."""
    thread = thread_in(session.name)
    if thread is None:
        return
    found: dict[str, Path] = {}
    for rollout in _later_rollouts(session.absolute(), thread):
        found.setdefault(rollout.thread, rollout.path)
    parents = {name: parent_in(path) for name, path in found.items()} | {thread: None}
    for name, path in found.items():
        if top_of(name, parents) == thread:
            yield path


def top_of(thread: str, parents: Mapping[str, str | None]) -> str:
    """The session above a thread, as far as threads are known; the thread itself if it is a session."""
    top, seen = thread, {thread}
    while (above := parents.get(top)) is not None and above in parents:
        if above in seen:
            return thread
        seen.add(above)
        top = above
    return top


def _owners(files: Sequence[LogFile]) -> Mapping[LogFile, LogFile]:
    """Sub-agents are known by their headers. A thread that was reverted has several rollouts."""
    rollouts: dict[str, list[LogFile]] = {}
    for file in files:
        if file.kind == "session" and file.session is not None:
            rollouts.setdefault(file.session, []).append(file)
    parents = {thread: parent_in(found[0].path) for thread, found in rollouts.items()}
    tops = {thread: top_of(thread, parents) for thread in rollouts}
    return {
        rollouts[thread][0]: _active_rollout(rollouts[top], rollouts[thread][0])
        for thread, top in tops.items()
        if top != thread
    }


def _active_rollout(sessions: list[LogFile], agent: LogFile) -> LogFile:
    """The rollout of a thread that was written to when a sub-agent started, by the times in their names."""
    in_order = sorted(sessions, key=lambda file: file.path.name)
    before = [file for file in in_order if file.path.name[:NAMED] <= agent.path.name[:NAMED]]
    return before[-1] if before else in_order[0]


def _session_path(file: LogFile) -> Path | None:
    return None if file.session is None else root_of(file.path)


def root_of(rollout: Path) -> Path:
    """The rollout of the session above a sub-agent's; the same one if it is a session."""
    rollout = rollout.absolute()
    seen = {rollout}
    while (parent := parent_in(rollout)) is not None:
        above = find_thread(parent, rollout)
        if above is None or above in seen:
            break
        seen.add(above)
        rollout = above
    return rollout


# Finding the rollout of a thread


ONE_DAY: Final = timedelta(days=1)
LATEST: Final = datetime(9000, 1, 1, tzinfo=UTC).timestamp() * 1000
"""In milliseconds. A later time in an id is not a time."""

TIMESTAMP: Final = b'"timestamp":"'


def find_thread(thread: str, near: Path) -> Path | None:
    """The rollout of a thread in the tree of another rollout, or beside it."""
    started = _time_of(thread)
    days = None if started is None else (started - ONE_DAY, started + ONE_DAY)
    folders = _folders(near, days)
    return next(
        (one.path for folder in folders for one in _rollouts_in(folder) if one.thread == thread), None
    )


def _later_rollouts(session: Path, thread: str) -> Iterator[Rollout]:
    """The rollouts that started while a session lasted."""
    try:
        written = _last_written(session)
    except (OSError, OverflowError):
        return
    first = _time_of(thread) or _time_in(session.name) or written
    last = max(first, written) + ONE_DAY
    for folder in _folders(session, (first - ONE_DAY, last)):
        for rollout in _rollouts_in(folder):
            time = _time_of(rollout.thread)
            if rollout.thread != thread and (time is None or first <= time <= last):
                yield rollout


def _last_written(session: Path) -> datetime:
    """The time of the last record of a session: a copied file has the time of copying."""
    with session.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - WINDOW))
        tail = file.read(WINDOW)
        at = tail.rfind(TIMESTAMP)
        stamp = tail[at + len(TIMESTAMP) :].partition(b'"')[0] if at >= 0 else b""
        written = parse_iso(stamp.decode(errors="replace"))
        return written or datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, UTC)


def _rollouts_in(folder: Path) -> list[Rollout]:
    """The rollouts in a folder; if one is there in both forms, the one that is not compressed comes first."""
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 # names alone, and fast
    except OSError:
        return []
    found = ((thread_in(name), name) for name in names if ".jsonl" in name)
    return [Rollout(thread, folder / name) for thread, name in found if thread is not None]


def _folders(near: Path, days: tuple[datetime, datetime] | None) -> Iterator[Path]:
    """The folders that may have rollouts of those days, or of all days; the nearest first."""
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
        day += ONE_DAY


def _folder(tree: Path, day: date) -> Path:
    return tree / f"{day.year:04}" / f"{day.month:02}" / f"{day.day:02}"


def _tree(near: Path) -> Path | None:
    """The folder `sessions` that a rollout is in, or that it was archived from."""
    if near.parent.name == "archived_sessions":
        return near.parent.with_name("sessions")
    return next((folder for folder in near.parents[3:4] if folder.name == "sessions"), None)


def _time_of(thread: str) -> datetime | None:
    """When a thread was started, if its id says so."""
    millis = uuid7_millis(thread)
    return None if millis is None or millis > LATEST else datetime.fromtimestamp(millis / 1000, UTC)


def _time_in(name: str) -> datetime | None:
    """When a rollout was started at the earliest. Its name has the local time."""
    try:
        named = datetime.strptime(f"{name[len(PREFIX) : NAMED - 1]}Z", "%Y-%m-%dT%H-%M-%S%z")
        return named - ONE_DAY
    except (ValueError, OverflowError):
        return None


SOURCE: Final = LogSource(
    agent=AGENT,
    formats=(
        LogFormat(
            "codex-rollout",
            AGENT,
            lazy_function("partita.formats.codex.rollout.CodexRolloutDecoder"),
            session_id=_session_id,
            agent_keys=lazy_function("partita.formats.codex.rollout.agent_keys"),
        ),
        LogFormat(
            "codex-exec", AGENT, stream_decoder("partita.formats.codex.exec.CodexExecDecoder"), kind="stream"
        ),
    ),
    resume=("codex", "resume", "{session}"),  # https://developers.openai.com/codex/cli/reference
    homes=_homes,
    watched=("sessions", "archived_sessions"),
    may_contain=_may_contain,
    classify=_classify,
    is_named=_is_named,
    recognize=_recognize,
    sub_agents=SubAgentFiles(
        name=_agent_name,
        find=_find_agents,
        owners=_owners,
        session=_session_path,
        come_late=True,
    ),
)
