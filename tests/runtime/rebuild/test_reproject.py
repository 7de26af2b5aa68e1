"""`reproject`: messages rebuilt from raw bytes have what a better decoder finds, and nothing else changes."""

import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from partita.formats.registry import all_formats
from partita.runtime.agent.agent import Agent
from partita.runtime.network.network import Network
from partita.runtime.rebuild.reproject import reproject
from partita.runtime.session.session import Session
from partita.store.connection import open_store
from partita.store.logs.maintenance import Retention
from partita.store.store import Store
from partita.store.values import MessageFilter
from partita.types.codec import encode
from partita.types.json import Json, JsonObject, is_object
from partita.types.messages import AssistantMessage, ToolCallPart
from partita.types.parts import ReasoningPart, TextPart
from partita.types.threads import Run
from tests.runtime.rebuild.line_format import LineModel, Quality, Reader
from tests.runtime.replay.example_runs import ROUTER, an_agent, last_message, launch, launched, run_turn


@pytest.fixture(autouse=True)
def line_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install the test format as a plugin."""
    package = tmp_path / "talk-1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: talk\nVersion: 1\n")
    entry = "test-talk = tests.runtime.rebuild.line_format:FORMAT"
    (package / "entry_points.txt").write_text(f"[partita.formats]\n{entry}\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    all_formats.cache_clear()
    yield
    Reader.quality = "good"
    all_formats.cache_clear()


@asynccontextmanager
async def recorded_runs(quality: Quality) -> AsyncGenerator[tuple[Store, Agent, Run, Run], None]:
    """Two runs of one message, decoded with that quality, with an approval in between."""
    Reader.quality = quality
    async with open_store("memory:") as store:
        agent = Agent(LineModel(), tools=[launch], store=store)
        try:
            yield store, agent, *await launched(agent)
        finally:
            await agent.session.close()


def reasoning_texts(message: AssistantMessage) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, ReasoningPart)]


async def test_a_better_decoder_adds_what_the_poor_one_missed() -> None:
    async with recorded_runs("poor") as (store, _, first, second):
        before = await last_message(store, "t")
        thread = await store.threads.get("t")
        Reader.quality = "good"
        report = await reproject(store)
        after = await last_message(store, "t")
        assert report.counts == {"changed": 2}
        assert report.of(first.id).messages == ()
        (changed,) = report.of(second.id).messages
        assert report.of(second.id).written
        assert await store.threads.get("t") == thread
        assert await store.search("went well")
    assert reasoning_texts(before) == []
    assert reasoning_texts(after) == ["Where is it?", "That went well."]
    assert {one.path for one in changed.differences} == {
        "$.content.parts[1]",
        "$.content.parts[5]",
        "$.content.metadata.usage",
        "$.content.usage",
    }
    assert changed.lost == ()
    assert [after.id, after.seq, after.parent_id, after.run_id, after.created_at] == [
        before.id, before.seq, before.parent_id, before.run_id, before.created_at,
    ]  # fmt: skip
    (call,) = [part for part in after.parts if isinstance(part, ToolCallPart)]
    assert [call] == [part for part in before.parts if isinstance(part, ToolCallPart)]
    assert call.approval is not None
    assert (call.approval.responded_by, call.approval.approved) == ("ada", True)
    assert call.approval.responded_at is not None


async def test_a_rebuilt_message_equals_one_of_the_better_decoder() -> None:
    async with recorded_runs("poor") as (store, _, first, _):
        Reader.quality = "good"
        await reproject(store, [first.id])
        rebuilt = await last_message(store, "t")
        run = await store.runs.get(rebuilt.run_id or "")
    async with recorded_runs("good") as (store, _, _, _):
        live = await last_message(store, "t")
        well = await store.runs.get(live.run_id or "")
    assert run is not None
    assert well is not None
    assert run.usage == well.usage
    assert encode(_comparable(rebuilt)) == encode(_comparable(live))


def _comparable(message: AssistantMessage) -> object:
    parts = tuple(
        replace(part, approval=None) if isinstance(part, ToolCallPart) else part for part in message.parts
    )
    return replace(message.content, parts=parts)


async def test_a_message_that_is_decoded_as_stored_is_unchanged() -> None:
    async with recorded_runs("good") as (store, agent, first, second):
        await run_turn(agent, "u", "and now?")
        report = await reproject(store)
        assert report.counts == {"unchanged": 3}
        assert {one.run_id for one in report.runs} > {first.id, second.id}
        assert not any(one.written for one in report.runs)


async def test_a_dry_run_reports_and_writes_nothing() -> None:
    async with recorded_runs("poor") as (store, _, _, second):
        before = await last_message(store, "t")
        Reader.quality = "good"
        report = await reproject(store, [second.id], dry_run=True)
        assert report.of(second.id).outcome == "changed"
        assert not report.of(second.id).written
        assert await last_message(store, "t") == before


async def test_a_message_that_would_lose_text_is_changed_only_with_force() -> None:
    async with recorded_runs("good") as (store, _, _, second):
        before = await last_message(store, "t")
        Reader.quality = "forgetful"
        report = await reproject(store, [second.id])
        one = report.of(second.id)
        assert (one.outcome, one.written) == ("would-lose", False)
        assert [words.partition(": ")[2] for words in one.messages[0].lost] == [
            "text 'I ask first.'",
            "text 'Done.'",
        ]
        assert await last_message(store, "t") == before
        forced = await reproject(store, [second.id], force=True)
        assert (forced.of(second.id).outcome, forced.of(second.id).written) == ("would-lose", True)
        after = await last_message(store, "t")
    assert not any(isinstance(part, TextPart) for part in after.parts)
    assert reasoning_texts(after) == reasoning_texts(before)


async def test_an_edit_of_a_message_is_not_lost() -> None:
    async with recorded_runs("poor") as (store, _, _, second):
        message = await last_message(store, "t")
        content = replace(message.content, metadata={**_metadata(message), "rating": 5})
        edited = replace(message, content=replace(content, parts=(*message.parts, TextPart("A remark."))))
        await store.messages.save([edited])
        Reader.quality = "good"
        one = (await reproject(store, [second.id])).of(second.id)
        assert one.outcome == "would-lose"
        assert one.messages[0].lost == ("$.content.parts[5]: text 'A remark.'",)
        await reproject(store, [second.id], force=True)
        after = await last_message(store, "t")
    assert _metadata(after)["rating"] == 5


def _metadata(message: AssistantMessage) -> JsonObject:
    found: Json = message.content.metadata
    assert is_object(found)
    return found


async def test_approval_requests_and_decisions_are_kept() -> None:
    Reader.quality = "poor"
    async with open_store("memory:") as store:
        agent = Agent(LineModel(), tools=[launch], store=store)
        run = await run_turn(agent, "t", "launch it")
        Reader.quality = "good"
        await reproject(store, [run.id])
        message = await last_message(store, "t")
        assert reasoning_texts(message) == ["Where is it?"]
        assert [part.state for part in message.parts if isinstance(part, ToolCallPart)] == [
            "approval-requested"
        ]
        await agent.session.close()


async def test_runs_that_cannot_be_rebuilt_are_skipped_with_a_reason() -> None:
    async with recorded_runs("good") as (store, _, _, second):
        await store.threads.create("v")
        running = await store.runs.open("v")
        empty = await store.runs.open("v")
        await store.runs.finish(empty.id)
        imported = await store.runs.open("v", metadata={"log": {"path": "a.jsonl", "format": "x"}})
        await store.runs.finish(imported.id)
        await store.logs.drop(Retention(max_bytes=0))
        report = await reproject(store)
    why = {one.run_id: one.why or "" for one in report.runs}
    assert report.counts == {"skipped": 5}
    assert "was dropped on" in why[second.id]
    assert why[running.id] == "it is active"
    assert "no bytes of an agent" in why[empty.id] or "was dropped" in why[empty.id]
    assert why[imported.id] == "its id has no position in a log"


async def test_a_run_with_an_unknown_format_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    async with recorded_runs("good") as (store, _, _, second):
        monkeypatch.undo()
        all_formats.cache_clear()
        one = (await reproject(store, [second.id])).of(second.id)
    assert one.outcome == "skipped"
    assert "no format 'test-talk'" in (one.why or "")


async def test_agents_of_a_network_are_rebuilt_in_place() -> None:
    Reader.quality = "poor"
    async with open_store("memory:") as store:
        words: list[list[JsonObject]] = [
            [{"think": "Let me see."}, {"say": "Sunny."}, {"end": {"tokens": 2}}]
        ]
        network = Network(ROUTER, agents={"helper": Agent(LineModel(words))}, store=store)
        run = await network.session.wait((await network.start("n", "weather?")).id)
        assert (await reproject(store, [run.id])).of(run.id).outcome == "unchanged"
        Reader.quality = "good"
        one = (await reproject(store, [run.id])).of(run.id)
        assert (one.outcome, one.written) == ("changed", True)
        every = (await store.messages.list("n", MessageFilter(internal=None), limit=None)).items
        below = [message for message in every if isinstance(message, AssistantMessage)][1]
        assert below.content.network_execution is not None
        assert below.content.network_execution.final_result is not None
        response = below.content.network_execution.final_result.messages[-1]
        assert isinstance(response, AssistantMessage)
        assert reasoning_texts(response) == ["Let me see."]
        await network.session.close()


async def test_an_agent_without_a_loop_is_rebuilt() -> None:
    Reader.quality = "poor"
    async with open_store("memory:") as store, Session(store) as session:
        words: list[list[JsonObject]] = [[{"think": "Hm."}, {"say": "Yes."}, {"end": {"tokens": 2}}]]
        run = await session.wait((await session.start(LineModel(words), "t", "well?")).id)
        Reader.quality = "good"
        one = (await reproject(store, [run.id])).of(run.id)
        assert (one.outcome, one.written) == ("changed", True)
        message = await last_message(store, "t")
    assert (message.id, reasoning_texts(message)) == (run.message_id, ["Hm."])
    assert message.content.usage is not None


async def test_current_runs_are_unchanged() -> None:
    async with an_agent() as (store, agent):
        await launched(agent)
        await run_turn(agent, "t", "weather?")
        await run_turn(agent, "t", "fail please")
        report = await reproject(store)
        assert report.counts == {"unchanged": 4}
