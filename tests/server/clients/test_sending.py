"""Sending: the hook shows the same messages as the server stores."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from partita.runtime.adapters.agent_request import AgentRequest
from partita.server.settings import Settings
from partita.store.store import Store
from partita.types.chunks import Chunk, CustomChunk, ReasoningFileChunk
from partita.types.json import loads
from tests.server.clients.agents import PausingAgent, scripted_by_word
from tests.server.clients.conftest import ServeChat
from tests.server.clients.releases import on_all_releases
from tests.server.conftest import scripted, text_part

RICH: list[dict[str, Any]] = [
    {"type": "reasoning", "text": "A light on an island.", "providerMetadata": {"maker": {"signature": "s"}}},
    text_part("It is forty-one metres tall."),
    {"type": "source-url", "sourceId": "s1", "url": "https://lights.example/41", "title": "Lights"},
    {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,iVBORw0KGgo="},
    text_part("Here it is."),
]


@on_all_releases
async def test_a_response_is_shown_as_it_is_stored(site: ServeChat) -> None:
    chat = await (await site(scripted(RICH))).chat()
    await chat.send("How tall is it?")
    state = await chat.finished()
    assert (state.status, state.text) == ("ready", "It is forty-one metres tall.Here it is.")
    assert [finish.finish_reason for finish in state.finished] == ["stop"]


async def test_a_chat_has_several_turns(site: ServeChat) -> None:
    chat = await (
        await site(scripted_by_word(tall=[[text_part("Very.")]], old=[[text_part("Quite.")]]))
    ).chat()
    await chat.send("How tall is it?")
    await chat.send("And how old?", metadata={"mood": "curious"})
    state = await chat.finished()
    assert [message["role"] for message in state.messages] == ["user", "assistant"] * 2
    assert state.text == "Quite."


@on_all_releases
async def test_files_of_the_user_are_sent(site: ServeChat, store: Store) -> None:
    chat = await (await site(scripted([text_part("A lighthouse.")]))).chat()
    picture = {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,iVBORw0KGgo="}
    await chat.send("What is this?", files=[picture])
    state = await chat.finished()
    assert state.messages[0]["parts"] == [picture, text_part("What is this?")]


async def test_sending_the_last_message_only_is_enough(site: ServeChat) -> None:
    agent = scripted_by_word(tall=[[text_part("Very.")]], old=[[text_part("Quite.")]])
    chat = await (await site(agent)).chat(lastOnly=True)
    await chat.send("How tall is it?")
    await chat.send("And how old?")
    state = await chat.finished()
    assert state.text == "Quite."
    assert len(state.messages) == 4
    assert all("messages" not in loads(request.body or "") for request in state.requests)


async def novelties(_: AgentRequest) -> AsyncIterator[Chunk | str]:
    """An agent with chunks that only release 7 can read: clients of other releases would fail."""
    yield "Before."
    yield CustomChunk("maker.note", {"maker": {"note": "new"}})
    yield ReasoningFileChunk("https://lights.example/a.png", "image/png")


@on_all_releases
async def test_the_release_of_clients_can_be_configured(site: ServeChat) -> None:
    chat = await (await site(novelties)).chat()
    await chat.send("What is new?")
    state = await chat.finished()
    assert (state.status, state.text) == ("ready", "Before.")


@on_all_releases
async def test_a_client_can_name_its_release(site: ServeChat) -> None:
    here = await site(novelties, names_release=False)
    chat = await here.chat(headers={"x-ai-sdk-version": str(here.browser.version)})
    await chat.send("What is new?")
    state = await chat.finished()
    assert (state.status, state.text) == ("ready", "Before.")


@pytest.mark.parametrize("browser", [7], indirect=True)
async def test_without_a_release_the_newest_is_assumed(site: ServeChat) -> None:
    chat = await (await site(novelties, names_release=False)).chat()
    await chat.send("What is new?")
    types = {part["type"] for part in (await chat.finished()).last["parts"]}
    assert {"custom", "reasoning-file"} <= types


async def test_a_message_during_an_active_run_is_refused(site: ServeChat) -> None:
    agent = PausingAgent(
        scripted_by_word(tall=[[text_part("Very tall indeed.")]], old=[[text_part("Quite.")]]), "Very"
    )
    here = await site(agent)
    first, second = await here.chat(), await here.chat()
    await first.view.call("sendMessage", {"text": "How tall is it?"})
    await first.view.until(texts=["Very"])
    refused = await second.send("And how old?")
    assert refused.status == "error"
    assert "active run" in (refused.error or "")
    assert [request.status for request in refused.requests] == [200, 409]
    agent.released.set()
    assert (await first.finished()).text == "Very tall indeed."


async def test_a_message_during_an_active_run_can_be_queued(site: ServeChat) -> None:
    agent = PausingAgent(
        scripted_by_word(tall=[[text_part("Very tall indeed.")]], old=[[text_part("Quite.")]]), "Very"
    )
    here = await site(agent, settings=Settings(busy="queue"))
    first, second = await here.chat(), await here.chat()
    await first.view.call("sendMessage", {"text": "How tall is it?"})
    await first.view.until(texts=["Very"])
    await second.view.call("sendMessage", {"text": "And how old?"})
    await second.view.until(status="submitted")
    agent.released.set()
    await first.view.until(settled=True)
    state = await second.view.until(settled=True)
    assert state.text == "Quite."
    assert state.messages == (await here.stored())[2:]
