"""The stepper: at any position, reached in any way, the messages are those of the chunks up to it."""

import asyncio
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from partita.runtime.network.network import Network
from partita.runtime.replay.stepper import Stepper
from partita.runtime.run_fold import RunFold
from partita.runtime.session.live_run import StoredChunk
from partita.store.values import MessageFilter
from partita.types.chunks import MessageStart
from partita.types.codec import encode
from partita.types.messages import AssistantMessage
from partita.types.threads import Run
from tests.runtime.replay.example_runs import ROUTER, an_agent, last_message, launched, run_turn
from tests.tables import each_row


class Recording:
    """A run, its chunks, and its messages after each chunk, folded from the start."""

    def __init__(self, run: Run, seen: list[StoredChunk], seed: AssistantMessage | None = None) -> None:
        self.run, self.seen, self.seed = run, seen, seed
        self.prefixes = [self._folded(position) for position in range(len(seen) + 1)]

    def _folded(self, position: int) -> bytes:
        first = next(one.chunk for one in self.seen if isinstance(one.chunk, MessageStart))
        fold = RunFold(first.message_id or "", run_id=self.run.id, seed=self.seed)
        for one in self.seen[:position]:
            fold.feed(one.chunk)
        return encode(fold.snapshot())

    def stepper(self, every: int) -> Stepper:
        return Stepper(self.run, self.seen, seed=self.seed, every=every)


@cache
def weather_run() -> Recording:
    async def record() -> Recording:
        async with an_agent() as (store, agent):
            run = await run_turn(agent, "t", "weather?")
            stepper = await Stepper.open(store, run.id)
            return Recording(run, _all(stepper))

    return asyncio.run(record())


def _all(stepper: Stepper) -> list[StoredChunk]:
    seen: list[StoredChunk] = []
    while (one := stepper.next()) is not None:
        seen.append(one)
    return seen


@given(positions=st.lists(st.integers(0, 60), max_size=12), every=st.integers(1, 30))
def test_any_sequence_of_seeks_equals_folding_the_prefix(positions: list[int], every: int) -> None:
    recording = weather_run()
    stepper = recording.stepper(every)
    for position in positions:
        stepper.go_to(position)
        where = min(position, len(recording.seen))
        assert stepper.position == where
        assert encode(stepper.snapshot()) == recording.prefixes[where]


@given(steps=st.lists(st.booleans(), max_size=80), every=st.integers(1, 10))
def test_single_steps_forward_and_back(steps: list[bool], every: int) -> None:
    recording = weather_run()
    stepper = recording.stepper(every)
    position = 0
    for forward in steps:
        seen = stepper.next() if forward else stepper.back()
        expected = position if forward else position - 1
        if 0 <= expected < len(recording.seen):
            assert seen is recording.seen[expected]
            position = expected + 1 if forward else expected
        else:
            assert seen is None
        assert encode(stepper.snapshot()) == recording.prefixes[position]


def test_seek_goes_to_the_position_after_a_chunk() -> None:
    recording = weather_run()
    stepper = recording.stepper(4)
    for position, seen in enumerate(recording.seen, 1):
        stepper.seek(seen.seq)
        assert (stepper.position, stepper.seq) == (position, seen.seq)
    stepper.seek(0)
    assert (stepper.position, stepper.seq, len(stepper)) == (0, 0, len(recording.seen))


async def test_a_continuing_run_starts_with_the_message_as_it_was() -> None:
    async with an_agent() as (store, agent):
        first, second = await launched(agent)
        stored = await last_message(store, "t")
        before = await Stepper.open(store, first.id)
        after = await Stepper.open(store, second.id, every=3)
        (waiting,), (approved,) = before.finish(), after.snapshot()
        assert [part.__struct_config__.tag for part in waiting.parts] == ["step-start", "text", "tool-call"]
        assert len(approved.parts) == 3
        (ended,) = after.finish()
        assert encode(ended.content) == encode(stored.content)
        after.go_to(0)
        assert after.snapshot() == (approved,)


@each_row("every", [1, 5, 1000])
async def test_the_messages_of_a_network_at_every_position(every: int) -> None:
    async with an_agent() as (store, agent):
        network = Network(ROUTER, agents={"helper": agent}, store=store)
        run = await network.start("n", "weather?")
        run = await network.session.wait(run.id)
        stepper = await Stepper.open(store, run.id, every=every)
        recording = Recording(run, _all(stepper))
        for position in [*range(len(recording.seen), -1, -3), *range(0, len(recording.seen), 7)]:
            stepper.go_to(position)
            assert encode(stepper.snapshot()) == recording.prefixes[position], position
        stored = (await store.messages.list("n", MessageFilter(internal=None), limit=None)).items[1:]
        assert [encode(one.content) for one in stepper.finish()] == [encode(one.content) for one in stored]
        await network.session.close()
