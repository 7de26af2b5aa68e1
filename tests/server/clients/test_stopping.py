"""Stopped and failed runs: the partial response stays, and the next message works."""

import asyncio
from collections.abc import AsyncIterator
from itertools import count
from typing import Any

import httpx
import pytest

from partita.runtime.adapters.agent_request import AgentRequest
from partita.runtime.agent.agent import Agent
from partita.runtime.scripted import ScriptedService, as_script
from partita.runtime.session import session
from partita.server.app import asgi
from partita.server.settings import Settings
from partita.store.connection import open_store
from partita.store.store import Store
from partita.store.values import RunFilter
from partita.types.messages import UserMessage
from tests.server.clients.agents import PausingAgent, calls, scripted_by_word
from tests.server.clients.conftest import ServeChat
from tests.server.clients.releases import on_all_releases
from tests.server.clients.site import Chat, Site
from tests.server.conftest import Serve, text_part

TALK = scripted_by_word(tall=[[text_part("Very tall indeed.")]], old=[[text_part("Quite.")]])


@on_all_releases
async def test_the_stop_route_stops_a_run(site: ServeChat) -> None:
    here = await site(PausingAgent(TALK, "tall "))
    chat = await here.chat()
    await chat.view.call("sendMessage", {"text": "How tall is it?"})
    await chat.view.until(texts=["Very tall "])
    response = await here.request("POST", "/api/chat/harbour/stop", json={})
    assert response.json()["stopped"] is True
    stopped = await chat.finished()
    assert (stopped.status, stopped.text) == ("ready", "Very tall ")
    await chat.send("And how old?")
    assert (await chat.finished()).text == "Quite."


@on_all_releases
async def test_a_tool_call_can_be_stopped(site: ServeChat) -> None:
    started = asyncio.Event()

    async def climb() -> None:
        """Climb the stairs slowly."""
        started.set()
        await asyncio.Event().wait()

    model = scripted_by_word(tall=[[text_part("I count."), calls("climb", {})]], old=[[text_part("Quite.")]])
    here = await site(Agent(model, tools=[climb]))
    chat = await here.chat()
    await chat.view.call("sendMessage", {"text": "How tall is it?"})
    await started.wait()
    await chat.view.until(texts=["input-available"])
    await here.request("POST", "/api/chat/harbour/stop", json={})
    await chat.finished()
    await chat.send("And how old?")
    assert (await chat.finished()).text == "Quite."


async def test_a_late_stop_has_no_effect(site: ServeChat) -> None:
    here = await site(TALK)
    chat = await here.chat()
    await chat.send("How tall is it?")
    response = await here.request("POST", "/api/chat/harbour/stop")
    assert response.json() == {"stopped": False}
    assert (await chat.finished()).text == "Very tall indeed."


async def stopped_by_the_client(here: Site) -> Chat:
    """A chat whose user has stopped a response. The hook only disconnects: the run is still active."""
    chat = await here.chat()
    await chat.view.call("sendMessage", {"text": "How tall is it?"})
    await chat.view.until(texts=["Very tall "])
    await chat.view.call("stop")
    stopped = await chat.view.until(settled=True)
    assert (stopped.status, stopped.text) == ("ready", "Very tall ")
    return chat


async def statuses(store: Store) -> list[str]:
    """The statuses of the runs, the first one first."""
    return [run.status for run in (await store.runs.list(RunFilter(thread_id="harbour"))).items[::-1]]


async def until_statuses(store: Store, *expected_statuses: str) -> None:
    async with asyncio.timeout(10):
        while await statuses(store) != list(expected_statuses):
            await asyncio.sleep(0.01)


async def test_after_a_client_stop_the_next_message_works(site: ServeChat, store: Store) -> None:
    """A message after the partial response tells the server to stop the run."""
    here = await site(PausingAgent(TALK, "tall "))
    chat = await stopped_by_the_client(here)
    state = await chat.send("And how old?")
    assert (state.status, state.text) == ("ready", "Quite.")
    expected = await here.stored()
    del expected[1]["metadata"]  # how it ended: the hook has hung up before that,
    expected[1]["parts"][1]["state"] = "streaming"  # and never ends what it has hung up on
    assert state.messages == expected
    assert await statuses(store) == ["cancelled", "completed"]


async def test_after_a_client_stop_the_message_can_be_edited(site: ServeChat, store: Store) -> None:
    chat = await stopped_by_the_client(await site(PausingAgent(TALK, "tall ")))
    question = (await chat.view.until(settled=True)).ids[0]
    await chat.send("How old is it?", messageId=question)
    state = await chat.finished()
    assert (state.status, state.text, state.ids[0]) == ("ready", "Quite.", question)
    assert await statuses(store) == ["cancelled", "completed"]


@pytest.mark.parametrize("named", [False, True], ids=["the last answer", "a named answer"])
async def test_after_a_client_stop_the_response_can_be_regenerated(
    site: ServeChat, store: Store, named: bool
) -> None:
    agent = PausingAgent(TALK, "tall ")
    chat = await stopped_by_the_client(await site(agent))
    before = await chat.view.until(settled=True)
    await chat.view.call("regenerate", {"messageId": before.ids[1]} if named else {})
    await chat.view.until(texts=["Very tall "], status="streaming")
    agent.released.set()
    state = await chat.finished()
    assert (state.status, state.text) == ("ready", "Very tall indeed.")
    assert state.ids[0] == before.ids[0]
    assert state.ids[1] != before.ids[1]
    assert await statuses(store) == ["cancelled", "completed"]


class Slow:
    """An agent that delays responses about height until it is released, and responds to others at once."""

    name = "slow"

    def __init__(self) -> None:
        self.called = asyncio.Event()

    async def __call__(self, request: AgentRequest) -> AsyncIterator[str]:
        if "tall" in request.text:
            self.called.set()
            await asyncio.Event().wait()
        yield "Quite."


@pytest.mark.parametrize("last_only", [False, True], ids=["all messages", "the last message only"])
@on_all_releases
async def test_a_client_stop_before_the_first_text_works(
    site: ServeChat, store: Store, last_only: bool
) -> None:
    """The client has no partial response: the server finds the stopped run by the question only."""
    agent = Slow()
    chat = await (await site(agent.__call__)).chat(lastOnly=last_only)
    await chat.view.call("sendMessage", {"text": "How tall is it?"})
    await agent.called.wait()
    await chat.view.call("stop")
    await chat.view.until(settled=True)
    state = await chat.send("And how old?")
    assert (state.status, state.error, state.text) == ("ready", None, "Quite.")
    assert [request.status for request in state.requests][-1] == 200
    assert await statuses(store) == ["cancelled", "completed"]


@on_all_releases
async def test_after_a_client_stop_sending_the_last_message_is_enough(site: ServeChat, store: Store) -> None:
    here = await site(PausingAgent(TALK, "tall "))
    chat = await here.chat(lastOnly=True)
    await chat.view.call("sendMessage", {"text": "How tall is it?"})
    await chat.view.until(texts=["Very tall "])
    await chat.view.call("stop")
    await chat.view.until(settled=True)
    state = await chat.send("And how old?")
    assert (state.status, state.error, state.text) == ("ready", None, "Quite.")
    assert await statuses(store) == ["cancelled", "completed"]


@pytest.mark.parametrize("last_only", [False, True], ids=["all messages", "the last message only"])
async def test_a_client_stop_ends_a_queued_run(site: ServeChat, store: Store, last_only: bool) -> None:
    agent = PausingAgent(TALK, "tall ")
    here = await site(agent, settings=Settings(busy="queue"))
    first, second = await here.chat(), await here.chat(lastOnly=last_only)
    await first.view.call("sendMessage", {"text": "How tall is it?"})
    await first.view.until(texts=["Very tall "])
    await second.view.call("sendMessage", {"text": "Is it tall?"})
    await until_statuses(store, "running", "pending")
    await second.view.call("stop")
    await second.view.until(settled=True)
    await second.view.call("sendMessage", {"text": "And how old?"})
    await until_statuses(store, "running", "cancelled", "pending")
    agent.released.set()
    await first.view.until(settled=True)
    state = await second.view.until(settled=True)
    assert (state.status, state.text) == ("ready", "Quite.")
    assert await statuses(store) == ["completed", "cancelled", "completed"]
    texts = [part["text"] for one in await here.stored() for part in one["parts"] if part["type"] == "text"]
    assert texts == ["How tall is it?", "Very tall indeed.", "Is it tall?", "And how old?", "Quite."]


@pytest.mark.parametrize("last_only", [False, True], ids=["all messages", "the last message only"])
async def test_after_a_client_stop_another_server_can_continue(
    site: ServeChat, store: Store, serve: Serve, last_only: bool
) -> None:
    here = await site(PausingAgent(TALK, "tall "))
    chat = await here.chat(lastOnly=last_only)
    await chat.view.call("sendMessage", {"text": "How tall is it?"})
    await chat.view.until(texts=["Very tall "])
    await chat.view.call("stop")
    await chat.view.until(settled=True)
    assert store.engine.where != "memory"
    async with open_store(store.engine.where) as other:
        await here.browser.visit(await serve(asgi(TALK, store=other, client=here.browser.version)))
        state = await chat.send("And how old?")
        assert (state.status, state.error, state.text) == ("ready", None, "Quite.")
        assert await statuses(store) == ["cancelled", "completed"]


async def test_waiting_for_a_run_that_does_not_stop_is_limited(
    site: ServeChat, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run belongs to a process that does not respond, and its lease has not expired."""
    monkeypatch.setattr(session, "STOP_MARGIN", -20.0)
    here = await site(TALK, settings=Settings(lease=10.2))
    chat = await here.chat()
    await store.threads.create("harbour")
    question = UserMessage(id="u1", content="How tall is it?")
    await store.runs.start_turn("harbour", [question], lease_owner="elsewhere", lease_seconds=60)
    await chat.view.call(
        "setMessages", [{"id": "u1", "role": "user", "parts": [text_part("How tall is it?")]}]
    )
    state = await chat.send("And how old?")
    assert (state.status, [request.status for request in state.requests]) == ("error", [503])
    assert "has not stopped yet" in (state.error or "")
    async with httpx.AsyncClient(base_url=here.url, verify=False) as client:
        refused = await client.post("/api/chat/harbour/stop")
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")


@on_all_releases
async def test_a_failure_during_a_response_keeps_the_partial_response(site: ServeChat) -> None:
    scenes = [
        {"match": "tall", "steps": [{"parts": [text_part("Very")], "error": "the model is out of breath"}]},
        {"match": "old", "steps": [{"parts": [text_part("Quite.")]}]},
    ]
    here = await site(ScriptedService(as_script({"scenes": scenes})))
    chat = await here.chat()
    failed = await chat.send("How tall is it?")
    assert (failed.status, failed.text) == ("error", "Very")
    assert "out of breath" in (failed.error or "")
    await chat.finished()
    await chat.send("And how old?")
    assert (await chat.finished()).text == "Quite."


async def test_a_failed_response_can_be_regenerated_at_once(site: ServeChat) -> None:
    """When the client receives the failure, the run has ended."""
    tried = count(1)

    async def moody(_: AgentRequest) -> AsyncIterator[str]:
        yield "Well, "
        if next(tried) < 3:
            raise RuntimeError("not now")
        yield "very."

    chat = await (await site(moody)).chat()
    assert (await chat.send("How tall is it?")).status == "error"
    await chat.view.call("regenerate")
    assert (await chat.view.until(settled=True)).status == "error"
    await chat.view.call("regenerate")
    state = await chat.finished()
    assert (state.status, state.text) == ("ready", "Well, very.")
    assert [request.status for request in state.requests] == [200, 200, 200]


SYSTEM = {"id": "s1", "role": "system", "parts": [text_part("Obey.")]}

REFUSALS: dict[str, tuple[Any, dict[str, Any], int, str]] = {
    "a message that a client must not send": (TALK, {"messages": [SYSTEM]}, 400, "system message"),
    "an unknown release": (TALK, {"headers": {"x-ai-sdk-version": "nine"}}, 400, "nine"),
    "a server without an agent": (None, {}, 501, "no agent"),
}


@pytest.mark.parametrize(("agent", "options", "status", "words"), REFUSALS.values(), ids=REFUSALS)
async def test_a_refused_request_has_a_reason(
    site: ServeChat, agent: Any, options: dict[str, Any], status: int, words: str
) -> None:
    chat = await (await site(agent)).chat(**options)
    refused = await chat.send("How tall is it?")
    assert (refused.status, refused.requests[-1].status) == ("error", status)
    assert words in (refused.error or "")


async def test_an_exception_during_a_response_keeps_the_partial_response(site: ServeChat) -> None:
    async def broken(_: AgentRequest) -> AsyncIterator[str]:
        yield "Ve"
        raise RuntimeError("the ink is dry")

    chat = await (await site(broken)).chat()
    failed = await chat.send("How tall is it?")
    assert (failed.status, failed.text) == ("error", "Ve")
    assert failed.error
    await chat.finished()
