"""The import of databases of OpenCode."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from partita.importers.logs.importer import import_logs
from partita.importers.logs.plan import LogImportReport, OnProgress, Progress
from partita.importers.logs.workers import Workers
from partita.logs.files import find_logs
from partita.store.store import Store
from partita.store.values import RunFilter
from partita.types.json import JsonObject, dumps
from partita.types.messages import ToolCallPart, text_of
from tests.logs.opencode_databases import add_second

from .log_files import just_now

TOKENS: JsonObject = {"input": 100, "output": 5, "reasoning": 2, "cache": {"read": 0, "write": 0}}
MODEL: JsonObject = {"id": "claude-sonnet-4-5", "providerID": "anthropic"}


def asked(id: str, text: str, at: int) -> JsonObject:
    return {"id": id, "type": "user", "text": text, "time": {"created": at}}


def answered(id: str, at: int, *content: JsonObject) -> JsonObject:
    time = {"created": at, "completed": at + 500}
    own: JsonObject = {"agent": "build", "model": MODEL, "content": list(content), "tokens": TOKENS}
    return {"id": id, "type": "assistant", "time": time, "finish": "stop", **own}


def just_now_ms() -> int:
    """The beginning of a session whose agent may be running."""
    return int(just_now().timestamp() * 1000)


def orchard(folder: Path, *, at: int = 2000) -> Path:
    """A session that has started another, in a database of version 2."""
    path = folder / "opencode.db"
    state: JsonObject = {
        "status": "completed",
        "input": {"prompt": "Count"},
        "content": [{"type": "text", "text": "Seven."}],
        "metadata": {"sessionID": "ses_child"},
    }
    call: JsonObject = {
        "type": "tool",
        "id": "c1",
        "name": "subagent",
        "state": state,
        "time": {"created": at + 500},
    }
    add_second(path, "ses_top", asked("msg_1", "Count the pears", at), answered("msg_2", at + 100, call))
    child = (
        asked("msg_3", "Count", at + 200),
        answered("msg_4", at + 300, {"type": "text", "text": "Seven."}),
    )
    add_second(path, "ses_child", *child, parent="ses_top")
    return path


def without_link(folder: Path, *, at: int) -> Path:
    """The same, where no call names the session that was started."""
    path = orchard(folder, at=at)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE session_message SET data = replace(data, 'ses_child', 'ses_gone')")
    return path


async def statuses(store: Store, thread_id: str) -> set[str]:
    return {run.status for run in (await store.runs.list(RunFilter(thread_id=thread_id))).items}


async def import_path(store: Store, path: Path, on_progress: OnProgress | None = None) -> LogImportReport:
    return await import_logs(store, find_logs([path]).files, workers=Workers(1), on_progress=on_progress)


async def test_a_session_of_version_2_with_its_sub_agent_under_the_call(store: Store, tmp_path: Path) -> None:
    path = orchard(tmp_path)
    report = await import_path(store, path)
    assert (report.counts.new_threads, report.failed, report.unknown_records) == (1, False, {})
    messages = (await store.messages.list("ses_top", limit=None)).items
    (call,) = [part for message in messages for part in message.parts if isinstance(part, ToolCallPart)]
    assert [text_of(child) for child in call.children if not child.internal] == ["Count", "Seven."]
    usage = await store.usage.of_thread("ses_top")
    assert (usage.input_tokens, usage.output_tokens) == (200, 14)
    thread = await store.threads.get("ses_top")
    assert thread is not None
    assert (thread.project, thread.agent) == ("/orchard", "opencode")


async def test_new_messages_in_a_database_are_imported(store: Store, tmp_path: Path) -> None:
    path = orchard(tmp_path)
    await import_path(store, path)
    assert (await import_path(store, path)).counts.new == 0
    with closing(sqlite3.connect(path)) as database, database:
        data = dumps({"text": "Thank you", "time": {"created": 9000}}).decode()
        row = ("msg_9", "ses_top", "user", 90, 9000, 9000, data)
        database.execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    report = await import_path(store, path)
    assert (report.counts.new, report.counts.new_threads) == (1, 0)
    last = (await store.messages.list("ses_top", limit=None)).items[-1]
    assert text_of(last) == "Thank you"


async def test_a_sub_agent_that_no_call_names_is_a_separate_thread(store: Store, tmp_path: Path) -> None:
    path = without_link(tmp_path, at=just_now_ms())
    assert (await import_path(store, path)).counts.new_threads == 1
    os.utime(path, (0, 0))  # while its session was running, a call might still have named it
    report = await import_path(store, path)
    assert (report.counts.new_threads, report.failed) == (1, False)
    messages = (await store.messages.list("ses_top/ses_child", limit=None)).items
    assert [text_of(message) for message in messages] == ["Count", "Seven."]


async def test_a_session_stops_running_when_nothing_was_written_for_long(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "opencode.db"
    add_second(path, "ses_1", asked("msg_1", "Count the pears", just_now_ms()))
    await import_path(store, path)
    assert "running" in await statuses(store, "ses_1")
    os.utime(path, (0, 0))
    report = await import_path(store, path)
    assert report.read == 1
    assert await statuses(store, "ses_1") == {"completed"}
    assert (await import_path(store, path)).read == 0


def barn(folder: Path, *, at: int = 1000) -> Path:
    """A session in the folders of version 1. Its files were written at time 0."""
    storage = folder / "storage"
    time: JsonObject = {"created": at, "updated": at + 1000}
    files: dict[str, JsonObject] = {
        "session/p1/ses_1.json": {
            "id": "ses_1",
            "directory": "/barn",
            "title": "Mend the roof",
            "time": time,
        },
        "message/ses_1/msg_1.json": {"id": "msg_1", "role": "user", "time": {"created": at}},
        "part/msg_1/prt_1.json": {"id": "prt_1", "type": "text", "text": "Mend the roof"},
    }
    for name, content in files.items():
        path = storage / name
        path.parent.mkdir(parents=True)
        path.write_bytes(dumps(content))
        os.utime(path, (0, 0))
    return storage


async def test_a_session_in_folders_is_reported_only_when_it_has_changed(
    store: Store, tmp_path: Path
) -> None:
    storage = barn(tmp_path)
    first = await import_path(store, storage)
    assert (first.read, first.counts.new_threads) == (1, 1)
    progress: list[Progress] = []
    again = await import_path(store, storage, progress.append)
    assert (again.read, again.sessions, again.agents["opencode"].unchanged) == (0, {}, 1)
    assert (
        progress == []
    )  # otherwise a server would show that it reads sessions, and no report would end that
    (storage / "part" / "msg_1" / "prt_2.json").write_bytes(dumps({"type": "text", "text": "before winter"}))
    changed = await import_path(store, storage)
    assert (changed.read, changed.counts.changed) == (1, 1)
    assert (await import_path(store, storage)).read == 0


async def test_a_running_session_in_folders_is_reported_once(store: Store, tmp_path: Path) -> None:
    storage = barn(tmp_path, at=just_now_ms())
    session = storage / "session" / "p1" / "ses_1.json"
    os.utime(session)
    await import_path(store, storage)
    assert "running" in await statuses(store, "ses_1")
    assert (await import_path(store, storage)).read == 0
    os.utime(session, (0, 0))
    assert (await import_path(store, storage)).read == 1
    assert await statuses(store, "ses_1") == {"completed"}
    assert (await import_path(store, storage)).read == 0


async def test_a_database_without_changed_sessions_is_not_reported(store: Store, tmp_path: Path) -> None:
    path = orchard(tmp_path)
    os.utime(path, (0, 0))
    await import_path(store, path)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE unrelated (id TEXT)")
    os.utime(path, (1, 1))
    again = await import_path(store, path)
    assert (again.read, again.agents["opencode"].unchanged) == (0, 1)
