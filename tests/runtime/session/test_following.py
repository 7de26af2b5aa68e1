"""Those who watch see what is stored, all of it, in order, wherever and whenever they come."""

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
from tests.runtime.session.gates import gated
from tests.runtime.session.puppets import Puppet, Watcher, answer, left_by, speak, talk


async def stored_chunks(store: Store, run_id: str) -> dict[int, bytes]:
    """The chunks of a log by number."""
    return {r.seq: encode(r.chunk) for r in await store.logs.read(run_id) if r.chunk is not None}


async def test_nothing_is_shown_before_it_is_stored(store: Store) -> None:
    slow, engine = gated(store)
    async with Session(slow, heartbeat=3600, recover=False) as session:
        puppet = Puppet()
        run = await session.start(puppet, "t1", "Well?")
        watcher = Watcher(session, run.id, everything=True)
        for number in range(5):
            engine.gate.clear()
            engine.waiting.clear()
            seen = len(watcher.seen)
            chunks: list[Chunk] = talk() if number == 0 else [TextDelta("t", f"{number} ")] * 3
            puppet.say(*chunks)
            await engine.waiting.wait()
            for _ in range(20):
                await asyncio.sleep(0)
            assert len(watcher.seen) == seen, "shown while it was on its way"
            engine.gate.set()
            puppet.say(mark := DataChunk("data-mark", number, transient=True))
            await watcher.until(mark)
            stored = await stored_chunks(store, run.id)
            assert [stored[one.seq] for one in watcher.seen] == [one.json for one in watcher.seen]
        puppet.end()
        await session.wait(run.id)
        await watcher.task
        stored = await stored_chunks(store, run.id)
        assert {one.seq: one.json for one in watcher.seen} == stored


async def test_nothing_is_shown_of_what_was_not_stored(store: Store) -> None:
    """The disk is full for a while: nobody sees what it did not take, and the run ends once it can."""
    slow, engine = gated(store)
    async with Session(slow, heartbeat=3600, recover=False) as session:
        puppet = Puppet(*talk("kept"))
        run = await session.start(puppet, "t1", "Well?")
        watcher = Watcher(session, run.id, everything=True)
        await watcher.until(TextDelta("t", "kept"))
        engine.failure = UnavailableError("the disk is full")
        puppet.say(TextDelta("t", "lost"))
        await puppet.left.wait()
        assert not watcher.task.done()
        engine.failure = None
        ended = await session.wait(run.id)
        await watcher.task
    assert (ended.status, ended.error) == ("failed", "the disk is full")
    assert TextDelta("t", "lost") not in watcher.chunks
    left = await left_by(store, run.id)
    assert left.words == "kept"
    assert left.ended == {"status": "failed", "reason": "the disk is full"}
    assert await stored_chunks(store, run.id) == {one.seq: one.json for one in watcher.seen}


async def test_a_session_that_is_closed_while_the_store_fails_lets_go_of_its_runs(store: Store) -> None:
    slow, engine = gated(store)
    session = Session(slow, heartbeat=3600, recover=False)
    puppet = Puppet(*talk("kept"))
    run = await session.start(puppet, "t1", "Well?")
    await Watcher(session, run.id).until(TextDelta("t", "kept"))
    engine.failure = UnavailableError("the disk is full")
    await session.close()
    left = await store.runs.get(run.id)
    assert left is not None
    assert left.status == "running"  # whoever recovers runs will find it


@pytest.mark.parametrize("everything", [True, False])
async def test_who_follows_from_any_number_sees_what_is_behind_it(session: Session, everything: bool) -> None:
    puppet = Puppet(*talk("one ", "two "))
    run = await session.start(puppet, "t1", "Well?")
    first = Watcher(session, run.id, everything=everything)
    await first.until(TextDelta("t", "two "))
    early = [Watcher(session, run.id, after=after, everything=everything) for after in range(6)]
    puppet.end(TextDelta("t", "three"), *answer()[2:])
    await session.wait(run.id)
    late = [Watcher(session, run.id, after=after, everything=everything) for after in range(6)]
    await asyncio.gather(first.task, *(one.task for one in [*early, *late]))
    for watchers in (early, late):
        for after, watcher in enumerate(watchers):
            assert watcher.seen == [one for one in first.seen if one.seq > after]
    assert [one.seq for one in first.seen] == sorted({one.seq for one in first.seen})


async def test_who_is_slow_reads_the_store_and_misses_nothing(session: Session) -> None:
    puppet = Puppet(*talk())
    run = await session.start(puppet, "t1", "Well?")
    slow = session.follow(run.id)
    seen = list(await anext(slow))
    number = 3 * WINDOW
    puppet.say(*(TextDelta("t", f"{place} ") for place in range(number)))
    fast = Watcher(session, run.id)
    await fast.until(TextDelta("t", f"{number - 1} "))
    puppet.end(*answer()[2:])
    async for more in slow:
        seen += more
    await fast.task
    assert seen == fast.seen
    assert sum(isinstance(one.chunk, TextDelta) for one in seen) == number


async def test_a_long_stretch_without_chunks_does_not_end_it(session: Session) -> None:
    puppet = Puppet(*talk("first"))
    run = await session.start(puppet, "t1", "Well?")
    slow = session.follow(run.id)
    seen = list(await anext(slow))
    puppet.say(*(RawEvent(raw_text=f"{number}\n") for number in range(3000)))
    puppet.end(TextDelta("t", "last"), *answer()[2:])
    await session.wait(run.id)
    async for more in slow:
        seen += more
    assert TextDelta("t", "last") in [one.chunk for one in seen]


async def test_who_leaves_does_not_stop_the_run(session: Session) -> None:
    puppet = Puppet(*talk("one "))
    run = await session.start(puppet, "t1", "Well?")
    stream = session.follow(run.id)
    await anext(stream)
    await stream.aclose()
    watcher = Watcher(session, run.id)
    await watcher.until(TextDelta("t", "one "))
    watcher.task.cancel()
    await asyncio.gather(watcher.task, return_exceptions=True)
    puppet.end(TextDelta("t", "two"), *answer()[2:])
    assert (await session.wait(run.id)).status == "completed"
    assert (await left_by(session.store, run.id)).words == "one two"


@on_both_engines
async def test_another_process_follows_live_and_after_the_end(pair: Pair) -> None:
    puppet = Puppet(*talk("one "))
    run = await pair.one.start(puppet, "t1", "Well?")
    here, there = Watcher(pair.one, run.id), Watcher(pair.other, run.id)
    await there.until(TextDelta("t", "one "))
    assert not here.task.done()
    active = await pair.other.active_run("t1")
    assert active is not None
    assert active.id == run.id
    puppet.end(TextDelta("t", "two"), *answer()[2:])
    await asyncio.gather(here.task, there.task)
    assert (await pair.other.wait(run.id)).status == "completed"
    again = Watcher(pair.other, run.id)
    await again.task
    assert [one[:1] + one[2:] for one in here.seen] == [one[:1] + one[2:] for one in there.seen]
    assert again.seen == there.seen
    assert await pair.other.active_run("t1") is None
    assert (await left_by(pair.other.store, run.id)).words == "one two"


async def test_a_start_always_says_whose_it_is(session: Session) -> None:
    run = await speak(session, "t1")
    watcher = Watcher(session, run.id)
    await watcher.task
    assert watcher.chunks[0] == MessageStart(run.message_id)


async def test_internal_messages_and_notes_are_shown_on_request_only(session: Session) -> None:
    puppet = Puppet(DataChunk("data-partita-own", 1, transient=True), MessageStart(None, {"internal": True}))
    puppet.say(TextDelta("t", "refused"), MessageFinish("stop"))
    puppet.end(MessageStart("shown"), *answer("Hello.")[1:])
    run = await session.wait((await session.start(puppet, "t1", "Well?")).id)
    plain, whole = Watcher(session, run.id), Watcher(session, run.id, everything=True)
    await asyncio.gather(plain.task, whole.task)
    assert plain.chunks == [MessageStart("shown"), *answer("Hello.")[1:]]
    assert len(whole.seen) == len(plain.seen) + 4
    for after in range(1, len(whole.seen)):
        late = Watcher(session, run.id, after=after)
        await late.task
        assert late.seen == [one for one in plain.seen if one.seq > after]
    hidden, shown = list(await session.store.messages.list("t1", MessageFilter(internal=None)))[-2:]
    assert (hidden.internal, shown.internal, text_of(shown)) == (True, False, "Hello.")


async def test_a_run_that_is_not_there_is_told(session: Session) -> None:
    with pytest.raises(NotFoundError):
        await anext(session.follow("nowhere"))
    with pytest.raises(NotFoundError):
        await session.stop("nowhere")


async def test_what_a_run_has_produced_is_the_same_before_and_after_it_ends(session: Session) -> None:
    """Its messages are stored when it ends, and its log is still there: they must not be added up."""
    puppet = Puppet(*talk("one "))
    run = await session.start(puppet, "t1", "Well?")
    await Watcher(session, run.id).until(TextDelta("t", "one "))
    before = await session.progress(run)
    second = [MessageStart("m2"), *answer("three")[1:]]
    puppet.end(TextDelta("t", "two"), *answer()[-2:], *second)
    await session.wait(run.id)
    after = await session.progress(run)
    assert [text_of(message) for message in before.messages] == ["one "]
    assert [text_of(message) for message in after.messages] == ["one two", "three"]
    assert after.last_seq == (await session.last_seq(run.id)) > before.last_seq


async def test_those_who_watch_are_given_little_at_once(store: Store) -> None:
    """A client that does not read keeps what it was given in memory."""
    words = [TextDelta("t", f"{number:03}" + "." * 50_000) for number in range(20)]
    puppet = Puppet(*talk(), *words)
    async with Session(store, heartbeat=3600, recover=False) as session:
        run = await session.start(puppet, "t1", "Well?")
        watcher = Watcher(session, run.id, everything=True)
        await watcher.until(words[-1])
        live = [[one async for one in _until(session, run.id, words[-1])]]
        puppet.end()
        await session.wait(run.id)
        await watcher.task
        live.append([seen async for seen in session.follow(run.id)])
    for batches in live:
        told = [one.chunk for seen in batches for one in seen]
        assert [chunk for chunk in told if isinstance(chunk, TextDelta) and len(chunk.delta) > 100] == words
        assert max(sum(len(one.json) for one in seen) for seen in batches) < BATCH_BYTES + 60_000


async def _until(session: Session, run_id: str, last: Chunk) -> AsyncIterator[Sequence[StoredChunk]]:
    """What a watcher that comes late is given, up to a chunk."""
    async with aclosing(session.follow(run_id)) as batches:
        async for seen in batches:
            yield seen
            if any(one.chunk == last for one in seen):
                return
