"""The import of rows with logs, token usage, and raw messages of an agent."""

import sqlite3
from pathlib import Path

import pytest

from partita.importers.databases.importer import import_rows
from partita.replay import play, reproject
from partita.store.connection import open_store
from partita.store.store import Store
from partita.store.values import MessageFilter, RunFilter
from partita.types.chunks import TextDelta, ToolInputAvailable
from partita.types.codec import encode
from partita.types.json import Json, JsonObject, dumps, loads
from partita.types.messages import ToolCallPart, text_of
from partita.types.parts import TextOutput
from tests.importers.database_examples import TABLES
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


async def texts_of(store: Store, thread: str = "a1") -> list[str]:
    return [
        text_of(one) for one in await store.messages.list(thread, MessageFilter(internal=False), limit=None)
    ]


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
        assert await texts_of(store) == ["Be brief.", "Bake bread", "Kneading.", "It is done."]
        messages = list(await store.messages.list("a1", MessageFilter(internal=False), limit=None))
        assert [type(part).__name__ for part in messages[2].content.parts][1:] == [
            "ReasoningPart",
            "TextPart",
            "ToolCallPart",
        ]
        assert (
            type(messages[-1].content.parts[-1]).__name__ == "DataPart"
        )  # the error, which only the row has
        used = await store.usage.of_thread("a1")
        assert used.output_tokens == 20  # of the log, and not of the row as well
        thread = await store.threads.get("a1")
        assert thread is not None
        assert thread.title == "Bake bread and cool it"
        (run,) = await store.runs.list(RunFilter(thread_id="a1"))
        assert [entry.raw + b"\n" for entry in await store.logs.read(run.id) if entry.raw] == (
            baking().splitlines(keepends=True)
        )
        again = await import_rows(store, "smithers", source)
        assert (again.new, again.changed) == (0, 0)
        assert (await store.usage.of_thread("a1")).output_tokens == 20


MISSING = {"gone": b"", "no log": b"Dear diary\n"}


@pytest.mark.parametrize("content", MISSING.values(), ids=MISSING)
async def test_without_its_log_an_agent_has_the_content_of_its_row(tmp_path: Path, content: bytes) -> None:
    if content:
        (tmp_path / "a1.log").write_bytes(content)
    source = agents(tmp_path / "smithers.db", ROW | {"log_path": "a1.log"})
    async with open_store("memory:") as store:
        report = await import_rows(store, "smithers", source)
        assert await texts_of(store) == ["Bake bread\nand cool it", "It is done."]
        assert any("agents[a1].logPath" in loss.path for loss in report.losses)


async def test_the_tokens_of_an_agent_are_in_the_ledger(tmp_path: Path) -> None:
    source = agents(tmp_path / "smithers.db", ROW, ROW | {"id": "a2", "tokens_output": 9})
    async with open_store("memory:") as store:
        for _ in range(2):
            await import_rows(store, "smithers", source)
        used = [await store.usage.of_thread(thread) for thread in ("a1", "a2")]
        assert [(one.input_tokens, one.output_tokens) for one in used] == [(7, 5), (7, 9)]
        (whole,) = await store.stats.totals(by=("model",))
        assert whole.output_tokens == 14


# Raw messages that rows of Cherry Studio keep


def sdk(type_: str, uuid: str, **fields: Json) -> JsonObject:
    return {"type": type_, "uuid": uuid, "session_id": "s1", "parent_tool_use_id": None, **fields}


def answer(uuid: str, *blocks: JsonObject) -> JsonObject:
    message: JsonObject = {
        "id": "msg_1",
        "role": "assistant",
        "model": "claude-baker",
        "content": list(blocks),
    }
    return sdk("assistant", uuid, message=message)


CALL = {"type": "tool_use", "id": "c1", "name": "Oven", "input": {"heat": 220}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "hot"}
RAWS: list[Json] = [
    sdk("system", "1", subtype="init", model="claude-baker", tools=[], cwd="/kitchen"),
    answer("2", {"type": "text", "text": "Kneading."}),
    answer("3", CALL),
    answer("3", CALL),  # kept once for each chunk that it gave
    sdk("user", "4", message={"role": "user", "content": [RESULT]}),
    sdk("result", "5", subtype="success", result="Kneading.", num_turns=1, usage={"output_tokens": 3}),
]
CHUNKS: list[Json] = [
    {"type": "text-start", "id": "t"},
    {"type": "text-delta", "id": "t", "delta": "Kneading."},
    {"type": "text-end", "id": "t"},
]


def cherry(path: Path, content: JsonObject) -> str:
    with sqlite3.connect(path) as database:
        for table in ("session_messages", "sessions"):
            database.execute(f"CREATE TABLE {table} ({TABLES[table]})")
        database.execute("INSERT INTO sessions (id, agent_id, name) VALUES ('s1', 'g1', 'Bread')")
        rows = [("user", "Bake"), ("agent", dumps(content).decode())]
        for role, column in rows:
            database.execute(
                "INSERT INTO session_messages (session_id, role, content, created_at)"
                " VALUES ('s1', ?, ?, '2026-04-01T08:00:00Z')",
                (role, column),
            )
    return str(path)


async def test_raw_messages_of_cherry_studio_become_a_run_that_is_played_and_reprojected(
    tmp_path: Path,
) -> None:
    content: JsonObject = {"aiSDKChunks": CHUNKS, "rawAgentMessages": RAWS, "agentType": "claude-code"}
    source = cherry(tmp_path / "agents.db", content)
    async with open_store("memory:") as store:
        report = await import_rows(store, "cherry", source)
        assert not report.failures
        (run,) = await store.runs.list(RunFilter(thread_id="s1"))
        prompt, stored = await store.messages.list("s1", limit=None)
        assert (run.agent, run.message_id) == ("claude-code", stored.id)
        assert (prompt.run_id, stored.run_id) == (None, run.id)
        log = await store.logs.read(run.id)
        raws = [loads(entry.raw) for entry in log if entry.raw]
        assert raws == [raw for place, raw in enumerate(RAWS) if place != 3]  # fmt: skip
        assert "rawAgentMessages" not in encode(stored).decode()

        again = await import_rows(store, "cherry", source)
        assert (again.new, again.changed, len(await store.logs.read(run.id))) == (0, 0, len(log))

        seen = [one.chunk async for one in play(store, run.id, speed=None)]
        assert "".join(chunk.delta for chunk in seen if isinstance(chunk, TextDelta)) == "Kneading."
        assert any(isinstance(chunk, ToolInputAvailable) for chunk in seen)

        (found,) = (await reproject(store, [run.id])).runs
        assert (found.outcome, found.why, found.written) == ("changed", None, True)
        made = await store.messages.get("s1", stored.id)
        assert made is not None
        (call,) = [part for part in made.content.parts if isinstance(part, ToolCallPart)]
        assert (call.input, call.output) == (
            {"heat": 220},
            TextOutput("hot"),
        )  # which the chunks did not have
        assert text_of(made) == "Kneading."


async def test_rows_without_raw_messages_or_of_an_unknown_agent_have_no_run(tmp_path: Path) -> None:
    content: JsonObject = {"aiSDKChunks": CHUNKS, "rawAgentMessages": [{"a": 1}], "agentType": "hal"}
    async with open_store("memory:") as store:
        await import_rows(store, "cherry", cherry(tmp_path / "agents.db", content))
        assert list(await store.runs.list(RunFilter(thread_id="s1"))) == []
        _, stored = await store.messages.list("s1", limit=None)
        assert "rawAgentMessages" in encode(stored).decode()
