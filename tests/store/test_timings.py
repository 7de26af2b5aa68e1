"""The times at which calls started and ended: computed from the log, stored with the parts."""

from datetime import timedelta

from sqlalchemy import select

from partita.store.engines.engine import Engine
from partita.store.logs.run_log import LogEntry
from partita.store.logs.timings import record_timings, timings
from partita.store.messages.prepared import prepare
from partita.store.messages.writer import save
from partita.store.runs import rows as runs
from partita.store.schema import parts
from partita.types.chunks import (
    ChildChunk,
    Chunk,
    TextDelta,
    ToolInputAvailable,
    ToolInputDelta,
    ToolInputError,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputDenied,
    ToolOutputError,
)
from partita.types.messages import AssistantMessage, ToolCallPart

from .running import COMPLETED, NOON, log, start, with_thread


def begin(call: str) -> Chunk:
    return ToolInputStart(tool_call_id=call, tool_name="t")


def ready(call: str) -> Chunk:
    return ToolInputAvailable(tool_call_id=call, tool_name="t", input={})


def done(call: str, preliminary: bool | None = None) -> Chunk:
    return ToolOutputAvailable(tool_call_id=call, output=1, preliminary=preliminary)


def child(path: tuple[str, ...], chunk: Chunk) -> Chunk:
    return ChildChunk(path=path, chunk=chunk)


def seconds(chunks: list[Chunk]) -> dict[tuple[str, ...], tuple[float | None, float | None]]:
    """The times of the calls, as seconds, when a chunk comes every second."""
    found = timings((NOON + timedelta(seconds=number), chunk) for number, chunk in enumerate(chunks))
    return {
        path: (
            None if timing.started is None else (timing.started - NOON).total_seconds(),
            None if timing.ended is None else (timing.ended - NOON).total_seconds(),
        )
        for path, timing in found.items()
    }


def test_a_call_lasts_from_its_first_chunk_to_its_last_output() -> None:
    streamed = [begin("a"), ToolInputDelta(tool_call_id="a", input_text_delta="{"), ready("a"), done("a")]
    assert seconds(streamed) == {("a",): (0, 3)}
    assert seconds([ready("a"), done("a", True), done("a", True), done("a")]) == {("a",): (0, 3)}
    assert seconds([ready("a"), done("a", True)]) == {("a",): (0, None)}
    assert seconds([TextDelta(id="t", delta="x"), begin("a")]) == {("a",): (1, None)}
    assert seconds([done("a")]) == {("a",): (None, 0)}


def test_a_call_ends_with_an_output_or_an_error() -> None:
    ends: list[Chunk] = [
        ToolOutputError(tool_call_id="a", error_text="no"),
        ToolOutputDenied(tool_call_id="a"),
        ToolInputError(tool_call_id="a", tool_name="t", error_text="no"),
    ]
    for end in ends:
        assert seconds([ready("a"), end]) == {("a",): (0, 1)}


def test_calls_of_sub_agents_are_distinguished_by_path() -> None:
    chunks = [
        ready("a"),
        child(("a",), ready("b")),
        child(("a",), child(("b",), ready("a"))),
        child(("a", "b"), done("a")),
        child(("a",), done("b")),
        done("a"),
    ]
    assert seconds(chunks) == {("a",): (0, 5), ("a", "b"): (1, 4), ("a", "b", "a"): (2, 3)}


async def test_times_are_stored_with_the_parts(engine: Engine) -> None:
    store = await with_thread(engine)
    await start(store)
    inner = ToolCallPart(id="a\x00", name="t", state="output-available", input={})
    outer = ToolCallPart(
        id="a",
        name="t",
        state="output-available",
        input={},
        children=(AssistantMessage(id="s", content=[inner]),),
    )
    other = ToolCallPart(id="without times", name="t", state="input-available", input={})
    message = AssistantMessage(id="m", content=[outer, other], run_id="r1")
    await store.write(save, [prepare(message, "t1")])
    chunks = [ready("a"), child(("a",), ready("a\x00")), child(("a",), done("a\x00")), done("a")]
    await log(
        store,
        "r1",
        [LogEntry(NOON + timedelta(seconds=number), chunk) for number, chunk in enumerate(chunks)],
    )
    await store.write(runs.end, "r1", COMPLETED)
    assert await store.write(record_timings, "r1") == 2
    query = select(parts.c.path, parts.c.started_at, parts.c.ended_at).order_by(parts.c.number)
    assert [tuple(row) for row in await store.read(lambda tx: tx.rows(query))] == [
        ("0", NOON, NOON + timedelta(seconds=3)),
        ("0.children.0.0", NOON + timedelta(seconds=1), NOON + timedelta(seconds=2)),
        ("1", None, None),
    ]
