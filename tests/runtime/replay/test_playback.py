"""Playback of a stored run: the same chunks, with the original pauses or without."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from partita.errors import AgentError, NotFoundError
from partita.runtime.network.network import Network
from partita.runtime.replay.playback import Pace, play, play_sse
from partita.runtime.run_fold import fold_run
from partita.store.connection import open_store
from partita.store.logs.run_log import LogEntry
from partita.store.store import Store
from partita.store.values import RunFilter
from partita.stream.accumulator import accumulate
from partita.stream.sse import DONE, ChunkReader
from partita.types.chunks import Chunk, DataChunk, MessageFinish, MessageStart, TextDelta, TextEnd, TextStart
from partita.types.codec import encode
from partita.types.messages import AssistantMessage
from tests.runtime.replay.example_runs import ROUTER, an_agent, last_message, run_turn
from tests.tables import each_row

START = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)
TIMED: list[tuple[float, Chunk]] = [
    (0, MessageStart("m")),
    (2, TextStart("t")),
    (2.5, DataChunk("data-partita-call", {}, transient=True)),
    (6, TextDelta("t", "slow")),
    (5, TextDelta("t", "ly")),  # a clock may go back
    (7, TextEnd("t")),
    (7, MessageFinish("stop")),
]


class Clock:
    """A clock that advances instead of sleeping."""

    def __init__(self, late: float = 0.0) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self._late = late

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds + self._late

    def time(self) -> float:
        return self.now


async def timed(store: Store, *, end: bool = True) -> str:
    await store.threads.create("t")
    run = await store.runs.open("t", message_id="m")
    await store.logs.append(run.id, [LogEntry(START + timedelta(seconds=at), chunk) for at, chunk in TIMED])
    if end:
        await store.runs.finish(run.id)
    return run.id


PAUSES: dict[str, tuple[float | None, float | None, list[float]]] = {
    "original speed": (1.0, None, [2, 4, 2]),
    "twice as fast": (2.0, None, [1, 2, 1]),
    "half as fast": (0.5, None, [4, 8, 4]),
    "no pause longer than a second": (1.0, 1.0, [1, 1, 1]),
    "no pauses": (None, None, []),
    "speed 0": (0, None, []),
    "infinite speed": (float("inf"), None, []),
}


@each_row(("speed", "longest", "pauses"), PAUSES.values(), ids=PAUSES)
async def test_pauses_are_those_of_the_log(
    speed: float | None, longest: float | None, pauses: list[float]
) -> None:
    clock = Clock()
    async with open_store("memory:") as store:
        run_id = await timed(store)
        chunks = [
            seen.chunk
            async for seen in play(
                store, run_id, speed=speed, longest_pause=longest, sleep=clock.sleep, clock=clock.time
            )
        ]
    assert clock.slept == pauses
    assert chunks == [chunk for _, chunk in TIMED if not isinstance(chunk, DataChunk)]


async def test_a_sleep_that_was_too_long_shortens_the_next_one() -> None:
    clock = Clock(late=0.25)
    pace = Pace(1.0, sleep=clock.sleep, clock=clock.time)
    for second in range(5):
        await pace.wait_for(START + timedelta(seconds=second))
    assert clock.slept == [1, 0.75, 0.75, 0.75]


async def test_many_small_pauses_add_up() -> None:
    clock = Clock()
    pace = Pace(1.0, sleep=clock.sleep, clock=clock.time)
    for number in range(1001):
        await pace.wait_for(START + timedelta(microseconds=100 * number))
    assert sum(clock.slept) == pytest.approx(0.1, abs=0.001)
    assert len(clock.slept) <= 100


@each_row("speed", [-1.0, float("nan")])
async def test_an_invalid_speed_is_refused(speed: float) -> None:
    async with open_store("memory:") as store:
        run_id = await timed(store)
        with pytest.raises(AgentError, match="invalid speed"):
            await anext(play(store, run_id, speed=speed))


async def test_an_unknown_run_is_an_error() -> None:
    async with open_store("memory:") as store:
        with pytest.raises(NotFoundError, match="nowhere"):
            await anext(play(store, "nowhere"))


async def test_playback_after_a_number_and_with_notes() -> None:
    async with open_store("memory:") as store:
        run_id = await timed(store)
        seen = [one async for one in play(store, run_id, speed=None, after=2, notes=True)]
    assert [one.seq for one in seen] == [3, 4, 5, 6, 7]
    assert seen[0].is_note


async def test_live_chunks_follow_the_stored_ones_without_delay() -> None:
    clock = Clock()
    async with open_store("memory:") as store:
        run_id = await timed(store, end=False)
        chunks: list[Chunk] = []
        async for seen in play(store, run_id, sleep=clock.sleep, clock=clock.time):
            chunks.append(seen.chunk)
            if len(chunks) == len(TIMED) - 1:
                later = START + timedelta(hours=1)
                await store.logs.append(run_id, [LogEntry(later, MessageStart("m"))])
                await store.runs.finish(run_id)
    assert chunks[-1] == MessageStart("m")
    assert clock.slept == [2, 4, 2]


async def test_live_stored_played_and_sent_chunks_give_the_same_message() -> None:
    async with an_agent() as (store, agent):
        live = [chunk async for chunk in agent.stream("t", "weather?")]
        run = (await store.runs.list(RunFilter(thread_id="t"))).items[0]
        stored = await last_message(store, "t")
        played = [seen async for seen in play(store, run.id, speed=None)]
        reader = ChunkReader()
        sent = [chunk async for data in play_sse(store, run.id, speed=None) for chunk in reader.feed(data)]
    folded = fold_run((seen.chunk for seen in played), stored.id, run_id=run.id)[0]
    assert [seen.chunk for seen in played] == live == sent
    assert [seen.json for seen in played] == [encode(chunk) for chunk in live]
    assert encode(folded.content) == encode(stored.content)
    assert reader.done
    received = accumulate(sent)
    assert encode(received.content.parts) == encode(stored.content.parts)
    assert received.id == stored.id


@each_row("version", [5, 6, 7])
async def test_events_for_clients_of_any_release_end_with_done(version: int) -> None:
    async with an_agent() as (store, agent):
        run = await run_turn(agent, "t", "weather?")
        events = [data async for data in play_sse(store, run.id, speed=None, version=version)]
    assert events[-1] == DONE
    assert not any(b"data-partita-" in data for data in events)


async def test_keep_alive_comments_are_sent_and_a_client_may_disconnect() -> None:
    async with open_store("memory:") as store:
        run_id = await timed(store, end=False)
        asleep = asyncio.Event()

        async def sleep(_: float) -> None:
            asleep.set()
            await asyncio.Event().wait()

        events = play_sse(store, run_id, keep_alive=0.001, sleep=sleep)
        received = [await anext(events)]
        while not asleep.is_set():
            received.append(await anext(events))
        assert [data for data in received if b"start" in data] == [
            b'data: {"type":"start","messageId":"m"}\n\n'
        ]
        assert await anext(events) == b": keep-alive\n\n"
        await events.aclose()


async def test_internal_messages_of_a_router_are_not_played() -> None:
    async with an_agent() as (store, agent):
        network = Network(ROUTER, agents={"helper": agent}, store=store)
        run = await network.session.wait((await network.start("n", "weather?")).id)
        shown = [seen.chunk async for seen in play(store, run.id, speed=None)]
        every = [seen.chunk async for seen in play(store, run.id, speed=None, notes=True)]
        await network.session.close()
    assert sum(isinstance(chunk, MessageStart) for chunk in shown) == 2
    assert sum(isinstance(chunk, MessageStart) for chunk in every) == 4
    assert not any("data-partita-" in encode(chunk).decode() for chunk in shown)


async def test_a_failed_run_is_played_up_to_its_error() -> None:
    async with an_agent() as (store, agent):
        run = await run_turn(agent, "t", "fail please")
        assert run.status == "failed"
        stored = await last_message(store, "t")
        played = [seen.chunk async for seen in play(store, run.id, speed=None)]
    folded = fold_run(played, stored.id, run_id=run.id, status=run.status, reason=run.error)[0]
    assert isinstance(folded, AssistantMessage)
    assert encode(folded.content) == encode(stored.content)
