"""More than the store can take at once: the agent waits, and the order stays."""

from partita.runtime.session.client_replies import ApprovalResponse
from partita.runtime.session.session import Session
from partita.store.logs.appender import Appender
from partita.store.store import Store
from partita.types.chunks import (
    Chunk,
    ChunkEvent,
    RawEvent,
    TextDelta,
    ToolApprovalRequest,
    ToolInputAvailable,
)
from partita.types.codec import encode
from tests.runtime.session.puppets import Puppet, Watcher, answer, left_by, raw_of, talk

NUMBER = 300


def narrow(store: Store) -> Store:
    """The same store, which takes one entry at a time."""
    return Store(store.engine, clock=store.clock, appender=Appender(store.engine, max_waiting=1))


def deltas() -> list[Chunk]:
    return [TextDelta("t", f"{number} ") for number in range(NUMBER)]


async def shown_and_stored(store: Store, watcher: Watcher, run_id: str) -> None:
    log = await store.logs.read(run_id)
    stored = [(record.seq, encode(record.chunk)) for record in log if record.chunk is not None]
    assert [(one.seq, one.json) for one in watcher.seen] == stored


async def test_what_does_not_fit_at_once_waits_in_line(store: Store) -> None:
    async with Session(narrow(store), heartbeat=3600) as session:
        puppet = Puppet(*talk())
        puppet.say(
            *(event for chunk in deltas() for event in (RawEvent(raw_text="."), ChunkEvent(chunk=chunk)))
        )
        run = await session.start(puppet, "t1", "Count.")
        watcher = Watcher(session, run.id, everything=True)
        puppet.end(*answer()[2:])
        assert (await session.wait(run.id)).status == "completed"
        await watcher.task
        await shown_and_stored(store, watcher, run.id)
    left = await left_by(store, run.id)
    assert left.words == "".join(f"{number} " for number in range(NUMBER))
    assert await raw_of(store, run.id) == b"." * NUMBER


async def test_a_stop_while_it_waits_in_line_keeps_the_order(store: Store) -> None:
    async with Session(narrow(store), heartbeat=3600) as session:
        puppet = Puppet(*talk(), *deltas())
        run = await session.start(puppet, "t1", "Count.")
        watcher = Watcher(session, run.id, everything=True)
        await watcher.until(TextDelta("t", "20 "))
        assert (await session.stop(run.id)).status == "cancelled"
        await watcher.task
        await shown_and_stored(store, watcher, run.id)
        await left_by(store, run.id)


async def test_an_answer_while_it_waits_in_line_finds_its_place(store: Store) -> None:
    async with Session(narrow(store), heartbeat=3600) as session:
        asks: list[Chunk] = [ToolInputAvailable("c", "dig", {}), ToolApprovalRequest("a", "c")]
        puppet = Puppet(*talk(), *asks, *deltas())
        run = await session.start(puppet, "t1", "Count.")
        watcher = Watcher(session, run.id, everything=True)
        await watcher.until(asks[-1])
        await session.add_approval_response("t1", ApprovalResponse("a", True, "ada"))
        puppet.end(*answer()[2:])
        await session.wait(run.id)
        await watcher.task
        await shown_and_stored(store, watcher, run.id)
        await left_by(store, run.id)
