"""A run continues without its clients: they can disconnect, reconnect, follow it twice, and stop it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from partita.runtime.agent.agent import Agent
from partita.runtime.session.recovery import end_from_log
from partita.runtime.tools.tool import client_tool
from partita.server.app import PartitaApp, asgi
from partita.server.settings import Settings
from partita.store.logs.run_log import LogEntry
from partita.store.runs.rows import RunEnd
from partita.store.store import Store
from partita.store.values import MessageFilter, RunFilter
from partita.types.chunks import MessageAbort, MessageMetadata, MessageStart, TextDelta, TextEnd
from partita.types.messages import AssistantMessage, UserMessage, text_of
from partita.types.threads import Run
from tests.runtime.agent.models import Model, reply
from tests.runtime.session.controlled_agent import ControlledAgent, full_reply, partial_reply
from tests.server.conftest import Serve
from tests.tables import each_row

from .chat_client import Chat, shown, user


@dataclass
class Scene:
    """A chat with a controlled agent, on a real server."""

    chat: Chat
    agent: ControlledAgent
    app: PartitaApp
    store: Store

    async def ended(self) -> None:
        """Wait until no run is active."""
        while await self.app.opened().session.active_run("c1") is not None:
            await asyncio.sleep(0.01)


@pytest.fixture
async def scene(store: Store, serve: Serve) -> AsyncIterator[Scene]:
    agent = ControlledAgent()
    app = asgi(agent, store=store, settings=Settings(keep_alive=0.05))
    async with httpx.AsyncClient(base_url=await serve(app), timeout=20) as client:
        yield Scene(Chat(client), agent, app, store)
        agent.end()


async def stored_texts(store: Store) -> list[str]:
    return [text_of(one) for one in (await store.messages.list("c1")).items]


async def test_disconnecting_does_not_stop_the_run(scene: Scene) -> None:
    async with scene.chat.reading(user("u1", "Go on.")) as reading:
        scene.agent.emit(*partial_reply("one "))
        await reading.until("one ")
    scene.agent.complete(TextDelta("t", "two"))
    await scene.ended()
    assert await stored_texts(scene.store) == ["Go on.", "one two"]


async def test_a_reconnecting_client_receives_the_whole_response_with_the_same_id(scene: Scene) -> None:
    async with scene.chat.reading(user("u1", "Go on.")) as reading:
        scene.agent.emit(*partial_reply("one "))
        await reading.until("one ")
    async with scene.chat.resuming() as again:
        await again.until("one ")
        scene.agent.complete(TextDelta("t", "two"))
        response = await again.whole()
    assert text_of(response.message()) == "one two"
    (stored,) = (await scene.store.messages.list("c1", MessageFilter(roles=("assistant",)))).items
    assert stored.id == response.message_id
    assert "\nid: " not in response.text


async def test_reconnecting_as_the_run_ends_gives_the_response_once(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Store.read
    ends = False

    async def read_and_end(self: Store, *args: Any, **kwargs: Any) -> Any:
        """End the run right after it was read."""
        nonlocal ends
        found = await read(self, *args, **kwargs)
        first = found[0] if isinstance(found, tuple) and found else found  # pyright: ignore
        if ends and isinstance(first, Run) and first.status == "running":
            ends = False
            scene.agent.complete(TextDelta("t", "two"))
            await scene.ended()
        return found  # pyright: ignore

    async with scene.chat.reading(user("u1", "Go on.")) as reading:
        scene.agent.emit(*partial_reply("one "))
        await reading.until("one ")
    monkeypatch.setattr(Store, "read", read_and_end)
    ends = True
    async with scene.chat.resuming() as again:
        response = await again.whole()
    assert not ends
    assert text_of(response.message()) == "one two"


async def test_two_viewers_receive_the_same(scene: Scene) -> None:
    async with scene.chat.reading(user("u1", "Go on.")) as one, scene.chat.resuming() as other:
        scene.agent.complete(*full_reply("one ", "two"))
        assert (await one.whole()).chunks == (await other.whole()).chunks


async def test_no_active_run_is_204(scene: Scene) -> None:
    url = "/api/chat/c1/stream"
    assert (await scene.chat.client.get(url)).status_code == 204
    scene.agent.complete(*full_reply("one"))
    await scene.chat.ask(user("u1", "Go on."))
    response = await scene.chat.client.get(url)
    assert (response.status_code, response.content) == (204, b"")


async def test_a_client_with_last_event_id_receives_later_events(scene: Scene) -> None:
    async with scene.chat.reading(user("u1", "Go on.")) as reading:
        scene.agent.emit(*partial_reply("one ", "two "))
        await reading.until("two ")
    async with scene.chat.resuming(accept="text/event-stream") as plain:
        await plain.until("one ")
        text = await plain.until("two ")
    places = [line.removeprefix("id: ") for line in text.splitlines() if line.startswith("id: ")]
    seen = next(place for place, event in zip(places, text.split("\n\n"), strict=False) if "one " in event)
    async with scene.chat.resuming(last_event_id=seen) as again:
        scene.agent.complete(TextDelta("t", "three"))
        response = await again.whole()
    assert [chunk.delta for chunk in response.chunks if isinstance(chunk, TextDelta)] == ["two ", "three"]


def numbers_in(text: str) -> list[int]:
    """The event ids of a stream."""
    ids = [line.removeprefix("id: ") for line in text.splitlines() if line.startswith("id: ")]
    return [int(one.rpartition(":")[2]) for one in ids]


async def test_a_plain_number_is_accepted_as_event_id(scene: Scene) -> None:
    async with scene.chat.reading(user("u1", "Go on.")) as reading:
        scene.agent.emit(*partial_reply("one ", "two "))
        await reading.until("two ")
        run_id = reading.response.headers["x-partita-run-id"]
    async with scene.chat.resuming(accept="text/event-stream") as plain:
        seen = numbers_in(await plain.until("two "))[-1]
    async with scene.chat.resuming(last_event_id=str(seen)) as again:
        scene.agent.complete(TextDelta("t", "three"))
        response = await again.whole()
    assert [chunk.delta for chunk in response.chunks if isinstance(chunk, TextDelta)] == ["three"]
    headers = {"last-event-id": str(seen)}
    stream = await scene.chat.client.get(f"/api/runs/{run_id}/stream", headers=headers)
    assert "three" in stream.text
    assert "one " not in stream.text


async def test_a_client_receives_the_rest_of_an_ended_response(scene: Scene) -> None:
    """After the end, 204 stops an `EventSource` from reconnecting."""
    async with scene.chat.reading(user("u1", "Go on.")) as reading:
        scene.agent.emit(*partial_reply("one "))
        await reading.until("one ")
    async with scene.chat.resuming(accept="text/event-stream") as plain:
        seen = numbers_in(await plain.until("one "))[-1]
    scene.agent.complete(TextDelta("t", "two"))
    await scene.ended()
    async with scene.chat.resuming(last_event_id=str(seen)) as again:
        rest = await again.whole()
    assert [chunk.delta for chunk in rest.chunks if isinstance(chunk, TextDelta)] == ["two"]
    async with scene.chat.resuming(last_event_id=f"{rest.run_id}:{numbers_in(rest.text)[-1]}") as nothing:
        assert nothing.response.status_code == 204


async def test_the_end_of_a_killed_run_is_sent_once(scene: Scene) -> None:
    await scene.store.threads.create("c1")
    started = await scene.store.runs.start_turn(
        "c1", [UserMessage(id="u1", content="Go on.")], message_id="a1", lease_owner="killed", lease_seconds=9
    )
    run = started.run
    entries = [LogEntry(datetime.now(UTC), chunk) for chunk in partial_reply("one ")]
    await scene.store.logs.append(run.id, entries)
    await end_from_log(scene.store, run.id, RunEnd("interrupted", "it was killed"), holder="killed")
    async with scene.chat.resuming(last_event_id=f"{run.id}:{len(entries)}") as again:
        rest = await again.whole()
    assert [type(chunk) for chunk in rest.chunks] == [MessageMetadata, TextEnd, MessageAbort]
    async with scene.chat.resuming(last_event_id=str(numbers_in(rest.text)[-1])) as nothing:
        assert nothing.response.status_code == 204


@each_row("event_id", ["abc", "run:x", "-1", "1.5", ":3", "9" * 30])
async def test_an_invalid_event_id_is_refused(client: httpx.AsyncClient, event_id: str) -> None:
    headers = {"last-event-id": event_id}
    await client.post("/api/chat", json={"id": "c1", "message": user("u1", "Go on.")})
    run_id = (await client.get("/api/runs")).json()["items"][0]["id"]
    for path in ("/api/chat/c1/stream", "/api/chat/other/stream", f"/api/runs/{run_id}/stream"):
        refused = await client.get(path, headers=headers)
        assert (refused.status_code, refused.json()["where"]) == (400, "header Last-Event-ID"), path


async def test_an_event_id_of_another_run_gives_the_whole_response(scene: Scene) -> None:
    async with scene.chat.reading(user("u1", "Go on.")) as reading:
        scene.agent.emit(*partial_reply("one "))
        await reading.until("one ")
    async with scene.chat.resuming(last_event_id="another-run:7") as again:
        scene.agent.complete()
        assert "one " in (await again.whole()).text


async def test_comments_are_sent_during_silence(scene: Scene) -> None:
    async with scene.chat.reading(user("u1", "Go on.")) as reading:
        scene.agent.emit(*partial_reply("one "))
        await reading.until("one ")
        await reading.until(": keep-alive\n\n")
        scene.agent.complete(TextDelta("t", "two"))
        response = await reading.whole()
    assert text_of(response.message()) == "one two"


async def test_stopping_keeps_the_partial_response(scene: Scene) -> None:
    async with scene.chat.reading(user("u1", "Go on.")) as reading:
        scene.agent.emit(*partial_reply("one "))
        await reading.until("one ")
        stopped = await scene.chat.client.post("/api/chat/c1/stop", json={"reason": "enough"})
        response = await reading.whole()
    assert stopped.json() == {"stopped": True, "runId": response.run_id}
    assert '"type":"abort"' in response.text
    assert await stored_texts(scene.store) == ["Go on.", "one "]
    assert scene.agent.stopped.is_set()


async def test_a_late_stop_has_no_effect(scene: Scene) -> None:
    async with scene.chat.reading(user("u1", "Go on.")) as reading:
        scene.agent.emit(*partial_reply("one "))
        await reading.until("one ")
        for stale in ({"runId": "another"}, {"messageId": "another"}):
            response = await scene.chat.client.post("/api/chat/c1/stop", json=stale)
            assert response.json() == {"stopped": False}
        scene.agent.complete(TextDelta("t", "two"))
        assert text_of((await reading.whole()).message()) == "one two"
    nothing = await scene.chat.client.post("/api/chat/c1/stop")
    assert nothing.json() == {"stopped": False}


async def test_a_repeated_message_gets_one_response(scene: Scene) -> None:
    async with scene.chat.reading(user("u1", "Go on.")) as one:
        scene.agent.emit(*partial_reply("one "))
        await one.until("one ")
        async with scene.chat.reading(user("u1", "Go on.")) as other:
            await other.until("one ")
            scene.agent.complete(TextDelta("t", "two"))
            assert (await one.whole()).run_id == (await other.whole()).run_id
    assert await stored_texts(scene.store) == ["Go on.", "one two"]


async def test_a_message_during_an_active_run_is_refused(scene: Scene) -> None:
    async with scene.chat.reading(user("u1", "Go on.")) as reading:
        scene.agent.emit(*partial_reply("one "))
        await reading.until("one ")
        response = await scene.chat.post(user("u2", "And I?"))
        assert response.status_code == 409
        scene.agent.complete(TextDelta("t", "two"))
        await reading.whole()
    assert await stored_texts(scene.store) == ["Go on.", "one two"]


async def test_earlier_messages_with_odd_ids_are_ignored_while_a_run_is_active(scene: Scene) -> None:
    async with scene.chat.reading(user("u1", "Go on.")) as reading:
        scene.agent.emit(*partial_reply("one "))
        await reading.until("one ")
    odd: Any = {**user("u0", "?"), "id": []}
    async with scene.chat.reading(odd, user("u1", "Go on."), user("u2", "Stop it.")) as next_one:
        assert next_one.response.status_code == 200
        scene.agent.complete(*full_reply("As you wish."))
        await next_one.whole()
    assert await stored_texts(scene.store) == ["Go on.", "Stop it.", "As you wish."]


async def test_sending_after_a_partial_answer_stops_the_run(scene: Scene) -> None:
    """The client's `stop()` does not call the server; the next message with a partial answer stops it."""
    async with scene.chat.reading(user("u1", "Go on.")) as reading:
        scene.agent.emit(*partial_reply("one "))
        await reading.until("one ")
        (run,) = (await scene.store.runs.list(RunFilter(thread_id="c1"))).items
    half = {"id": run.message_id, "role": "assistant", "parts": [{"type": "text", "text": "one "}]}
    async with scene.chat.reading(user("u1", "Go on."), half, user("u2", "Stop it.")) as next_one:
        scene.agent.complete(*full_reply("As you wish."))
        await next_one.whole()
    assert await stored_texts(scene.store) == ["Go on.", "one ", "Stop it.", "As you wish."]
    ended = await scene.store.runs.get(run.id)
    assert ended is not None
    assert ended.status == "cancelled"


async def test_reconnecting_to_a_continued_message_gives_it_from_the_start(
    store: Store, serve: Serve
) -> None:
    """The second run of a message, after the output of a client tool, has only its last part."""
    agent = ControlledAgent()
    pick = client_tool("pick", "Let the user pick.", {"type": "object"})
    model = Model(reply("Pick one.", ("pick", {})))
    app = asgi({"one": Agent(model, tools=[pick], store=store), "two": agent}, store=store)
    async with httpx.AsyncClient(base_url=await serve(app), timeout=20) as client:
        chat = Chat(client)
        await chat.ask(user("u1", "Buy."), agent="one")
        waiting = (await store.messages.list("c1")).items[-1]
        assert isinstance(waiting, AssistantMessage)
        copy = shown(waiting)
        copy["parts"][-1] |= {"state": "output-available", "output": "red"}
        async with chat.reading(user("u1", "Buy."), copy, agent="two") as reading:
            agent.emit(*partial_reply("Red "))
            await reading.until("Red ")
        async with chat.resuming() as again:
            agent.complete(TextDelta("t", "it is."))
            response = await again.whole()
    folded, stored = response.message(), (await store.messages.list("c1")).items[-1]
    assert isinstance(stored, AssistantMessage)
    assert response.message_id == stored.id
    assert [replace(part, state=None) if hasattr(part, "text") else part for part in folded.parts] == [
        replace(part, state=None) if hasattr(part, "text") else part for part in stored.parts
    ]


async def test_a_slash_in_a_chat_id_is_part_of_the_id(scene: Scene) -> None:
    chat = Chat(scene.chat.client, "team/42?x")
    scene.agent.complete(*full_reply("one"))
    await chat.ask(user("u1", "Go on."))
    assert (await chat.client.get("/api/chat/team%2F42%3Fx/stream")).status_code == 204
    assert (await chat.client.get("/api/threads/team%2f42%3Fx")).json()["id"] == "team/42?x"
    assert (await chat.client.post("/api/chat/team%2F42%3Fx/stop")).json() == {"stopped": False}


async def test_a_run_of_several_messages_is_one_message_for_a_client(scene: Scene) -> None:
    """A network writes several messages in one run; a client has one message for each stream."""
    async with scene.chat.reading(user("u1", "Go on.")) as reading:
        first, second = full_reply("one "), full_reply("two")
        scene.agent.complete(*first, MessageStart("another", {"place": 2}), *second[1:])
        response = await reading.whole()
    assert text_of(response.message()) == "one two"
    assert response.message().content.metadata == {"place": 2}
    stored = (await scene.store.messages.list("c1", MessageFilter(roles=("assistant",)))).items
    assert [text_of(one) for one in stored] == ["one ", "two"]
    assert stored[0].id == response.message_id
    copy = {"id": response.message_id, "role": "assistant", "parts": [{"type": "text", "text": "one two"}]}
    async with scene.chat.reading(user("u1", "Go on."), copy, user("u2", "And?")) as more:
        scene.agent.complete(*full_reply("three"))
        await more.whole()
    assert await stored_texts(scene.store) == ["Go on.", "one ", "two", "And?", "three"]
