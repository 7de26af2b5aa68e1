"""Data of other owners does not exist: it is in no response, and no request changes it."""

from typing import Any, NamedTuple
from zlib import crc32

import httpx
import pytest

from partita.server.app import PartitaApp
from partita.store.values import KeyRole
from partita.types.messages import UserMessage
from tests.sampling import FULL

from .cases import CASES, filled
from .comparisons import Comparison, MaskedResponse, comparisons, masked_response, send
from .harbour import SECRET, Harbour, asking_as, routes_of
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
    return case.number == crc32(f"{case.route} {case.ask}".encode()) % case.threads


def test_every_route_has_a_case(app: PartitaApp) -> None:
    routes = {str(route) for route in routes_of(app) if route.method != "OPTIONS"}
    assert routes - set(CASES) == set(), "add requests with ids to cases.py"
    assert set(CASES) - routes == set(), "remove them from cases.py"


async def test_data_of_other_owners_gets_the_same_response_as_missing_data(place: Harbour) -> None:
    """The work is the same, too, so that the duration reveals nothing."""
    differing: dict[str, list[Observation]] = {}
    leaking: set[str] = set()
    before = place.rows()
    with recorded(place.store):
        for number, case in enumerate(filter(is_tried, comparisons(place))):
            answers: list[Observation] = []
            for who, ids in ((f"bob-{number}", case.hers), (f"eve-{number}", case.nobodys)):
                async with asking_as(place.app, await place.key(who, "admin")) as client:
                    with recording() as done:
                        response = await send(client, case.route, case.ask, ids)
                is_idle = case.route.path in IDLE  # the result of /readyz is cached for a moment
                answers.append(Observation(masked_response(response, ids, who), [] if is_idle else done))
                if SECRET in response.text + str(response.headers):
                    leaking.add(str(case.route))
            if answers[0] != answers[1]:
                differing[case.name] = answers
            assert answers[0].done or case.route.path in IDLE, "a key is looked up at least"
    assert differing == {}
    assert leaking - ECHOED == set()
    assert place.rows() == before


async def test_the_owner_sees_all_of_her_data(place: Harbour) -> None:
    """The requests that others are refused return data for alice."""
    missing: dict[str, str] = {}
    async with asking_as(place.app, await place.key("alice", "read")) as client:
        for case in comparisons(place):
            if case.route.method == "GET" and case.hers is place.hers[0]:
                response = await send(client, case.route, case.ask, case.hers)
                if response.status_code > 304 and case.route.path != "/metrics":
                    missing[case.name] = response.text
    assert missing == {}


async def test_lists_have_data_of_the_caller_only(place: Harbour) -> None:
    """Bob has a thread with the id of one of alice's threads. His lists are the same as without alice."""
    await _say(place, "bob", "quick-of-alice")
    hers = [ids["run"] for ids in place.hers] + [ids["answer"] for ids in place.hers]
    async with asking_as(place.app, await place.key("bob")) as client:
        for path in LISTS:
            text = (await client.get(path)).text
            assert SECRET not in text, path
            assert not [one for one in hers if one in text], path
        threads = await client.get("/api/threads")
        runs = await client.get("/api/runs")
        stats = await client.get("/api/stats")
    assert [one["id"] for one in threads.json()["items"]] == ["quick-of-alice"]
    assert len(runs.json()["items"]) == 1
    assert stats.json()["items"][0]["messages"] == 2


async def test_a_cursor_of_another_owner_gives_data_of_the_caller(place: Harbour) -> None:
    await _say(place, "bob", "his")
    async with asking_as(place.app, await place.key("alice", "read")) as hers:
        cursors = {
            path: (await hers.get(path, params={"limit": "1"})).json()["next"]
            for path in ("/api/threads", "/api/runs", "/api/parts")
        }
        found = await hers.get("/api/search", params={"q": SECRET, "limit": "1"})
    async with asking_as(place.app, await place.key("bob")) as his:
        for path, cursor in cursors.items():
            response = await his.get(path, params={"cursor": cursor})
            assert response.status_code == 200
            assert "alice" not in response.text, path
        response = await his.get("/api/search", params={"q": SECRET, "cursor": found.json()["next"]})
        assert "alice" not in response.text


async def test_total_numbers_are_not_visible_to_an_owner(place: Harbour) -> None:
    statuses: list[int] = []
    keys: list[tuple[str | None, KeyRole]] = [("bob", "admin"), ("bob", "read"), (None, "admin")]
    for owner, role in keys:
        async with asking_as(place.app, await place.key(owner, role)) as client:
            statuses.append((await client.get("/metrics")).status_code)
    assert statuses[:2] == [403, 403]
    assert statuses[2] in (200, 501)


# The same thread id


async def _say(place: Harbour, who: str, thread: str, agent: str = "quick") -> httpx.Response:
    message = {"id": "question", "role": "user", "parts": [{"type": "text", "text": "A question."}]}
    async with asking_as(place.app, await place.key(who)) as client:
        response = await client.post("/api/chat", json={"id": thread, "agent": agent, "message": message})
    assert response.status_code == 200, response.text
    return response


async def _begin(place: Harbour, agent: str) -> str:
    """Start a run of bob in a thread with the id of alice's thread, and return its id."""
    state = place.app.opened()
    asked = UserMessage(id=f"{agent}-question", content="says bob")
    run = await state.session.scoped("bob").start(state.agents.get(agent), f"{agent}-of-alice", [asked])
    return run.id


async def test_a_chat_in_a_thread_with_the_same_id_is_separate(place: Harbour) -> None:
    before = place.rows()
    for ids in place.hers:
        await _say(place, "bob", ids["thread"])
    assert place.rows() == before
    assert {row[2] for row in place.rows("bob")["threads"]} == {ids["thread"] for ids in place.hers}


async def test_stopping_a_thread_with_the_same_id_stops_the_callers_run(place: Harbour) -> None:
    before = place.rows()
    his = await _begin(place, "held")
    async with asking_as(place.app, await place.key("bob")) as client:
        wrong = await client.post("/api/chat/held-of-alice/stop", json={"runId": place.hers[2]["run"]})
        right = await client.post("/api/chat/held-of-alice/stop")
    assert wrong.json() == {"stopped": False}
    assert right.json() == {"stopped": True, "runId": his}
    assert place.rows() == before
    hers = await place.store.scoped("alice").runs.get(place.hers[2]["run"])
    assert hers is not None
    assert hers.status == "running"


async def test_resuming_a_thread_with_the_same_id_gives_the_callers_run(place: Harbour) -> None:
    his = await _begin(place, "asking")
    async with asking_as(place.app, await place.key("bob", "read")) as client:
        response = await client.get("/api/chat/asking-of-alice/stream")
    assert response.headers["x-partita-run-id"] == his
    assert place.hers[1]["answer"] not in response.text


ANSWERS: dict[str, tuple[str, Any]] = {
    "of a run": ("/api/runs/<run>/answer", {"approvalId": "a1", "approved": True}),
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


@pytest.mark.parametrize(("path", "body"), ANSWERS.values(), ids=ANSWERS)
async def test_a_decision_in_a_thread_with_the_same_id_reaches_the_callers_run(
    place: Harbour, path: str, body: Any
) -> None:
    """The ids of the approval and of the call are the same, too."""
    before = place.rows()
    his = await _begin(place, "asking")
    run = await place.store.scoped("bob").runs.get(his)
    assert run is not None
    ids = {"run": his, "answer": run.message_id or ""}
    async with asking_as(place.app, await place.key("bob")) as client:
        await client.get("/api/chat/asking-of-alice/stream")  # until the approval request
        response = await client.post(filled(path, ids), json=filled(body, ids))
        assert response.status_code == 200, response.text
        ended = await client.get(f"/api/runs/{his}/wait")
    assert ended.json()["status"] == "completed"
    assert place.rows() == before
