"""A stored run as a model: the same responses at the same points, while tools are called again."""

from pathlib import Path

import pytest

from partita.errors import AgentError, NotFoundError
from partita.runtime.agent.agent import Agent
from partita.runtime.registry import get_agent
from partita.runtime.replay.service import NO_MORE, ReplayService
from partita.runtime.scripted import ScriptedService
from partita.runtime.session.session import Session
from partita.store.connection import open_store
from partita.store.logs.run_log import LogEntry
from partita.types.chunks import (
    AgentStreamEvent,
    Chunk,
    ChunkEvent,
    CompleteEvent,
    ErrorEvent,
    MessageFinish,
    MessageStart,
    TextDelta,
    TextEnd,
    TextStart,
    raw_bytes,
)
from partita.types.codec import encode
from partita.types.messages import UserMessage
from tests.runtime.replay import example_runs
from tests.runtime.replay.example_runs import an_agent, last_message, launch, launched, run_turn, weather


async def events(service: ReplayService, words: str = "again") -> list[AgentStreamEvent]:
    return [event async for event in service.invoke([UserMessage(id="u", content=words)])]


async def test_an_agent_over_a_recorded_run_calls_its_tools_and_gets_the_same_message() -> None:
    async with an_agent() as (store, agent):
        run = await run_turn(agent, "t", "weather?")
        example_runs.ran.clear()
        again = Agent(ReplayService(store, run.id), tools=[weather, launch], session=agent.session)
        message = await again.run("other", "weather?")
        original = await last_message(store, "t")
    assert example_runs.ran == ["weather Oslo"]
    assert encode(message.content) == encode(original.content)
    assert message.id != original.id


async def test_the_bytes_of_a_response_are_those_of_the_recording() -> None:
    async with an_agent() as (store, agent):
        run = await run_turn(agent, "t", "weather?")
        log = await store.logs.read(run.id)
        recorded = b"".join(record.raw for record in log if record.raw is not None)
        first = await events(ReplayService(store, run.id))
    replayed = b"".join(raw for event in first if (raw := raw_bytes(event)) is not None)
    assert replayed == recorded[: len(replayed)]
    assert replayed.endswith(b"\n")
    assert isinstance(first[-1], CompleteEvent)
    assert first[-1].usage is not None
    assert first[-1].usage.input_tokens == 30


async def test_responses_after_an_approval_come_from_the_continuing_runs() -> None:
    async with an_agent() as (store, agent):
        first, _ = await launched(agent)
        again = Agent(ReplayService(store, first.id), tools=[weather, launch], session=agent.session)
        await launched(again, "other")
        old, new = await last_message(store, "t"), await last_message(store, "other")
    assert [type(part) for part in old.parts] == [type(part) for part in new.parts]
    assert old.parts[-1] == new.parts[-1]


async def test_after_the_last_step_there_is_an_error() -> None:
    async with an_agent() as (store, agent):
        run = await run_turn(agent, "t", "weather?")
        history = (await store.messages.list("t", limit=None)).items
        received = [event async for event in ReplayService(store, run.id).invoke(history)]
    assert received == [ErrorEvent(message=NO_MORE, name="replay-ended")]


async def test_a_failed_response_fails_in_the_replay() -> None:
    async with an_agent() as (store, agent):
        run = await run_turn(agent, "t", "fail please")
        received = await events(ReplayService(store, run.id))
    last = received[-1]
    assert isinstance(last, ErrorEvent)
    assert (last.message, last.name) == ("out of luck", "scripted")


async def test_a_run_without_markers_is_one_response_with_a_new_id() -> None:
    chunks: list[Chunk] = [
        MessageStart("m"),
        TextStart("t"),
        TextDelta("t", "hi"),
        TextEnd("t"),
        MessageFinish("stop", {"usage": {"outputTokens": 1}}),
    ]
    async with open_store("memory:") as store:
        await store.threads.create("t")
        run = await store.runs.open("t", message_id="m")
        await store.logs.append(run.id, [LogEntry(store.clock(), chunk) for chunk in chunks])
        await store.runs.finish(run.id)
        received = await events(ReplayService(store, run.id))
        async with Session(store) as session:
            again = await session.start(ReplayService(store, run.id), "t", "once more")
            await session.wait(again.id)
            message = await last_message(store, "t")
    assert [event.chunk for event in received if isinstance(event, ChunkEvent)] == [
        MessageStart(None),
        *chunks[1:],
    ]
    assert message.id == again.message_id != "m"


async def test_a_run_of_the_default_store_is_found_by_its_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARTITA_STORE", str(tmp_path / "store.db"))
    async with open_store() as store:
        agent = Agent(ScriptedService(example_runs.SCRIPT), tools=[weather], store=store)
        run = await run_turn(agent, "t", "weather?")
        await agent.session.close()
    service = get_agent(f"replay:{run.id}")
    received = [event async for event in service.invoke("weather?")]
    assert isinstance(received[-1], CompleteEvent)


async def test_an_unknown_run_is_refused() -> None:
    with pytest.raises(AgentError, match="no run is named"):
        get_agent("replay:")
    async with open_store("memory:") as store:
        with pytest.raises(NotFoundError, match="no run 'x'"):
            await events(ReplayService(store, "x"))
        await store.threads.create("t")
        empty = await store.runs.open("t")
        await store.runs.finish(empty.id)
        with pytest.raises(AgentError, match="has no response"):
            await events(ReplayService(store, empty.id))
