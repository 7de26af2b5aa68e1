"""`partita import` of rows, messages and demo data."""

import asyncio
import gzip
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from partita.cli.import_ import SYSTEMS as NAMES
from partita.cli.import_ import import_anything
from partita.errors import PartitaError
from partita.importers.databases.system import SYSTEMS
from partita.store.connection import open_store
from partita.types.json import JsonObject, dumps, loads
from tests.importers.database_examples import MASTRA, make_sqlite, mastra_message, texts_of


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "store.db")


@pytest.fixture
def hive(tmp_path: Path) -> str:
    return str(make_sqlite(tmp_path / "mastra.db", MASTRA))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(import_anything, list(arguments))


def test_systems_are_those_of_the_registry() -> None:
    assert set(NAMES) == set(SYSTEMS)


def count_messages(store: str, thread: str, owner: str | None = None) -> int:
    async def count() -> int:
        async with open_store(store) as opened:
            return len(await texts_of(opened, thread, owner))

    return asyncio.run(count())


def test_import_prints_a_report(store: str, hive: str) -> None:
    result = run(hive, "--from", "mastra", "--store", store)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "Mastra: mastra_messages, mastra_threads",
        "  threads           2  2 new",
        "  messages          5  5 new, 0 changed, 0 unchanged",
    ]
    assert result.stderr == ""
    assert count_messages(store, "t1") == 4
    assert "0 new, 0 changed, 5 unchanged" in run(hive, "--from", "mastra", "--store", store).stdout


def test_dry_run_writes_nothing(store: str, hive: str) -> None:
    result = run(hive, "--from", "mastra", "--store", store, "--dry-run")
    assert result.exit_code == 0, result.output
    assert "5 new" in result.stdout
    assert result.stderr == "Dry run: nothing was written.\n"
    assert not Path(store).exists()
    assert "5 new" in run(hive, "--from", "mastra", "--store", store).stdout


def test_owner_of_all_threads_can_be_set(store: str, hive: str) -> None:
    assert run(hive, "--from", "mastra", "--store", store, "--resource", "eve").exit_code == 0
    assert count_messages(store, "t1", "eve") == 4


def test_failed_rows_and_losses_are_reported(store: str, tmp_path: Path) -> None:
    rows = [
        mastra_message("good", 1),
        mastra_message("cut", 2, content='{"format":2,"parts":[{"type'),
        *(mastra_message(f"bad-{number:02}", 3, role="weather") for number in range(12)),
    ]
    source = str(make_sqlite(tmp_path / "m.db", {"mastra_messages": rows}))
    result = run(source, "--from", "mastra", "--store", store)
    assert result.exit_code == 1
    assert "1 threads without a thread row, created from their messages:\n    t1\n" in result.stdout
    assert result.stderr.startswith("partita: 1 loss ")
    assert "loss" not in result.stdout
    listed = run(source, "--from", "mastra", "--store", store, "--losses")
    assert listed.stderr.startswith("partita: changed mastra_messages[cut]")
    assert "12 rows failed:\n    mastra_messages bad-00: unknown role 'weather'" in result.stdout
    assert "bad-09" in result.stdout
    assert "bad-10" not in result.stdout
    assert "… and 2 more" in result.stdout


def test_report_is_json_on_request(store: str, hive: str) -> None:
    result = run(hive, "--from", "mastra", "--store", store, "--json")
    report = loads(result.stdout_bytes)
    assert (report["system"], report["source"], report["rows"], report["new"]) == ("mastra", hive, 5, 5)
    assert (report["failures"], report["losses"], report["dryRun"]) == ([], [], False)


def test_json_report_lists_failures(store: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_bytes(dumps([mastra_message("a", 1), mastra_message("b", 2, role="weather")]))
    result = run(str(path), "--from", "mastra", "--store", store, "--json")
    assert result.exit_code == 1
    report = loads(result.stdout_bytes)
    assert [(one["table"], one["id"]) for one in report["failures"]] == [("mastra_messages", "b")]


def test_missing_source_is_an_error(store: str, tmp_path: Path) -> None:
    result = run(str(tmp_path / "gone.db"), "--from", "mastra", "--store", store)
    assert isinstance(result.exception, PartitaError)
    assert result.exception.what == "cannot be read: no such file or directory"


def test_unknown_system_is_refused(hive: str) -> None:
    result = run(hive, "--from", "elsewhere")
    assert result.exit_code == 2
    for name in SYSTEMS:
        assert name in result.stderr


def test_help_has_examples() -> None:
    assert "partita import mastra.db --from mastra --dry-run" in run("--help").stdout


def test_demo_data_is_imported_once(store: str) -> None:
    first = run("--demo", "--store", store)
    assert (first.exit_code, first.stdout.split()[:2]) == (0, ["threads", "7"]), first.output
    again = run("--demo", "--store", store, "--json")
    assert loads(again.stdout) == {"threads": 7}
    lamp = "7c1f4c5e-2f0a-4d0b-9a52-6b1d2f7c9e10"
    assert count_messages(store, lamp) == 12


def test_demo_cannot_be_combined_with_a_source(store: str, hive: str) -> None:
    result = run(hive, "--demo", "--store", store)
    assert (result.exit_code, "only be combined with --store and --json" in result.output) == (2, True)


ROWS: list[JsonObject] = [
    {"id": "m1", "chatId": 7, "role": "user", "parts": [{"type": "text", "text": "High tide?"}]},
    {
        "id": "m2",
        "chatId": 7,
        "role": "assistant",
        "parts": [{"type": "text", "text": "At noon."}],
        "createdAt": "2026-03-02T09:00:04Z",
    },
    {"id": "m1", "chatId": 8, "role": "user", "parts": [{"type": "text", "text": "Low tide?"}]},
]
LEGACY: list[JsonObject] = [
    {"id": "m1", "role": "user", "content": "Tide?", "timestamp": "2026-03-02T09:00:00Z"},
    {
        "id": "m2",
        "role": "assistant",
        "content": {"type": "tool-call", "id": "c1", "name": "tide", "input": {}},
        "timestamp": "2026-03-02T09:00:02Z",
        "parentId": "m1",
    },
    {
        "id": "m3",
        "role": "tool",
        "content": {"type": "tool-result", "id": "c1", "name": "tide", "output": 2.1},
        "timestamp": "2026-03-02T09:00:03Z",
        "parentId": "m2",
    },
    {
        "id": "m4",
        "role": "assistant",
        "content": "Two metres.",
        "timestamp": "2026-03-02T09:00:04Z",
        "parentId": "m3",
    },
]


def lines(path: Path, rows: list[JsonObject]) -> str:
    path.write_bytes(b"".join(dumps(row) + b"\n" for row in rows))
    return str(path)


def test_messages_are_imported_into_the_threads_that_a_field_names(store: str, tmp_path: Path) -> None:
    arguments = (lines(tmp_path / "chats.jsonl", ROWS), "--from", "ai-sdk-ui-v5", "--store", store)
    planned = run(*arguments, "--thread-by", "chatId", "--dry-run", "--json")
    assert loads(planned.stdout)["new"] == 3
    with pytest.raises(PartitaError, match="no thread '7'"):
        count_messages(store, "7")
    report = run(*arguments, "--thread-by", "chatId").stdout.splitlines()
    assert report[1:] == [
        "  threads           2  2 new",
        "  messages          3  3 new, 0 changed, 0 unchanged",
    ]
    assert (count_messages(store, "7"), count_messages(store, "8")) == (2, 1)
    again = run(*arguments, "--thread-by", "chatId")
    assert "0 new, 0 changed, 3 unchanged" in again.stdout


def test_tool_result_is_merged_into_its_call(store: str, tmp_path: Path) -> None:
    source = lines(tmp_path / "old.jsonl", LEGACY)
    with pytest.warns(DeprecationWarning, match="LegacyMessage"):
        assert run(source, "--from", "legacy", "--thread", "t1", "--store", store).exit_code == 0

    async def read() -> list[tuple[str, str | None]]:
        async with open_store(store) as opened:
            return [(message.id, message.parent_id) for message in await opened.messages.list("t1")]

    assert asyncio.run(read()) == [("m1", None), ("m2", "m1"), ("m4", "m2")]


INVALID = {
    "no thread": (ROWS[:2], ["--from", "ui"], "a message names no thread"),
    "a missing field": (ROWS[:2], ["--from", "ui", "--thread-by", "room"], "a message has no 'room'"),
    "a duplicate id": (ROWS, ["--from", "ui", "--thread", "t"], "have the id 'm1'"),
}


@pytest.mark.parametrize(("rows", "arguments", "message"), INVALID.values(), ids=INVALID)
def test_invalid_messages_are_refused(
    store: str, tmp_path: Path, rows: list[JsonObject], arguments: list[str], message: str
) -> None:
    result = run(lines(tmp_path / "rows.jsonl", rows), *arguments, "--store", store)
    assert result.exit_code == 1
    assert message in str(result.exception)


def test_compressed_messages_and_streams_are_imported(store: str, tmp_path: Path) -> None:
    path = tmp_path / "chats.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(dumps(row) + b"\n" for row in ROWS)))
    arguments = ("--from", "ai-sdk-ui-v5", "--thread-by", "chatId", "--store", store, "--json")
    assert loads(run(str(path), *arguments).stdout)["new"] == 3
    chunks: list[JsonObject] = [
        {"type": "start", "messageId": "m1"},
        {"type": "text-start", "id": "t"},
        {"type": "text-delta", "id": "t", "delta": "High."},
        {"type": "text-end", "id": "t"},
    ]
    source = lines(tmp_path / "stream.jsonl", chunks)
    assert run(source, "--from", "chunks", "--thread", "tide", "--store", store).exit_code == 0
    assert count_messages(store, "tide") == 1


def test_missing_file_is_reported(store: str, tmp_path: Path) -> None:
    result = run(str(tmp_path / "nowhere.jsonl"), "--from", "ui", "--thread", "t", "--store", store)
    assert "no such file" in str(result.exception)


def owned(name: str, owner: str, *, thread: str = "threadId", resource: str = "resourceId") -> JsonObject:
    content = {"format": 2, "parts": [{"type": "text", "text": f"{name} of {owner}"}]}
    return {"id": name, "role": "user", thread: "t1", resource: owner, "content": content}


SNAKE_CASE = {"thread": "thread_id", "resource": "resource_id"}


@pytest.mark.parametrize("format", ["canonical", "mastra-v2"])
def test_messages_belong_to_the_owner_that_they_name(tmp_path: Path, store: str, format: str) -> None:
    rows = [owned("m1", "ada"), owned("m2", "ada", **SNAKE_CASE), owned("m1", "bo"), owned("m2", "bo")]
    path = tmp_path / "owned.jsonl"
    path.write_bytes(b"\n".join(map(dumps, rows)))
    result = run(str(path), "--from", format, "--store", store)
    assert result.exit_code == 0, result.output
    assert "threads           2  2 new" in result.stdout
    assert (count_messages(store, "t1", "ada"), count_messages(store, "t1", "bo")) == (2, 2)
    assert "0 new, 0 changed, 4 unchanged" in run(str(path), "--from", format, "--store", store).stdout


@pytest.mark.parametrize("format", ["canonical", "mastra-v2"])
def test_owner_of_messages_can_be_overridden(tmp_path: Path, store: str, format: str) -> None:
    path = tmp_path / "owned.jsonl"
    path.write_bytes(b"\n".join(map(dumps, [owned("m1", "ada"), owned("m2", "bo")])))
    result = run(str(path), "--from", format, "--store", store, "--resource", "cy")
    assert result.exit_code == 0, result.output
    assert count_messages(store, "t1", "cy") == 2

    async def threads() -> list[str | None]:
        async with open_store(store) as opened:
            return [thread.resource_id for thread in await opened.threads.list()]

    assert asyncio.run(threads()) == ["cy"]
