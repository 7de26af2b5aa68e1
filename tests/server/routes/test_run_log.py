"""Logs of runs over HTTP: as pages, as lines, and as raw bytes."""

from base64 import b64decode
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from partita.server.routes.run_log import PAGE_BYTES
from partita.store.logs.maintenance import Retention
from partita.store.logs.run_log import LogEntry
from partita.store.store import Store
from partita.types.chunks import DataChunk, TextDelta
from partita.types.codec import to_json
from partita.types.json import loads
from tests.logs.claude_session import Session
from tests.tables import each_row

NDJSON = {"accept": "application/x-ndjson"}
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

ENTRIES = [
    LogEntry(NOON, TextDelta("t", "Forty-one \U0001f600"), "{…}\n".encode()),
    LogEntry(NOON, TextDelta("t", "metres")),
    LogEntry(NOON + timedelta(seconds=1), None, b"\xff\xfe no text\n"),
    LogEntry(NOON, DataChunk("data-empty", None), b""),
    LogEntry(NOON, None, b'{"half":"\\ud800"}'),
]


async def run_with(store: Store, entries: list[LogEntry]) -> str:
    await store.threads.create("t")
    run = await store.runs.open("t")
    if entries:
        await store.logs.append(run.id, entries)
    return run.id


@pytest.fixture
async def whole_run(store: Store) -> str:
    return await run_with(store, ENTRIES)


def check(records: list[dict[str, Any]], entries: list[LogEntry], first: int = 1) -> None:
    """Check that records equal the written entries."""
    assert [record["seq"] for record in records] == list(range(first, first + len(entries)))
    for record, entry in zip(records, entries, strict=True):
        assert datetime.fromisoformat(record["time"]) == entry.time
        assert record.get("chunk") == (None if entry.chunk is None else to_json(entry.chunk))
        raw = record.get("raw")
        if raw is not None:
            raw = b64decode(raw) if record["encoding"] == "base64" else raw.encode()
        assert raw == entry.raw


@each_row("limit", [1, 2, 5, 1000])
async def test_all_pages_together_are_the_log(client: httpx.AsyncClient, whole_run: str, limit: int) -> None:
    records: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        page = (await client.get(f"/api/runs/{whole_run}/log?limit={limit}&after={after}")).json()
        assert len(page["items"]) <= limit
        records += page["items"]
        after = page.get("next")
    check(records, ENTRIES)


async def test_a_log_is_returned_as_lines(client: httpx.AsyncClient, store: Store) -> None:
    run = await run_with(store, ENTRIES)
    response = await client.get(f"/api/runs/{run}/log?limit=1", headers=NDJSON)
    assert response.headers["content-type"] == "application/x-ndjson"
    check([loads(line) for line in response.content.splitlines()], ENTRIES)
    rest = await client.get(f"/api/runs/{run}/log?after=3", headers=NDJSON)
    check([loads(line) for line in rest.content.splitlines()], ENTRIES[3:], 4)


async def test_raw_bytes_are_those_of_the_agent(client: httpx.AsyncClient, store: Store) -> None:
    run = await run_with(store, ENTRIES)
    response = await client.get(f"/api/runs/{run}/raw")
    assert response.headers["content-type"] == "application/octet-stream"
    assert response.content == b"".join(entry.raw or b"" for entry in ENTRIES)


async def test_raw_bytes_of_an_imported_run_are_its_log_lines(
    client: httpx.AsyncClient, store: Store
) -> None:
    data = Session().turn("How tall?", "Forty metres.").data
    await client.post("/api/import", content=data, headers={"content-type": "application/x-ndjson"})
    (run,) = (await store.runs.list()).items
    assert (await client.get(f"/api/runs/{run.id}/raw")).content == data


async def test_a_page_with_large_records_is_shorter(client: httpx.AsyncClient, store: Store) -> None:
    large = [LogEntry(NOON, None, b"x" * (PAGE_BYTES // 2 + 1)) for _ in range(5)]
    run = await run_with(store, large)
    page = (await client.get(f"/api/runs/{run}/log?limit=100")).json()
    assert (len(page["items"]), page["next"]) == (2, 2)
    lines = (await client.get(f"/api/runs/{run}/log", headers=NDJSON)).content.splitlines()
    check([loads(line) for line in lines], large)
    assert len((await client.get(f"/api/runs/{run}/raw")).content) == 5 * len(large[0].raw or b"")


async def test_an_empty_log_is_not_an_error(client: httpx.AsyncClient, store: Store) -> None:
    run = await run_with(store, [])
    assert (await client.get(f"/api/runs/{run}/log")).json() == {"items": []}
    assert (await client.get(f"/api/runs/{run}/log", headers=NDJSON)).content == b""
    assert (await client.get(f"/api/runs/{run}/raw")).content == b""


async def test_a_dropped_log_is_an_error(client: httpx.AsyncClient, store: Store) -> None:
    run = await run_with(store, ENTRIES)
    await store.runs.finish(run)
    await store.logs.drop(Retention(max_age=timedelta(0)))
    for path in ("log", "raw", "stream", "replay", "at"):
        response = await client.get(f"/api/runs/{run}/{path}", headers=NDJSON)
        assert response.status_code == 404, path
        assert "dropped" in response.json()["detail"]


@each_row("query", ["limit=0", "limit=1001", "after=-1", "after=x", f"after={2**70}"])
async def test_invalid_numbers_are_refused(client: httpx.AsyncClient, whole_run: str, query: str) -> None:
    assert (await client.get(f"/api/runs/{whole_run}/log?{query}")).status_code == 400
