"""Nothing is left in any table of a thread, or of an owner, that was deleted."""

from datetime import timedelta

from sqlalchemy import Connection, inspect, text

from partita.store import counters
from partita.store.logs.run_log import LogEntry
from partita.store.runs import rows as runs
from partita.store.store import Store
from partita.store.values import ConsumptionRecord, Source
from partita.types.messages import AssistantMessage, FilePart, UserMessage
from tests.store.running import COMPLETED, NOON

SECRET = "marmalade"
PICTURE = "data:image/png;base64," + "bWFy" * 20_000
TECHNICAL = {"alembic_version", "write_tokens", "sqlite_sequence", "data_migrations"}


async def fill(store: Store, owner: str) -> None:
    """Write rows of an owner to every table."""
    own = store.scoped(owner)
    await own.threads.create("t1", title=SECRET, metadata={"topic": SECRET})
    await own.messages.save(
        [
            UserMessage(id="q", content=[FilePart(media_type="image/png", url=PICTURE)]),
            AssistantMessage(id="a", content=SECRET),
        ],
        thread_id="t1",
    )
    for _ in range(2):
        run = await own.runs.open("t1", metadata={"log": {"path": f"/{owner}/{SECRET}"}})
        await own.logs.append(run.id, [LogEntry(NOON, raw=SECRET.encode())])
        await own.write(runs.end, run.id, COMPLETED)
    await own.logs.seal(run.id)
    await own.usage.record(
        [ConsumptionRecord(key="r1", thread_id="t1", message_id="a", time=NOON, model="m")]
    )
    await own.sources.save(Source(path=f"/{SECRET}", thread_id="t1", state={"checkpoint": SECRET}))
    await own.sources.save(Source(path="session:s1", state={"threadId": "t1"}))
    await store.keys.create(owner, name=SECRET)
    await own.blobs.put(SECRET.encode())
    await store.write(counters.add, {f"cost 7 {owner}": 1.0, f"cost 7 other {owner}": 1.0}, timedelta(days=1))


async def counts(store: Store) -> dict[str, int]:
    """The number of rows of each table."""

    def work(connection: Connection) -> dict[str, int]:
        names = [name for name in inspect(connection).get_table_names() if not name.startswith("search_")]
        return {
            name: connection.execute(text(f"SELECT count(*) FROM {name}")).scalar_one()
            for name in names
            if name not in TECHNICAL
        }

    return {name: count for name, count in (await store.engine.read(work)).items() if count}


async def test_nothing_is_left_of_an_owner(store: Store) -> None:
    await fill(store, "bob")
    before = await counts(store)
    await fill(store, "ada")
    report = await store.delete_owner("ada")
    assert (report.threads, report.messages, report.runs, report.keys) == (1, 2, 2, 1)
    assert await counts(store) == before | {"counters": 3}  # `other ada` is another owner
    assert len(await store.search(SECRET)) == 2
    assert [hit.resource_id for hit in await store.search(SECRET)] == ["bob", "bob"]


async def test_only_marks_are_left_of_a_thread(store: Store) -> None:
    await fill(store, "bob")
    assert await store.scoped("bob").threads.delete("t1")
    assert await counts(store) == {"api_keys": 1, "blobs": 1, "counters": 2, "sources": 3}
    assert {(one.path, str(one.state), one.hash, one.offset) for one in await store.sources.list()} == {
        (path, "{'removed': True}", None, 0) for path in (f"/{SECRET}", "removed:t1", "removed:s1")
    }
    assert not await store.search(SECRET)
