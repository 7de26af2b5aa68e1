"""What there is to look at when there is nothing else: an agent, and an archive."""

import pytest

from partita.demo.agent import SCRIPT, demo_agent
from partita.demo.archive import load_archive, threads
from partita.store.opening import open_store
from partita.types.chunks import ChunkField
from partita.types.codec import encode
from partita.types.events import AgentStreamEvent, ChunkEvent, CompleteEvent, ErrorEvent
from partita.types.json import loads
from partita.types.messages import AssistantMessage, Message, ToolCallPart
from partita.types.parts import FilePart, ReasoningPart, SourceUrlPart, TextPart
from partita.types.tools import ErrorTextOutput, ExecutionDeniedOutput, InterruptedOutput


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody watches here: the pauses are left out."""
    for scene in SCRIPT["scenes"]:
        for step in scene["steps"]:
            monkeypatch.setitem(step, "pause", 0.0)


async def events_of(words: str) -> list[AgentStreamEvent]:
    return [event async for event in demo_agent().invoke(words)]


def types(events: list[AgentStreamEvent]) -> set[str]:
    return {_type(event.chunk) for event in events if isinstance(event, ChunkEvent)}


def _type(chunk: ChunkField) -> str:
    return str(loads(encode(chunk))["type"])


SAYS = {
    "hello": {"reasoning-delta", "text-delta"},
    "How is the WEATHER?": {"reasoning-delta", "tool-input-available", "tool-output-available", "text-delta"},
    "please approve": {"tool-approval-request"},
    "client": {"tool-input-available"},
    "think": {"reasoning-delta", "source-url"},
    "a long one": {"text-delta"},
}


@pytest.mark.parametrize(("words", "expected"), SAYS.items(), ids=SAYS)
async def test_each_word_shows_something(words: str, expected: set[str]) -> None:
    events = await events_of(words)
    assert expected <= types(events)
    assert isinstance(events[-1], CompleteEvent)


async def test_it_fails_when_asked_to() -> None:
    assert isinstance((await events_of("fail"))[-1], ErrorEvent)


async def test_a_long_answer_is_long() -> None:
    assert len(await events_of("long")) > 500


def parts_of(messages: list[Message]) -> list[object]:
    found: list[object] = []
    for message in messages:
        for part in message.content.parts:
            found.append(part)
            if isinstance(part, ToolCallPart):
                found += parts_of(list(part.children))
    return found


def test_the_archive_shows_everything_there_is_to_see() -> None:
    messages = [message for _, held in threads() for message in held]
    parts = parts_of(messages)
    calls = [part for part in parts if isinstance(part, ToolCallPart)]
    assert {type(part) for part in parts} >= {TextPart, ReasoningPart, ToolCallPart, SourceUrlPart, FilePart}
    outputs = {type(call.output) for call in calls}
    assert outputs >= {ErrorTextOutput, ExecutionDeniedOutput, InterruptedOutput, type(None)}
    assert any(call.children for call in calls)
    assert {call.approval.approved for call in calls if call.approval} == {True, False, None}
    networks = [
        message.content.network_execution
        for message in messages
        if isinstance(message, AssistantMessage) and message.content.network_execution
    ]
    assert {network.primitive_type for network in networks} == {"agent", "workflow", "tool"}


async def test_the_archive_is_stored_as_it_is_and_once() -> None:
    async with open_store("memory:") as store:
        count = await load_archive(store)
        assert await load_archive(store) == count == await store.count_threads()
        for thread, messages in threads():
            page = await store.list_messages(thread.id, limit=100, internal=None)
            assert [message.content for message in page.items] == [message.content for message in messages]
            stored = await store.get_thread_by_id(thread.id)
            assert stored is not None
            assert stored.title == thread.title
