"""Imports over HTTP: logs and messages, repeated, incomplete and invalid uploads."""

import asyncio
import gzip
import tempfile
from typing import Any

import httpx
import pytest

from partita.formats.registry import all_formats
from partita.logs.sources.registry import LOG_FORMATS
from partita.runtime.principal import Principal
from partita.server.app import asgi
from partita.server.settings import Limits
from partita.store.store import Store
from partita.store.values import MessageFilter, RunFilter
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps
from partita.types.messages import AssistantMessage, ToolCallPart
from tests.formats.codex_examples import THREAD, Script
from tests.logs.claude_session import SESSION, Session, lines_of, task
from tests.server.conftest import client_of
from tests.server.routes.test_convert import ODD, combinations
from tests.tables import each_row

LINES = {"content-type": "application/x-ndjson"}
JSON = {"content-type": "application/json"}

UI: list[JsonObject] = [
    {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "How tall is it?"}]},
    {"id": "m2", "role": "assistant", "parts": [{"type": "text", "text": "Forty metres."}]},
]


async def upload(
    client: httpx.AsyncClient,
    data: bytes,
    query: str = "",
    headers: dict[str, str] = LINES,
    status: int = 200,
) -> Any:
    response = await client.post(f"/api/import{query}", content=data, headers=headers)
    assert response.status_code == status, response.text
    return response.json()


async def stored_content(store: Store) -> Json:
    """Everything in the store that an import may change."""
    threads = (await store.threads.list(limit=500)).items
    return [
        [
            to_json(thread),
            to_json(
                (
                    await store.messages.list(
                        thread.id, MessageFilter(branch="all", internal=None), limit=None
                    )
                ).items
            ),
            to_json((await store.runs.list(RunFilter(thread_id=thread.id), limit=500)).items),
        ]
        for thread in threads
    ]


def claude() -> Session:
    return Session().work("Bake bread", "c1").turn("And rolls?", "Rolls too.")


def codex() -> bytes:
    script = Script().meta().context().prompt("Sail").answer("Sailing.")
    return lines_of(script.records)


GEMINI: JsonObject = {
    "sessionId": "s-1",
    "projectHash": "9f",
    "startTime": "2026-05-01T08:00:00.000Z",
    "lastUpdated": "2026-05-01T08:00:05.000Z",
    "messages": [
        {"id": "1", "timestamp": "2026-05-01T08:00:00.000Z", "type": "user", "content": "Paint"},
        {"id": "2", "timestamp": "2026-05-01T08:00:05.000Z", "type": "gemini", "content": "Painting."},
    ],
}
OPENCODE: JsonObject = {
    "info": {"id": "ses_1", "title": "Digging", "time": {"created": 1764000000000, "updated": 1764000005000}},
    "messages": [
        {
            "info": {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1764000000000}},
            "parts": [
                {"id": "p1", "messageID": "msg_1", "sessionID": "ses_1", "type": "text", "text": "Dig"}
            ],
        },
        {
            "info": {
                "id": "msg_2",
                "sessionID": "ses_1",
                "role": "assistant",
                "time": {"created": 1764000001000, "completed": 1764000005000},
            },
            "parts": [
                {"id": "p2", "messageID": "msg_2", "sessionID": "ses_1", "type": "text", "text": "Digging."}
            ],
        },
    ],
}
EXEC: list[JsonObject] = [
    {"type": "thread.started", "thread_id": "0199-exec"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "i1", "type": "agent_message", "text": "Done."}},
    {"type": "turn.completed", "usage": {"input_tokens": 5, "output_tokens": 2}},
]

LOGS: dict[str, tuple[bytes, str, str | None]] = {
    "claude-code-log": (claude().data, "claude-code", SESSION),
    "codex-rollout": (codex(), "codex", THREAD),
    "gemini-cli": (dumps(GEMINI), "gemini-cli", "s-1"),
    "opencode-export": (dumps(OPENCODE), "opencode", "ses_1"),
    "codex-exec": (lines_of(EXEC), "codex", None),
}


@pytest.mark.parametrize(("format_", "log"), LOGS.items(), ids=LOGS)
async def test_a_log_is_detected_and_imported_once(
    client: httpx.AsyncClient, store: Store, format_: str, log: tuple[bytes, str, str | None]
) -> None:
    data, agent, thread_id = log
    first = await upload(client, data)
    (file,), (thread,) = first["files"], first["threads"]
    assert (file["kind"], file["format"], file["agent"], file["bytes"]) == ("log", format_, agent, len(data))
    assert first["newThreads"] == 1
    assert first["messages"]["new"] > 0
    assert first["runs"] > 0
    assert (first["problems"], first["findings"]) == ([], [])
    if thread_id is not None:
        assert thread["id"] == thread_id
    stored = await stored_content(store)
    name = "copy.json" if data.count(b"\n") < 2 else "copy.jsonl"
    again = await upload(client, data, f"?name=elsewhere/{name}" if thread_id else "")
    assert again["newThreads"] == 0
    assert again["messages"] == {"new": 0, "changed": 0, "unchanged": first["messages"]["new"]}
    if thread_id is None:
        assert await stored_content(store) == stored
    else:
        (one,), (other,) = stored, await stored_content(store)
        assert other[:2] == one[:2]
    assert all(run.status == "completed" for run in (await store.runs.list()).items)


async def test_importing_the_same_upload_again_changes_nothing(
    client: httpx.AsyncClient, store: Store
) -> None:
    await upload(client, claude().data)
    stored = await stored_content(store)
    await upload(client, claude().data)
    assert await stored_content(store) == stored


async def test_temporary_paths_of_uploads_are_not_stored(
    client: httpx.AsyncClient,
    store: Store,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path_factory.mktemp("meanwhile")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    await upload(client, claude().data, "?name=../../etc/session.jsonl")
    assert list(folder.iterdir()) == []
    (source,) = await store.sources.list()
    assert source.path == f"upload:{SESSION}/session.jsonl"
    assert source.identity is None
    runs = (await store.runs.list()).items
    assert {run.metadata["log"]["path"] for run in runs if run.metadata} == {source.path}


async def test_new_lines_of_a_log_are_added(client: httpx.AsyncClient, store: Store) -> None:
    first = await upload(client, claude().data)
    longer = await upload(client, claude().turn("And cake?", "Cake too.").data)
    assert longer["newThreads"] == 0
    assert longer["messages"] == {"new": 2, "changed": 0, "unchanged": first["messages"]["new"]}
    shorter = await upload(client, claude().data)
    assert shorter["messages"]["new"] == shorter["messages"]["changed"] == 0
    assert len((await store.messages.list(SESSION)).items) >= 6


async def test_a_compressed_log_equals_the_log(client: httpx.AsyncClient, store: Store) -> None:
    data = claude().data
    packed = await upload(client, gzip.compress(data), "?name=session.jsonl.gz")
    assert (packed["files"][0]["name"], packed["files"][0]["bytes"]) == ("session.jsonl", len(data))
    plain = await upload(client, data)
    assert plain["messages"]["unchanged"] == packed["messages"]["new"]


async def test_a_form_with_a_session_and_its_sub_agents_is_imported(
    client: httpx.AsyncClient, store: Store
) -> None:
    session = Session().prompt("Bake").answer(calls=[task("t1", "Find flour")])
    session.result("t1", "found", toolUseResult={"agentId": "a1"}).answer(text="Done.")
    helper = Session(mark="h", agent="a1").prompt("Find flour", parent=None).answer(text="In the cellar.")
    files = [
        ("files", (f"{SESSION}.jsonl", session.data)),
        ("files", ("agent-a1.jsonl", helper.data)),
        ("files", ("agent-a1.meta.json", dumps({"toolUseId": "t1"}))),
        ("note", (None, b"no file")),
    ]
    response = await client.post("/api/import", files=files)
    assert response.status_code == 200, response.text
    report = response.json()
    assert [file["name"] for file in report["files"]] == [f"{SESSION}.jsonl", "agent-a1.jsonl"]
    assert [thread["id"] for thread in report["threads"]] == [SESSION]
    messages = (await store.messages.list(SESSION)).items
    (call,) = [
        part
        for message in messages
        if isinstance(message, AssistantMessage)
        for part in message.parts
        if isinstance(part, ToolCallPart)
    ]
    assert len(call.children) == 2


async def test_files_with_the_same_name_are_all_imported(client: httpx.AsyncClient) -> None:
    other = Session("5e551000-0000-4000-8000-000000000002", mark="v").turn("Boil")
    files = [("files", ("session.jsonl", claude().data)), ("files", ("session.jsonl", other.data))]
    report = (await client.post("/api/import", files=files)).json()
    assert {thread["id"] for thread in report["threads"]} == {SESSION, other.id}


async def test_unknown_records_are_reported_with_their_line(client: httpx.AsyncClient, store: Store) -> None:
    data = claude().data + b'{"half": \n' + lines_of([{"type": "mystery", "sessionId": SESSION, "uuid": "x"}])
    report = await upload(client, data)
    lines = len(claude().records)
    assert {line for one in report["findings"] for line in one["lines"]} >= {lines + 1}
    assert report["messages"]["new"] == len((await store.messages.list(SESSION)).items)
    stored = (await store.messages.list(SESSION, MessageFilter(internal=None))).items
    assert any("mystery" in repr(message) for message in stored)


async def test_a_large_log_is_read_in_a_worker_process(client: httpx.AsyncClient, store: Store) -> None:
    session = Session()
    for number in range(40):
        session.turn(f"Question {number}", "word " * 30_000)
    assert len(session.data) > 4 * 1024 * 1024
    report = await upload(client, session.data)
    assert report["messages"]["new"] == 80
    runs = (await store.runs.list(limit=500)).items
    assert {run.metadata["log"]["path"] for run in runs if run.metadata} == {f"upload:{SESSION}/upload"}


# Messages


async def test_messages_are_imported_into_a_new_thread(client: httpx.AsyncClient, store: Store) -> None:
    first = await upload(client, dumps(UI), "?name=talk.json", JSON)
    (thread,) = first["threads"]
    assert (first["files"][0]["kind"], first["files"][0]["format"]) == ("messages", "ai-sdk-ui-v7")
    assert (first["newThreads"], first["messages"]["new"], thread["title"]) == (1, 2, "talk.json")
    assert [message.id for message in (await store.messages.list(thread["id"])).items] == ["m1", "m2"]
    stored = await stored_content(store)
    again = await upload(client, dumps(UI), "?name=talk.json", JSON)
    assert (again["newThreads"], again["messages"]) == (0, {"new": 0, "changed": 0, "unchanged": 2})
    assert await stored_content(store) == stored


async def test_messages_are_imported_into_the_named_thread(client: httpx.AsyncClient, store: Store) -> None:
    await store.threads.create("t", title="Towers")
    await upload(client, lines_of(UI), "?threadId=t&name=talk.jsonl")
    nameless: list[JsonObject] = [{"role": "user", "content": "And now?"}]
    for words in ("And now?", "And then?"):
        nameless[0]["content"] = words
        await upload(client, dumps(nameless), "?threadId=t&format=model", JSON)
    thread = await store.threads.get("t")
    assert thread is not None
    assert thread.title == "Towers"
    assert len((await store.messages.list("t")).items) == 4, "messages without ids do not replace each other"


async def test_messages_are_imported_into_the_threads_that_they_name(
    client: httpx.AsyncClient, store: Store
) -> None:
    rows = [
        {
            "id": name,
            "role": "user",
            "threadId": thread,
            "content": {"parts": [{"type": "text", "text": "Hi"}]},
        }
        for name, thread in (("m1", "one"), ("m2", "two"))
    ]
    report = await upload(client, dumps(rows), "?format=canonical", JSON)
    assert [thread["id"] for thread in report["threads"]] == ["one", "two"]


async def test_all_messages_of_a_recorded_stream_are_imported(
    client: httpx.AsyncClient, store: Store
) -> None:
    chunks: list[JsonObject] = [
        {"type": "start", "messageId": "m1"},
        {"type": "text-start", "id": "t"},
        {"type": "text-delta", "id": "t", "delta": "Forty."},
        {"type": "finish"},
    ]
    second = {"type": "start", "messageId": "m2"}
    report = await upload(client, lines_of([*chunks, second, *chunks[1:]]))
    messages = (await store.messages.list(report["threads"][0]["id"])).items
    assert [message.id for message in messages] == ["m1", "m2"]


# Dry runs


@pytest.mark.parametrize(
    ("data", "headers"), [(claude().data, LINES), (dumps(UI), JSON)], ids=["a log", "messages"]
)
async def test_a_dry_run_reports_the_result_and_changes_nothing(
    client: httpx.AsyncClient, store: Store, data: bytes, headers: dict[str, str]
) -> None:
    would = await upload(client, data, "?dryRun=true", headers)
    assert (await stored_content(store), await store.sources.list()) == ([], ())
    did = await upload(client, data, "", headers)
    assert {**did, "dryRun": True} == would
    still = await upload(client, data, "?dryRun=true", headers)
    assert (still["newThreads"], still["messages"]["new"]) == (0, 0)
    assert still["messages"]["unchanged"] == did["messages"]["new"]


# Invalid uploads

REFUSED: dict[str, tuple[bytes, str, dict[str, str], int]] = {
    "nothing": (b"", "", LINES, 400),
    "not JSON": (b"once upon a time", "", LINES, 400),
    "bytes": (bytes(range(256)), "", LINES, 400),
    "JSON of an unknown format": (b'{"colour": "blue"}', "", LINES, 400),
    "an empty list": (b"[]", "", LINES, 400),
    "an unknown format": (b"[]", "?format=nonesuch", LINES, 400),
    "truncated messages": (dumps(UI)[:-20], "", LINES, 400),
    "a truncated line": (lines_of(UI) + b'{"id": ', "", LINES, 400),
    "messages of another format": (dumps(UI), "?format=canonical", LINES, 400),
    "two messages with one id": (dumps([UI[0], UI[0]]), "", LINES, 400),
    "a truncated compressed file": (gzip.compress(claude().data)[:-20], "", LINES, 400),
    "an invalid form": (b"x", "", {"content-type": "multipart/form-data"}, 400),
    "a form without an end": (b"--b\r\n", "", {"content-type": "multipart/form-data; boundary=b"}, 400),
    "deep nesting": (b"[" * 50_000 + b"]" * 50_000, "?format=ui", LINES, 400),
    "deep nesting in a line": (b'{"role":"user","parts":' + b"[" * 50_000 + b"\n", "", LINES, 400),
    "an invalid thread id": (dumps(UI), "?threadId=%00", JSON, 400),
    "an unknown media type": (dumps(UI), "", {"content-type": "text/plain"}, 415),
}


@each_row(("data", "query", "headers", "status"), REFUSED.values(), ids=REFUSED)
async def test_an_invalid_upload_is_refused(
    client: httpx.AsyncClient, store: Store, data: bytes, query: str, headers: dict[str, str], status: int
) -> None:
    problem = await upload(client, data, query, headers, status)
    assert problem["detail"]
    assert tempfile.gettempdir() not in str(problem)
    assert (await stored_content(store), await store.sources.list()) == ([], ())


async def test_no_upload_causes_a_server_error(client: httpx.AsyncClient) -> None:
    for format_, odd in combinations([*all_formats(), *LOG_FORMATS], ODD[::3]):
        response = await client.post(f"/api/import?format={format_}", content=dumps(odd), headers=LINES)
        assert response.status_code in (200, 400), (format_, odd, response.text)


async def test_an_error_for_an_unknown_upload_lists_the_formats(client: httpx.AsyncClient) -> None:
    problem = await upload(client, b'{"colour": "blue"}', status=400)
    assert "claude-code-log" in problem["hint"]
    assert "ai-sdk-ui-v7" in problem["hint"]


async def test_an_unknown_file_prevents_the_import_of_all_files(
    client: httpx.AsyncClient, store: Store
) -> None:
    files = [("files", ("a.jsonl", claude().data)), ("files", ("b.jsonl", b'{"colour":"blue"}'))]
    response = await client.post("/api/import", files=files)
    assert (response.status_code, response.json()["where"]) == (400, "b.jsonl")
    assert await stored_content(store) == []


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "packed"])
async def test_an_upload_that_expands_too_much_is_refused(store: Store, pack: Any) -> None:
    app = asgi(None, store=store, limits=Limits(upload_bytes=100_000))
    data = pack(claude().data + b" " * 1_000_000)
    async with app.lifespan(), client_of(app) as client:
        await upload(client, data, status=413)
    assert await stored_content(store) == []


async def test_an_upload_belongs_to_its_caller(store: Store) -> None:
    app = asgi(
        None,
        store=store,
        user=lambda connection: Principal(connection.headers["x-user"], "write"),
        routes="all",
    )
    async with app.lifespan():
        for user in ("ada", "bob"):
            async with client_of(app, headers={"x-user": user}) as client:
                report = await upload(client, claude().data)
                assert report["newThreads"] == 1
                assert (await upload(client, dumps(UI), headers=JSON))["newThreads"] == 1
    owners = {thread.resource_id for thread in (await store.threads.list()).items}
    assert owners == {"ada", "bob"}


async def test_a_caller_with_the_role_read_cannot_import(store: Store) -> None:
    app = asgi(None, store=store, user=lambda _: Principal("ada", "read"), routes="all")
    async with app.lifespan(), client_of(app) as client:
        await upload(client, claude().data, status=403)


async def test_concurrent_imports_of_a_log_import_it_once(client: httpx.AsyncClient, store: Store) -> None:
    report = await asyncio.gather(*(upload(client, claude().data) for _ in range(5)))
    assert sum(one["newThreads"] for one in report) == 1
    assert sum(one["messages"]["new"] for one in report) == max(one["messages"]["new"] for one in report)
    assert len((await store.threads.list()).items) == 1
