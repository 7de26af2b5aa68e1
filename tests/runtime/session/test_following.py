"""Readers of a run receive all stored chunks, in order, wherever and whenever they start."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

import pytest

from partita.errors import NotFoundError, UnavailableError
from partita.runtime.session.live_run import BATCH_BYTES, WINDOW, StoredChunk
from partita.runtime.session.session import Session
from partita.store.store import Store
from partita.store.values import MessageFilter
from partita.types.chunks import Chunk, DataChunk, MessageFinish, MessageStart, RawEvent, TextDelta
from partita.types.codec import encode
from partita.types.messages import text_of
from tests.runtime.engines import on_both_engines
from tests.runtime.session.conftest import Pair
from tests.runtime.session.controlled_agent import (
    ControlledAgent,
    Follower,
    checked_run,
    full_reply,
    partial_reply,
    run_turn,
)
from tests.runtime.session.controlled_engine import with_controlled_engine


async def stored_chunks(store: Store, run_id: str) -> dict[int, bytes]:
    """The encoded chunks of a log, by number."""
    return {r.seq: encode(r.chunk) for r in await store.logs.read(run_id) if r.chunk is not None}


async def test_a_chunk_is_sent_once_it_is_stored(store: Store) -> None:
    slow, engine = with_controlled_engine(store)
    async with Session(slow, heartbeat=3600, recover=False) as session:
        agent = ControlledAgent()
        run = await session.start(agent, "t1", "Well?")
        follower = Follower(session, run.id, everything=True)
        for number in range(5):
            engine.gate.clear()
            engine.waiting.clear()
            received = len(follower.received)
            chunks: list[Chunk] = partial_reply() if number == 0 else [TextDelta("t", f"{number} ")] * 3
            agent.emit(*chunks)
            await engine.waiting.wait()
            for _ in range(20):
                await asyncio.sleep(0)
            assert len(follower.received) == received, "received before it was stored"
            engine.gate.set()
            agent.emit(mark := DataChunk("data-mark", number, transient=True))
            await follower.until(mark)
            stored = await stored_chunks(store, run.id)
            assert [stored[one.seq] for one in follower.received] == [one.json for one in follower.received]
        agent.complete()
        await session.wait(run.id)
        await follower.task
        stored = await stored_chunks(store, run.id)
        assert {one.seq: one.json for one in follower.received} == stored


async def test_a_chunk_that_cannot_be_stored_is_not_sent(store: Store) -> None:
    """While the disk is full, no chunk reaches readers; the run ends once the store works."""
    slow, engine = with_controlled_engine(store)
    async with Session(slow, heartbeat=3600, recover=False) as session:
        agent = ControlledAgent(*partial_reply("kept"))
        run = await session.start(agent, "t1", "Well?")
        follower = Follower(session, run.id, everything=True)
        await follower.until(TextDelta("t", "kept"))
        engine.failure = UnavailableError("the disk is full")
        agent.emit(TextDelta("t", "lost"))
        await agent.stopped.wait()
        assert not follower.task.done()
        engine.failure = None
        ended = await session.wait(run.id)
        await follower.task
    assert (ended.status, ended.error) == ("failed", "the disk is full")
    assert TextDelta("t", "lost") not in follower.chunks
    result = await checked_run(store, run.id)
    assert result.text == "kept"
    assert result.ending == {"status": "failed", "reason": "the disk is full"}
    assert await stored_chunks(store, run.id) == {one.seq: one.json for one in follower.received}


async def test_closing_a_session_while_the_store_fails_leaves_its_runs_to_recovery(store: Store) -> None:
    slow, engine = with_controlled_engine(store)
    session = Session(slow, heartbeat=3600, recover=False)
    agent = ControlledAgent(*partial_reply("kept"))
    run = await session.start(agent, "t1", "Well?")
    await Follower(session, run.id).until(TextDelta("t", "kept"))
    engine.failure = UnavailableError("the disk is full")
    await session.close()
    left = await store.runs.get(run.id)
    assert left is not None
    assert left.status == "running"  # another session will recover it


@pytest.mark.parametrize("everything", [True, False])
async def test_a_reader_receives_the_chunks_after_its_number(session: Session, everything: bool) -> None:
    agent = ControlledAgent(*partial_reply("one ", "two "))
    run = await session.start(agent, "t1", "Well?")
    first = Follower(session, run.id, everything=everything)
    await first.until(TextDelta("t", "two "))
    early = [Follower(session, run.id, after=after, everything=everything) for after in range(6)]
    agent.complete(TextDelta("t", "three"), *full_reply()[2:])
    await session.wait(run.id)
    late = [Follower(session, run.id, after=after, everything=everything) for after in range(6)]
    await asyncio.gather(first.task, *(one.task for one in [*early, *late]))
    for followers in (early, late):
        for after, follower in enumerate(followers):
            assert follower.received == [one for one in first.received if one.seq > after]
    assert [one.seq for one in first.received] == sorted({one.seq for one in first.received})


async def test_a_slow_reader_reads_from_the_store_and_misses_nothing(session: Session) -> None:
    agent = ControlledAgent(*partial_reply())
    run = await session.start(agent, "t1", "Well?")
    slow = session.follow(run.id)
    received = list(await anext(slow))
    number = 3 * WINDOW
    agent.emit(*(TextDelta("t", f"{place} ") for place in range(number)))
    fast = Follower(session, run.id)
    await fast.until(TextDelta("t", f"{number - 1} "))
    agent.complete(*full_reply()[2:])
    async for more in slow:
        received += more
    await fast.task
    assert received == fast.received
    assert sum(isinstance(one.chunk, TextDelta) for one in received) == number


async def test_many_entries_without_chunks_do_not_end_a_stream(session: Session) -> None:
    agent = ControlledAgent(*partial_reply("first"))
    run = await session.start(agent, "t1", "Well?")
    slow = session.follow(run.id)
    received = list(await anext(slow))
    agent.emit(*(RawEvent(raw_text=f"{number}\n") for number in range(3000)))
    agent.complete(TextDelta("t", "last"), *full_reply()[2:])
    await session.wait(run.id)
    async for more in slow:
        received += more
    assert TextDelta("t", "last") in [one.chunk for one in received]


async def test_a_reader_that_stops_does_not_stop_the_run(session: Session) -> None:
    agent = ControlledAgent(*partial_reply("one "))
    run = await session.start(agent, "t1", "Well?")
    stream = session.follow(run.id)
    await anext(stream)
    await stream.aclose()
    follower = Follower(session, run.id)
    await follower.until(TextDelta("t", "one "))
    follower.task.cancel()
    await asyncio.gather(follower.task, return_exceptions=True)
    agent.complete(TextDelta("t", "two"), *full_reply()[2:])
    assert (await session.wait(run.id)).status == "completed"
    assert (await checked_run(session.store, run.id)).text == "one two"


@on_both_engines
async def test_another_process_follows_a_run_live_and_after_its_end(pair: Pair) -> None:
    agent = ControlledAgent(*partial_reply("one "))
    run = await pair.one.start(agent, "t1", "Well?")
    here, there = Follower(pair.one, run.id), Follower(pair.other, run.id)
    await there.until(TextDelta("t", "one "))
    assert not here.task.done()
    active = await pair.other.active_run("t1")
    assert active is not None
    assert active.id == run.id
    agent.complete(TextDelta("t", "two"), *full_reply()[2:])
    await asyncio.gather(here.task, there.task)
    assert (await pair.other.wait(run.id)).status == "completed"
    again = Follower(pair.other, run.id)
    await again.task
    assert [one[:1] + one[2:] for one in here.received] == [one[:1] + one[2:] for one in there.received]
    assert again.received == there.received
    assert await pair.other.active_run("t1") is None
    assert (await checked_run(pair.other.store, run.id)).text == "one two"


async def test_the_start_of_a_message_always_has_its_id(session: Session) -> None:
    run = await run_turn(session, "t1")
    follower = Follower(session, run.id)
    await follower.task
    assert follower.chunks[0] == MessageStart(run.message_id)


async def test_internal_messages_and_notes_are_sent_on_request_only(session: Session) -> None:
    agent = ControlledAgent(
        DataChunk("data-partita-own", 1, transient=True), MessageStart(None, {"internal": True})
    )
    agent.emit(TextDelta("t", "refused"), MessageFinish("stop"))
    agent.complete(MessageStart("shown"), *full_reply("Hello.")[1:])
    run = await session.wait((await session.start(agent, "t1", "Well?")).id)
    plain, whole = Follower(session, run.id), Follower(session, run.id, everything=True)
    await asyncio.gather(plain.task, whole.task)
    assert plain.chunks == [MessageStart("shown"), *full_reply("Hello.")[1:]]
    assert len(whole.received) == len(plain.received) + 4
    for after in range(1, len(whole.received)):
        late = Follower(session, run.id, after=after)
        await late.task
        assert late.received == [one for one in plain.received if one.seq > after]
    hidden, shown = list(await session.store.messages.list("t1", MessageFilter(internal=None)))[-2:]
    assert (hidden.internal, shown.internal, text_of(shown)) == (True, False, "Hello.")


async def test_an_unknown_run_is_an_error(session: Session) -> None:
    with pytest.raises(NotFoundError):
        await anext(session.follow("nowhere"))
    with pytest.raises(NotFoundError):
        await session.stop("nowhere")


async def test_progress_is_the_same_before_and_after_the_end_of_a_run(session: Session) -> None:
    """The messages are stored when the run ends, and its log still exists: they must not be added up."""
    agent = ControlledAgent(*partial_reply("one "))
    run = await session.start(agent, "t1", "Well?")
    await Follower(session, run.id).until(TextDelta("t", "one "))
    before = await session.progress(run)
    second = [MessageStart("m2"), *full_reply("three")[1:]]
    agent.complete(TextDelta("t", "two"), *full_reply()[-2:], *second)
    await session.wait(run.id)
    after = await session.progress(run)
    assert [text_of(message) for message in before.messages] == ["one "]
    assert [text_of(message) for message in after.messages] == ["one two", "three"]
    assert after.last_seq == (await session.last_seq(run.id)) > before.last_seq


async def test_batches_for_readers_have_a_limited_size(store: Store) -> None:
    """A client that does not read keeps its batch in memory."""
    deltas = [TextDelta("t", f"{number:03}" + "." * 50_000) for number in range(20)]
    agent = ControlledAgent(*partial_reply(), *deltas)
    async with Session(store, heartbeat=3600, recover=False) as session:
        run = await session.start(agent, "t1", "Well?")
        follower = Follower(session, run.id, everything=True)
        await follower.until(deltas[-1])
        live = [[one async for one in _until(session, run.id, deltas[-1])]]
        agent.complete()
        await session.wait(run.id)
        await follower.task
        live.append([received async for received in session.follow(run.id)])
    for batches in live:
        chunks = [one.chunk for received in batches for one in received]
        assert [
            chunk for chunk in chunks if isinstance(chunk, TextDelta) and len(chunk.delta) > 100
        ] == deltas
        assert max(sum(len(one.json) for one in received) for received in batches) < BATCH_BYTES + 60_000


async def _until(session: Session, run_id: str, last: Chunk) -> AsyncIterator[Sequence[StoredChunk]]:
    """The batches that a late reader receives, up to a chunk."""
    async with aclosing(session.follow(run_id)) as batches:
        async for received in batches:
            yield received
            if any(one.chunk == last for one in received):
                return
