"""A retried request, whose response was lost, does not call the model again."""

from collections.abc import AsyncIterator

import httpx
import pytest

from partita.runtime.agent.agent import Agent
from partita.runtime.tools.tool import client_tool
from partita.server.app import asgi
from partita.store.store import Store
from partita.store.values import RunFilter
from partita.types.chunks import MessageFinish, TextDelta, ToolOutputAvailable
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, text_of
from tests.runtime.agent.models import Model, reply
from tests.runtime.session.controlled_agent import ControlledAgent, partial_reply
from tests.server.conftest import Serve, client_of

from .chat_client import Chat, ChatResponse, shown, user


@pytest.fixture
def model() -> Model:
    return Model(*[reply(f"Answer {number}.") for number in range(1, 5)])


@pytest.fixture
async def chat(store: Store, model: Model) -> AsyncIterator[Chat]:
    app = asgi(model, store=store)
    async with app.lifespan(), client_of(app) as client:
        yield Chat(client)


def text_in(response: ChatResponse) -> str:
    return text_of(response.message())


async def runs_of(store: Store) -> list[str]:
    return [run.status for run in (await store.runs.list(RunFilter(thread_id="c1"))).items]


async def test_a_message_retried_after_its_response_gives_the_same_response(chat: Chat, store: Store) -> None:
    first = await chat.ask(user("u1", "One?"))
    again = await chat.ask(user("u1", "One?"))
    assert (again.run_id, again.message_id, text_in(again)) == (
        first.run_id,
        first.message_id,
        "Answer 1.",
    )
    assert isinstance(again.chunks[-1], MessageFinish)
    assert await runs_of(store) == ["completed"]


async def test_a_later_message_can_be_retried(chat: Chat, store: Store) -> None:
    await chat.ask(user("u1", "One?"))
    response = shown((await store.messages.list("c1")).items[-1])
    sent = (user("u1", "One?"), response, user("u2", "Two?"))
    assert [text_in(await chat.ask(*sent)) for _ in range(2)] == ["Answer 2.", "Answer 2."]
    assert await runs_of(store) == ["completed", "completed"]


async def test_a_request_that_is_not_a_retry_gets_a_new_response(chat: Chat, store: Store) -> None:
    await chat.ask(user("u1", "One?"))
    assert text_in(await chat.ask(user("u1", "Another?"))) == "Answer 2."  # another text
    assert text_in(await chat.ask(user("u1", "Another?"), messageId="u1")) == "Answer 3."  # edited, unchanged
    await chat.ask(user("u2", "Two?"))
    assert len(await runs_of(store)) == 4


async def test_a_failed_response_is_generated_again(store: Store) -> None:
    app = asgi(Model([RuntimeError("out of breath")], reply("Better.")), store=store)
    async with app.lifespan(), client_of(app) as client:
        chat = Chat(client)
        await chat.ask(user("u1", "One?"))
        (status,) = await runs_of(store)
        assert status == "failed"
        assert text_in(await chat.ask(user("u1", "One?"))) == "Better."


async def test_an_idempotency_key_makes_any_request_safe_to_retry(chat: Chat, store: Store) -> None:
    await chat.ask(user("u1", "One?"))
    how = {"trigger": "regenerate-message", "headers": {"idempotency-key": "k1"}}
    first = await chat.ask(user("u1", "One?"), **how)
    again = await chat.ask(user("u1", "One?"), **how)
    assert (text_in(first), again.run_id, text_in(again)) == ("Answer 2.", first.run_id, "Answer 2.")
    other = await chat.ask(user("u1", "One?"), **{**how, "headers": {"idempotency-key": "k2"}})
    assert text_in(other) == "Answer 3."
    elsewhere = await Chat(chat.client, "c2").ask(user("v1", "One?"), headers={"idempotency-key": "k1"})
    assert text_in(elsewhere) == "Answer 4."
    assert len(await runs_of(store)) == 3


async def test_a_retry_with_a_key_follows_the_active_run(store: Store, serve: Serve) -> None:
    agent = ControlledAgent()
    async with httpx.AsyncClient(base_url=await serve(asgi(agent, store=store)), timeout=20) as client:
        chat = Chat(client)
        client.headers["idempotency-key"] = "k1"
        async with chat.reading(user("u1", "Go on."), trigger="regenerate-message") as one:
            agent.emit(*partial_reply("one "))
            await one.until("one ")
        async with chat.reading(user("u1", "Go on."), trigger="regenerate-message") as other:
            await other.until("one ")
            agent.complete(TextDelta("t", "two"))
            assert text_in(await other.whole()) == "one two"
    assert await runs_of(store) == ["completed"]


async def with_output(chat: Chat, store: Store) -> tuple[JsonObject, JsonObject]:
    """A question, and its response with the output of the client's tool."""
    question = user("u1", "Buy.")
    await chat.ask(question)
    waiting = (await store.messages.list("c1")).items[-1]
    assert isinstance(waiting, AssistantMessage)
    copy = shown(waiting)
    copy["parts"][-1] |= {"state": "output-available", "output": "red"}
    return question, copy


PICK = client_tool("pick", "Let the user pick.", {"type": "object"})


async def test_an_output_retried_after_the_response_gives_the_same_response(store: Store) -> None:
    model = Model(reply("Pick one.", ("pick", {})), reply("Red it is."), reply("Again?"))
    app = asgi(Agent(model, tools=[PICK], store=store), store=store)
    async with app.lifespan(), client_of(app) as client:
        chat = Chat(client)
        sent = await with_output(chat, store)
        first = await chat.ask(*sent)
        again = await chat.ask(*sent)
    assert (again.run_id, again.chunks) == (first.run_id, first.chunks)
    assert "Red it is." in first.text
    assert len(await runs_of(store)) == 2


async def test_an_output_retried_during_the_run_follows_it(store: Store, serve: Serve) -> None:
    agent = ControlledAgent()
    first = Agent(Model(reply("Pick one.", ("pick", {}))), tools=[PICK], store=store)
    app = asgi({"one": first, "two": agent}, store=store)
    async with httpx.AsyncClient(base_url=await serve(app), timeout=20) as client:
        chat = Chat(client)
        sent = await with_output(chat, store)
        async with chat.reading(*sent, agent="two") as reading:
            agent.emit(*partial_reply("Red "))
            await reading.until("Red ")
        async with chat.reading(*sent, agent="two") as again:
            await again.until("Red ")
            agent.complete(TextDelta("t", "it is."))
            response = await again.whole()
    assert "".join(one.delta for one in response.chunks if isinstance(one, TextDelta)) == "Red it is."
    assert not any(isinstance(one, ToolOutputAvailable) for one in response.chunks)
    assert len(await runs_of(store)) == 2
