"""Databases of OpenCode, brought in."""

import sqlite3
from contextlib import closing
from pathlib import Path

from partita.logs.importing.report import LogImportReport
from partita.logs.importing.runner import import_logs
from partita.logs.importing.workers import Workers
from partita.logs.places.finding import find_logs
from partita.store.facade.store import Store
from partita.types.json import JsonObject, dumps
from partita.types.messages import ToolCallPart, text_of
from tests.logs.opencode_databases import add_second

TOKENS: JsonObject = {"input": 100, "output": 5, "reasoning": 2, "cache": {"read": 0, "write": 0}}
MODEL: JsonObject = {"id": "claude-sonnet-4-5", "providerID": "anthropic"}


def asked(id: str, words: str, at: int) -> JsonObject:
    return {"id": id, "type": "user", "text": words, "time": {"created": at}}


def answered(id: str, at: int, *content: JsonObject) -> JsonObject:
    time = {"created": at, "completed": at + 500}
    own: JsonObject = {"agent": "build", "model": MODEL, "content": list(content), "tokens": TOKENS}
    return {"id": id, "type": "assistant", "time": time, "finish": "stop", **own}


def orchard(folder: Path) -> Path:
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
        "time": {"created": 2500},
    }
    add_second(path, "ses_top", asked("msg_1", "Count the pears", 2000), answered("msg_2", 2100, call))
    child = (asked("msg_3", "Count", 2200), answered("msg_4", 2300, {"type": "text", "text": "Seven."}))
    add_second(path, "ses_child", *child, parent="ses_top")
    return path


async def bring_in(store: Store, path: Path) -> LogImportReport:
    return await import_logs(store, find_logs([path]).files, workers=Workers(1))


async def test_a_session_of_version_2_with_its_sub_agent_under_the_call(store: Store, tmp_path: Path) -> None:
    path = orchard(tmp_path)
    report = await bring_in(store, path)
    assert (report.counts.new_threads, report.failed, report.findings) == (1, False, {})
    messages = (await store.list_messages("ses_top", limit=None)).items
    (call,) = [part for message in messages for part in message.parts if isinstance(part, ToolCallPart)]
    assert [text_of(child) for child in call.children if not child.internal] == ["Count", "Seven."]
    usage = await store.usage_of_thread("ses_top")
    assert (usage.input_tokens, usage.output_tokens) == (200, 14)
    thread = await store.get_thread_by_id("ses_top")
    assert thread is not None
    assert (thread.project, thread.agent) == ("/orchard", "opencode")


async def test_what_is_new_in_a_database_is_brought_in(store: Store, tmp_path: Path) -> None:
    path = orchard(tmp_path)
    await bring_in(store, path)
    assert (await bring_in(store, path)).counts.new == 0
    with closing(sqlite3.connect(path)) as database, database:
        data = dumps({"text": "Thank you", "time": {"created": 9000}}).decode()
        row = ("msg_9", "ses_top", "user", 90, 9000, 9000, data)
        database.execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    report = await bring_in(store, path)
    assert (report.counts.new, report.counts.new_threads) == (1, 0)
    last = (await store.list_messages("ses_top", limit=None)).items[-1]
    assert text_of(last) == "Thank you"
