"""End users see a reference to the log instead of the text of exceptions: live, reloaded and exported."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from partita import Agent, tool
from partita.agents import AgentRequest, Network, client_tool
from partita.runtime.adapters.as_agent import as_agent
from partita.runtime.network.routing import FINISH, ROUTE
from partita.runtime.principal import Principal
from partita.runtime.tools.tool import Toolset
from partita.server.app import PartitaApp, asgi
from partita.server.guard.auth import Connection
from partita.store.store import Store
from partita.stream.sse import SseDecoder
from partita.types.chunks import ToolInputAvailable
from partita.types.json import loads
from tests.server.conftest import client_of, scripted, text_part
from tests.tables import each_row

SECRET = "sk-live-hunter2"
REFERENCE = re.compile(r"Reference: (\S{8})")
USER = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Hello"}]}


async def broken(request: AgentRequest) -> AsyncIterator[str]:
    yield "One moment."
    raise ValueError(f"401 for key {SECRET}")


@tool
def lookup(name: str) -> str:
    """Look up a name."""
    raise RuntimeError(f"no route to db with {SECRET}")


def tooled() -> Agent:
    call = {"type": "tool-call", "name": "lookup", "input": {"name": "Bell"}}
    return Agent(scripted([call], [text_part("It did not work.")]), tools=[lookup], name="tooled")


def net() -> Network:
    """A network whose first agent fails, and whose second agent calls a tool that fails."""

    def choose(id: str) -> dict[str, Any]:
        given = {"primitiveType": "agent", "primitiveId": id, "input": "look", "selectionReason": "try"}
        return {"type": "tool-call", "name": ROUTE, "input": given}

    done = {"type": "tool-call", "name": FINISH, "input": {"answer": "Both failed."}}
    router = scripted([choose("broken")], [choose("tooled")], [done])
    agents: dict[str, Any] = {"broken": as_agent(broken), "tooled": tooled()}
    return Network(router, agents=agents, name="net", strings=True)


def who(connection: Connection) -> Principal:
    return Principal("alice", connection.headers.get("x-role", "chat"))  # type: ignore[arg-type] # by the tests


def made(store: Store, **how: Any) -> PartitaApp:
    return asgi(
        {"broken": broken, "tooled": tooled(), "net": net()}, store=store, user=who, routes="all", **how
    )


@pytest.fixture
async def http(store: Store) -> AsyncIterator[httpx.AsyncClient]:
    app = made(store)
    async with app.lifespan(), client_of(app) as client:
        yield client


async def chunks(response: httpx.Response) -> list[Any]:
    assert response.status_code == 200, response.text
    return [loads(event) for event in SseDecoder().feed(response.content) if event != b"[DONE]"]


async def ask(http: httpx.AsyncClient, agent: str, thread: str, role: str = "chat") -> list[Any]:
    body = {"id": thread, "agent": agent, "messages": [{**USER, "id": f"{thread}-u"}]}
    return await chunks(await http.post("/api/chat", json=body, headers={"x-role": role}))


async def reloaded(http: httpx.AsyncClient, thread: str, role: str = "chat") -> list[Any]:
    path = f"/api/threads/{thread}/messages?format=ai-sdk-ui-v7&bare=true"
    items: list[Any] = (await http.get(path, headers={"x-role": role})).json()
    return items


async def run_in(http: httpx.AsyncClient, thread: str) -> str:
    """The id of the last run of a thread."""
    page = await http.get(f"/api/threads/{thread}/runs", headers={"x-role": "read"})
    assert page.status_code == 200, page.text
    id_: str = page.json()["items"][0]["id"]
    return id_


def errors_in(chunks_sent: list[Any]) -> list[str]:
    """The error texts of chunks."""
    return [chunk["errorText"] for chunk in chunks_sent if "errorText" in chunk]


async def test_an_exception_is_a_reference_live_and_reloaded(http: httpx.AsyncClient) -> None:
    chunks_sent = await ask(http, "broken", "t1")
    (text,) = errors_in(chunks_sent)
    assert REFERENCE.fullmatch(text.removeprefix("The agent failed. "))
    ended = [
        one["messageMetadata"]["ended"] for one in chunks_sent if "ended" in one.get("messageMetadata", {})
    ]
    assert [one["reason"] for one in ended] == [text]
    (_, message) = await reloaded(http, "t1")
    assert message["metadata"]["ended"] == {"status": "failed", "reason": text}
    assert SECRET not in str(chunks_sent) + str(message)
    run_id = await run_in(http, "t1")
    again = await chunks(await http.get(f"/api/runs/{run_id}/stream"))
    assert errors_in(again) == [text]
    tail = await chunks(await http.get(f"/api/runs/{run_id}/stream?after=3"))
    assert errors_in(tail) == [text]


async def test_callers_with_access_to_logs_see_the_exception(http: httpx.AsyncClient) -> None:
    for role in ("read", "write", "admin"):
        await ask(http, "broken", f"of-{role}")
        (_, message) = await reloaded(http, f"of-{role}", role)
        assert message["metadata"]["ended"]["reason"] == f"ValueError: 401 for key {SECRET}"
    assert errors_in(await ask(http, "broken", "t2", "write")) == [f"ValueError: 401 for key {SECRET}"]


async def test_the_error_of_a_tool_is_a_reference_but_the_model_receives_it(
    http: httpx.AsyncClient, store: Store
) -> None:
    chunks_sent = await ask(http, "tooled", "t1")
    (text,) = errors_in(chunks_sent)
    assert REFERENCE.fullmatch(text.removeprefix("The tool failed. "))
    (_, message) = await reloaded(http, "t1")
    assert [part["errorText"] for part in message["parts"] if "errorText" in part] == [text]
    assert SECRET not in str(chunks_sent) + str(message)
    (_, original) = await reloaded(http, "t1", "read")
    assert [part["errorText"] for part in original["parts"] if "errorText" in part] == [
        f"RuntimeError: no route to db with {SECRET}"
    ]


async def test_two_callers_of_one_run_see_what_their_roles_allow(http: httpx.AsyncClient) -> None:
    await ask(http, "broken", "t1", "write")
    run_id = await run_in(http, "t1")
    path = f"/api/runs/{run_id}/stream"
    seen = {
        role: errors_in(await chunks(await http.get(path, headers={"x-role": role})))
        for role in ("chat", "write")
    }
    assert seen["write"] == [f"ValueError: 401 for key {SECRET}"]
    assert seen["chat"] == [f"The agent failed. Reference: {run_id[-8:]}"]


async def test_other_protocols_mask_errors_too(http: httpx.AsyncClient) -> None:
    body = {"model": "broken", "messages": [{"role": "user", "content": "Hello"}]}
    for more in ({}, {"metadata": {"thread_id": "v1"}}, {"metadata": {"thread_id": "v2"}, "stream": True}):
        response = await http.post("/v1/chat/completions", json={**body, **more})
        assert SECRET not in response.text
        assert REFERENCE.search(response.text), response.text
        if "stream" not in more:
            assert response.status_code == 502
    open_ = await http.post("/v1/chat/completions", json=body, headers={"x-role": "write"})
    assert SECRET in open_.json()["error"]["message"]
    given = {"threadId": "ag", "runId": "r", "messages": [{"id": "m", "role": "user", "content": "Hi"}]}
    for agent in ("broken", "tooled", "net"):
        response = await http.post(f"/api/ag-ui/{agent}", json={**given, "threadId": agent})
        assert SECRET not in response.text
        assert REFERENCE.search(response.text), response.text


async def test_on_error_chooses_the_text_live_and_reloaded(store: Store) -> None:
    async def choose(error: BaseException, request: AgentRequest) -> str | None:
        assert request.thread_id is None or request.reference
        return None if isinstance(error, RuntimeError) else f"Sorry ({type(error).__name__})."

    app = made(store, on_error=choose)
    async with app.lifespan(), client_of(app) as http:
        assert errors_in(await ask(http, "broken", "t1")) == ["Sorry (ValueError)."]
        (_, message) = await reloaded(http, "t1")
        assert message["metadata"] == {"ended": {"status": "failed", "reason": "Sorry (ValueError)."}}
        assert REFERENCE.search(errors_in(await ask(http, "tooled", "t2"))[0])
        body = {"model": "broken", "messages": [{"role": "user", "content": "Hello"}]}
        response = await http.post("/v1/chat/completions", json=body)
        assert response.json()["error"]["message"] == "Sorry (ValueError)."
        assert errors_in(await ask(http, "broken", "t3", "write")) == [f"ValueError: 401 for key {SECRET}"]


async def test_on_error_is_called_for_tools_and_may_fail(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    app = made(store, on_error=lambda error, _: f"Tool trouble: {type(error).__name__}")
    async with app.lifespan(), client_of(app) as http:
        assert errors_in(await ask(http, "tooled", "t1")) == ["Tool trouble: RuntimeError"]
        (_, message) = await reloaded(http, "t1")
        assert [part["errorText"] for part in message["parts"] if "errorText" in part] == [
            "Tool trouble: RuntimeError"
        ]
        assert "publicErrors" not in str(message)

    def fails(error: BaseException, request: AgentRequest) -> str:
        raise KeyError("oops")

    app = made(store, on_error=fails)
    async with app.lifespan(), client_of(app) as http:
        assert REFERENCE.search(errors_in(await ask(http, "broken", "t2"))[0])
    assert "on_error failed" in caplog.text


@each_row("is_active", [False, True], ids=["the run has ended", "the run is active"])
async def test_the_error_of_a_client_tool_is_not_masked(store: Store, is_active: bool) -> None:
    """The error that the client sent is what it reloads, whether the run has ended or waits for the call."""
    denied = "The user closed the map."
    approval_requested = asyncio.Event()

    async def waiting(request: AgentRequest) -> AsyncIterator[Any]:
        yield ToolInputAvailable("c1", "show_map", {"place": "Bell"})
        if is_active:
            approval_requested.set()
            await released.wait()
        yield "Done."

    released = asyncio.Event()
    agent = as_agent(waiting)
    agent.tools = Toolset([client_tool("show_map", "Show a place.")])  # type: ignore[attr-defined]
    app = asgi({"waiting": agent}, store=store, user=who, routes="all")
    thread = f"own-{is_active}"
    async with app.lifespan(), client_of(app) as http:
        asking = asyncio.create_task(ask(http, "waiting", thread))
        await (approval_requested.wait() if is_active else asyncio.wait([asking]))
        listed = await http.get(f"/api/threads/{thread}/runs", headers={"x-role": "write"})
        run_id = listed.json()["items"][0]["id"]
        given = {"toolCallId": "c1", "errorText": denied}
        async with asyncio.timeout(10):
            while (response := await http.post(f"/api/runs/{run_id}/output", json=given)).status_code == 409:
                await asyncio.sleep(0.01)  # until the call is stored
        assert response.status_code == 200, response.text
        released.set()
        chunks_sent = await asking
        if is_active:
            assert errors_in(chunks_sent) == [denied]
        (_, message) = await reloaded(http, thread)
    assert [part["errorText"] for part in message["parts"] if "errorText" in part] == [denied]
    assert "publicErrors" not in str(message)


async def test_no_route_returns_the_text_of_an_exception_to_an_end_user(http: httpx.AsyncClient) -> None:
    for agent in ("broken", "tooled", "net"):
        assert SECRET not in str(await ask(http, agent, agent))
        (_, message) = await reloaded(http, agent)
        run = await run_in(http, agent)
        names = {"thread_id": agent, "run_id": run, "other_id": run, "message_id": message["id"]}
        for path in (f"/api/memory/threads/{agent}/messages", f"/api/assistant-ui/threads/{agent}/messages"):
            assert REFERENCE.search((await http.get(path)).text), path
        document = (await http.get("/api/openapi.json", headers={"x-role": "admin"})).json()
        seen = 0
        for path, operations in document["paths"].items():
            filled = _filled(path, names)
            if "get" not in operations or "{" in filled or path.endswith(("/feed", "/events")):
                continue
            query = {"q": SECRET, "searchQuery": SECRET, "speed": "0", "keepAlive": "0", "seconds": "0"}
            approval_requested = [
                one["name"] for one in operations["get"].get("parameters", ()) if one["in"] == "query"
            ]
            chosen = {name: value for name, value in query.items() if name in approval_requested}
            response = await http.get(filled, params=chosen)
            found = response.text.replace(f'"query":"{SECRET}"', "")
            assert SECRET not in found, (path, found[:600])
            seen += response.status_code == 200
        assert seen > 20
        for kind in ("html", "markdown", "jsonl", "fixture"):
            options = {"format": kind, "redact": {"kinds": []}}
            response = await http.post(f"/api/threads/{agent}/share", json=options)
            assert SECRET not in response.text, kind
            assert response.status_code in (200, 403), response.text


def _filled(path: str, names: dict[str, str]) -> str:
    """The path with known ids."""

    def fill(found: re.Match[str]) -> str:
        snake = re.sub(r"([A-Z])", lambda letter: "_" + letter[1].lower(), found[1])
        return names.get(snake, found[0])

    return re.sub(r"\{(\w+)\}", fill, path)


async def test_a_reference_leads_to_the_traceback(
    http: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "partita")
    body = {"id": "t1", "agent": "broken", "messages": [USER]}
    response = await http.post("/api/chat", json=body, headers={"x-request-id": "req-77"})
    assert response.headers["x-request-id"] == "req-77"
    (text,) = errors_in(await chunks(response))
    found = REFERENCE.search(text)
    assert found is not None
    (record,) = [one for one in caplog.records if found[1] in one.getMessage()]
    fields = record.__dict__
    assert (fields["request_id"], fields["reference"]) == ("req-77", found[1])
    assert fields["run_id"] == response.headers["x-partita-run-id"]
    assert fields["thread_id"] == "t1"
    assert record.exc_info is not None
    assert SECRET in str(record.exc_info[1])
    assert record.exc_text is None or "broken" in record.exc_text
