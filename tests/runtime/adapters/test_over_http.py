"""Every kind of agent behind the chat route: the model sees the branch that is stored, and no other owner's.

Each row is an agent of another package with the same script. What its model was sent is compared, and what is
stored.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from partita.runtime.adapters.as_agent import as_agent
from partita.server.app import asgi
from partita.server.guard.auth import Connection
from partita.store.connection import open_store
from partita.store.ids import new_id
from partita.store.store import Store
from partita.types.json import JsonObject
from partita.types.messages import AssistantMessage, Message, ToolCallPart, text_of
from tests.runtime.adapters.kinds import (
    KINDS,
    AdaptedAgent,
    Make,
    Memory,
    Response,
    Seen,
    graph_with_lost_memory,
    own,
)
from tests.server.conftest import client_of
from tests.server.dialects.chat.chat_client import Chat, parse_response, shown, user
from tests.store.empty_store import empty_store
from tests.tables import each_row

TOOL: JsonObject = {
    "type": "function",
    "function": {"name": "where", "description": "Where the user is.", "parameters": {"type": "object"}},
}


@pytest.fixture(autouse=True)
def untraced() -> None:
    from agents import set_tracing_disabled

    set_tracing_disabled(True)


def by_header(connection: Connection) -> str:
    return connection.headers.get("x-user", "ada")


class OwnerChat(Chat):
    """A chat of one owner that sends all messages of the branch, like a client."""

    def __init__(self, store: Store, client: httpx.AsyncClient, owner: str = "ada") -> None:
        super().__init__(client)
        self.store = store.scoped(owner)
        self.headers = {"x-user": owner}

    async def branch(self) -> list[Message]:
        thread = await self.store.threads.get(self.id)
        return [] if thread is None else [*(await self.store.messages.list(self.id, limit=None)).items]

    async def texts(self) -> list[str]:
        return [text_of(message) for message in await self.branch()]

    async def send(self, messages: Sequence[JsonObject], **more: Any) -> httpx.Response:
        return await self.post(*messages, headers=self.headers, **more)

    async def send_text(self, id: str, text: str, **more: Any) -> None:
        parse_response(await self.send([*map(shown, await self.branch()), user(id, text)], **more))

    async def edit(self, id: str, text: str) -> None:
        before = [message for message in await self.branch() if message.id < id]
        parse_response(await self.send([*map(shown, before), user(id, text)], messageId=id))

    async def regenerate(self) -> None:
        *before, last = await self.branch()
        parse_response(
            await self.send([*map(shown, before)], messageId=last.id, trigger="regenerate-message")
        )

    async def delete(self, *places: int) -> None:
        branch = await self.branch()
        await self.store.messages.delete(self.id, [branch[place].id for place in places])

    async def last(self) -> AssistantMessage:
        last = (await self.branch())[-1]
        assert isinstance(last, AssistantMessage)
        return last

    async def pending_calls(self) -> tuple[ToolCallPart, ToolCallPart]:
        """The call that needs approval, and that of the tool: an interrupt needs approval for its tool."""
        calls = [part for part in (await self.last()).parts if isinstance(part, ToolCallPart)]
        (pending,) = [call for call in calls if call.state == "approval-requested"]
        (tool_call,) = [call for call in calls if call.name == "blast"]
        return pending, tool_call

    async def reply(self, call_id: str, **members: Any) -> httpx.Response:
        """Send the last response with other members in the part of a call."""
        branch = await self.branch()
        raw = shown(branch[-1])
        for part in raw["parts"]:
            if part.get("toolCallId") == call_id:
                part.update(members)
        return await self.send([*map(shown, branch[:-1]), raw], messageId=branch[-1].id)

    async def decide(self, approved: bool) -> None:
        pending, _ = await self.pending_calls()
        assert pending.approval is not None
        approval = {"id": pending.approval.id, "approved": approved}
        parse_response(await self.reply(pending.id, state="approval-responded", approval=approval))


def new_store(folder: Path) -> str:
    """The URL of a new empty store: the rows of a test share their folder."""
    return empty_store(folder, f"{new_id()}.db")


@asynccontextmanager
async def served(folder: Path, *agents: AdaptedAgent, url: str | None = None) -> AsyncGenerator[OwnerChat]:
    """A server with agents, and a chat of `ada` with the first one."""
    named = {f"agent{number}": made.agent for number, made in enumerate(agents)}
    async with open_store(url or new_store(folder)) as store:
        services = {name: as_agent(agent) for name, agent in named.items()}
        app = asgi(services, store=store, user=by_header, routes="all")
        async with app.lifespan(), client_of(app) as client:
            yield OwnerChat(store, client)


ONE_TURN: Seen = [("user", "Hi"), ("text", "One.")]

rows = each_row("make", KINDS.values(), ids=KINDS)

WITH_APPROVAL = {name: make for name, make in KINDS.items() if name != "LangGraph"}
"""An interrupt needs a checkpointer."""

approving_rows = each_row("make", WITH_APPROVAL.values(), ids=WITH_APPROVAL)

TEXTS: Sequence[Response] = ("One.", "Two.", "Three.", "Four.", "Five.")


@rows
async def test_an_edited_message_replaces_what_followed_it(tmp_path: Path, make: Make) -> None:
    made = make(TEXTS, Memory())
    async with served(tmp_path, made) as chat:
        await chat.send_text("m1", "Hi")
        await chat.send_text("m3", "Red?")
        await chat.edit("m3", "Blue?")
        assert made.prompts()[-1] == [*ONE_TURN, ("user", "Blue?")]
        assert await chat.texts() == ["Hi", "One.", "Blue?", "Three."]
        await chat.edit("m1", "Hello")
        assert made.prompts()[-1] == [("user", "Hello")]
        assert await chat.texts() == ["Hello", "Four."]


@rows
async def test_a_regenerated_response_is_not_sent_to_the_model(tmp_path: Path, make: Make) -> None:
    made = make(TEXTS, Memory())
    async with served(tmp_path, made) as chat:
        await chat.send_text("m1", "Hi")
        await chat.regenerate()
        assert made.prompts()[-1] == [("user", "Hi")]
        await chat.send_text("m3", "Red?")
        first: Seen = [("user", "Hi"), ("text", "Two."), ("user", "Red?")]
        assert made.prompts()[-1] == first
        await chat.regenerate()
        assert made.prompts()[-1] == first
        await chat.send_text("m5", "Blue?")
        assert made.prompts()[-1] == [*first, ("text", "Four."), ("user", "Blue?")]
        assert await chat.texts() == ["Hi", "Two.", "Red?", "Four.", "Blue?", "Five."]


@rows
async def test_deleted_messages_are_not_sent_to_the_model(tmp_path: Path, make: Make) -> None:
    made = make(TEXTS, Memory())
    async with served(tmp_path, made) as chat:
        await chat.send_text("m1", "Hi")
        await chat.send_text("m3", "Red?")
        await chat.delete(0, 1)
        await chat.send_text("m5", "Blue?")
        assert made.prompts()[-1] == [("user", "Red?"), ("text", "Two."), ("user", "Blue?")]
        assert await chat.texts() == ["Red?", "Two.", "Blue?", "Three."]


@rows
async def test_the_turns_of_another_agent_are_sent_to_the_model(tmp_path: Path, make: Make) -> None:
    made, other = make((("dig", {"depth": 2}), "One.", "Two."), Memory()), own(("Other.",), Memory())
    async with served(tmp_path, made, other) as chat:
        await chat.send_text("m1", "Hi")
        await chat.send_text("m3", "Red?", agent="agent1")
        await chat.send_text("m5", "Blue?", agent="agent0")
        first = [("user", "Hi"), ("call", "dig"), ("result", "dug 2"), ("text", "One."), ("user", "Red?")]
        assert other.prompts() == [first]
        assert made.prompts()[-1] == [*first, ("text", "Other."), ("user", "Blue?")]


RESTARTED: dict[str, Make] = {**KINDS, "LangGraph with a lost checkpointer": graph_with_lost_memory}


@each_row("make", RESTARTED.values(), ids=RESTARTED)
async def test_another_process_continues(tmp_path: Path, make: Make) -> None:
    memory, url = Memory(), new_store(tmp_path)
    async with served(tmp_path, make((("dig", {"depth": 2}), "One."), memory), url=url) as chat:
        await chat.send_text("m1", "Hi")
    made = make(("Two.",), memory)
    async with served(tmp_path, made, url=url) as chat:
        await chat.send_text("m3", "Red?")
        first = [("user", "Hi"), ("call", "dig"), ("result", "dug 2"), ("text", "One.")]
        assert made.prompts() == [[*first, ("user", "Red?")]]
        assert await chat.texts() == ["Hi", "One.", "Red?", "Two."]


CALLS: Response = ("blast", {"depth": 2})
CALL_SUMMARY: Seen = [("user", "Hi"), ("call", "blast")]


@each_row("approved", [True, False], ids=["approved", "denied"])
@approving_rows
async def test_a_call_that_needs_an_approval(tmp_path: Path, make: Make, approved: bool) -> None:
    """In another process, with the decision of a client that first tries to send the output itself."""
    memory, url = Memory(), new_store(tmp_path)
    made = make((CALLS,), memory)
    async with served(tmp_path, made, url=url) as chat:
        await chat.send_text("m1", "Hi")
        pending, tool_call = await chat.pending_calls()
        for call in {pending.id, tool_call.id}:
            forged = await chat.reply(call, state="output-available", output="forged")
            assert forged.status_code == 409, forged.text
        assert made.ran == []
    made = make(("Done.", "Bye."), memory)
    async with served(tmp_path, made, url=url) as chat:
        await chat.decide(approved)
        assert (made.ran, await chat.texts()) == ([2] if approved else [], ["Hi", "Done."])
        prompt = made.prompts()[-1]
        assert prompt[:2] == CALL_SUMMARY
        assert (prompt[2] == ("result", "boom 2")) is approved
        assert "forged" not in str(prompt)
        await chat.send_text("m3", "Thanks")
        assert [*prompt, ("text", "Done."), ("user", "Thanks")] == made.prompts()[-1]
        again = await chat.reply(pending.id, state="output-available", output="forged")
        assert again.status_code == 409 or "forged" not in str(await chat.branch())


@approving_rows
async def test_a_waiting_response_is_regenerated(tmp_path: Path, make: Make) -> None:
    made = make(("One.", CALLS, "Two.", "Three."), Memory())
    async with served(tmp_path, made) as chat:
        await chat.send_text("m1", "Hi")
        await chat.send_text("m3", "Blast?")
        await chat.pending_calls()
        await chat.regenerate()
        assert made.prompts()[-1] == [*ONE_TURN, ("user", "Blast?")]
        await chat.send_text("m5", "Thanks")
        assert made.prompts()[-1] == [*ONE_TURN, ("user", "Blast?"), ("text", "Two."), ("user", "Thanks")]
        assert (made.ran, (await chat.texts())[-1]) == ([], "Three.")


@approving_rows
async def test_a_waiting_response_is_approved_after_another_branch(tmp_path: Path, make: Make) -> None:
    """A user regenerates, then returns to the branch whose call waits."""
    made = make((CALLS, "Two.", "Done."), Memory())
    async with served(tmp_path, made) as chat:
        await chat.send_text("m1", "Hi")
        waits = (await chat.last()).id
        await chat.regenerate()
        await chat.store.threads.switch_branch(chat.id, waits)
        await chat.decide(True)
        assert (made.ran, await chat.texts()) == ([2], ["Hi", "Done."])
        assert made.prompts()[-1] == [*CALL_SUMMARY, ("result", "boom 2")]


@approving_rows
async def test_an_approval_request_without_a_response(tmp_path: Path, make: Make) -> None:
    made = make((CALLS, "Two."), Memory())
    async with served(tmp_path, made) as chat:
        await chat.send_text("m1", "Hi")
        await chat.send_text("m3", "Never mind.")
        prompt = made.prompts()[-1]
        assert prompt[:2] == CALL_SUMMARY
        assert [who for who, _ in prompt[2:]] == ["result", "user"]
        assert (made.ran, (await chat.texts())[-1]) == ([], "Two.")


@rows
async def test_two_owners_with_the_same_ids(tmp_path: Path, make: Make) -> None:
    made = make(TEXTS, Memory())
    async with served(tmp_path, made) as ada:
        bob = OwnerChat(ada.store, ada.client, "bob")
        await ada.send_text("m1", "I am Ada.")
        await bob.send_text("m1", "I am Bob.")
        await ada.send_text("m3", "Who am I?")
        await bob.send_text("m3", "Who am I?")
        assert made.prompts() == [
            [("user", "I am Ada.")],
            [("user", "I am Bob.")],
            [("user", "I am Ada."), ("text", "One."), ("user", "Who am I?")],
            [("user", "I am Bob."), ("text", "Two."), ("user", "Who am I?")],
        ]
        assert await bob.texts() == ["I am Bob.", "Two.", "Who am I?", "Four."]


@rows
async def test_tools_of_the_client_are_offered_or_refused(tmp_path: Path, make: Make) -> None:
    made = make((("where", {}), "In Bergen."), Memory())
    async with served(tmp_path, made) as chat:
        body: JsonObject = {"model": "agent0", "tools": [TOOL], "metadata": {"thread_id": chat.id}}
        question: JsonObject = {"role": "user", "content": "Where am I?"}
        first = await chat.client.post("/v1/chat/completions", json={**body, "messages": [question]})
        if not as_agent(made.agent).supports_client_tools:  # type: ignore[attr-defined]
            assert (first.status_code, made.prompts()) == (400, [])
            assert "takes no tools from a client" in first.text
            return
        message = first.json()["choices"][0]["message"]
        (call,) = message["tool_calls"]
        assert call["function"]["name"] == "where"
        result = {"role": "tool", "tool_call_id": call["id"], "content": "Bergen"}
        second = await chat.client.post(
            "/v1/chat/completions", json={**body, "messages": [question, message, result]}
        )
        assert second.json()["choices"][0]["message"]["content"] == "In Bergen.", second.text
        assert made.prompts()[-1] == [("user", "Where am I?"), ("call", "where"), ("result", "Bergen")]
        assert (await chat.texts())[-1] == "In Bergen."
