"""Which records of a log belong to a model call, and how a cut call is read."""

from datetime import UTC, datetime

import pytest

from partita.errors import StreamError
from partita.formats.call_decoder import CALL, CALL_END
from partita.runtime.agent.agent import Agent
from partita.runtime.rebuild.reproject import reproject
from partita.runtime.replay.model_calls import sort_records, unwrapped, wrapped
from partita.runtime.replay.service import ReplayService
from partita.runtime.scripted import ScriptedService, as_script
from partita.store.logs.run_log import LogRecord
from partita.types.chunks import (
    CancelledEvent,
    ChildChunk,
    Chunk,
    ChunkEvent,
    DataChunk,
    MessageAbort,
    TextDelta,
    TextStart,
)
from tests.runtime.replay.example_runs import an_agent, text
from tests.tables import each_row

NOW = datetime(2026, 3, 2, tzinfo=UTC)
BEGIN, END = DataChunk(CALL, {}, transient=True), DataChunk(CALL_END, transient=True)
TEXT, STDERR = TextStart("t"), DataChunk("data-partita-stderr", {"text": "hm"}, transient=True)
NOTE = DataChunk("data-partita-decision", {}, transient=True)
REFUSED = DataChunk("data-partita-refused", {}, transient=True)


def inside(chunk: Chunk, *path: str) -> Chunk:
    return ChildChunk(path, chunk)


def sorted_kinds(*chunks: Chunk | bytes) -> list[str]:
    records = [
        LogRecord(seq, NOW, None if isinstance(one, bytes) else one, one if isinstance(one, bytes) else None)
        for seq, one in enumerate(chunks, 1)
    ]
    return [item.kind for item in sort_records(records, len(records))]


KINDS: dict[str, tuple[list[Chunk | bytes], list[str]]] = {
    "between the markers": (
        [TEXT, BEGIN, b"x", TEXT, END, TEXT],
        ["other", "start", "output", "output", "end", "other"],
    ),
    "a note of Partita between them": ([BEGIN, STDERR, NOTE, END], ["start", "other", "other", "end"]),
    "a refused chunk of the model": ([BEGIN, REFUSED, END], ["start", "output", "end"]),
    "the last chunk of a stopped run": ([BEGIN, TEXT, MessageAbort()], ["start", "output", "other"]),
    "an abort that is not the last chunk": ([BEGIN, MessageAbort(), END], ["start", "output", "end"]),
    "a sub-agent's call": (
        [inside(BEGIN, "c"), TEXT, inside(TEXT, "c"), b"x", inside(END, "c")],
        ["start", "other", "output", "output", "end"],
    ),
}


@each_row(("chunks", "kinds"), KINDS.values(), ids=KINDS)
def test_the_call_of_each_record(chunks: list[Chunk | bytes], kinds: list[str]) -> None:
    assert sorted_kinds(*chunks) == kinds


def test_bytes_of_overlapping_calls_are_an_error() -> None:
    with pytest.raises(StreamError, match="which of them these bytes belong to"):
        sorted_kinds(inside(BEGIN, "a"), inside(BEGIN, "b"), b"x")


def test_a_chunk_can_be_unwrapped_and_wrapped() -> None:
    chunk = ChildChunk(("a", "b"), ChildChunk(("c",), TEXT))
    address, inner = unwrapped(chunk)
    assert (address, inner) == ((("a", "b"), ("c",)), TEXT)
    assert wrapped(address, inner) == chunk


async def test_a_run_that_was_stopped_within_a_response() -> None:
    slow = as_script({"scenes": [{"steps": [{"parts": [text("word " * 5000)], "pause": 0.005}]}]})
    async with an_agent(ScriptedService(slow)) as (store, agent):
        run = await agent.start("t", "talk")
        async for seen in agent.session.follow(run.id):
            if any(isinstance(one.chunk, TextDelta) for one in seen):
                break
        run = await agent.session.stop(run.id, "enough")
        assert (await reproject(store)).counts == {"unchanged": 1}
        events = [event async for event in ReplayService(store, run.id).invoke("talk")]
        assert events[-1] == CancelledEvent(reason="enough")
        assert any(isinstance(event, ChunkEvent) for event in events)
        again = Agent(ReplayService(store, run.id), session=agent.session)
        ended = await agent.session.wait((await again.start("u", "talk")).id)
    assert (run.status, ended.status, ended.error) == ("cancelled", "cancelled", "enough")
