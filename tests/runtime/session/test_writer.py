"""A store that is slower than the agent: the agent waits, and the order of the log is kept."""

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
from tests.runtime.session.controlled_agent import (
    ControlledAgent,
    Follower,
    checked_run,
    full_reply,
    partial_reply,
    raw_of,
)

NUMBER = 300


def slow_store(store: Store) -> Store:
    """The same store, which accepts one entry at a time."""
    return Store(store.engine, clock=store.clock, appender=Appender(store.engine, max_waiting=1))


def deltas() -> list[Chunk]:
    return [TextDelta("t", f"{number} ") for number in range(NUMBER)]


async def check_received_is_stored(store: Store, follower: Follower, run_id: str) -> None:
    log = await store.logs.read(run_id)
    stored = [(record.seq, encode(record.chunk)) for record in log if record.chunk is not None]
    assert [(one.seq, one.json) for one in follower.received] == stored


async def test_entries_wait_while_the_store_is_busy(store: Store) -> None:
    async with Session(slow_store(store), heartbeat=3600) as session:
        agent = ControlledAgent(*partial_reply())
        agent.emit(
            *(event for chunk in deltas() for event in (RawEvent(raw_text="."), ChunkEvent(chunk=chunk)))
        )
        run = await session.start(agent, "t1", "Count.")
        follower = Follower(session, run.id, everything=True)
        agent.complete(*full_reply()[2:])
        assert (await session.wait(run.id)).status == "completed"
        await follower.task
        await check_received_is_stored(store, follower, run.id)
    result = await checked_run(store, run.id)
    assert result.text == "".join(f"{number} " for number in range(NUMBER))
    assert await raw_of(store, run.id) == b"." * NUMBER


async def test_a_stop_while_entries_wait_keeps_the_order(store: Store) -> None:
    async with Session(slow_store(store), heartbeat=3600) as session:
        agent = ControlledAgent(*partial_reply(), *deltas())
        run = await session.start(agent, "t1", "Count.")
        follower = Follower(session, run.id, everything=True)
        await follower.until(TextDelta("t", "20 "))
        assert (await session.stop(run.id)).status == "cancelled"
        await follower.task
        await check_received_is_stored(store, follower, run.id)
        await checked_run(store, run.id)


async def test_an_approval_while_entries_wait_keeps_the_order(store: Store) -> None:
    async with Session(slow_store(store), heartbeat=3600) as session:
        request: list[Chunk] = [ToolInputAvailable("c", "dig", {}), ToolApprovalRequest("a", "c")]
        agent = ControlledAgent(*partial_reply(), *request, *deltas())
        run = await session.start(agent, "t1", "Count.")
        follower = Follower(session, run.id, everything=True)
        await follower.until(request[-1])
        await session.add_approval_response("t1", ApprovalResponse("a", True, "ada"))
        agent.complete(*full_reply()[2:])
        await session.wait(run.id)
        await follower.task
        await check_received_is_stored(store, follower, run.id)
        await checked_run(store, run.id)
