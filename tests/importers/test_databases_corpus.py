"""The import of recorded rows with known results."""

from collections.abc import Iterator
from pathlib import Path

from partita.importers.databases.importer import import_rows
from partita.store.store import Store
from partita.store.values import MessageFilter
from partita.types.json import JsonObject, dumps, is_array
from tests.importers.database_examples import make_sqlite, mastra_thread
from tests.recordings import cases_in, folders
from tests.sampling import sampled


def rows() -> Iterator[JsonObject]:
    """Every stored message, each case a thread of its own."""
    own, *others = map(cases_in, folders("mastra/message-list.jsonl"))
    shared = [case for some in others for case in sampled(some, 3, lambda case: case["id"])]
    for case in [*own, *shared]:
        stored = case["expected"].get("db")
        for message in stored if is_array(stored) else ():
            yield {
                "id": f"{case['id']}/{message['id']}",
                "thread_id": case["id"],
                "content": dumps(message["content"]).decode(),
                "role": message["role"],
                "type": message.get("type"),
                "createdAt": message["createdAt"],
                "resourceId": "ada",
            }


async def test_every_stored_message_is_imported_in_order(store: Store, tmp_path: Path) -> None:
    unique = list({row["id"]: row for row in rows()}.values())
    threads = [mastra_thread(name) for name in dict.fromkeys(row["thread_id"] for row in unique)]
    source = make_sqlite(tmp_path / "m.db", {"mastra_threads": threads, "mastra_messages": unique})
    report = await import_rows(store, "mastra", str(source))
    assert (report.failed, report.new, report.orphans) == (0, len(unique), ())
    for thread in threads:
        wanted = [row for row in unique if row["thread_id"] == thread["id"]]
        page = await store.messages.list(thread["id"], MessageFilter(internal=None), limit=None)
        in_order = sorted(wanted, key=lambda row: row["createdAt"])  # stable: ties as inserted
        assert [message.id for message in page.items] == [row["id"] for row in in_order]
    again = await import_rows(store, "mastra", str(source))
    assert (again.new, again.changed, again.unchanged) == (0, 0, len(unique))
