"""The demo agents and the archive."""

from datetime import UTC, datetime
from importlib.resources import as_file, files

import pytest

from partita.demo import archive
from partita.demo.agent import CLERK, SCRIPT, SURVEYOR, demo_agent
from partita.demo.archive import load_archive, threads
from partita.demo.network import PILOT, ROUTER, demo_network
from partita.runtime.run_fold import RunFold
from partita.store.connection import open_store
from partita.store.values import MessageFilter
from partita.types.chunks import AgentStreamEvent, ChunkEvent, ChunkField, CompleteEvent, ErrorEvent
from partita.types.codec import encode
from partita.types.json import loads
from partita.types.messages import AssistantMessage, Message, ToolCallPart, UserMessage, text_of
from partita.types.parts import (
    ErrorTextOutput,
    ExecutionDeniedOutput,
    FilePart,
    InterruptedOutput,
    JsonOutput,
    ReasoningPart,
    SourceUrlPart,
    TextOutput,
    TextPart,
)
from tests.tables import each_row


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the pauses from the scripts."""
    for script in (SCRIPT, SURVEYOR, CLERK, ROUTER, PILOT):
        for scene in script["scenes"]:
            for step in scene["steps"]:
                monkeypatch.setitem(step, "pause", 0.0)


async def events_of(prompt: str) -> list[AgentStreamEvent]:
    return [event async for event in demo_agent().invoke(prompt)]


def types(events: list[AgentStreamEvent]) -> set[str]:
    return {_type(event.chunk) for event in events if isinstance(event, ChunkEvent)}


def _type(chunk: ChunkField) -> str:
    return str(loads(encode(chunk))["type"])


CHUNK_TYPES = {
    "hello": {"reasoning-delta", "text-delta"},
    "How is the WEATHER?": {"reasoning-delta", "tool-input-available", "tool-output-available", "text-delta"},
    "please approve": {"tool-approval-request"},
    "client": {"tool-input-available"},
    "think": {"reasoning-delta", "source-url"},
    "the team": {"tool-input-available", "child-message", "child", "tool-output-available"},
    "edit it": {"tool-input-available", "tool-output-available", "text-delta"},
    "markdown": {"text-delta"},
    "a flood": {"text-delta"},
    "a long one": {"text-delta"},
}


@each_row(("prompt", "expected"), CHUNK_TYPES.items(), ids=CHUNK_TYPES)
async def test_word_in_the_prompt_selects_the_response(prompt: str, expected: set[str]) -> None:
    events = await events_of(prompt)
    assert expected <= types(events)
    assert isinstance(events[-1], CompleteEvent)


async def test_fail_ends_with_an_error() -> None:
    assert isinstance((await events_of("fail"))[-1], ErrorEvent)


async def test_long_response_has_many_chunks() -> None:
    assert len(await events_of("long")) > 500


async def test_flood_has_a_thousand_chunks() -> None:
    count = sum(isinstance(event, ChunkEvent) for event in await events_of("flood"))
    assert 990 <= count <= 1050


def fold(events: list[AgentStreamEvent]) -> tuple[AssistantMessage, ...]:
    folded = RunFold("m1")
    for event in events:
        if isinstance(event, ChunkEvent):
            folded.feed(event.chunk)
    return folded.finish()


async def test_team_has_nested_sub_agents() -> None:
    (message,) = fold(await events_of("team"))
    (task,) = (part for part in message.parts if isinstance(part, ToolCallPart))
    assert task.output == TextOutput("36 ships on day 12; the lamp is in order.")
    prompt, survey = task.children
    assert (type(prompt), type(survey)) == (UserMessage, AssistantMessage)
    calls = [part for part in survey.parts if isinstance(part, ToolCallPart)]
    assert [call.name for call in calls] == ["read_log", "task"]
    assert [type(child) for child in calls[1].children] == [UserMessage, AssistantMessage]
    assert text_of(calls[1].children[1]) == "Oil is full, the wick is trimmed, the clock is wound."


async def test_edit_has_a_failing_and_a_passing_test() -> None:
    (message,) = fold(await events_of("edit"))
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    exits = [
        call.output.value["exitCode"]
        for call in calls
        if call.name == "bash" and isinstance(call.output, JsonOutput)
    ]
    assert exits == [1, 0]
    assert all(call.state == "output-available" for call in calls)


async def test_network_selects_a_tool_and_an_agent() -> None:
    messages = fold([event async for event in demo_network().invoke("When shall we sail?")])
    selected = [
        (one.content.network_execution.primitive_type, one.content.network_execution.primitive_id)
        for one in messages
        if one.content.network_execution
    ]
    assert selected == [("tool", "tide_table"), ("agent", "pilot")]
    assert "16:50" in text_of(messages[-1])


def parts_of(messages: list[Message]) -> list[object]:
    found: list[object] = []
    for message in messages:
        for part in message.content.parts:
            found.append(part)
            if isinstance(part, ToolCallPart):
                found += parts_of(list(part.children))
    return found


def test_archive_has_every_kind_of_part_and_outcome() -> None:
    messages = [message for _, messages in threads() for message in messages]
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


async def test_archive_is_stored_unchanged_and_once() -> None:
    async with open_store("memory:") as store:
        count = await load_archive(store)
        assert await load_archive(store) == count == await store.threads.count()
        for thread, messages in threads():
            page = await store.messages.list(thread.id, MessageFilter(internal=None), limit=100)
            assert [message.content for message in page.items] == [message.content for message in messages]
            stored = await store.threads.get(thread.id)
            assert stored is not None
            assert (stored.title, stored.updated_at) == (thread.title, thread.updated_at)
        coding = await store.threads.get("7c1f4c5e-2f0a-4d0b-9a52-6b1d2f7c9e10")
        assert coding is not None
        assert coding.updated_at == datetime(2026, 3, 30, 8, 4, 38, 400_000, tzinfo=UTC)


async def test_imported_runs_are_completed_even_if_the_files_are_new() -> None:
    with as_file(files(archive)) as folder:
        for file in folder.rglob("*.jsonl"):
            file.touch()  # as after an installation
    async with open_store("memory:") as store:
        await load_archive(store)
        assert {run.status for run in await store.runs.list()} == {"completed"}
