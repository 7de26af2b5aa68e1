"""Raw events of a message over HTTP."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from partita.importers.logs.importer import import_logs
from partita.importers.logs.workers import Workers
from partita.logs.files import find_logs
from partita.server.routes.run_log import PAGE_BYTES
from partita.store.logs.maintenance import Retention
from partita.store.logs.run_log import LogEntry
from partita.store.store import Store
from partita.types.chunks import MessageStart, TextDelta
from tests.logs.claude_session import SESSION, Session, task, use
from tests.runtime.rebuild.example_sessions import with_unclaimed_agent
from tests.store.examples import assistant_message, user_message
from tests.tables import each_row

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NDJSON = {"content-type": "application/x-ndjson"}

ENTRIES = [
    LogEntry(NOON, None, b"hello\n"),
    LogEntry(NOON, MessageStart("a1"), b"one begins\n"),
    LogEntry(NOON, TextDelta("t", "one"), b"\xff\xfe\n"),
    LogEntry(NOON, MessageStart(), b"goes on\n"),
    LogEntry(NOON, MessageStart("a2"), b"two begins\n"),
    LogEntry(NOON, TextDelta("t", "two"), b"two\n"),
]


async def two_messages(store: Store, entries: list[LogEntry] = ENTRIES) -> str:
    await store.threads.create("t")
    run = await store.runs.open("t")
    await store.logs.append(run.id, entries)
    await store.messages.save(
        [user_message("q1"), assistant_message("a1", run_id=run.id), assistant_message("a2", run_id=run.id)],
        thread_id="t",
    )
    return run.id


@pytest.fixture
async def run(store: Store) -> str:
    """A run with two messages."""
    return await two_messages(store)


async def raw(client: httpx.AsyncClient, message: str, query: str = "") -> dict[str, Any]:
    reply = await client.get(f"/api/threads/t/messages/{message}/raw?{query}")
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


@each_row(("message", "seqs"), [("a1", [1, 2, 3, 4]), ("a2", [5, 6])])
async def test_a_run_with_two_messages_is_split_between_them(
    client: httpx.AsyncClient, run: str, message: str, seqs: list[int]
) -> None:
    log = (await client.get(f"/api/runs/{run}/log")).json()["items"]
    found = await raw(client, message)
    assert found["exact"] is True
    assert found["items"] == [{**log[seq - 1], "runId": run} for seq in seqs]


@pytest.mark.usefixtures("run")
@each_row("limit", [1, 2, 3, 100])
async def test_all_pages_together_have_all_events(client: httpx.AsyncClient, limit: int) -> None:
    seqs: list[int] = []
    query = f"limit={limit}"
    while True:
        page = await raw(client, "a1", query)
        assert len(page["items"]) <= limit
        seqs += [item["seq"] for item in page["items"]]
        if "next" not in page:
            break
        query = f"limit={limit}&cursor={page['next']}"
    assert seqs == [1, 2, 3, 4]


async def test_a_page_with_large_records_is_shorter(client: httpx.AsyncClient, store: Store) -> None:
    large = [LogEntry(NOON, None, b"x" * (PAGE_BYTES // 2 + 1)) for _ in range(4)]
    await two_messages(store, [LogEntry(NOON, MessageStart("a1")), *large])
    assert len((await raw(client, "a1"))["items"]) == 3


async def test_a_message_of_two_runs_has_the_events_of_both(client: httpx.AsyncClient, store: Store) -> None:
    await store.threads.create("t")
    runs: list[str] = []
    for word in (b"asks\n", b"goes on\n"):
        run = await store.runs.open("t")
        await store.logs.append(run.id, [LogEntry(NOON, MessageStart("a1"), word)])
        await store.runs.finish(run.id, message_id="a1")
        runs.append(run.id)
    await store.messages.save([user_message("q1"), assistant_message("a1", run_id=runs[1])], thread_id="t")
    first = await raw(client, "a1", "limit=1")
    rest = await raw(client, "a1", f"limit=1&cursor={first['next']}")
    all_items = [*first["items"], *rest["items"]]
    assert [(item["runId"], item["raw"]) for item in all_items] == [
        (runs[0], "asks\n"),
        (runs[1], "goes on\n"),
    ]


async def import_session(client: httpx.AsyncClient, session: Session) -> None:
    reply = await client.post("/api/import", content=session.data, headers=NDJSON)
    assert reply.status_code == 200, reply.text


async def lines(client: httpx.AsyncClient, thread: str, message: str, query: str = "") -> dict[str, Any]:
    reply = await client.get(f"/api/threads/{thread}/messages/{message}/raw?{query}")
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def lighthouse() -> Session:
    session = Session().prompt("How tall is the old lighthouse?")
    session.answer(text="Let me measure it.", calls=[use("c-9", "Tape")])
    session.answer(calls=[task("t-1", "Look at the lamp")])
    helper = Session(mark="h", agent="a").prompt("Look at the lamp", parent=None).answer(text="It is lit.")
    session.records += helper.records
    session.result("t-1", toolUseResult={"agentId": "a"}).prompt("And?").result("c-9", "41 m")
    return session.answer(text="Let me measure it. Forty-one metres.")


LINES_BY_MESSAGE = {
    "u-1": [1],
    "msg-u-1": [2, 3, 9],
    "msg-u-2": [4, 7],
    "h-1": [5],
    "msg-h-1": [6],
    "u-6": [8],
    "msg-u-3": [10],
}
"""The log lines of each message, including those of the sub-agent."""


@each_row("limit", [1, 2, 100])
async def test_a_message_of_an_imported_session_has_its_log_lines(
    client: httpx.AsyncClient, limit: int
) -> None:
    session = lighthouse()
    await import_session(client, session)
    every = session.data.decode().splitlines()
    for message, numbers in LINES_BY_MESSAGE.items():
        found: list[str] = []
        query = f"limit={limit}"
        while True:
            page = await lines(client, SESSION, message, query)
            assert page["exact"] is True
            assert len(page["items"]) <= limit
            found += [item["raw"] for item in page["items"]]
            if "next" not in page:
                break
            query = f"limit={limit}&cursor={page['next']}"
        assert found == [every[number - 1] for number in numbers]


async def test_entries_are_those_of_the_log(client: httpx.AsyncClient) -> None:
    await import_session(client, lighthouse())
    items = (await lines(client, SESSION, "msg-u-1"))["items"]
    for item in items:
        run_id = item.pop("runId")
        log = (await client.get(f"/api/runs/{run_id}/log")).json()["items"]
        assert log[item["seq"] - 1] == item


async def test_a_copy_of_an_imported_thread_has_the_original_lines(
    client: httpx.AsyncClient, store: Store
) -> None:
    await import_session(client, lighthouse())
    copy = await store.threads.clone(SESSION)
    fork = await store.threads.fork(copy.id, "msg-u-2")
    for thread in (copy.id, fork.id):
        for message in ("msg-u-1", "msg-h-1"):
            assert await lines(client, thread, message) == await lines(client, SESSION, message)


async def test_a_sub_agent_with_a_separate_thread_has_its_lines(
    client: httpx.AsyncClient, store: Store, tmp_path: Path
) -> None:
    with_unclaimed_agent(tmp_path / "logs")
    await import_logs(store, find_logs([tmp_path / "logs"]).files, workers=Workers(1))
    page = await lines(client, f"{SESSION}%2Fx", "msg-x-1")
    assert page["exact"] is True
    assert [(item["runId"], item["seq"]) for item in page["items"]] == [(f"{SESSION}/x@0", 2)]


async def test_after_dropped_lines_those_that_name_a_message_are_used(
    client: httpx.AsyncClient, store: Store
) -> None:
    session = lighthouse()
    await import_session(client, session)
    report = await store.logs.drop(Retention(max_age=timedelta(0)), limit=1)
    assert report.run_ids == (f"{SESSION}@0",)
    gone = await lines(client, SESSION, "u-1")
    assert (gone["items"], "dropped" in gone["reason"]) == ([], True)
    left = await lines(client, SESSION, "msg-u-3")
    assert left["exact"] is False
    assert [item["raw"] for item in left["items"]] == [session.data.decode().splitlines()[-1]]


async def test_messages_of_other_owners_are_not_found(client: httpx.AsyncClient, store: Store) -> None:
    await import_session(client, lighthouse())
    for message in LINES_BY_MESSAGE:
        path = f"/api/threads/{SESSION}/messages/{message}/raw"
        assert (await client.get(path, params={"resourceId": "somebody"})).status_code == 404


async def test_a_message_without_a_log_is_an_error(client: httpx.AsyncClient, store: Store) -> None:
    await two_messages(store)
    found = await raw(client, "q1")
    assert found["items"] == []
    assert "saved" in found["reason"]


async def test_a_dropped_log_is_an_error(client: httpx.AsyncClient, store: Store) -> None:
    run = await two_messages(store)
    await store.runs.finish(run)
    await store.logs.drop(Retention(max_age=timedelta(0)))
    found = await raw(client, "a1")
    assert found["items"] == []
    assert "dropped" in found["reason"]


@pytest.mark.usefixtures("run")
@each_row("query", ["limit=0", "limit=1001", "cursor=x", "cursor=1", "cursor=1.2.3"])
async def test_invalid_queries_are_refused(client: httpx.AsyncClient, query: str) -> None:
    assert (await client.get(f"/api/threads/t/messages/a1/raw?{query}")).status_code == 400


async def test_missing_messages_are_not_found(client: httpx.AsyncClient, store: Store) -> None:
    await two_messages(store)
    for path in ("t/messages/none", "none/messages/a1"):
        assert (await client.get(f"/api/threads/{path}/raw")).status_code == 404
