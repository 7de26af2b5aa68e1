"""Edited messages and regenerated responses: the old ones stay on another branch."""

from collections.abc import AsyncIterator

import pytest

from partita.runtime.adapters.agent_request import AgentRequest
from partita.store.store import Store
from partita.store.values import MessageFilter
from partita.types.messages import text_of
from tests.server.clients.agents import scripted_by_word
from tests.server.clients.conftest import ServeChat
from tests.server.clients.releases import on_all_releases
from tests.server.conftest import text_part

TALK = scripted_by_word(
    tall=[[text_part("Very.")]], old=[[text_part("Quite.")]], far=[[text_part("Not at all.")]]
)


class Counting:
    """An agent that numbers its responses."""

    def __init__(self) -> None:
        self._given = 0

    async def __call__(self, _: AgentRequest) -> AsyncIterator[str]:
        """The number of the response."""
        self._given += 1
        yield f"Answer {self._given}."


async def all_texts(store: Store) -> list[str]:
    """The texts of all branches, in the order in which they were stored."""
    page = await store.messages.list("harbour", MessageFilter(branch="all"), limit=None)
    return [text_of(message) for message in page.items]


@on_all_releases
@pytest.mark.parametrize("last_only", [False, True], ids=["all messages", "the last message"])
async def test_an_edited_message_keeps_its_id(site: ServeChat, store: Store, last_only: bool) -> None:
    chat = await (await site(TALK)).chat(lastOnly=last_only)
    before = await chat.send("How tall is it?")
    await chat.send("And how old?")
    await chat.send("How far is it?", messageId=before.ids[0])
    state = await chat.finished()
    assert state.ids[0] == before.ids[0]
    assert state.ids[1] != before.ids[1]
    assert (len(state.messages), state.text) == (2, "Not at all.")
    assert sorted(await all_texts(store)) == sorted(
        ["How tall is it?", "Very.", "And how old?", "Quite.", "How far is it?", "Not at all."]
    )


async def test_the_chat_continues_after_an_edited_message(site: ServeChat) -> None:
    chat = await (await site(TALK)).chat()
    first = await chat.send("How tall is it?")
    await chat.send("How far is it?", messageId=first.ids[0])
    await chat.send("And how old?")
    state = await chat.finished()
    assert (len(state.messages), state.text) == (4, "Quite.")


async def test_a_later_message_can_be_edited(site: ServeChat) -> None:
    chat = await (await site(TALK)).chat()
    await chat.send("How tall is it?")
    second = await chat.send("And how old?")
    await chat.send("And how far?", messageId=second.ids[2])
    state = await chat.finished()
    assert state.ids[:3] == second.ids[:3]
    assert state.text == "Not at all."


@on_all_releases
@pytest.mark.parametrize(
    ("named", "last_only"),
    [(False, False), (False, True), (True, False)],
    ids=["the last answer", "the last answer, with its question only", "a named answer"],
)
async def test_a_response_can_be_regenerated(
    site: ServeChat, store: Store, named: bool, last_only: bool
) -> None:
    chat = await (await site(Counting())).chat(lastOnly=last_only)
    before = await chat.send("How tall is it?")
    await chat.view.call("regenerate", {"messageId": before.ids[1]} if named else {})
    state = await chat.finished()
    assert state.text == "Answer 2."
    assert state.ids[0] == before.ids[0]
    assert state.ids[1] != before.ids[1]
    assert await all_texts(store) == ["How tall is it?", "Answer 1.", "Answer 2."]


async def test_an_earlier_response_can_be_regenerated(site: ServeChat, store: Store) -> None:
    chat = await (await site(Counting())).chat()
    first = await chat.send("How tall is it?")
    await chat.send("And how old?")
    await chat.view.call("regenerate", {"messageId": first.ids[1]})
    state = await chat.finished()
    assert (len(state.messages), state.text) == (2, "Answer 3.")
    assert len(await all_texts(store)) == 5


async def test_the_response_to_a_named_message_can_be_regenerated(site: ServeChat) -> None:
    chat = await (await site(Counting())).chat()
    before = await chat.send("How tall is it?")
    await chat.view.call("regenerate", {"messageId": before.ids[0]})
    state = await chat.finished()
    assert (len(state.messages), state.text) == (2, "Answer 2.")


async def test_a_message_of_another_branch_can_be_edited(site: ServeChat) -> None:
    """An outdated page still shows a branch that another client has left."""
    here = await site(TALK)
    behind = await here.chat()
    first = await behind.send("How tall is it?")
    shown = await behind.send("And how old?")
    ahead = await here.load()
    await ahead.send("How far is it?", messageId=first.ids[0])
    state = await behind.send("And how far?", messageId=shown.ids[2])
    assert (state.status, state.text) == ("ready", "Not at all.")
    expected = await here.stored()
    assert expected[0]["id"] != state.ids[0]  # the active branch is that of the edited message
    assert state.messages == [{**expected[0], "id": state.ids[0]}, *expected[1:]]
