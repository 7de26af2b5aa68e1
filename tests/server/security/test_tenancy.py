"""Data of other owners does not exist: it is in no response, and no request changes it."""

from typing import Any, NamedTuple
from zlib import crc32

import httpx
import pytest

from partita.server.app import PartitaApp
from partita.store.values import KeyRole
from partita.types.messages import UserMessage
from tests.sampling import FULL

from .cases import CASES, FOR_NO_OWNER, filled
from .comparisons import Comparison, MaskedResponse, comparisons, masked_response, send
from .multi_tenant import SECRET, MultiTenantServer, client_with_key, routes_of
from .recording import recorded, recording

ECHOED = {"GET /api/memory/search"}
"""Routes that return the search text."""

IDLE = {"/healthz", "/readyz", "/api/docs", "/api/openapi.json"}
"""Paths that use the store little or not at all."""

LISTS = (
    "/api/threads",
    "/api/runs",
    "/api/parts",
    "/api/stats?by=agent,day",
    "/api/stats?ids=true",
    "/api/stats/tools",
    "/api/stats/runs",
    "/api/stats/threads",
    "/api/threads/quick-of-alice/growth",
    "/api/search?q=question",
    "/api/memory/threads",
    "/api/memory/threads?resourceId=bob",
    "/api/memory/search?searchQuery=question",
    "/api/assistant-ui/threads",
    "/api/threads/quick-of-alice/messages",
    "/api/threads/quick-of-alice/runs",
    "/api/threads/quick-of-alice/usage",
    "/api/memory/threads/quick-of-alice/messages",
    "/api/assistant-ui/threads/quick-of-alice/messages",
)


class Observation(NamedTuple):
    """What a caller can observe: the response, and by its duration the work for it."""

    response: MaskedResponse
    done: list[str]


def is_tried(case: Comparison) -> bool:
    """Whether a request is sent: if runs do not matter, one thread for each request is enough."""
    if FULL or case.thread_matters:
        return True
    return case.number == crc32(f"{case.route} {case.request}".encode()) % case.threads


def test_every_route_has_a_case(app: PartitaApp) -> None:
    routes = {str(route) for route in routes_of(app) if route.method != "OPTIONS"}
    assert routes - set(CASES) == set(), "add requests with ids to cases.py"
    assert set(CASES) - routes == set(), "remove them from cases.py"


async def test_data_of_other_owners_gets_the_same_response_as_missing_data(server: MultiTenantServer) -> None:
    """The work is the same, too, so that the duration reveals nothing."""
    differing: dict[str, list[Observation]] = {}
    leaking: set[str] = set()
    before = server.rows()
    with recorded(server.store):
        for number, case in enumerate(filter(is_tried, comparisons(server))):
            observations: list[Observation] = []
            for who, ids in ((f"bob-{number}", case.alice_ids), (f"eve-{number}", case.unknown_ids)):
                async with client_with_key(server.app, await server.key(who, "admin")) as client:
                    with recording() as done:
                        response = await send(client, case.route, case.request, ids)
                is_idle = case.route.path in IDLE  # the result of /readyz is cached for a moment
                observations.append(Observation(masked_response(response, ids, who), [] if is_idle else done))
                if SECRET in response.text + str(response.headers):
                    leaking.add(str(case.route))
            if observations[0] != observations[1]:
                differing[case.name] = observations
            assert observations[0].done or case.route.path in IDLE, "a key is looked up at least"
    assert differing == {}
    assert leaking - ECHOED == set()
    assert server.rows() == before


async def test_the_owner_sees_all_of_her_data(server: MultiTenantServer) -> None:
    """The requests that others are refused return data for alice."""
    missing: dict[str, str] = {}
    async with client_with_key(server.app, await server.key("alice", "read")) as client:
        for case in comparisons(server):
            if case.route.method == "GET" and case.alice_ids is server.alice_ids[0]:
                response = await send(client, case.route, case.request, case.alice_ids)
                if response.status_code > 304 and case.route.path not in FOR_NO_OWNER:
                    missing[case.name] = response.text
    assert missing == {}


async def test_lists_have_data_of_the_caller_only(server: MultiTenantServer) -> None:
    """Bob has a thread with the id of one of alice's threads. His lists are the same as without alice."""
    await _send(server, "bob", "quick-of-alice")
    alice_ids = [ids["run"] for ids in server.alice_ids] + [ids["answer"] for ids in server.alice_ids]
    async with client_with_key(server.app, await server.key("bob")) as client:
        for path in LISTS:
            text = (await client.get(path)).text
            assert SECRET not in text, path
            assert not [one for one in alice_ids if one in text], path
        threads = await client.get("/api/threads")
        runs = await client.get("/api/runs")
        stats = await client.get("/api/stats")
    assert [one["id"] for one in threads.json()["items"]] == ["quick-of-alice"]
    assert len(runs.json()["items"]) == 1
    assert stats.json()["items"][0]["messages"] == 2


async def test_a_cursor_of_another_owner_gives_data_of_the_caller(server: MultiTenantServer) -> None:
    await _send(server, "bob", "thread-of-bob")
    async with client_with_key(server.app, await server.key("alice", "read")) as alice:
        cursors = {
            path: (await alice.get(path, params={"limit": "1"})).json()["next"]
            for path in ("/api/threads", "/api/runs", "/api/parts")
        }
        found = await alice.get("/api/search", params={"q": SECRET, "limit": "1"})
    async with client_with_key(server.app, await server.key("bob")) as bob:
        for path, cursor in cursors.items():
            response = await bob.get(path, params={"cursor": cursor})
            assert response.status_code == 200
            assert "alice" not in response.text, path
        response = await bob.get("/api/search", params={"q": SECRET, "cursor": found.json()["next"]})
        assert "alice" not in response.text


async def test_total_numbers_are_not_visible_to_an_owner(server: MultiTenantServer) -> None:
    statuses: list[int] = []
    keys: list[tuple[str | None, KeyRole]] = [("bob", "admin"), ("bob", "read"), (None, "admin")]
    for owner, role in keys:
        async with client_with_key(server.app, await server.key(owner, role)) as client:
            statuses.append((await client.get("/metrics")).status_code)
    assert statuses[:2] == [403, 403]
    assert statuses[2] in (200, 501)


# The same thread id


async def _send(server: MultiTenantServer, who: str, thread: str, agent: str = "quick") -> httpx.Response:
    message = {"id": "question", "role": "user", "parts": [{"type": "text", "text": "A question."}]}
    async with client_with_key(server.app, await server.key(who)) as client:
        response = await client.post("/api/chat", json={"id": thread, "agent": agent, "message": message})
    assert response.status_code == 200, response.text
    return response


async def _start_run(server: MultiTenantServer, agent: str) -> str:
    """Start a run of bob in a thread with the id of alice's thread, and return its id."""
    state = server.app.opened()
    question = UserMessage(id=f"{agent}-question", content="says bob")
    run = await state.session.scoped("bob").start(state.agents.get(agent), f"{agent}-of-alice", [question])
    return run.id


async def test_a_chat_in_a_thread_with_the_same_id_is_separate(server: MultiTenantServer) -> None:
    before = server.rows()
    for ids in server.alice_ids:
        await _send(server, "bob", ids["thread"])
    assert server.rows() == before
    assert {row[2] for row in server.rows("bob")["threads"]} == {ids["thread"] for ids in server.alice_ids}


async def test_stopping_a_thread_with_the_same_id_stops_the_callers_run(server: MultiTenantServer) -> None:
    before = server.rows()
    bobs_run = await _start_run(server, "held")
    async with client_with_key(server.app, await server.key("bob")) as client:
        wrong = await client.post("/api/chat/held-of-alice/stop", json={"runId": server.alice_ids[2]["run"]})
        right = await client.post("/api/chat/held-of-alice/stop")
    assert wrong.json() == {"stopped": False}
    assert right.json() == {"stopped": True, "runId": bobs_run}
    assert server.rows() == before
    run = await server.store.scoped("alice").runs.get(server.alice_ids[2]["run"])
    assert run is not None
    assert run.status == "running"


async def test_resuming_a_thread_with_the_same_id_gives_the_callers_run(server: MultiTenantServer) -> None:
    bobs_run = await _start_run(server, "asking")
    async with client_with_key(server.app, await server.key("bob", "read")) as client:
        response = await client.get("/api/chat/asking-of-alice/stream")
    assert response.headers["x-partita-run-id"] == bobs_run
    assert server.alice_ids[1]["answer"] not in response.text


DECISIONS: dict[str, tuple[str, Any]] = {
    "of a run": ("/api/runs/<run>/approval", {"approvalId": "a1", "approved": True}),
    "in a chat": (
        "/api/chat",
        {
            "id": "asking-of-alice",
            "message": {
                "id": "<answer>",
                "role": "assistant",
                "parts": [
                    {
                        "type": "tool-switch_off",
                        "toolCallId": "c1",
                        "state": "approval-responded",
                        "input": {"name": "Bell"},
                        "approval": {"id": "a1", "approved": True},
                    }
                ],
            },
        },
    ),
}


@pytest.mark.parametrize(("path", "body"), DECISIONS.values(), ids=DECISIONS)
async def test_a_decision_in_a_thread_with_the_same_id_reaches_the_callers_run(
    server: MultiTenantServer, path: str, body: Any
) -> None:
    """The ids of the approval and of the call are the same, too."""
    before = server.rows()
    bobs_run = await _start_run(server, "asking")
    run = await server.store.scoped("bob").runs.get(bobs_run)
    assert run is not None
    ids = {"run": bobs_run, "answer": run.message_id or ""}
    async with client_with_key(server.app, await server.key("bob")) as client:
        await client.get("/api/chat/asking-of-alice/stream")  # until the approval request
        response = await client.post(filled(path, ids), json=filled(body, ids))
        assert response.status_code == 200, response.text
        ended = await client.get(f"/api/runs/{bobs_run}/wait")
    assert ended.json()["status"] == "completed"
    assert server.rows() == before
