"""A store that others write: four methods are enough for an agent and a message list."""

from collections.abc import Sequence
from contextlib import aclosing

import pytest

from partita import (
    Agent,
    AgentError,
    AssistantMessage,
    Message,
    ToolCallPart,
    Usage,
    UserMessage,
    tool,
)
from partita.agents import MessageList
from partita.chunks import (
    ErrorChunk,
    MessageFinish,
    MessageStart,
    TextDelta,
    TextStart,
    ToolApprovalResponse,
    ToolOutputAvailable,
)
from partita.store import MemoryStore, Store
from partita.store.values import Order
from partita.types import Thread, decode_message, encode, text_of
from tests.runtime.agent.models import Model, failing_reply, reply


class DictStore:
    """Keeps messages as JSON in a dictionary, and uses only the types of Partita."""

    def __init__(self) -> None:
        self.threads: dict[str, Thread] = {}
        self.rows: dict[str, dict[str, bytes]] = {}
        self.saves = 0

    async def list_messages(
        self, thread_id: str, *, limit: int | None = None, order: Order = "asc"
    ) -> list[Message]:
        rows = [decode_message(row) for row in self.rows.get(thread_id, {}).values()]
        return (rows if order == "asc" else rows[::-1])[:limit]

    async def save_messages(self, messages: Sequence[Message]) -> None:
        self.saves += 1
        for message in messages:
            assert message.thread_id is not None
            self.rows.setdefault(message.thread_id, {})[message.id] = encode(message)

    async def get_thread_by_id(self, thread_id: str) -> Thread | None:
        return self.threads.get(thread_id)

    async def save_thread(self, thread: Thread) -> None:
        self.threads[thread.id] = thread


@tool
def add(one: int, other: int) -> int:
    """The sum of two numbers."""
    return one + other


@tool(approval="always")
def send(to: str) -> str:
    """Send it."""
    return f"sent to {to}"


async def texts(store: MemoryStore, thread_id: str = "t") -> list[str]:
    return [text_of(message) for message in await store.list_messages(thread_id)]


async def test_an_agent_stores_its_conversation_in_any_memory_store() -> None:
    store, model = DictStore(), Model(reply(("add", {"one": 2, "other": 3})), reply("Five."), reply("Six."))
    agent = Agent(model, tools=[add], store=store)
    chunks = [chunk async for chunk in agent.stream("t", "2 and 3?", resource_id="ann")]
    assert [chunk.delta for chunk in chunks if isinstance(chunk, TextDelta)] == ["Five."]
    assert [chunk.output for chunk in chunks if isinstance(chunk, ToolOutputAvailable)] == [5]
    assert await texts(store) == ["2 and 3?", "Five."]
    assert (await agent.run("t", "And one more?")).parts != ()
    assert await texts(store) == ["2 and 3?", "Five.", "And one more?", "Six."]
    assert [text_of(message) for message in model.prompts[-1] if isinstance(message, UserMessage)] == [
        "2 and 3?",
        "And one more?",
    ]
    assert store.threads["t"].resource_id == "ann"
    assert all(message.thread_id == "t" for message in await store.list_messages("t"))


async def test_a_memory_store_receives_the_same_messages_as_a_session_stores(store: Store) -> None:
    usage = Usage(input_tokens=3)
    for lines in (
        [reply(("add", {"one": 2, "other": 3}), usage=usage), reply("Five.", usage=usage)],
        [failing_reply("Half an", "no power")],
    ):
        stored: list[list[Message]] = []
        for each in (DictStore(), store):
            agent = Agent(Model(*lines), tools=[add], store=each)
            async for _ in agent.stream(f"t{len(lines)}", UserMessage(id="u", content="2 and 3?")):
                pass
            memory = each.memory if isinstance(each, Store) else each
            stored.append([*await memory.list_messages(f"t{len(lines)}")])
            if isinstance(each, Store):
                await agent.session.close()
        in_memory, in_session = ([message.content for message in messages] for messages in stored)
        assert in_memory == in_session


async def test_a_failure_is_reported_and_the_partial_message_is_stored() -> None:
    store = DictStore()
    agent = Agent(Model([*failing_reply("Half an", "")[:-1], RuntimeError("no power")]), store=store)
    chunks = [chunk async for chunk in agent.stream("t", "Well?")]
    assert [chunk.error_text for chunk in chunks if isinstance(chunk, ErrorChunk)] == [
        "RuntimeError: no power"
    ]
    response = (await store.list_messages("t"))[-1]
    assert text_of(response) == "Half an"
    assert isinstance(response, AssistantMessage)
    assert response.content.metadata == {"ended": {"status": "failed", "reason": "RuntimeError: no power"}}


async def test_a_reader_that_stops_stops_the_turn() -> None:
    store = DictStore()
    agent = Agent(Model(reply("One."), reply("Two.")), store=store)
    async with aclosing(agent.stream("t", "Well?")) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, TextDelta):
                break
    response = (await store.list_messages("t"))[-1]
    assert text_of(response) == "One."
    assert isinstance(response, AssistantMessage)
    assert response.content.metadata == {"ended": {"status": "cancelled", "reason": "the reader stopped"}}


async def test_an_error_of_the_store_is_raised() -> None:
    class Full(DictStore):
        async def save_messages(self, messages: Sequence[Message]) -> None:
            if any(isinstance(message, AssistantMessage) for message in messages):
                raise OSError("the disk is full")
            await super().save_messages(messages)

    with pytest.raises(OSError, match="the disk is full"):
        await Agent(Model(reply("One.")), store=Full()).run("t", "Well?")


async def test_features_that_need_runs_and_branches_are_refused() -> None:
    agent = Agent(Model(reply("One.")), store=DictStore())
    with pytest.raises(AgentError, match="has no runs"):
        await agent.start("t", "Well?")
    with pytest.raises(AgentError, match="no branches"):
        await agent.run("t", "Well?", after="m")


async def test_a_message_list_continues_a_conversation_of_any_memory_store() -> None:
    store = DictStore()
    agent = Agent(Model(reply(("send", {"to": "Ann"})), reply("Done.")), tools=[send], store=store)
    question = await agent.run("t", "Send it.")
    (call,) = [part for part in question.parts if isinstance(part, ToolCallPart)]
    assert call.approval is not None
    messages = MessageList(await store.list_messages("t"))
    messages.feed(ToolApprovalResponse(call.approval.id, approved=True))
    messages.end()
    changed = messages.drain()
    assert [message.id for message in changed] == [question.id]
    await store.save_messages(changed)
    assert text_of(await agent.run("t")) == "Done."
    assert await texts(store) == ["Send it.", "Done."]
    messages = MessageList(await store.list_messages("t"), thread_id="t")
    messages.add("Thanks", id="u2")
    for chunk in (MessageStart("a2"), TextStart("t"), TextDelta("t", "Gladly."), MessageFinish()):
        messages.feed(chunk)
    await store.save_messages(messages.drain())
    assert await texts(store) == ["Send it.", "Done.", "Thanks", "Gladly."]


async def test_a_store_is_a_memory_store(store: Store) -> None:
    memory: MemoryStore = store.memory
    await memory.save_thread(Thread(id="t"))
    await memory.save_messages([UserMessage(id=f"u{n}", content=str(n), thread_id="t") for n in range(3)])
    assert await texts(memory) == ["0", "1", "2"]
    newest = await memory.list_messages("t", limit=1, order="desc")
    assert [message.id for message in newest] == ["u2"]
