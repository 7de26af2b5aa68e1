"""Rows that lead to more than messages: logs that they name, what was consumed, raw messages of an agent."""

import sqlite3
from pathlib import Path

import pytest

from partita.store.facade.store import Store
from partita.store.imports.runner import import_rows
from partita.store.opening import open_store
from partita.types.messages import text_of
from tests.logs.claude_session import Session, use

COLUMNS = (
    "id TEXT PRIMARY KEY, execution_id TEXT, model TEXT, system_prompt TEXT, prompt TEXT, status TEXT,"
    " result TEXT, log_path TEXT, error TEXT, created_at TEXT, completed_at TEXT, tokens_input INTEGER,"
    " tokens_output INTEGER"
)


def agents(path: Path, *rows: dict[str, str | int]) -> str:
    """A database of Smithers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as database:
        database.execute(f"CREATE TABLE agents ({COLUMNS})")
        for row in rows:
            whole = {"execution_id": "e1", "model": "claude-baker", "status": "completed", **row}
            names, marks = ", ".join(whole), ", ".join("?" * len(whole))
            database.execute(f"INSERT INTO agents ({names}) VALUES ({marks})", list(whole.values()))
    return str(path)


def baking() -> bytes:
    session = Session().prompt("Bake bread").answer(thinking="hm", text="Kneading.", calls=[use("c1")])
    return session.result("c1", "hot").answer(text="It is done.").data


ROW: dict[str, str | int] = {
    "id": "a1",
    "prompt": "Bake bread\nand cool it",
    "result": "It is done.",
    "tokens_input": 7,
    "tokens_output": 5,
    "created_at": "2026-04-01T08:00:00Z",
}


async def said(store: Store, thread: str = "a1") -> list[str]:
    return [text_of(one) for one in await store.list_messages(thread, limit=None, internal=False)]


PLACES = {
    "absolute": ("{folder}/logs/a1.jsonl", "smithers.db"),
    "from the folder of the database": ("logs/a1.jsonl", "smithers.db"),
    "from the folder above it": ("logs/a1.jsonl", ".smithers/smithers.db"),
}


@pytest.mark.parametrize(("named", "database"), PLACES.values(), ids=PLACES)
async def test_the_log_of_an_agent_becomes_its_messages(tmp_path: Path, named: str, database: str) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a1.jsonl").write_bytes(baking())
    row = ROW | {"log_path": named.format(folder=tmp_path), "system_prompt": "Be brief.", "error": "burnt"}
    source = agents(tmp_path / database, row)
    async with open_store("memory:") as store:
        report = await import_rows(store, "smithers", source)
        assert not report.failures
        assert await said(store) == ["Be brief.", "Bake bread", "Kneading.", "It is done."]
        messages = list(await store.list_messages("a1", limit=None, internal=False))
        assert [type(part).__name__ for part in messages[2].content.parts][1:] == [
            "ReasoningPart",
            "TextPart",
            "ToolCallPart",
        ]
        assert (
            type(messages[-1].content.parts[-1]).__name__ == "DataPart"
        )  # the error, which only the row has
        used = await store.usage_of_thread("a1")
        assert used.output_tokens == 20  # of the log, and not of the row as well
        thread = await store.get_thread_by_id("a1")
        assert thread is not None
        assert thread.title == "Bake bread and cool it"
        (run,) = await store.list_runs(thread_id="a1")
        assert [entry.raw + b"\n" for entry in await store.read_log(run.id) if entry.raw] == (
            baking().splitlines(keepends=True)
        )
        again = await import_rows(store, "smithers", source)
        assert (again.new, again.changed) == (0, 0)
        assert (await store.usage_of_thread("a1")).output_tokens == 20


MISSING = {"gone": b"", "no log": b"Dear diary\n"}


@pytest.mark.parametrize("content", MISSING.values(), ids=MISSING)
async def test_without_its_log_an_agent_has_what_its_row_says(tmp_path: Path, content: bytes) -> None:
    if content:
        (tmp_path / "a1.log").write_bytes(content)
    source = agents(tmp_path / "smithers.db", ROW | {"log_path": "a1.log"})
    async with open_store("memory:") as store:
        report = await import_rows(store, "smithers", source)
        assert await said(store) == ["Bake bread\nand cool it", "It is done."]
        assert any("agents[a1].logPath" in loss.path for loss in report.losses)


async def test_the_tokens_of_an_agent_are_in_the_ledger(tmp_path: Path) -> None:
    source = agents(tmp_path / "smithers.db", ROW, ROW | {"id": "a2", "tokens_output": 9})
    async with open_store("memory:") as store:
        for _ in range(2):
            await import_rows(store, "smithers", source)
        used = [await store.usage_of_thread(thread) for thread in ("a1", "a2")]
        assert [(one.input_tokens, one.output_tokens) for one in used] == [(7, 5), (7, 9)]
        (whole,) = await store.stats(by=("model",))
        assert whole.output_tokens == 14
